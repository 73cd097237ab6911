"""What the estimator would see if the dependence at the lag were broken and short-range structure kept.

Bias at long lags is (1/2N) times a sum over modes of (1 + l^2) / (1 - l^2) (Bartlett): a slow chain has hundreds of times
the bias of shuffled symbols, so the null must keep the sequence's own structure.

* `documents`: the first symbol from one document, the second from another of similar length, turned round to begin anywhere.
* `shifts`: each document against itself, turned round by a far distance. Dependence that is still there at far distances
  (a periodic sequence) is told from bias by drawing on a quarter of the pairs, too, and is not taken for floor.
* `independent`: symbols drawn one by one with the same frequencies (what the literature calls shuffled).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information.kernels import LARGEST_DENSE, Runs
from memspan.sequences import Sequence

DRAWS = 64
FEWEST_DRAWS = 32
"""Enough for large alphabets, whose tables are large and whose spread is small."""
PARTS = 4
"""Shifts are also drawn on a quarter of the sequence: bias grows with that, dependence at far distances does not."""
FEWEST_DOCUMENTS = 50
FAR = 10
"""A far shift is at least this many largest lags, where the sequence is long enough for that."""
LENGTH_JITTER = 0.3
"""Documents are paired with others of about the same length: lengths are compared after noise of this size (log)."""
NEW_CLASS = 0.8
"""A lag with fewer than this share of the pairs of the class before it gets a null of its own."""
ENOUGH = 0.5
"""Pairing documents must leave this share of the pairs at every lag."""
PAIRS_PER_DRAW, SPARSE_PAIRS_PER_DRAW, DOCUMENTS_PER_DRAW = 1 << 25, 1 << 21, 1 << 17
"""A draw takes no more than this; what it shows is brought to the lag's own number of pairs (see `bias`)."""
WINDOWS = 8
"""A part of a document is this many windows spread over it, so that it is composed like the whole."""
NULLS = ("auto", "documents", "shifts", "independent")


@final
@dataclass(frozen=True, eq=False)
class NullPlan:
    """Which null, for which lags, from which seed; `lags` are the first lags of classes with similar pair numbers."""

    kind: str
    lags: NDArray[np.int64]
    seed: int
    share: float
    """Which part of the pairs a draw takes."""
    largest: int
    """The largest lag measured, which shifts must exceed by far."""
    draws: int
    """64, and for shifts as many again on a part of the sequence; 32 for large alphabets."""
    note: str


def plan_null(sequence: Sequence, lags: NDArray[np.int64], asked: str, seed: int) -> NullPlan:
    """The null that was asked for, or for `auto` the best that these data allow."""
    if asked not in NULLS:
        raise InputError(f"--null {asked}: expected one of {', '.join(NULLS)}")
    possible = _possible(sequence, lags)
    kind = possible[0] if asked == "auto" else asked
    if kind not in possible:
        raise InputError(f"--null {kind} {_NEEDS[kind]}; use --null {possible[0]}, or leave the option out")
    large = len(sequence.alphabet) > LARGEST_DENSE
    classes = _classes(sequence, lags) if kind == "documents" else lags[:1]
    draws = FEWEST_DRAWS if large else 2 * DRAWS if kind == "shifts" else DRAWS
    share = min(1.0, (SPARSE_PAIRS_PER_DRAW if large else PAIRS_PER_DRAW) / sequence.length)
    if kind == "documents":
        share = min(share, DOCUMENTS_PER_DRAW / sequence.n_documents)
    note = _NOTES[kind] if asked == "auto" else ""
    return NullPlan(kind, classes, seed, share, int(lags[-1]), draws, note)


_NEEDS = {
    "documents": f"needs {FEWEST_DOCUMENTS} documents of comparable length",
    "shifts": "needs documents of at least seven times the largest lag",
}
_NOTES = {
    "documents": "",
    "shifts": "",
    "independent": "the floor is that of independent symbols: the data are too short to keep their own structure in the "
    "null, so slow sequences may look more dependent than they are",
}


def _possible(sequence: Sequence, lags: NDArray[np.int64]) -> list[str]:
    kinds = ["independent"]
    lengths = np.diff(sequence.offsets)
    if lengths[_nearest_shift(lengths, int(lags[-1])) > 0].sum() > ENOUGH * sequence.length:
        kinds.insert(0, "shifts")
    if sequence.n_documents >= FEWEST_DOCUMENTS and _pairable(lengths, lags):
        kinds.insert(0, "documents")
    return kinds


