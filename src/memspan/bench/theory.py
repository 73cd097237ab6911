"""The benchmark `theory`: a phase diagram next to a loop over quadratures, sampled sums next to drawn matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from scipy import integrate, optimize, special

from memspan.bench.timing import cost_benchmark, race, run_all
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.theory import MinimalField, simulate

PUBLISHED = MinimalField(sigma_w=6.88, sigma_v=1.39, input_variance=0.46)


@final
@dataclass(frozen=True, kw_only=True)
class TheorySizes:
    """Sizes of the benchmark `theory`."""

    side: int = 200
    """The phase diagram has side x side points."""
    sampled: int = 24
    """Points of the diagram at which the peer is timed."""
    width: int = 8_192
    networks: int = 64
    steps: int = 10
    """Networks and steps of our simulation; the peer does one step of one network."""
    rounds: int = 3


FULL = TheorySizes()


def theory(progress: Progress = SILENT, sizes: TheorySizes = FULL) -> tuple[Benchmark, ...]:
    """On all cores, as in normal use."""
    work = (partial(diagram, sizes), partial(untied, sizes))
    return run_all("timing memspan next to the plain way", work, progress)


def diagram(sizes: TheorySizes) -> Benchmark:
    """The peer solves the fixed point and chi_1 by `scipy.integrate.quad`; it skips the correlation."""
    bias, sigma = np.linspace(-4, 8, sizes.side), np.linspace(0.5, 10, sizes.side)
    plane = MinimalField(sigma_w=sigma[:, None], sigma_v=1.39, bias_mean=bias, input_variance=0.46)
    # The cost of a quadrature varies over the plane, so the peer is timed at evenly spread points.
    chosen = np.linspace(0, sizes.side**2 - 1, sizes.sampled).astype(np.int64)
    pairs = [(float(sigma[i // sizes.side]), float(bias[i % sizes.side])) for i in chosen]
    ours, theirs = race(plane.fixed_point, lambda: [by_quadrature(*pair) for pair in pairs], sizes.rounds)
    return cost_benchmark(
        f"phase diagram of the minimal RNN, {sizes.side} x {sizes.side} points (the peer timed at {len(pairs)} of them)",
        "a loop over scipy.integrate.quad",
        ours,
        theirs * sizes.side**2 / len(pairs),
        "s",
    )


def by_quadrature(sigma_w: float, bias_mean: float, sigma_v: float = 1.39, R: float = 0.46) -> tuple[float, float]:
    """q and chi_1 of the minimal RNN, the usual way: `quad` inside a root finder.

    >>> q, chi1 = by_quadrature(6.88, 0.0)
    >>> round(q, 2), round(chi1, 4)
    (15.94, 0.9988)
    """

    def expected(function: Callable[[float], float], q: float) -> float:
        def integrand(z: float) -> float:
            return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * function(special.expit(np.sqrt(q) * z + bias_mean))

        # Beyond nine standard deviations the Gaussian weight is below 1e-17.
        return integrate.quad(integrand, -9, 9, limit=200)[0]

    def moments(Q: float) -> tuple[float, float, float]:
        q = sigma_w**2 * Q + sigma_v**2 * R
        return q, expected(lambda u: u**2, q), expected(lambda u: (1 - u) ** 2, q)

    def excess(Q: float) -> float:
        _, retained, updated = moments(Q)
        return Q * retained + R * updated - Q

    # A state is a weighted mean of inputs, so its variance lies between 0 and that of the inputs.
    Q = optimize.root_scalar(excess, bracket=(0.0, R), xtol=1e-12).root
    q, retained, _ = moments(Q)
    return q, retained + sigma_w**2 * (Q + R) * expected(lambda u: (u * (1 - u)) ** 2, q)


def untied(sizes: TheorySizes) -> Benchmark:
    """Per step of one network: sums drawn from their distribution, next to newly drawn matrices."""
    network, variance = PUBLISHED.network(), float(PUBLISHED.fixed_point().Q)

    def run(networks: int, steps: int, *, matrices: bool) -> None:
        simulate(
            network,
            width=sizes.width,
            steps=steps,
            networks=networks,
            input_correlation=0.5,
            initial_variance=variance,
            matrices=matrices,
        )

    ours, theirs = race(
        lambda: run(sizes.networks, sizes.steps, matrices=False), lambda: run(1, 1, matrices=True), sizes.rounds
    )
    return cost_benchmark(
        f"one step of an untied network of width {sizes.width:,}",
        "drawing the matrices",
        1e3 * ours / (sizes.networks * sizes.steps),
        1e3 * theirs,
        "ms",
    )
