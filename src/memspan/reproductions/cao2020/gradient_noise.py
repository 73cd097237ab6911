"""Cao and Xu 2020, Fig. 3: how much noisier policy gradients are than weighted segments of the text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

ALMOST_ALL, SIGNIFICANT = 0.95, 0.25
"""Shares of the parameters: "almost all", and "a significant portion"."""
AVERAGE = 1e4
"""How many times the variance is that of IW-RAML on average, as printed."""
PROGRAM = 12.0
"""How many times smaller the published program's loss of IW-RAML is than the mean per symbol: it divides by the symbols of
all 12 segments of a batch (errata-16). Variances go with its square."""
PER_DECADE = 4
"""Bars of the histogram."""


@final
@dataclass(frozen=True)
class _Size:
    iterations: int
    length: int
    """Symbols of a segment"""


_SIZES = {"smoke": _Size(4, 5), "laptop": _Size(200, 20), "paper": _Size(200, 40)}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-fig3")
    from memspan.reproductions.cao2020.gradient_variance import gradient_variances

    networks, size = SIZES[scale], _SIZES[scale]
    key = Key(next(iter(networks.corpora)), "base", seed)
    networks.train([key], runs, progress)
    with progress.stage("gradients", size.iterations) as stage:
        found = gradient_variances(
            runs / key.folder, iterations=size.iterations, length=size.length, seed=seed, done=stage.advance
        )
    ratios = compared(found["policy"], found["raml"])
    left_out = found["raml"].size - ratios.size
    note = (
        f"{left_out:,} of {found['raml'].size:,} parameters are left out, whose gradient was the same in all iterations "
        "under one of the two, such as those of words that did not occur."
    )
    return Outcome(claims(ratios), (_chart(ratios, size),), (note, _NOTE))


def compared(policy: NDArray[np.float64], raml: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ratio of variances of every parameter that has both."""
    both = (policy > 0) & (raml > 0)
    return policy[both] / raml[both]


def claims(ratios: NDArray[np.float64]) -> tuple[Claim, ...]:
    """What the source says of the histogram, and its middle."""
    mean, median = float(ratios.mean()), float(np.median(ratios))
    above, between = float(np.mean(ratios > 1)), float(np.mean((ratios >= 10) & (ratios <= 1e4)))
    return (
        Claim(
            "The variance of policy gradients is more than 10,000 times that of IW-RAML on average. (Measured: the mean of "
            "the ratio over parameters.)",
            AVERAGE,
            None,
            mean,
            None,
            mean > AVERAGE,
        ),
        Claim(
            "Almost all parameters have a higher variance under policy gradients. (Measured: their share; it holds from "
            f"{ALMOST_ALL} on.)",
            None,
            None,
            above,
            None,
            above >= ALMOST_ALL,
        ),
        Claim(
            "A significant portion has a variance that is 1 to 4 orders of magnitude higher. (Measured: their share; it "
            f"holds from {SIGNIFICANT} on.)",
            None,
            None,
            between,
            None,
            between >= SIGNIFICANT,
        ),
        Claim(
            "Half of the parameters have a variance that is higher under policy gradients. (Measured: the median of the "
            "ratio.)",
            None,
            None,
            median,
            None,
            median > 1,
        ),
        Claim(
            f"With the loss of IW-RAML {PROGRAM:g} times smaller, as the published program has it, it is more than 10,000 "
            "times on average. (Measured: the same mean, with this scale.)",
            AVERAGE,
            None,
            PROGRAM**2 * mean,
            None,
            PROGRAM**2 * mean > AVERAGE,
        ),
        Claim(
            "And half of the parameters have a higher one. (Measured: the same median, with this scale.)",
            None,
            None,
            PROGRAM**2 * median,
            None,
            PROGRAM**2 * median > 1,
        ),
    )


_NOTE = (
    "The source gives neither the lengths of the segments nor the scale of the two losses. Here both are means per symbol "
    "with weight one, on segments of the same length, by the same network with the same discriminator; the last two claims "
    "take the scale of IW-RAML from the published program, which does not have this figure, and leave that of policy "
    "gradients as it is. The network is that of BMI-base after training; dropout is on in what is learnt, and off in what "
    "is scored."
)


def _chart(ratios: NDArray[np.float64], size: _Size) -> Chart:
    orders = np.log10(ratios)
    low, high = np.floor(orders.min()), np.ceil(orders.max())
    edges = np.linspace(low, high, max(2, int(PER_DECADE * (high - low)) + 1))
    counts, _ = np.histogram(orders, edges)
    return Chart(
        name="variance-ratio",
        title="How many times the gradient's variance under policy gradients is that under IW-RAML",
        x_label="ratio of variances",
        y_label="share of the parameters",
        x_scale="log",
        y_scale="linear",
        lines=(line("parameters", 10 ** ((edges[1:] + edges[:-1]) / 2), counts / counts.sum()),),
        caption=f"The variance of every parameter's gradient over {size.iterations} iterations, each with segments of its "
        f"own; {PER_DECADE} bars for each power of ten. To the right of 1, policy gradients are the noisier ones.",
    )
