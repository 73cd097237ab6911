"""Shen 2019, Fig. 3a and 9: what Transformers write after learning binary sequences without a scale."""

from __future__ import annotations

from pathlib import Path

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.binary import SIZES, SOURCE, drawn_curves, notes_of
from memspan.reproductions.shen2019.decay import TAIL, Laws, ratio_claim, settled, share_claim
from memspan.reproductions.shen2019.generated import Generated, Network, share
from memspan.reproductions.shen2019.generated_charts import data_line, length_line, lengths_chart
from memspan.results import Chart, Claim, Curve

DEEP = 16
"""Width of the networks of several layers."""
WIDTHS = {"smoke": (4, 16), "laptop": (4, 8, 16, 32), "paper": (4, 8, 16, 32, 64)}
DEPTHS = {"smoke": (1, 2), "laptop": (1, 2), "paper": (1, 2, 3, 4)}

Found = dict[Network, Generated]


def train_widths(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Fig. 3a."""
    check_models("shen-fig3a")
    found, curve, laws = _generate(scale, [(width, 1) for width in WIDTHS[scale]], seed, runs, progress)
    claims = [claim for each in found.values() for claim in (*_power(each), _magnitude(each))]
    chart = _curves(found, curve, "by width")
    return Outcome(tuple(claims), (chart,), notes_of(found, laws))


def train_lengths(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Fig. 9."""
    check_models("shen-fig9")
    sizes = [(width, 1) for width in WIDTHS[scale]] + [(DEEP, depth) for depth in DEPTHS[scale][1:]]
    found, curve, laws = _generate(scale, sizes, seed, runs, progress)
    by_width = {width: found[Network("transformer", width)].laws for width in WIDTHS[scale]}
    by_depth = {depth: found[Network("transformer", DEEP, depth)].laws for depth in DEPTHS[scale]}
    figures = (
        _curves(found, curve, "by width and depth"),
        lengths_chart(
            "width",
            "How far back Transformers remember, by width",
            (length_line("Transformer", by_width), data_line(laws, by_width)),
        ),
        lengths_chart(
            "depth",
            f"How far back Transformers remember, by depth (layers of {DEEP} units)",
            (length_line("Transformer", by_depth), data_line(laws, by_depth)),
        ),
    )
    return Outcome(tuple(_lengths(by_width, by_depth, laws)), figures, notes_of(found, laws))


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
            f"What {who} writes forgets by a power law rather than exponentially, beyond {TAIL} symbols.",
            1 - laws.tail_share,
            "power law's",
        ),
    ]


def _magnitude(each: Generated) -> Claim:
    """At every lag, also where nothing was left to see."""
    lags = each.curve.lags
    measured = share(each.curve, SOURCE.information(lags), lags > 0)
    return settled(
        Claim(
            f"The information of what the Transformer of width {each.network.label} writes has the magnitude of the data's: "
            "0.8 to 1.25 times, in the geometric mean over all distances. (Measured: how many times.)",
            None,
            None,
            measured,
            None,
            0.8 <= measured <= 1.25,
        )
    )


def _lengths(by_width: dict[int, Laws], by_depth: dict[int, Laws], data: Laws) -> list[Claim]:
    """What the text says, and what one reads off the figure."""
    one, two = (by_depth[depth].length for depth in list(by_depth)[:2])
    narrow, *_, wide = by_width
    return [
        ratio_claim(
            f"The Transformer of one layer and width {DEEP} has a longer correlation length than the data.",
            by_width[DEEP].length / data.length,
            least=1.0,
        ),
        ratio_claim(
            f"The correlation length grows with the width, from {narrow} to {wide}, as one reads off the figure.",
            by_width[wide].length / by_width[narrow].length,
            least=1.0,
        ),
        ratio_claim(
            f"A second layer of {DEEP} units brings it closer to that of the data, as one reads off the figure.",
            abs(two / data.length - 1) / abs(one / data.length - 1),
            most=1.0,
        ),
    ]


def _curves(found: Found, data: Curve, how: str) -> Chart:
    title = f"What Transformers write after learning binary sequences without a scale, {how}"
    return drawn_curves("curves", title, found.values(), data)


_PAPER = "until validation no longer improves, 5 seeds each: days"
