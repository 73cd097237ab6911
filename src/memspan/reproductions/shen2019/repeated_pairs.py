"""Repeated pairs, 01 with probability p and 10 otherwise, keep a constant information at every lag above one.

Shen 2019, appendix C, Eq. 52 and Fig. 4, and erratum 4.
"""

from __future__ import annotations

import numpy as np

from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, information_chart, points
from memspan.reproductions.claims import ONE, claim
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, Curve, line
from memspan.results.curve import SIGNIFICANCE
from memspan.sequences.sources import HiddenMarkov, repeated_pair_information

# --- Fig. 4: the constant as a function of p

GRID = tuple(round(0.05 * k, 2) for k in range(1, 20))
# Lag one, then short and long, even and odd ones.
LAGS = np.array([1, 2, 3, 10, 50, 101])
FAR_LAGS = np.array([2, 3, 4, 5, 10, 100, 101, 1000, 100_001])
# Nats by which two exact computations may differ.
ROUNDING = 1e-12


def by_probability(
    *, probabilities: tuple[float, ...], documents: int, length: int, seed: int, progress: Progress
) -> Outcome:
    """Fig. 4: measure samples for every p."""
    curves: dict[float, Curve] = {}
    for p in tracked(probabilities, progress, "measuring repeated pairs"):
        generator = np.random.default_rng([seed, len(curves)])
        sample = HiddenMarkov.periodic_pairs(p).sample(documents, length, seed=generator)
        curves[p] = mutual_information(sample, LAGS, seed=seed)
    return Outcome((*_equation_claims(), *_sample_claims(curves)), (_constant_chart(curves),))


def _equation_claims() -> list[Claim]:
    apart = [
        np.abs(HiddenMarkov.periodic_pairs(p).information(FAR_LAGS) - repeated_pair_information(p)).max() for p in GRID
    ]
    steps, last = (np.diff(repeated_pair_information(np.linspace(0.5, 1.0, 51))), repeated_pair_information(1.0))
    return [
        claim(
            "Eq. 52 is the exact information of repeated pairs at lags 2 to 100,001, even and odd: it is the same at "
            "every lag above one. (Measured: the largest difference over p = 0.05 … 0.95, in nats.)"
        ).near(np.max(apart), ROUNDING, paper=0.0),
        claim(
            "The constant of Eq. 52 is zero at p = 1/2 only and rises with every step of 0.01 away from it, to ln 2.",
            measure="the value at p = 1; the smallest rise must be above zero",
        ).holds_if(
            last, steps.min() > 0 and abs(last - np.log(2.0)) < ROUNDING, corrected=np.log(2.0), tolerance=ROUNDING
        ),
    ]


def _sample_claims(curves: dict[float, Curve]) -> list[Claim]:
    fair, nine, biased = curves[0.5], curves[0.9], [p for p in curves if p != 0.5]
    corrected = np.array([curves[p].corrected for p in biased])
    error = np.array([curves[p].error for p in biased])
    neighbors = np.array([HiddenMarkov.periodic_pairs(p).information([1])[0] for p in biased])
    constant = repeated_pair_information(biased)[:, None]
    least = float(np.min(fair.p_value[1:]) * (len(LAGS) - 1))
    *first, last = map(str, LAGS[1:].tolist())
    return [
        claim(
            f"Samples of repeated pairs share the information of Eq. 52, at lags {', '.join(first)} and {last} and for "
            "every p."
        ).within_errors(corrected[:, 1:], np.broadcast_to(constant, corrected[:, 1:].shape), error[:, 1:]),
        claim(
            "At lag one samples share the information of the hidden Markov source, which is more than Eq. 52."
        ).within_errors(corrected[:, 0], neighbors, error[:, 0]),
        claim("Lag one is different: at p = 0.9 it shares 0.3906 nats, where Eq. 52 gives 0.2218 for all others.").near(
            nine.corrected[0], ONE * nine.error[0], corrected=HiddenMarkov.periodic_pairs(0.9).information([1])[0]
        ),
        claim(
            "At p = 1/2 nothing is shared beyond lag one.",
            measure="the smallest p-value of those lags times their number; significant if below 0.001",
        ).holds_if(least, least >= SIGNIFICANCE),
    ]


