"""Shen 2019, Fig. 7: the depth of LSTMs that learn binary sequences without a scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.binary import SIZES, notes_of
from memspan.reproductions.shen2019.decay import Laws, ratio_claim
from memspan.reproductions.shen2019.generated import Generated, Network
from memspan.reproductions.shen2019.generated_charts import data_line, length_line, lengths_chart
from memspan.results import Chart, Claim

WIDTHS = {"smoke": (4,), "laptop": (4, 8, 16), "paper": (4, 8, 16, 32)}
DEPTHS = {"smoke": (1, 2, 3), "laptop": (1, 2, 3), "paper": (1, 2, 3, 4, 5)}
SAME = 1.2
"""A correlation length that is less than so many times another is no improvement worth a layer."""

Found = dict[Network, Generated]


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("shen-fig7")
    size, widths, depths = SIZES[scale], WIDTHS[scale], DEPTHS[scale]
    networks = [Network("lstm", width, depth) for width in widths for depth in depths]
    found = size.generate(networks, seed, runs, progress)
    _, laws = size.data(seed)
    claims = tuple(_deeper(found, width, depths) for width in widths)
    return Outcome(claims, (_chart(found, widths, depths, laws),), notes_of(found, laws))


def _deeper(found: Found, width: int, depths: tuple[int, ...]) -> Claim:
    two, *more = (found[Network("lstm", width, depth)].laws.length for depth in depths[1:])
    return ratio_claim(
        f"More than two layers of {width} units do not help an LSTM: the longest correlation length of them is less than "
        f"{SAME:g} times that of two.",
        float(np.fmax.reduce(more)) / two,
        most=SAME,
    )


def _chart(found: Found, widths: tuple[int, ...], depths: tuple[int, ...], data: Laws) -> Chart:
    lines = [
        length_line(f"{width} units", {depth: found[Network("lstm", width, depth)].laws for depth in depths})
        for width in widths
    ]
    return lengths_chart(
        "depth",
        "How far back LSTMs remember, by depth and width",
        (*lines, data_line(data, depths)),
    )
