"""Shen 2019, Fig. 3a and 9: what Transformers write after learning binary sequences without a scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.experiments.generated import (
    FAR,
    Generated,
    Laws,
    Network,
    curve_lines,
    curves_chart,
    data_line,
    length_line,
    lengths_chart,
    ratio_claim,
    share_claim,
    told,
)
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.shen_binary import SIZES, SOURCE
from memspan.progress import Progress
from memspan.results import Chart, Claim, Curve

DEEP = 16
"""Width of the networks of several layers."""
WIDTHS = {"smoke": (4, 16), "laptop": (4, 8, 16, 32), "paper": (4, 8, 16, 32, 64)}
DEPTHS = {"smoke": (1, 2), "laptop": (1, 2), "paper": (1, 2, 3, 4)}

Found = dict[Network, Generated]


def _train_widths(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Fig. 3a."""
    check_models("shen-fig3a")
    found, curve, laws = _generate(scale, [(width, 1) for width in WIDTHS[scale]], seed, runs, progress)
    claims = told(claim for each in found.values() for claim in (*_power(each), _magnitude(each)))
    chart = _curves(found, curve, "by width")
    return Outcome(tuple(claims), (chart,), _notes(found, laws))


def _train_lengths(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Fig. 9."""
    check_models("shen-fig9")
    sizes = [(width, 1) for width in WIDTHS[scale]] + [(DEEP, depth) for depth in DEPTHS[scale][1:]]
    found, curve, laws = _generate(scale, sizes, seed, runs, progress)
    by_width = {width: found[Network("transformer", width)].laws for width in WIDTHS[scale]}
    by_depth = {depth: found[Network("transformer", DEEP, depth)].laws for depth in DEPTHS[scale]}
    figures = (
        _curves(found, curve, "by width and depth"),
        lengths_chart(
            "lengths-by-width",
            "How far back Transformers remember, by width",
            "units of the one layer",
            (length_line("Transformer", by_width), data_line(laws, by_width)),
        ),
        lengths_chart(
            "lengths-by-depth",
            f"How far back Transformers remember, by depth (layers of {DEEP} units)",
            "layers",
            (length_line("Transformer", by_depth), data_line(laws, by_depth)),
        ),
    )
    return Outcome(tuple(_lengths(by_width, by_depth, laws)), figures, _notes(found, laws))


def _generate(
    scale: str, sizes: list[tuple[int, int]], seed: int, runs: Path, progress: Progress
) -> tuple[Found, Curve, Laws]:
    size = SIZES[scale]
    networks = [Network("transformer", width, depth) for width, depth in sizes]
    return size.generate(networks, seed, runs, progress), *size.data(seed)


def _power(each: Generated) -> list[Claim]:
    who, laws = f"the Transformer of width {each.network.label}", each.laws
    return [
        share_claim(
            f"What {who} writes forgets by a power law rather than exponentially, over all distances.",
            1 - laws.exponential_share,
            "power law's",
        ),
        share_claim(
            f"So it does beyond {FAR} symbols: what {who} writes.", 1 - laws.tail_share, "power law's"
        ),
    ]


def _magnitude(each: Generated) -> Claim:
    """The geometric mean, where what was written is above the floor."""
    curve = each.curve
    use = curve.significant & (curve.corrected > 0)
    ratio = np.log(curve.corrected[use] / SOURCE.information(curve.lags[use]))
    measured = float(np.exp(ratio.mean())) if use.any() else float("nan")
    return Claim(
        f"The information of what the Transformer of width {each.network.label} writes has the magnitude of the data's: 0.8 "
        "to 1.25 times, in the geometric mean over the distances. (Measured: how many times.)",
        1.0,
        None,
        measured,
        None,
        0.8 <= measured <= 1.25,
    )


def _lengths(by_width: dict[int, Laws], by_depth: dict[int, Laws], data: Laws) -> list[Claim]:
    one, two = (by_depth[depth].length for depth in list(by_depth)[:2])
    narrow, *_, wide = by_width
    return told(
        [
            ratio_claim(
                f"The Transformer of one layer and width {DEEP} has a longer correlation length than the data.",
                by_width[DEEP].length / data.length,
                least=1.0,
            ),
            ratio_claim(
                f"The correlation length grows with the width, from {narrow} to {wide}.",
                by_width[wide].length / by_width[narrow].length,
                least=1.0,
            ),
            ratio_claim(
                f"With a second layer of {DEEP} units it comes closer to that of the data. (One layer: "
                f"{one / data.length:.2f}.)",
                two / data.length,
                least=1 - abs(1 - one / data.length),
                most=1 + abs(1 - one / data.length),
            ),
        ]
    )


def _curves(found: Found, data: Curve, how: str) -> Chart:
    return curves_chart(
        "curves",
        f"What Transformers write after learning binary sequences without a scale, {how}",
        curve_lines(found.values(), data, "the data: 0.1 tau^-0.4"),
        "Each line is one network, by its width (x depth): the information between symbols of what it wrote, with the "
        "floor taken off, where it is significant. A straight line, such as that of the data, is a power law; a line that "
        "bends down forgets exponentially.",
    )


def _notes(found: Found, laws: Laws) -> tuple[str, ...]:
    return (f"the data: {laws}.", *(f"{each}." for each in found.values()))


_PAPER = "until validation no longer improves, 5 seeds each: days"

SHEN_FIG3A = Trained(
    id="shen-fig3a",
    title="Transformers keep the power law of what has no scale",
    source="Shen 2019, section 5.1, Fig. 3a",
    scales={
        "smoke": "2 networks, 500 sequences of 32 symbols, 60 updates: some seconds",
        "laptop": "4 networks of 2 seeds each, 10,000 sequences of 512 symbols, 4 passes: about 15 minutes",
        "paper": f"5 networks, {_PAPER}",
    },
    train=_train_widths,
)

SHEN_FIG9 = Trained(
    id="shen-fig9",
    title="How far back Transformers remember, by width and depth",
    source="Shen 2019, appendix E.2.1, Fig. 9",
    scales={
        "smoke": "3 networks, 500 sequences of 32 symbols, 60 updates: some seconds",
        "laptop": "5 networks of 2 seeds each, 10,000 sequences of 512 symbols, 4 passes: about 20 minutes",
        "paper": f"8 networks, {_PAPER}",
    },
    train=_train_lengths,
)
