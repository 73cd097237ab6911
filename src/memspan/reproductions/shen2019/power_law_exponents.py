"""Shen 2019, Fig. 5: known power laws, measured and fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.decay import LAWS, fit_decay
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import claim_within_errors
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Curve, LawFit, claim_near, line
from memspan.sequences.sources import PowerLawBinary

AMPLITUDE = 0.1
"""I(1) in nats."""


@final
@dataclass(frozen=True)
class _Size:
    exponents: tuple[float, ...]
    documents: int
    length: int
    tolerance: float
    """How far a fitted exponent may be off; five standard errors of the hardest one."""


_TENTHS = tuple(round(0.1 * k, 1) for k in range(1, 11))
_SIZES = {
    "smoke": _Size((0.2, 0.5, 1.0), 400, 400, 0.1),
    "laptop": _Size(_TENTHS, 10_000, 1_000, 0.02),
    "paper": _Size(_TENTHS, 10_000, 1_000, 0.02),
}


@final
@dataclass(frozen=True, eq=False)
class _Fit:
    source: PowerLawBinary
    curve: Curve
    law: LawFit

    @property
    def exponent(self) -> float:
        return self.law.parameters["exponent"]

    @property
    def interval(self) -> tuple[float, float]:
        return self.law.intervals["exponent"]


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    fits: list[_Fit] = []
    with progress.stage("sampling, measuring and fitting power laws", len(size.exponents)) as stage:
        for number, exponent in enumerate(size.exponents):
            fits.append(_fit(size, exponent, [seed, number], seed))
            stage.advance()
    claims = [_recovered(size, fit) for fit in fits]
    return Outcome((*claims, *_overall(fits)), (_curves_chart(fits), _exponents_chart(fits)))


def _fit(size: _Size, exponent: float, stream: list[int], seed: int) -> _Fit:
    source = PowerLawBinary(AMPLITUDE, exponent)
    sample = source.sample(size.documents, size.length, seed=np.random.default_rng(stream))
    curve = mutual_information(sample, log_lags(1, size.length // 2), seed=seed)
    return _Fit(source, curve, fit_decay(curve, [LAWS["power"]])["power"])


def _recovered(size: _Size, fit: _Fit) -> Claim:
    gamma = fit.source.exponent
    return claim_near(
        f"Information that falls as 0.1 tau^-{gamma:g} is fitted with the exponent {gamma:g}, from {size.documents:,} "
        f"documents of {size.length:,} binary symbols.",
        fit.exponent,
        size.tolerance,
        paper=gamma,
    )


def _overall(fits: list[_Fit]) -> list[Claim]:
    covered = sum(fit.interval[0] <= fit.source.exponent <= fit.interval[1] for fit in fits)
    coverage = Claim(
        "The 95 % intervals contain the true exponent in at least 8 of 10 cases.",
        None,
        None,
        float(covered),
        None,
        covered >= 8,
    )
    agreement = claim_within_errors(
        "The estimated information is 0.1 tau^-gamma at every lag up to half of a document and for every gamma.",
        np.concatenate([fit.curve.corrected for fit in fits]),
        np.concatenate([fit.source.information(fit.curve.lags) for fit in fits]),
        np.concatenate([fit.curve.error for fit in fits]),
    )
    return [agreement, coverage] if len(fits) == len(_TENTHS) else [agreement]


def _curves_chart(fits: list[_Fit]) -> Chart:
    gap = [np.nan]
    x = np.concatenate([np.concatenate([fit.curve.lags, gap]) for fit in fits])
    y = np.concatenate([np.concatenate([fit.source.information(fit.curve.lags), gap]) for fit in fits])
    measured = [
        line(
            f"measured, gamma = {fit.source.exponent:g}", fit.curve.lags, fit.curve.corrected, style="markers"
        )
        for fit in fits
    ]
    return Chart(
        name="curves",
        title="Binary sequences with information 0.1 tau^-gamma",
        x_label="distance tau (symbols)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=(*measured, line("what the source has: 0.1 tau^-gamma", x, y, style="dashed")),
        caption="Markers are estimates with the floor taken off; dashed lines are the exact information. They agree over "
        "the whole range; at the lower right the information is so small that noise shows on the logarithmic axis.",
    )


def _exponents_chart(fits: list[_Fit]) -> Chart:
    true = [fit.source.exponent for fit in fits]
    low, high = zip(*(fit.interval for fit in fits), strict=True)
    return Chart(
        name="exponents",
        title="The exponent that is fitted is the one that was put in",
        x_label="true exponent gamma",
        y_label="fitted exponent",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line(
                "fitted, with 95 % interval",
                true,
                [f.exponent for f in fits],
                band=(low, high),
                style="markers",
            ),
            line("equal to the true one", [0.0, 1.05], [0.0, 1.05], style="dashed"),
        ),
        caption="Each marker is one sequence of known exponent, measured and fitted. Markers on the dashed line are right; "
        "where no bar is seen, the 95 % interval is smaller than the marker.",
    )
