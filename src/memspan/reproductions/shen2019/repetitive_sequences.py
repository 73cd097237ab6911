"""Shen 2019, Fig. 4: the information that repeated pairs keep at every distance, as a function of p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import ONE, claim_within_errors
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Curve, claim_near, line
from memspan.results.curve import SIGNIFICANCE
from memspan.sequences.sources import HiddenMarkov, repeated_pair_information

LAGS = np.array([1, 2, 3, 10, 50, 101])
"""Lag one, then short and long, even and odd ones."""
FAR_LAGS = np.array([2, 3, 4, 5, 10, 100, 101, 1000, 100_001])
ROUNDING = 1e-12
"""Nats by which two exact computations may differ."""


@final
@dataclass(frozen=True)
class _Size:
    probabilities: tuple[float, ...]
    documents: int
    length: int


_GRID = tuple(round(0.05 * k, 2) for k in range(1, 20))
_SIZES = {
    "smoke": _Size((0.1, 0.3, 0.5, 0.9), 200, 500),
    "laptop": _Size(_GRID, 2_000, 1_000),
    "paper": _Size(_GRID, 10_000, 1_000),
}


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    curves: dict[float, Curve] = {}
    with progress.stage("measuring repeated pairs", len(size.probabilities)) as stage:
        for number, p in enumerate(size.probabilities):
            generator = np.random.default_rng([seed, number])
            sample = HiddenMarkov.periodic_pairs(p).sample(size.documents, size.length, seed=generator)
            curves[p] = mutual_information(sample, LAGS, seed=seed)
            stage.advance()
    return Outcome((*_exact_claims(), *_measured_claims(curves)), (_chart(curves),))


def _exact_claims() -> list[Claim]:
    apart = [
        np.abs(HiddenMarkov.periodic_pairs(p).information(FAR_LAGS) - repeated_pair_information(p)).max()
        for p in _GRID
    ]
    steps = np.diff(repeated_pair_information(np.linspace(0.5, 1.0, 51)))
    return [
        claim_near(
            "Eq. 52 is the exact information of repeated pairs at lags 2 to 100,001, even and odd: it is the same at "
            "every distance above one. (Measured: the largest difference over p = 0.05 … 0.95, in nats.)",
            float(np.max(apart)),
            ROUNDING,
            paper=0.0,
        ),
        Claim(
            "The constant of Eq. 52 is zero at p = 1/2 only and rises with every step of 0.01 away from it, to ln 2. "
            "(Measured: the value at p = 1; the smallest rise must be above zero.)",
            None,
            float(np.log(2.0)),
            float(repeated_pair_information(1.0)),
            ROUNDING,
            bool(steps.min() > 0 and abs(repeated_pair_information(1.0) - np.log(2.0)) < ROUNDING),
        ),
    ]


def _measured_claims(curves: dict[float, Curve]) -> list[Claim]:
    fair, biased = curves[0.5], [p for p in curves if p != 0.5]
    corrected, error = (
        np.array([getattr(curves[p], name) for p in biased]) for name in ("corrected", "error")
    )
    exact = np.array([HiddenMarkov.periodic_pairs(p).information(LAGS) for p in biased])
    constant = repeated_pair_information(biased)[:, None]
    least = float(np.min(fair.p_value[1:]) * (len(LAGS) - 1))
    nine = curves[0.9]
    return [
        claim_within_errors(
            f"Samples of repeated pairs share what Eq. 52 says, at lags {_listed(LAGS[1:])} and for every p.",
            corrected[:, 1:],
            np.broadcast_to(constant, corrected[:, 1:].shape),
            error[:, 1:],
        ),
        claim_within_errors(
            "At lag one samples share what the hidden Markov source says, which is more than Eq. 52.",
            corrected[:, 0],
            exact[:, 0],
            error[:, 0],
        ),
        claim_near(
            "Lag one is different: at p = 0.9 it shares 0.3906 nats, where Eq. 52 gives 0.2218 for all others.",
            float(nine.corrected[0]),
            float(ONE * nine.error[0]),
            corrected=float(HiddenMarkov.periodic_pairs(0.9).information([1])[0]),
        ),
        Claim(
            "At p = 1/2 nothing is shared beyond lag one. (Measured: the smallest p-value of those lags times their "
            "number; nothing is seen unless it is below 0.001.)",
            None,
            None,
            least,
            None,
            least >= SIGNIFICANCE,
        ),
    ]


def _listed(lags: NDArray[np.int64]) -> str:
    return ", ".join(map(str, lags.tolist()[:-1])) + f" and {lags[-1]}"


def _chart(curves: dict[float, Curve]) -> Chart:
    fine = np.linspace(0.01, 0.99, 99)
    p = list(curves)
    far, error = (np.array([getattr(curves[q], name)[-1] for q in p]) for name in ("corrected", "error"))
    near = [float(HiddenMarkov.periodic_pairs(q).information([1])[0]) for q in fine]
    return Chart(
        name="constant",
        title="Repeated pairs: the information that never fades",
        x_label="p, the probability of the pair 01 (the pair 10 has 1 - p)",
        y_label="mutual information (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("Eq. 52: every lag above one", fine, repeated_pair_information(fine)),
            line(
                f"measured at lag {LAGS[-1]}, with two standard errors",
                p,
                far,
                band=(far - 2 * error, far + 2 * error),
                style="markers",
            ),
            line("exact at lag one", fine, near, style="dashed"),
        ),
        caption="A sequence of the pairs 01 and 10 in random order. However far apart two symbols are, they share the same "
        "information (solid), because each tells at which place of its pair one looks. Only neighbours, which may belong "
        "to one pair, share more (dashed). The memory of the source is one pair long all the same.",
    )
