"""Linear recurrent networks: information falls exponentially, at the rate of the slowest mode; their covariances.

Shen 2019, section 4.1 and appendix A, and erratum 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, information_chart, points
from memspan.reproductions.claims import claim, deviation
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, line
from memspan.theory.linear import LinearRNN, Start
from memspan.theory.linear.chain import covariance_corrected, covariance_printed

# --- Decay of the information

HIDDEN, VISIBLE = 8, 3
# Spectral radii are drawn uniformly between these.
RADII = (0.5, 0.98)
# The tail, in nats: there the decay should be that of the slowest mode.
TAIL = (1e-14, 1e-6)
# The smallest information, in nats, that is visible in data of ordinary size.
SHOWN = 1e-4
# A fit to the tail needs a second mode of at most this fraction of the first, this many lags, and oscillations.
SEPARATE, MANY_LAGS, TURNS = 0.9, 50, 2
# Of the oscillation that a complex pair of slowest modes causes; they are fitted along with the line.
HARMONICS = np.array([1, 2])
# Groups of the jackknife.
GROUPS = 20
SLOW = 0.95
# The fit to samples begins where the faster modes (below 0.5) have decayed, 0.5^10 = 1e-3, and ends where the
# information is less than 8 standard errors.
FIRST_LAG, CLEAR = 10, 8.0
SAMPLED_LAGS = np.array([1, 2, 3, 4, 5, 6, 8, *range(FIRST_LAG, 81, 2)])
GROWING = 1.05


def decay(*, networks: int, documents: int, length: int, tolerance: float, seed: int, progress: Progress) -> Outcome:
    """Exact information of random networks, `networks` of them with a plain tail, and a fit to samples of one network.

    `tolerance` is about five relative standard errors of the length fitted to the samples.
    """
    rng = np.random.default_rng([seed, 41])
    exact: list[ExactInformation] = []
    with progress.stage("exact information of random linear networks", networks) as stage:
        while networks > 0:
            exact.append(_random_network(rng))
            networks -= exact[-1].plain
            stage.advance(exact[-1].plain)
    progress.say(f"drawing {documents:,} documents of {length:,} steps")
    sampled, error = sampled_information(scaled(SLOW).sample(documents, length, seed=rng), SAMPLED_LAGS)
    claims = (*_exact_claims(exact, rng), _fit_claim(sampled, error, tolerance), *_growth_claims())
    return Outcome(claims, (_tails_chart(exact), _samples_chart(sampled, error)), _decay_notes(exact))


@final
@dataclass(frozen=True, eq=False)
class ExactInformation:
    """One random network and its exact information."""

    network: LinearRNN
    lags: NDArray[np.int64]
    information: NDArray[np.float64]

    @cached_property
    def modes(self) -> NDArray[np.complex128]:
        """Eigenvalues of A, the slowest first; of a complex pair the one above the real axis."""
        values = np.linalg.eigvals(self.network.transition).astype(np.complex128)
        values = values[values.imag >= 0]
        return values[np.argsort(-np.abs(values))]

    @cached_property
    def in_tail(self) -> NDArray[np.bool_]:
        """The lags of the tail."""
        return (self.information > TAIL[0]) & (self.information < TAIL[1])

    @cached_property
    def plain(self) -> bool:
        """Whether the tail suffices to fit its slope; independent of what the fit gives."""
        first, second = self.modes[:2]
        lags = int(self.in_tail.sum())
        turns = lags * np.abs(np.angle(first ** (2 * HARMONICS))) / (2 * np.pi)
        oscillates = 0 < np.angle(first) < np.pi
        return bool(
            abs(second) <= SEPARATE * abs(first) and lags >= MANY_LAGS and (not oscillates or turns.min() >= TURNS)
        )

    @cached_property
    def tail(self) -> float:
        """The length fitted in the tail / the predicted length."""
        lags, angle = self.lags[self.in_tail].astype(np.float64), np.angle(self.modes[0])
        # The information is quadratic in the covariance, so it oscillates at twice the angle of the mode.
        waves = np.outer(2 * angle * HARMONICS, lags)
        oscillation = [*np.cos(waves), *np.sin(waves)] if 0 < angle < np.pi else []
        columns = np.column_stack([lags, np.ones_like(lags), *oscillation])
        slope = np.linalg.lstsq(columns, np.log(self.information[self.in_tail]), rcond=None)[0][0]
        return float(-1 / slope / self.network.correlation_length)

    @cached_property
    def shown(self) -> float | None:
        """The length fitted to the visible part / the predicted length; None if no falling line fits."""
        chosen = self.information > SHOWN
        if chosen.sum() < 3:
            return None
        slope = np.polyfit(self.lags[chosen], np.log(self.information[chosen]), 1)[0]
        return float(-1 / slope / self.network.correlation_length) if slope < 0 else None


def _random_network(rng: np.random.Generator) -> ExactInformation:
    network = LinearRNN.random(HIDDEN, VISIBLE, spectral_radius=rng.uniform(*RADII), seed=rng)
    # exp(-40) = 4e-18 is beyond the end of the tail, for every correlation length.
    lags = np.arange(1, int(40 * network.correlation_length) + 20)
    return ExactInformation(network, lags, network.information(lags))


def scaled(spectral_radius: float) -> LinearRNN:
    """A network with one real slow mode, all others at most about half as large."""
    W_h = np.array([[0.8, 0.3], [0.5, -0.4], [0.2, 0.6]])
    U_h = np.diag([0.9, 0.3, -0.3])
    U_o = np.array([[0.3, 0.4, 0.1], [-0.1, 0.3, 0.3]])
    scale = spectral_radius / LinearRNN(W_h, U_h, U_o).spectral_radius
    return LinearRNN(scale * W_h, scale * U_h, scale * U_o)


def sampled_information(
    samples: NDArray[np.float64], lags: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """I(tau) = -1/2 ln det(I - C C^T) with C the correlations of whitened samples, in nats, and its standard error.

    Samples have the shape (documents, length, units). Plug-in estimates are biased upward by about d^2 / 2n for n
    independent pairs, and by more if neighbors are correlated; the jackknife over groups of documents removes this bias.
    """
    groups = np.array_split(samples - samples.mean(axis=(0, 1)), GROUPS)
    values = np.array([_leaving_out(groups, int(lag)) for lag in np.atleast_1d(np.asarray(lags))])
    whole, without = values[:, 0], values[:, 1:]
    spread = without - without.mean(axis=1, keepdims=True)
    error = np.sqrt((GROUPS - 1) / GROUPS * (spread**2).sum(axis=1))
    return GROUPS * whole - (GROUPS - 1) * without.mean(axis=1), error


def _leaving_out(groups: list[NDArray[np.float64]], lag: int) -> list[float]:
    """Information from all groups, then with each group left out."""
    moments = np.array([_moments(group[:, :-lag], group[:, lag:]) for group in groups])
    return [_gaussian_information(total) for total in (moments.sum(axis=0), *(moments.sum(axis=0) - moments))]


def _moments(earlier: NDArray[np.float64], later: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    first, second = (part.reshape(-1, part.shape[-1]) for part in (earlier, later))
    return [first.T @ first, second.T @ second, first.T @ second]


def _gaussian_information(moments: NDArray[np.float64]) -> float:
    earlier, later = np.linalg.cholesky(moments[:2])
    correlation = np.linalg.solve(later, np.linalg.solve(earlier, moments[2]).T)
    return float(-0.5 * np.log1p(-(np.linalg.svd(correlation, compute_uv=False) ** 2)).sum())


def _fitted(information: NDArray[np.float64], error: NDArray[np.float64]) -> tuple[float, float]:
    """Amplitude and length of an exponential, from `FIRST_LAG` on while the information is clear of its error."""
    clear = np.logical_and.accumulate((information > CLEAR * error) | (SAMPLED_LAGS < FIRST_LAG))
    use = clear & (SAMPLED_LAGS >= FIRST_LAG)
    # The standard error of a logarithm is error / information.
    weights = information[use] / error[use]
    slope, intercept = np.polyfit(SAMPLED_LAGS[use], np.log(information[use]), 1, w=weights)
    return float(np.exp(intercept)), float(-1 / slope)


def _exact_claims(exact: list[ExactInformation], rng: np.random.Generator) -> list[Claim]:
    plain = [each.tail for each in exact if each.plain]
    shown = [each.shown for each in exact]
    misled = float(np.mean([ratio is None or abs(ratio - 1) > 0.2 for ratio in shown]))
    return [
        claim(
            "Between 1e-14 and 1e-6 nats the exact information falls exponentially with the length -1 / (2 ln r), within "
            f"1 %, for all {len(plain)} of {len(exact)} random networks whose second mode is at most {SEPARATE} of the "
            f"first and whose tail has at least {MANY_LAGS} lags (and {TURNS} oscillations, if any). (Measured: "
            "the fitted length / the predicted one, where it deviates most.)"
        ).near(max(plain, key=lambda ratio: abs(ratio - 1)), 0.01, corrected=1.0),
        claim(
            "Over the lags that are visible in data (above 1e-4 nats) a fitted exponential has a different length: off by "
            "more than 20 % for at least a quarter of all networks.",
            measure="their fraction",
        ).holds_if(misled, misled >= 0.25),
        claim(
            "The determinant det(I - zA) = det(I - U_h z) det(I - U_o (I - U_h z)^-1 W_h z^2): the poles of the corrected "
            "Eq. 7 are the inverse eigenvalues of A. (Measured: the largest relative difference of the two sides.)"
        ).near(max(_determinant_difference(each.network, rng) for each in exact), 1e-10, corrected=0.0),
    ]


def _determinant_difference(network: LinearRNN, rng: np.random.Generator) -> float:
    z = np.exp(2j * np.pi * rng.random()) * rng.uniform(0.2, 2.0)
    hidden = np.eye(network.hidden) - z * network.U_h
    visible = np.eye(network.visible) - z**2 * network.U_o @ np.linalg.solve(hidden, network.W_h)
    left = np.linalg.det(np.eye(network.hidden + network.visible) - z * network.transition)
    return float(abs(np.linalg.det(hidden) * np.linalg.det(visible) / left - 1))


def _fit_claim(information: NDArray[np.float64], error: NDArray[np.float64], tolerance: float) -> Claim:
    network = scaled(SLOW)
    return claim(
        f"The length fitted to samples of a network with one slow mode of {SLOW} is -1 / (2 ln {SLOW}) = 9.748 steps, "
        f"within {tolerance:.0%}."
    ).near(_fitted(information, error)[1], tolerance * network.correlation_length, corrected=network.correlation_length)


def _from_rest(spectral_radius: float, lags: ArrayLike) -> NDArray[np.float64]:
    network = scaled(spectral_radius)
    return network.information(lags, start=Start.at_rest(network))


def _growth_claims() -> list[Claim]:
    early, late = _from_rest(1.0, [10_000, 100_000])
    forgotten = float(_from_rest(SLOW, [200])[0])
    return [
        claim(
            f"A network with the spectral radius {GROWING} remembers its initial condition: after 200 steps from rest it "
            f"still shares ln {GROWING} = 0.0488 nats with its first output."
        ).near(_from_rest(GROWING, [200])[0], 1e-4, corrected=np.log(GROWING)),
        claim(
            "With the spectral radius 1 it forgets, but as a power law with an integer exponent, here 1. (Measured "
            "between 10,000 and 100,000 steps.)"
        ).near(-np.log10(late / early), 0.01, paper=1.0),
        claim(f"With {SLOW} hardly anything is left after 200 steps: less than 1e-8 nats.").below(forgotten, 1e-8),
    ]


def _decay_notes(exact: list[ExactInformation]) -> tuple[str, ...]:
    tails = np.array([each.tail for each in exact])
    worst = tails[np.abs(tails - 1).argmax()]
    found = [each.shown for each in exact]
    shown = np.array([ratio for ratio in found if ratio is not None])
    return (
        f"Without selection, {np.mean(np.abs(tails - 1) < 0.01):.0%} of {len(tails)} networks are within 1 % in the tail; "
        f"the worst fit gives {worst:.2g} times the predicted length, because two modes decay almost equally fast, a slow "
        "oscillation looks like a slope, or the tail is over after a few steps.",
        f"Fits over the visible lags give {shown.min():.2f} to {shown.max():,.1f} times the length of the tail, "
        f"nine in ten between {np.quantile(shown, 0.05):.2f} and {np.quantile(shown, 0.95):.1f}; {len(found) - len(shown)} "
        f"of {len(found)} networks show no falling line.",
        "A complex pair of slowest modes makes the information oscillate around the exponential; in the tail the first "
        "two harmonics of that oscillation, whose frequency is known, are fitted along with the line.",
    )


def _tails_chart(exact: list[ExactInformation]) -> Chart:
    slow = sorted((each for each in exact if each.plain), key=lambda one: one.network.rate)
    chosen = [slow[int(place)] for place in np.linspace(0, len(slow) - 1, 4).round()]
    lines = []
    for each in chosen:
        seen = (each.information > TAIL[0]) & (each.lags <= 400)
        lags, information = each.lags[seen], each.information[seen]
        length = each.network.correlation_length
        level = np.mean(np.log(information[-len(lags) // 3 :]) + lags[-len(lags) // 3 :] / length)
        lines.append(line(f"exact, r = {each.network.rate:.3f}", lags, information))
        lines.append(dashed(f"slope of the tail: xi = {length:.1f}", lags, np.exp(level - lags / length)))
    return information_chart(
        "tails",
        "Information in linear recurrent networks eventually falls exponentially",
        "steps",
        lines,
        f"Exact information between outputs of four random linear networks with {HIDDEN} hidden and {VISIBLE} visible "
        "units. Dashed: straight lines with the slope 2 ln r, where r is the largest modulus of the eigenvalues. In the "
        "tail both are parallel; complex eigenvalues add an oscillation; at small lags several modes matter.",
        log="y",
    )


def _samples_chart(information: NDArray[np.float64], error: NDArray[np.float64]) -> Chart:
    network = scaled(SLOW)
    amplitude, length = _fitted(information, error)
    return information_chart(
        "samples",
        f"A slow mode of {SLOW}: length {length:.2f} fitted to samples, {network.correlation_length:.2f} predicted",
        "steps",
        [
            points("samples, with two standard errors", SAMPLED_LAGS, information, error),
            line("exact", SAMPLED_LAGS, network.information(SAMPLED_LAGS)),
            dashed("fitted exponential", SAMPLED_LAGS, amplitude * np.exp(-SAMPLED_LAGS / length)),
        ],
        "Information estimated from simulated outputs of a linear network whose slowest mode shrinks by 0.95 per step. It "
        "agrees with the exact curve; an exponential fitted from lag 10 on, where the faster modes have decayed, has the "
        "predicted length. At the largest lags sampling noise dominates.",
        log="y",
    )


# --- Erratum 1: the covariances

SMALL_HIDDEN, SMALL_VISIBLE, RADIUS = 4, 2, 0.9
# The largest lag of the figure; simulated chains are this long.
LAST = 12
# Few lags, because the largest of very many deviations would be large by chance.
COMPARED = np.array([1, 2, 5, 10])
# 320 independent deviations of 20 networks all stay within 4 standard errors in 98 of 100 runs.
ALLOWED_ERRORS = 4.0
# The printed form must fail by far more standard errors than chance could explain.
CLEAR_ERRORS = 10.0
ROUNDING = 1e-12


def covariances(*, networks: int, chains: int, seed: int, progress: Progress) -> Outcome:
    """Erratum 1: Eq. 5-7, 12, 15-16, 19, 21-23, 26 and 30-36 have one factor U_h too many; simulate `chains` per network."""
    cases = [
        covariance_case(chains, np.random.default_rng([seed, 1, number]))
        for number in tracked(range(networks), progress, "simulating linear networks")
    ]
    return Outcome(_covariance_claims(cases, chains), (_covariance_chart(cases[0], chains),), _covariance_notes(cases))


@final
@dataclass(frozen=True, eq=False)
class CovarianceCase:
    """One network: cov(x_tau, x_0) at every lag from 0 to `LAST`, in four ways; each of shape (lags, d, d)."""

    network: LinearRNN
    simulated: NDArray[np.float64]
    error: NDArray[np.float64]
    exact: NDArray[np.float64]
    corrected: NDArray[np.float64]
    printed: NDArray[np.float64]

    def deviation(self, formula: NDArray[np.float64]) -> float:
        """The largest deviation of the simulation from a formula at the compared lags, in standard errors."""
        return deviation(self.simulated[COMPARED], formula[COMPARED], self.error[COMPARED])

    @property
    def printed_rate(self) -> float:
        """The decay that the poles of the printed Eq. 7 imply: the spectral radius of A with U_h W_h for W_h."""
        network = self.network
        return LinearRNN(network.U_h @ network.W_h, network.U_h, network.U_o).spectral_radius


def covariance_case(chains: int, rng: np.random.Generator) -> CovarianceCase:
    """Simulate `chains` chains of a random network and evaluate the formulas for it."""
    network = LinearRNN.random(SMALL_HIDDEN, SMALL_VISIBLE, spectral_radius=RADIUS, seed=rng)
    start, lags = Start(network.stationary_covariance()), np.arange(LAST + 1)
    exact = network.covariances(lags)
    samples = network.sample(chains, LAST + 1, seed=rng)
    simulated = np.einsum("cti,cj->tij", samples, samples[:, 0], optimize=True) / chains
    variance = np.diag(exact[0])
    # The mean is known to be zero, so products are averaged: var(x_i x_j) = S_ii S_jj + S_ij^2.
    error = np.sqrt((np.outer(variance, variance) + exact**2) / chains)
    formulas = (formula(network, start, lags) for formula in (covariance_corrected, covariance_printed))
    return CovarianceCase(network, simulated, error, exact, *formulas)


def _covariance_claims(cases: list[CovarianceCase], chains: int) -> tuple[Claim, ...]:
    entries = len(cases) * len(COMPARED) * SMALL_VISIBLE**2
    difference = max(np.abs(case.exact - case.corrected).max() / np.abs(case.exact).max() for case in cases)
    lengths = [abs(np.log(RADIUS) / np.log(case.printed_rate) - 1) for case in cases]
    return (
        claim(
            f"The corrected covariances agree with {chains:,} simulated chains: of {entries} entries of {len(cases)} "
            "random networks none is off by more than four standard errors. (Measured: the largest deviation.)"
        ).near(max(case.deviation(case.exact) for case in cases), ALLOWED_ERRORS, corrected=0.0),
        claim(
            f"The printed covariances (Eq. 6 and 21) fail for every network, by more than {CLEAR_ERRORS:g} standard errors.",
            measure="the largest deviation of the network where they do best",
        ).above(min(case.deviation(case.printed) for case in cases), CLEAR_ERRORS),
        claim(
            "The lower right block of A^tau P is what the corrected sums give. (Measured: the largest difference, "
            "relative to the variance.)"
        ).near(difference, ROUNDING, corrected=0.0),
        claim(
            "The printed poles (Eq. 7 and 35) give a different correlation length, off by more than a quarter for most "
            "networks.",
            measure="the median of |printed / true - 1|",
        ).above(np.median(lengths), 0.25),
    )


def _covariance_notes(cases: list[CovarianceCase]) -> tuple[str, ...]:
    wrong = [float(np.abs(case.printed - case.simulated)[COMPARED].max()) for case in cases]
    right = max(float(np.abs(case.exact - case.simulated)[COMPARED].max()) for case in cases)
    growing = sum(case.printed_rate >= 1 for case in cases)
    return (
        f"The corrected form is off by at most {right:.2g}, which is sampling noise; the printed one by "
        f"{min(wrong):.2g} to {max(wrong):.2g}, with a median of {np.median(wrong):.2g}.",
        f"For {growing} of {len(cases)} networks the printed form even grows with the lag, although every network "
        f"is stable (spectral radius {RADIUS}).",
        "The largest of many deviations exceeds four standard errors in about 2 of 100 runs with 320 entries, by chance.",
    )


def _covariance_chart(case: CovarianceCase, chains: int) -> Chart:
    lags = np.arange(LAST + 1)
    i, j = np.unravel_index(np.abs(case.printed - case.exact).max(axis=0).argmax(), (SMALL_VISIBLE, SMALL_VISIBLE))
    return chart(
        "covariance",
        "Covariances of a linear network: one factor less than printed",
        "lag tau (steps)",
        f"covariance of x_{i + 1}(tau) and x_{j + 1}(0)",
        [
            dashed("corrected", lags, case.exact[:, i, j]),
            line("printed (Eq. 6 and 21)", lags, case.printed[:, i, j]),
            points("simulated, with two standard errors", lags, case.simulated[:, i, j], case.error[:, i, j]),
        ],
        f"A random linear recurrent network with {SMALL_HIDDEN} hidden and {SMALL_VISIBLE} visible units. Covariances of "
        f"{chains:,} simulated chains (their errors are smaller than the markers) lie on the corrected formula and not on "
        "the printed one, which applies the recurrent weights U_h once too often.",
    )
