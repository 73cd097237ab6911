"""Shen 2019, section 4.1 and appendix A: what a linear RNN shares with its past falls exponentially."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.linear import LinearRNN, Start

HIDDEN, VISIBLE = 8, 3
RADII = (0.5, 0.98)
"""Spectral radii are drawn evenly between these."""
TAIL = (1e-14, 1e-6)
"""Nats between which the decay should be that of the slowest mode."""
SHOWN = 1e-4
"""Nats that data of ordinary size can still show."""
SEPARATE, MANY_LAGS, TURNS = 0.9, 50, 2
"""A line through the tail needs a second mode of at most this share of the first, lags, and whole oscillations."""
HARMONICS = np.array([1, 2])
"""Of the oscillation that a complex pair of slowest modes causes; these are fitted along with the line."""
GROUPS = 20
SLOW = 0.95
FIRST_LAG, CLEAR = 10, 8.0
"""The fit to samples begins where the faster modes (under 0.5) are gone and ends where it is not this many errors high."""
_SAMPLED_LAGS = np.array([1, 2, 3, 4, 5, 6, 8, *range(FIRST_LAG, 81, 2)])
GROWING = 1.05

_SIZES = {"smoke": (4, (200, 1_000)), "laptop": (50, (4_000, 2_000)), "paper": (200, (10_000, 2_000))}
"""Random networks whose tail is plain; documents and their length for the fit to samples."""
_FIT_TOLERANCE = {"smoke": 0.2, "laptop": 0.05, "paper": 0.05}
"""About five standard errors of the fitted length (4 % at smoke scale, 1 % and less at the others)."""


@final
@dataclass(frozen=True, eq=False)
class _Portrait:
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
        """Which lags belong to the tail."""
        return (self.information > TAIL[0]) & (self.information < TAIL[1])

    @cached_property
    def plain(self) -> bool:
        """Whether the tail holds what a fit of its slope needs; says nothing about what the fit will give."""
        first, second = self.modes[:2]
        lags = int(self.in_tail.sum())
        turns = lags * np.abs(np.angle(first ** (2 * HARMONICS))) / (2 * np.pi)
        oscillates = 0 < np.angle(first) < np.pi
        return bool(
            abs(second) <= SEPARATE * abs(first)
            and lags >= MANY_LAGS
            and (not oscillates or turns.min() >= TURNS)
        )

    @cached_property
    def tail(self) -> float:
        """The length fitted in the tail, over the predicted one."""
        lags, angle = self.lags[self.in_tail].astype(np.float64), np.angle(self.modes[0])
        waves = np.outer(2 * angle * HARMONICS, lags)
        oscillation = [*np.cos(waves), *np.sin(waves)] if 0 < angle < np.pi else []
        columns = np.column_stack([lags, np.ones_like(lags), *oscillation])
        slope = np.linalg.lstsq(columns, np.log(self.information[self.in_tail]), rcond=None)[0][0]
        return float(-1 / slope / self.network.correlation_length)

    @cached_property
    def shown(self) -> float | None:
        """The length fitted where data can show the information, over the predicted one; None: no falling line."""
        chosen = self.information > SHOWN
        if chosen.sum() < 3:
            return None
        slope = np.polyfit(self.lags[chosen], np.log(self.information[chosen]), 1)[0]
        return float(-1 / slope / self.network.correlation_length) if slope < 0 else None


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    networks, (documents, length) = _SIZES[scale]
    rng = np.random.default_rng([seed, 41])
    portraits: list[_Portrait] = []
    with progress.stage("exact information of random linear networks", networks) as stage:
        while networks > 0:
            portraits.append(_portrait(rng))
            networks -= portraits[-1].plain
            stage.advance(portraits[-1].plain)
    progress.say(f"drawing {documents:,} documents of {length:,} steps")
    sampled, error = sampled_information(scaled(SLOW).sample(documents, length, seed=rng), _SAMPLED_LAGS)
    claims = (
        *_exact_claims(portraits, rng),
        _fit_claim(sampled, error, _FIT_TOLERANCE[scale]),
        *_growth_claims(),
    )
    return Outcome(claims, (_tails_chart(portraits), _samples_chart(sampled, error)), _notes(portraits))


def _portrait(rng: np.random.Generator) -> _Portrait:
    network = LinearRNN.random(HIDDEN, VISIBLE, spectral_radius=rng.uniform(*RADII), seed=rng)
    lags = np.arange(1, int(40 * network.correlation_length) + 20)
    return _Portrait(network, lags, network.information(lags))


def scaled(spectral_radius: float) -> LinearRNN:
    """A network with one real slow mode, the others about half as large or less; all weights scaled alike."""
    W_h = np.array([[0.8, 0.3], [0.5, -0.4], [0.2, 0.6]])
    U_h = np.diag([0.9, 0.3, -0.3])
    U_o = np.array([[0.3, 0.4, 0.1], [-0.1, 0.3, 0.3]])
    scale = spectral_radius / LinearRNN(W_h, U_h, U_o).spectral_radius
    return LinearRNN(scale * W_h, scale * U_h, scale * U_o)


def sampled_information(
    samples: NDArray[np.float64], lags: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """I(tau) = -1/2 ln det(I - C C^T) with C the correlations of whitened samples, in nats, and its standard error.

    Samples are (documents, length, units). Plain estimates are too high by about d^2 / 2n for n independent pairs, and by
    more where neighbours are alike; leaving out one of twenty groups of documents at a time removes that.
    """
    groups = np.array_split(samples - samples.mean(axis=(0, 1)), GROUPS)
    values = np.array([_leaving_out(groups, int(lag)) for lag in np.atleast_1d(np.asarray(lags))])
    whole, without = values[:, 0], values[:, 1:]
    spread = without - without.mean(axis=1, keepdims=True)
    error = np.sqrt((GROUPS - 1) / GROUPS * (spread**2).sum(axis=1))
    return GROUPS * whole - (GROUPS - 1) * without.mean(axis=1), error


def _leaving_out(groups: list[NDArray[np.float64]], lag: int) -> list[float]:
    """Information from all groups, then from all but each one."""
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
    """Amplitude and length of an exponential, from `FIRST_LAG` on while the information stands clear of its error."""
    standing = np.logical_and.accumulate((information > CLEAR * error) | (_SAMPLED_LAGS < FIRST_LAG))
    use = standing & (_SAMPLED_LAGS >= FIRST_LAG)
    weights = information[use] / error[use]
    slope, intercept = np.polyfit(_SAMPLED_LAGS[use], np.log(information[use]), 1, w=weights)
    return float(np.exp(intercept)), float(-1 / slope)


def _exact_claims(portraits: list[_Portrait], rng: np.random.Generator) -> list[Claim]:
    plain = [portrait.tail for portrait in portraits if portrait.plain]
    shown = [portrait.shown for portrait in portraits]
    misled = float(np.mean([ratio is None or abs(ratio - 1) > 0.2 for ratio in shown]))
    return [
        claim_near(
            "Between 1e-14 and 1e-6 nats the exact information falls exponentially with the length -1 / (2 ln r), within "
            f"1 %, for all {len(plain)} of {len(portraits)} random networks whose second mode is at most {SEPARATE} of the "
            f"first and that take {MANY_LAGS} steps or more (and {TURNS} oscillations, if any) from end to end. (Measured: "
            "the fitted length over the predicted one, where it is furthest off.)",
            max(plain, key=lambda ratio: abs(ratio - 1)),
            0.01,
            corrected=1.0,
        ),
        Claim(
            "Over the lags that data can show (above 1e-4 nats) a fitted exponential has another length: off by more than "
            "20 % for at least a quarter of all networks. (Measured: their share.)",
            None,
            None,
            misled,
            None,
            misled >= 0.25,
        ),
        claim_near(
            "The determinant det(I - zA) = det(I - U_h z) det(I - U_o (I - U_h z)^-1 W_h z^2): the poles of the corrected "
            "Eq. 7 are the inverse eigenvalues of A. (Measured: the largest relative difference of the two sides.)",
            max(_determinants_differ(portrait.network, rng) for portrait in portraits),
            1e-10,
            corrected=0.0,
        ),
    ]


def _determinants_differ(network: LinearRNN, rng: np.random.Generator) -> float:
    z = np.exp(2j * np.pi * rng.random()) * rng.uniform(0.2, 2.0)
    hidden = np.eye(network.hidden) - z * network.U_h
    visible = np.eye(network.visible) - z**2 * network.U_o @ np.linalg.solve(hidden, network.W_h)
    left = np.linalg.det(np.eye(network.hidden + network.visible) - z * network.transition)
    return float(abs(np.linalg.det(hidden) * np.linalg.det(visible) / left - 1))


def _fit_claim(information: NDArray[np.float64], error: NDArray[np.float64], tolerance: float) -> Claim:
    network = scaled(SLOW)
    return claim_near(
        f"The length fitted to samples of a network with one slow mode of {SLOW} is -1 / (2 ln {SLOW}) = 9.748 steps, "
        f"within {tolerance:.0%}.",
        _fitted(information, error)[1],
        tolerance * network.correlation_length,
        corrected=network.correlation_length,
    )


def _from_rest(spectral_radius: float, lags: ArrayLike) -> NDArray[np.float64]:
    network = scaled(spectral_radius)
    return network.information(lags, start=Start.at_rest(network))


def _growth_claims() -> list[Claim]:
    early, late = _from_rest(1.0, [10_000, 100_000])
    forgotten = float(_from_rest(SLOW, [200])[0])
    return [
        claim_near(
            f"A network with the spectral radius {GROWING} remembers its initial condition: after 200 steps from rest it "
            f"still shares ln {GROWING} = 0.0488 nats with its first output.",
            float(_from_rest(GROWING, [200])[0]),
            1e-4,
            corrected=float(np.log(GROWING)),
        ),
        claim_near(
            "With the spectral radius 1 it forgets, but as a power law whose exponent is a whole number, here 1. (Measured "
            "between 10,000 and 100,000 steps.)",
            float(-np.log10(late / early)),
            0.01,
            paper=1.0,
        ),
        Claim(
            f"With {SLOW} hardly anything is left after 200 steps: less than 1e-8 nats.",
            None,
            None,
            forgotten,
            None,
            forgotten < 1e-8,
        ),
    ]


def _notes(portraits: list[_Portrait]) -> tuple[str, ...]:
    tails = np.array([portrait.tail for portrait in portraits])
    worst = tails[np.abs(tails - 1).argmax()]
    found = [portrait.shown for portrait in portraits]
    shown = np.array([ratio for ratio in found if ratio is not None])
    return (
        f"Without any choice {np.mean(np.abs(tails - 1) < 0.01):.0%} of {len(tails)} networks are within 1 % in the tail; "
        f"the worst fit gives {worst:.2g} times the predicted length: two modes decay almost alike, a slow oscillation "
        "looks like a slope, or the tail is over after a few steps.",
        f"Fits over the lags that data can show give {shown.min():.2f} to {shown.max():,.1f} times the length of the tail, "
        f"nine in ten between {np.quantile(shown, 0.05):.2f} and {np.quantile(shown, 0.95):.1f}; {len(found) - len(shown)} "
        f"of {len(found)} networks show no falling line.",
        "A complex pair of slowest modes makes the information oscillate around the exponential; in the tail the first "
        "two harmonics of that oscillation, whose frequency is known, are fitted along with the line.",
    )


def _tails_chart(portraits: list[_Portrait]) -> Chart:
    slow = sorted((portrait for portrait in portraits if portrait.plain), key=lambda one: one.network.rate)
    chosen = [slow[int(place)] for place in np.linspace(0, len(slow) - 1, 4).round()]
    lines = []
    for portrait in chosen:
        seen = (portrait.information > TAIL[0]) & (portrait.lags <= 400)
        lags, information = portrait.lags[seen], portrait.information[seen]
        length = portrait.network.correlation_length
        level = np.mean(np.log(information[-len(lags) // 3 :]) + lags[-len(lags) // 3 :] / length)
        lines.append(line(f"exact, r = {portrait.network.rate:.3f}", lags, information))
        lines.append(
            line(f"slope of the tail: xi = {length:.1f}", lags, np.exp(level - lags / length), style="dashed")
        )
    return Chart(
        name="tails",
        title="Information in linear recurrent networks falls exponentially in the end",
        x_label="distance tau (steps)",
        y_label="mutual information (nats)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption=f"Exact information between outputs of four random linear networks with {HIDDEN} hidden and {VISIBLE} "
        "visible units. Dashed: straight lines with the slope 2 ln r, r being the largest modulus of the eigenvalues. "
        "In the tail both run in parallel; complex eigenvalues add an oscillation; at small distances several modes matter.",
    )


def _samples_chart(information: NDArray[np.float64], error: NDArray[np.float64]) -> Chart:
    network = scaled(SLOW)
    amplitude, length = _fitted(information, error)
    return Chart(
        name="samples",
        title=f"A slow mode of {SLOW}: length {length:.2f} fitted to samples, {network.correlation_length:.2f} predicted",
        x_label="distance tau (steps)",
        y_label="mutual information (nats)",
        x_scale="linear",
        y_scale="log",
        lines=(
            line(
                "samples, with two standard errors",
                _SAMPLED_LAGS,
                information,
                band=(information - 2 * error, information + 2 * error),
                style="markers",
            ),
            line("exact", _SAMPLED_LAGS, network.information(_SAMPLED_LAGS)),
            line(
                "fitted exponential",
                _SAMPLED_LAGS,
                amplitude * np.exp(-_SAMPLED_LAGS / length),
                style="dashed",
            ),
        ),
        caption="Information estimated from simulated outputs of a linear network whose slowest mode shrinks by 0.95 a "
        "step. It agrees with the exact curve; an exponential fitted from distance 10 on, where the faster modes are gone, "
        "has the predicted length. At the largest distances sampling noise takes over.",
    )
