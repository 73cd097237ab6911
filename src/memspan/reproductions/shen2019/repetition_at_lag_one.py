"""Erratum 4: Eq. 52 holds at every lag above one; lag one is different."""

from __future__ import annotations

import numpy as np

from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import ONE, claim_within_errors
from memspan.reproductions.recipe import Outcome, SampleSize
from memspan.results import Chart, Claim, Curve, claim_near, line
from memspan.sequences.sources import HiddenMarkov, repeated_pair_information

P = 0.9
SOURCE = HiddenMarkov.periodic_pairs(P)
CONSTANT = float(repeated_pair_information(P))
FOUR_DIGITS = 5e-5


_SIZES = {
    "smoke": SampleSize(200, 1_000),
    "laptop": SampleSize(2_000, 2_000),
    "paper": SampleSize(10_000, 2_000),
}


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    progress.say(f"drawing {size.documents:,} documents of {size.length:,} symbols")
    sample = SOURCE.sample(size.documents, size.length, seed=np.random.default_rng([seed, 4]))
    curve = mutual_information(sample, log_lags(1, size.length // 2), seed=seed, progress=progress)
    return Outcome((*_exact_claims(), *_measured_claims(curve)), (_chart(curve),))


def _exact_claims() -> list[Claim]:
    return [
        claim_near(
            "Repeated pairs with p = 0.9 share 0.2218 nats at every lag above one (Eq. 52, against the exact "
            "information of the hidden Markov source at lag 1,000).",
            float(SOURCE.information([1000])[0]),
            FOUR_DIGITS,
            paper=0.2218,
        ),
        claim_near(
            "At lag one they share 0.3906 nats: half of all neighbours belong to one pair and are never equal.",
            float(SOURCE.information([1])[0]),
            FOUR_DIGITS,
            corrected=0.3906,
        ),
    ]


def _measured_claims(curve: Curve) -> list[Claim]:
    gap = float(curve.corrected[0] - curve.corrected[1:].mean())
    # The mean of the other lags moves with lag one, so its own error adds at most as much again.
    error = float(curve.error[0] + curve.error[1:].max())
    return [
        claim_near(
            "Samples share 0.3906 nats at lag one.",
            float(curve.corrected[0]),
            float(ONE * curve.error[0]),
            corrected=float(SOURCE.information([1])[0]),
        ),
        claim_within_errors(
            f"Samples share what Eq. 52 says at every lag from 2 to {curve.lags[-1]:,}.",
            curve.corrected[1:],
            np.full(len(curve.lags) - 1, CONSTANT),
            curve.error[1:],
        ),
        claim_near(
            "Lag one shares 0.1688 nats more than the others.",
            gap,
            ONE * error,
            corrected=float(SOURCE.information([1])[0]) - CONSTANT,
        ),
        Claim(
            "The information does not fade: dependence is visible up to the largest lag that was measured.",
            None,
            None,
            float(curve.span.lag),
            None,
            curve.span.censored,
        ),
    ]


def _chart(curve: Curve) -> Chart:
    lags = curve.lags
    return Chart(
        name="lags",
        title="Repeated pairs, p = 0.9: one value for neighbours, another for all other distances",
        x_label="distance (symbols)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="linear",
        lines=(
            line(
                "measured, with two standard errors",
                lags,
                curve.corrected,
                band=(curve.corrected - 2 * curve.error, curve.corrected + 2 * curve.error),
                style="markers",
            ),
            line("exact", lags, SOURCE.information(lags), style="dashed"),
        ),
        caption="The pairs 01 and 10 in random order, 01 nine times out of ten. Neighbours share 0.39 nats; symbols at any "
        "greater distance share 0.22 nats, however far apart they are, as Eq. 52 says for lags above one.",
    )
