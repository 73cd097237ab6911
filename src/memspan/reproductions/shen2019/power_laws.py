"""Binary sequences with a known power law, I(tau) = A tau^-gamma: recovered exponents, and the constant of Eq. 47.

Shen 2019, appendix D.1, Fig. 5, and erratum 2 about appendix B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.decay import LAWS, fit_decay
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, information_chart, points
from memspan.reproductions.claims import ONE, claim
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, Curve, LawFit, line
from memspan.sequences.sources import PowerLawBinary, information_of_correlation

# I(1) in nats.
AMPLITUDE = 0.1

# --- Fig. 5: exponents


@final
@dataclass(frozen=True, eq=False)
class PowerLawFit:
    """A source, its measured curve and the power law fitted to it."""

    source: PowerLawBinary
    curve: Curve
    law: LawFit

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the exponent."""
        return self.law.intervals["exponent"]


def recovered_exponents(
    *, exponents: tuple[float, ...], documents: int, length: int, tolerance: float, seed: int, progress: Progress
) -> Outcome:
    """Fig. 5: sample, measure and fit; `tolerance` of an exponent is five standard errors of the hardest one."""
    fits: list[PowerLawFit] = []
    for exponent in tracked(exponents, progress, "sampling, measuring and fitting power laws"):
        source = PowerLawBinary(AMPLITUDE, exponent)
        sample = source.sample(documents, length, seed=np.random.default_rng([seed, len(fits)]))
        curve = mutual_information(sample, log_lags(1, length // 2), seed=seed)
        fits.append(PowerLawFit(source, curve, fit_decay(curve, [LAWS["power"]])["power"]))
    recovered = [
        claim(
            f"Information that falls as 0.1 tau^-{gamma:g} is fitted with the exponent {gamma:g}, from {documents:,} "
            f"documents of {length:,} binary symbols."
        ).near(fit.law.parameters["exponent"], tolerance, paper=gamma)
        for gamma, fit in zip(exponents, fits, strict=True)
    ]
    return Outcome((*recovered, *_overall_claims(fits)), (_curves_chart(fits), _exponents_chart(fits)))


def _overall_claims(fits: list[PowerLawFit]) -> list[Claim]:
    covered = sum(fit.interval[0] <= fit.source.exponent <= fit.interval[1] for fit in fits)
    agreement = claim(
        "The estimated information is 0.1 tau^-gamma at every lag up to half of a document and for every gamma."
    ).within_errors(
        np.concatenate([fit.curve.corrected for fit in fits]),
        np.concatenate([fit.source.information(fit.curve.lags) for fit in fits]),
        np.concatenate([fit.curve.error for fit in fits]),
    )
    coverage = claim("The 95 % intervals contain the true exponent in at least 8 of 10 cases.").holds_if(
        covered, covered >= 8
    )
    return [agreement, coverage] if len(fits) == 10 else [agreement]


def _curves_chart(fits: list[PowerLawFit]) -> Chart:
    # One dashed line for all sources, with a gap (NaN) between them, needs one entry of the legend only.
    gap = [np.nan]
    x = np.concatenate([np.concatenate([fit.curve.lags, gap]) for fit in fits])
    y = np.concatenate([np.concatenate([fit.source.information(fit.curve.lags), gap]) for fit in fits])
    return information_chart(
        "curves",
        "Binary sequences with information 0.1 tau^-gamma",
        "symbols",
        [
            *(
                points(f"measured, gamma = {fit.source.exponent:g}", fit.curve.lags, fit.curve.corrected)
                for fit in fits
            ),
            dashed("of the source: 0.1 tau^-gamma", x, y),
        ],
        "Markers are estimates with the noise floor subtracted; dashed lines are the exact information. They agree over "
        "the whole range; at the lower right the information is so small that noise is visible on the logarithmic axis.",
    )


def _exponents_chart(fits: list[PowerLawFit]) -> Chart:
    true, fitted = ([fit.source.exponent for fit in fits], [fit.law.parameters["exponent"] for fit in fits])
    low, high = zip(*(fit.interval for fit in fits), strict=True)
    return chart(
        "exponents",
        "The fitted exponent is the exponent of the source",
        "true exponent gamma",
        "fitted exponent",
        [
            line("fitted, with 95 % interval", true, fitted, band=(low, high), style="markers"),
            dashed("equal to the true one", [0.0, 1.05], [0.0, 1.05]),
        ],
        "Each marker is one sequence of known exponent, measured and fitted. Markers on the dashed line are right; where "
        "no bar is visible, the 95 % interval is smaller than the marker.",
    )


# --- Erratum 2: the constant of Eq. 47

EXPONENT = 0.5
# About the correlation pi sqrt(A/2) = 0.7025 that the corrected constant requires at lag one.
CORRELATION = 0.7
FOUR_DIGITS = 5e-5
# At this lag the correlation is so small that the expansion is exact to four digits.
FAR = 10**6

EXACT = PowerLawBinary(AMPLITUDE, EXPONENT)
EXPANDED = PowerLawBinary(AMPLITUDE, EXPONENT, approximate=True)
# With amplitude A / pi^3 the corrected constant pi sqrt(A / 2 pi^3) is the printed one, sqrt(A / 2 pi).
PRINTED = PowerLawBinary(AMPLITUDE / np.pi**3, EXPONENT, approximate=True)


def constant(*, documents: int, length: int, seed: int, progress: Progress) -> Outcome:
    """Erratum 2: the constant of Eq. 47, and the range of its small-c expansion."""
    sources = {"printed": PRINTED, "expanded": EXPANDED, "exact": EXACT}
    curves: dict[str, Curve] = {}
    for name in tracked(tuple(sources), progress, "sampling three constants of Eq. 47"):
        sample = sources[name].sample(documents, length, seed=np.random.default_rng([seed, len(curves)]))
        curves[name] = mutual_information(sample, log_lags(1, length // 4), seed=seed)
    note = (
        "Eq. 47 is quoted from a text copy of the paper; in the original, pi may stand outside the root. "
        "I(c) = 2 c^2 / pi^2 + … leaves one constant only: pi sqrt(A / 2)."
    )
    claims = (*_expansion_claims(), *_constant_claims(), *_measured_claims(curves))
    return Outcome(claims, (_constants_chart(curves),), (note,))


def _expansion_claims() -> list[Claim]:
    exact, expanded = float(information_of_correlation(CORRELATION)), 2 * CORRELATION**2 / np.pi**2
    return [
        claim("Signs of two Gaussians of correlation c = 0.7 share I = 0.1273 nats (Eq. 46).").near(
            exact, FOUR_DIGITS, corrected=0.1273
        ),
        claim("The expansion I = 2 c^2 / pi^2 gives 0.0993 nats at c = 0.7.").near(
            expanded, FOUR_DIGITS, corrected=0.0993
        ),
        claim(
            "At lag one of A = 0.1 the exact information is 28 % above the expansion, so Eq. 46 must be inverted exactly "
            "if the law is to hold at short lags too."
        ).near(100 * (exact / expanded - 1), 0.5, corrected=28.0),
    ]


def _constant_claims() -> list[Claim]:
    target = AMPLITUDE * FAR**-EXPONENT
    printed, corrected = (float(source.information([FAR])[0] / target) for source in (PRINTED, EXPANDED))
    return [
        claim(
            "With the printed constant, sqrt(A / 2 pi), the information at long lags is not A d^-gamma but pi^3 = 31 "
            "times less. (Measured: the fraction of the target, at lag 1,000,000.)"
        ).near(printed, 1e-4, paper=1.0, corrected=np.pi**-3),
        claim(
            "With the constant pi sqrt(A / 2) the information at long lags is A d^-gamma. (Measured: the fraction of the "
            "target, at lag 1,000,000.)"
        ).near(corrected, 1e-3, corrected=1.0),
    ]


def _measured_claims(curves: dict[str, Curve]) -> list[Claim]:
    first = {
        "printed": (PRINTED, "with the printed constant"),
        "expanded": (EXPANDED, "with pi sqrt(A / 2), the small-c form,"),
        "exact": (EXACT, "with Eq. 46 inverted exactly"),
    }
    exact = curves["exact"]
    return [
        *(
            claim(
                f"Sequences drawn {words} share {source.information([1])[0]:.4f} nats at lag one, where the target is 0.1."
            ).near(
                curves[name].corrected[0],
                ONE * curves[name].error[0],
                paper=AMPLITUDE,
                corrected=source.information([1])[0],
            )
            for name, (source, words) in first.items()
        ),
        claim("Inverted exactly, the information is A d^-gamma at every lag, the short ones included.").within_errors(
            exact.corrected, EXACT.information(exact.lags), exact.error
        ),
    ]


def _constants_chart(curves: dict[str, Curve]) -> Chart:
    lags = curves["exact"].lags
    measured = {
        "exact": "measured, Eq. 46 inverted exactly",
        "expanded": "measured, constant pi sqrt(A/2)",
        "printed": "measured, constant as printed, sqrt(A/2 pi)",
    }
    return chart(
        "constants",
        "Three constants for Eq. 47, and the one law they should give",
        "lag d (symbols)",
        "mutual information (nats)",
        [
            *(points(label, lags, curves[name].corrected, curves[name].error) for name, label in measured.items()),
            dashed("target: 0.1 d^-0.5", lags, EXACT.information(lags)),
            dashed("exact information of the constant pi sqrt(A/2)", lags, EXPANDED.information(lags)),
            dashed("exact information of the printed constant", lags, PRINTED.information(lags)),
        ],
        "Binary sequences generated as signs of correlated Gaussians. With the printed constant their information is 31 "
        "times too small; with the corrected constant it is right at long lags and 28 % too large between neighbors; with "
        "the exact inversion it is right everywhere. Bars are two standard errors.",
        log="xy",
    )
