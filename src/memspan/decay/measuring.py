"""`measure`: the curve of one sequence and the laws that fit it, in one result."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from memspan.decay.fitting import fit_decay
from memspan.errors import EvidenceError
from memspan.information import EntropyEstimator, PairCounts, mutual_information
from memspan.progress import SILENT, Progress
from memspan.results import Curve, DecayFit, Measurement
from memspan.sequences import Sequence

POOR_FIT = 4.0
"""Root mean square distance, in standard errors, from which a law is called a rough description."""


def measure(
    data: Sequence | PairCounts | Iterable[Any],
    lags: int | str | Iterable[int] | None = None,
    *,
    symbols: str | None = None,
    estimator: EntropyEstimator | str | None = None,
    null: str = "auto",
    level: float = 1e-3,
    above: float | None = None,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> Measurement:
    """I(tau), floor, span, reach and laws of a sequence, of its pair counts, or of any list of documents.

    The arguments are those of `mutual_information`; `above` is the least information, in nats, that laws are fitted to.
    Too few lags above the floor are no error here: the notes say so and there is no law.

    >>> found = measure(Sequence.from_documents(["abcabd" * 500]))
    >>> found.curve.span.censored, found.symbols
    (True, 'symbols')
    """
    begun = time.perf_counter()
    if not isinstance(data, PairCounts):
        data, symbols = Sequence.of(data, symbols=symbols), None
    curve = mutual_information(
        data,
        lags,
        symbols=symbols,
        estimator=estimator,
        null=null,
        level=level,
        seed=seed,
        workers=workers,
        keep=keep,
        progress=progress,
    )
    progress.say("fitting laws of decay")
    decay, notes = _laws(curve, above)
    seconds = time.perf_counter() - begun
    remarks = notes + _remarks(curve)
    return Measurement(data.paths, data.symbols, curve, decay, remarks, seconds, column=data.column)


def _laws(curve: Curve, above: float | None) -> tuple[DecayFit | None, tuple[str, ...]]:
    try:
        decay = fit_decay(curve, above=above)
    except EvidenceError as error:
        return None, (str(error),)
    misfit = decay[decay.best].misfit
    if misfit < POOR_FIT:
        return decay, ()
    return decay, (
        f"no law fits well: the best one misses the points by {misfit:.0f} standard errors (a period, or several scales); "
        "take its parameters as a rough description",
    )


def _remarks(curve: Curve) -> tuple[str, ...]:
    """What a reader should know before trusting the numbers."""
    remarks = list(curve.notes)
    if curve.span.censored and curve.null == "documents":
        remarks.append(
            "the curve still stands above the floor at the largest lag: documents of different composition look like "
            "that, too, as a constant that no distance removes"
        )
    if len(curve.replicates) < 5 and curve.span.lag:
        remarks.append(
            f"errors rest on {len(curve.replicates)} blocks only; shorter lags or more data give better ones"
        )
    return tuple(remarks)