def _pairable(lengths: NDArray[np.int64], lags: NDArray[np.int64]) -> bool:
    """Whether pairing each document with the next longer one leaves enough pairs at every lag."""
    shorter = np.sort(lengths)[:-1]
    return all(
        np.maximum(shorter - lag, 0).sum() > ENOUGH * np.maximum(lengths - lag, 0).sum()
        for lag in lags[[0, len(lags) // 2, -1]]
    )


def _nearest_shift(lengths: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """The smallest far shift within documents of these lengths; 0 where there is no room for one."""
    nearest = np.maximum(np.minimum(FAR * largest, 3 * lengths // 10), lengths // 10)
    return np.where((nearest >= 2 * largest) & (lengths // 2 - nearest >= DRAWS), nearest, 0)


def _classes(sequence: Sequence, lags: NDArray[np.int64]) -> NDArray[np.int64]:
    lengths = np.diff(sequence.offsets)
    first: list[int] = []
    reference = 0.0
    for lag in lags.tolist():
        pairs = float(np.maximum(lengths - lag, 0).sum())
        if not first or pairs < NEW_CLASS * reference:
            first.append(lag)
            reference = pairs
    return np.array(first, dtype=np.int64)


def null_runs(sequence: Sequence, plan: NullPlan, lag: int, draw: int, piece: int) -> Runs:
    """The pairs of one draw of the null, for the class of lags that begins with `lag`."""
    # A draw on a part has the generator of its draw on the whole, and so the same shift.
    generator = np.random.default_rng([plan.seed, draw % DRAWS, lag])
    if plan.kind == "documents":
        return _document_runs(sequence.offsets, lag, plan.share, generator)
    strata = min(plan.draws, DRAWS)
    far = (draw % strata + generator.random()) / strata
    part = draw % PARTS if draw >= DRAWS else None
    lengths = np.diff(sequence.offsets)
    nearest = _nearest_shift(lengths, plan.largest)
    runs = [
        _shift_runs(int(sequence.offsets[k]), int(lengths[k]), int(nearest[k]), far, part, piece, plan.share)
        for k in np.flatnonzero(nearest)
    ]
    return Runs(*(np.concatenate([getattr(run, name) for run in runs]) for name in ("x", "y", "n")))


def _document_runs(
    offsets: NDArray[np.int64], lag: int, share: float, generator: np.random.Generator
) -> Runs:
    """Each document against another of about its length, turned round to begin anywhere.

    Turned, because documents that share a beginning (a header, a title) would otherwise agree there.
    """
    lengths = np.diff(offsets)
    chosen = np.flatnonzero(generator.random(len(lengths)) < share) if share < 1 else np.arange(len(lengths))
    jitter = LENGTH_JITTER * generator.standard_normal(len(chosen))
    order = chosen[np.argsort(np.log(lengths[chosen]) + jitter)]
    partner = np.roll(order, -1)
    n = np.minimum(lengths[order], lengths[partner]) - lag
    keep = np.flatnonzero(n > 0)
    keep = keep[np.argsort(order[keep])]  # in the order of the data, which is faster to read
    start, other, n = offsets[order[keep]], partner[keep], n[keep]
    turn = (generator.random(len(keep)) * lengths[other]).astype(np.int64)
    before = np.minimum(n, lengths[other] - turn)  # pairs before the other document's end is reached
    rest = n > before
    return Runs(
        np.concatenate([start, (start + before)[rest]]),
        np.concatenate([offsets[other] + turn, offsets[other][rest]]),
        np.concatenate([before, (n - before)[rest]]),
    )


def _shift_runs(
    offset: int, length: int, nearest: int, far: float, part: int | None, piece: int, share: float
) -> Runs:
    """A document, or a part of it, against the document turned by a shift; of every stretch the first `share`.

    `far` in [0, 1) chooses between the nearest far shift and half of the document.
    """
    shift = int(nearest + far * (length // 2 - nearest))
    if part is None:
        ends = np.append(np.arange(0, length, piece), length)
        starts, stops = ends[:-1], ends[1:]
    else:
        ends = np.arange(PARTS * WINDOWS + 1) * length // (PARTS * WINDOWS)
        starts, stops = ends[part:-1:PARTS], ends[part + 1 :: PARTS]
    n = np.ceil((stops - starts) * share).astype(np.int64)
    partner = (starts + shift) % length
    before = np.minimum(n, length - partner)  # pairs before the document's end is reached
    rest = n > before
    return Runs(
        offset + np.concatenate([starts, starts[rest] + before[rest]]),
        offset + np.concatenate([partner, np.zeros(rest.sum(), np.int64)]),
        np.concatenate([before, (n - before)[rest]]),
    )
