"""Erratum 1: the covariances of a linear RNN carry one factor U_h too many in Eq. 5-7, 12, 15-16, 19, 21-23, 26, 30-36."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.claims import deviation
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.linear import LinearRNN, Start
from memspan.theory.linear_recursion import covariance_corrected, covariance_printed

HIDDEN, VISIBLE, RADIUS = 4, 2, 0.9
LAST = 12
"""The largest lag of the figure; chains are this long."""
COMPARED = np.array([1, 2, 5, 10])
"""Few lags, because the largest of very many deviations would be large by chance alone."""
ERRORS = 4.0
"""Standard errors allowed: 320 independent deviations of 20 networks all stay within them in 98 of 100 runs."""
CLEARLY = 10.0
"""Standard errors by which the printed form must fail, far more than chance could explain."""
ROUNDING = 1e-12

_SIZES = {"smoke": (4, 40_000), "laptop": (20, 400_000), "paper": (40, 1_000_000)}
"""Networks, and simulated chains of each."""


@final
@dataclass(frozen=True, eq=False)
class _Case:
    """One network: cov(x_tau, x_0) at every lag from 0 to `LAST`, four times; each of shape (lags, d, d)."""

    network: LinearRNN
    simulated: NDArray[np.float64]
    error: NDArray[np.float64]
    exact: NDArray[np.float64]
    corrected: NDArray[np.float64]
    printed: NDArray[np.float64]

    def misses(self, formula: NDArray[np.float64]) -> float:
        """The largest deviation of the simulation from a formula at the compared lags, in standard errors."""
        return deviation(self.simulated[COMPARED], formula[COMPARED], self.error[COMPARED])

    @property
    def printed_rate(self) -> float:
        """The decay that the poles of the printed Eq. 7 imply: the spectral radius of A with U_h W_h for W_h."""
        network = self.network
        return LinearRNN(network.U_h @ network.W_h, network.U_h, network.U_o).spectral_radius


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    networks, chains = _SIZES[scale]
    cases: list[_Case] = []
    with progress.stage("simulating linear networks", networks) as stage:
        for number in range(networks):
            cases.append(_case(chains, np.random.default_rng([seed, 1, number])))
            stage.advance()
    return Outcome(_claims(cases, chains), (_chart(cases[0], chains),), _notes(cases))


def _case(chains: int, rng: np.random.Generator) -> _Case:
    network = LinearRNN.random(HIDDEN, VISIBLE, spectral_radius=RADIUS, seed=rng)
    start, lags = Start(network.stationary_covariance()), np.arange(LAST + 1)
    exact = network.covariances(lags)
    samples = network.sample(chains, LAST + 1, seed=rng)
    simulated = np.einsum("cti,cj->tij", samples, samples[:, 0], optimize=True) / chains
    variance = np.diag(exact[0])
    # The mean is known to be zero, so products are averaged: var(x_i x_j) = S_ii S_jj + S_ij^2.
    error = np.sqrt((np.outer(variance, variance) + exact**2) / chains)
    formulas = (formula(network, start, lags) for formula in (covariance_corrected, covariance_printed))
    return _Case(network, simulated, error, exact, *formulas)


def _claims(cases: list[_Case], chains: int) -> tuple[Claim, ...]:
    entries = len(cases) * len(COMPARED) * VISIBLE**2
    slightest = min(case.misses(case.printed) for case in cases)
    difference = max(np.abs(case.exact - case.corrected).max() / np.abs(case.exact).max() for case in cases)
    lengths = [abs(np.log(RADIUS) / np.log(case.printed_rate) - 1) for case in cases]
    return (
        claim_near(
            f"The corrected covariances agree with {chains:,} simulated chains: of {entries} entries of {len(cases)} "
            "random networks none is off by more than four standard errors. (Measured: the largest deviation.)",
            max(case.misses(case.exact) for case in cases),
            ERRORS,
            corrected=0.0,
        ),
        Claim(
            f"The printed covariances (Eq. 6 and 21) fail for every network, by more than {CLEARLY:g} standard errors. "
            "(Measured: the largest deviation of the network where they do best.)",
            None,
            None,
            slightest,
            None,
            slightest > CLEARLY,
        ),
        claim_near(
            "The lower right block of A^tau P is what the corrected sums give. (Measured: the largest difference, "
            "relative to the variance.)",
            float(difference),
            ROUNDING,
            corrected=0.0,
        ),
        Claim(
            "The printed poles (Eq. 7 and 35) give another correlation length, off by more than a quarter for most "
            "networks. (Measured: the median of |printed / true - 1|.)",
            None,
            None,
            float(np.median(lengths)),
            None,
            bool(np.median(lengths) > 0.25),
        ),
    )


def _notes(cases: list[_Case]) -> tuple[str, ...]:
    wrong = [float(np.abs(case.printed - case.simulated)[COMPARED].max()) for case in cases]
    right = max(float(np.abs(case.exact - case.simulated)[COMPARED].max()) for case in cases)
    growing = sum(case.printed_rate >= 1 for case in cases)
    return (
        f"The corrected form is off by at most {right:.2g}, which is sampling noise; the printed one by "
        f"{min(wrong):.2g} to {max(wrong):.2g}, with {np.median(wrong):.2g} in the middle.",
        f"For {growing} of {len(cases)} networks the printed form even grows with the lag, although every network "
        f"forgets (spectral radius {RADIUS}).",
        "The largest of many deviations exceeds four standard errors in about 2 of 100 runs with 320 entries, by chance.",
    )


def _chart(case: _Case, chains: int) -> Chart:
    lags = np.arange(LAST + 1)
    i, j = np.unravel_index(np.abs(case.printed - case.exact).max(axis=0).argmax(), (VISIBLE, VISIBLE))
    found, error = case.simulated[:, i, j], case.error[:, i, j]
    return Chart(
        name="covariance",
        title="Covariances of a linear network: one factor less than printed",
        x_label="distance tau (steps)",
        y_label=f"covariance of x_{i + 1}(tau) and x_{j + 1}(0)",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("corrected", lags, case.exact[:, i, j], style="dashed"),
            line("printed (Eq. 6 and 21)", lags, case.printed[:, i, j]),
            line(
                "simulated, with two standard errors",
                lags,
                found,
                band=(found - 2 * error, found + 2 * error),
                style="markers",
            ),
        ),
        caption=f"A random linear recurrent network with {HIDDEN} hidden and {VISIBLE} visible units. Covariances of "
        f"{chains:,} simulated chains (their errors are smaller than the markers) lie on the corrected "
        "formula and not on the printed one, which applies the recurrent weights U_h once too often.",
    )
