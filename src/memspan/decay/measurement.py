"""`measure`: the curve of one sequence and the laws that fit it, in one result."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from memspan.decay.fit import fit_decay
from memspan.decay.structure import find_influence, find_period
from memspan.errors import EvidenceError
from memspan.information import EntropyEstimator, PairCounts, mutual_information
from memspan.progress import SILENT, Progress
from memspan.results import Curve, DecayFit, Influence, Measurement, Period
from memspan.results.curve import ONE_DOCUMENT
from memspan.sequences import Sequence


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
    """I(tau), floor, span, reach, laws and periods of a sequence, of its pair counts, or of any list of documents.

    The arguments are those of `mutual_information`; `above` is the least information, in nats, that laws are fitted to.
    Too few lags above the floor are no error here: the notes say so and there is no law. A sequence that repeats itself
    exactly has a period instead of laws.

    >>> found = measure(Sequence.from_documents(["abcabd" * 500]))
    >>> found.curve.span.censored, found.period.length, found.decay
    (True, 6, None)
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
    sequence = data if isinstance(data, Sequence) else None
    period, influence = find_period(curve, sequence), find_influence(curve, sequence)
    decay, notes = _laws(curve, above, period)
    return Measurement(
        data.paths,
        data.symbols,
        curve,
        decay,
        (*notes, *_influence_note(influence), *_remarks(curve)),
        time.perf_counter() - begun,
        column=data.column,
        period=period,
        influence=influence,
    )


def _laws(curve: Curve, above: float | None, period: Period | None) -> tuple[DecayFit | None, tuple[str, ...]]:
    if period is not None and period.exact:
        return None, (f"no law: the sequence repeats itself exactly every {period.length:,} symbols",)
    try:
        decay = fit_decay(curve, above=above)
    except EvidenceError as error:
        return None, (str(error),)
    if period is not None:
        return decay, (
            f"no law describes a period: look at multiples of {period.length} and at other lags apart, "
            f"for example with --lags 1:{20 * period.length}",
        )
    return decay, _misfit_note(decay)


def _misfit_note(decay: DecayFit) -> tuple[str, ...]:
    best = decay[decay.best]
    if best.fits:
        return ()
    first, last = int(decay.lags[0]), int(decay.lags[-1])
    if not best.decays:
        return (
            f"no decay: the information does not fall measurably between lags {first:,} and {last:,}; documents or parts of "
            "different composition look like that, and noisy repetition",
        )
    chance = "" if best.p_value is None else f", p = {best.p_value:.1g}"
    return (
        f"no simple law fits: the residuals of the best one ({decay.best}) are more than the errors explain (root mean "
        f"square {best.misfit:.1f} standard errors{chance}); use the local exponents by range of lags instead",
    )


def _influence_note(influence: Influence | None) -> tuple[str, ...]:
    if influence is None:
        return ()
    document = "" if influence.document is None else f"document {influence.document}, "
    return (
        f"about the symbols {influence.start:,} to {influence.stop - 1:,} ({document}{influence.blocks_words}) "
        f"carry {100 * influence.share:.0f} % of the information at lags {influence.first_lag:,} to "
        f"{influence.last_lag:,}: look at them, and measure again without them",
    )


def _remarks(curve: Curve) -> tuple[str, ...]:
    """What a reader should know before trusting the numbers."""
    remarks = list(curve.notes)
    if curve.one_document:
        remarks.append(ONE_DOCUMENT)
    elif curve.span.censored and curve.documents > 1:
        remarks.append(
            "the curve is above the floor at the largest lag: documents of different composition look like that, too, as a "
            "constant that no lag removes"
        )
    if len(curve.replicates) < 5 and curve.span.lag:
        remarks.append(
            f"errors rest on {len(curve.replicates)} blocks only; shorter lags or more data give better ones"
        )
    return tuple(remarks)