def _constant_chart(curves: dict[float, Curve]) -> Chart:
    fine = np.linspace(0.01, 0.99, 99)
    far = np.array([curve.corrected[-1] for curve in curves.values()])
    error = np.array([curve.error[-1] for curve in curves.values()])
    near = [float(HiddenMarkov.periodic_pairs(q).information([1])[0]) for q in fine]
    return chart(
        "constant",
        "Repeated pairs: the information that never decays",
        "p, the probability of the pair 01 (the pair 10 has 1 - p)",
        "mutual information (nats)",
        [
            line("Eq. 52: every lag above one", fine, repeated_pair_information(fine)),
            points(f"measured at lag {LAGS[-1]}, with two standard errors", list(curves), far, error),
            dashed("exact at lag one", fine, near),
        ],
        "A sequence of the pairs 01 and 10 in random order. At any lag, two symbols share the same information (solid), "
        "because each is informative about its position in its pair. Only neighbors, which may belong to the same pair, "
        "share more (dashed). Nevertheless, the memory of the source is one pair long.",
    )


# --- Erratum 4: lag one is different

P = 0.9
SOURCE = HiddenMarkov.periodic_pairs(P)
CONSTANT = float(repeated_pair_information(P))
NEIGHBORS = float(SOURCE.information([1])[0])
FOUR_DIGITS = 5e-5


def lag_one(*, documents: int, length: int, seed: int, progress: Progress) -> Outcome:
    """Erratum 4: Eq. 52 holds at every lag above one; lag one is different."""
    progress.say(f"drawing {documents:,} documents of {length:,} symbols")
    sample = SOURCE.sample(documents, length, seed=np.random.default_rng([seed, 4]))
    curve = mutual_information(sample, log_lags(1, length // 2), seed=seed, progress=progress)
    return Outcome(_lag_one_claims(curve), (_lags_chart(curve),))


def _lag_one_claims(curve: Curve) -> tuple[Claim, ...]:
    gap = float(curve.corrected[0] - curve.corrected[1:].mean())
    # The mean of the other lags is correlated with lag one, so its own error adds at most as much again.
    error = float(curve.error[0] + curve.error[1:].max())
    return (
        claim(
            "Repeated pairs with p = 0.9 share 0.2218 nats at every lag above one (Eq. 52, against the exact information "
            "of the hidden Markov source at lag 1,000)."
        ).near(SOURCE.information([1000])[0], FOUR_DIGITS, paper=0.2218),
        claim(
            "At lag one they share 0.3906 nats: half of all neighbors belong to the same pair and are never equal."
        ).near(NEIGHBORS, FOUR_DIGITS, corrected=0.3906),
        claim("Samples share 0.3906 nats at lag one.").near(
            curve.corrected[0], ONE * curve.error[0], corrected=NEIGHBORS
        ),
        claim(f"Samples share the information of Eq. 52 at every lag from 2 to {curve.lags[-1]:,}.").within_errors(
            curve.corrected[1:], np.full(len(curve.lags) - 1, CONSTANT), curve.error[1:]
        ),
        claim("Lag one shares 0.1688 nats more than the others.").near(
            gap, ONE * error, corrected=NEIGHBORS - CONSTANT
        ),
        claim(
            "The information does not decay: dependence is visible up to the largest lag that was measured."
        ).holds_if(curve.span.lag, curve.span.censored),
    )


def _lags_chart(curve: Curve) -> Chart:
    return information_chart(
        "lags",
        "Repeated pairs, p = 0.9: one value for neighbors, another for all other lags",
        "symbols",
        [
            points("measured, with two standard errors", curve.lags, curve.corrected, curve.error),
            dashed("exact", curve.lags, SOURCE.information(curve.lags)),
        ],
        "The pairs 01 and 10 in random order, 01 nine times out of ten. Neighbors share 0.39 nats; symbols at any larger "
        "lag share 0.22 nats, at any lag, as Eq. 52 states for lags above one.",
        log="x",
    )
