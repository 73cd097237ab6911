"""Shen 2019, Fig. 1: what RNNs and LSTMs write after learning binary sequences without a scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.binary import DATA_LENGTH, LENGTH, NAMES, SIZES, drawn_curves, notes_of
from memspan.reproductions.shen2019.decay import TAIL, Laws, ratio_claim, settled, share_claim
from memspan.reproductions.shen2019.generated import Generated, Network
from memspan.reproductions.shen2019.generated_charts import data_line, length_line, lengths_chart
from memspan.results import Chart, Claim, Curve, claim_near

CELLS = ("rnn", "lstm")
DEEP = 8
"""Width of the networks of several layers."""
SMALL = 32
"""Widths up to this are small: their correlation length grows like a logarithm of the width.  Shen 2019, section 4.2.1."""
SATURATED = 100.0
"""Where the correlation length of wide RNNs ends in the paper."""


@final
@dataclass(frozen=True)
class _Networks:
    widths: tuple[int, ...]
    depths: tuple[int, ...]

    def of(self, cell: str) -> list[Network]:
        wide = [Network(cell, width) for width in self.widths]
        return [*wide, *(Network(cell, DEEP, depth) for depth in self.depths if depth > 1)]


_NETWORKS = {
    "smoke": _Networks((4, 8), (1, 2)),
    "laptop": _Networks((4, 8, 16, 32), (1, 2, 3)),
    "paper": _Networks((2, 4, 8, 16, 32, 64, 128), (1, 2, 3, 4, 5)),
}

Found = dict[Network, Generated]


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("shen-fig1")
    size, networks = SIZES[scale], _NETWORKS[scale]
    found = size.generate([n for cell in CELLS for n in networks.of(cell)], seed, runs, progress)
    curve, laws = size.data(seed)
    claims = [
        *_exponential(networks, found),
        *_widths(networks, found, laws),
        *_depths(networks, found),
        *([_data(laws)] if size.length == LENGTH else []),
    ]
    figures = (
        *(_curves(cell, networks, found, curve) for cell in CELLS),
        _by_width(networks, found, laws),
        _by_depth(networks, found, laws),
    )
    return Outcome(tuple(claims), figures, notes_of(found, laws))


def _exponential(networks: _Networks, found: Found) -> list[Claim]:
    """Of RNNs; of LSTMs the paper says it only of the smallest."""
    claimed = [Network("rnn", width) for width in networks.widths] + [Network("lstm", networks.widths[0])]
    claims = []
    for network in claimed:
        laws, who = found[network].laws, f"the {NAMES[network.cell]} of width {network.label}"
        claims += [
            share_claim(
                f"What {who} writes forgets exponentially rather than by a power law, over all distances.",
                laws.exponential_share,
                "exponential's",
            ),
            share_claim(
                f"What {who} writes forgets exponentially rather than by a power law, beyond {TAIL} symbols.",
                laws.tail_share,
                "exponential's",
            ),
        ]
    return claims


def _widths(networks: _Networks, found: Found, data: Laws) -> list[Claim]:
    narrow, before, wide = networks.widths[0], networks.widths[-2], networks.widths[-1]
    length = {network: each.laws.length for network, each in found.items()}
    claims = [
        ratio_claim(
            f"The correlation length of {NAMES[cell]}s grows with the width, from {narrow} to {wide}.",
            length[Network(cell, wide)] / length[Network(cell, narrow)],
            least=1.0,
        )
        for cell in CELLS
    ]
    small, large = Network("lstm", 4), Network("rnn", 32)
    if small in length and large in length:
        claims.append(
            ratio_claim(
                "An LSTM of 4 units and 126 parameters remembers longer than an RNN of 32 and 1,190.",
                length[small] / length[large],
                least=1.0,
            )
        )
    claims.append(
        ratio_claim(
            f"Even the RNN of width {wide} has a correlation length far below that of the data: less than half.",
            length[Network("rnn", wide)] / data.length,
            most=0.5,
        )
    )
    last = length[Network("rnn", wide)]
    if wide <= SMALL:
        most, says = 1.5, "grows like a logarithm of the width at the most"
    else:
        most, says = 1.1, "saturates"
    claims.append(
        ratio_claim(
            f"The correlation length of RNNs {says}: from {before} to {wide} units it becomes less than {most} "
            "times as long.",
            last / length[Network("rnn", before)],
            most=most,
        )
    )
    if wide > SMALL:
        claims.append(
            settled(
                claim_near("Wide RNNs have a correlation length of around 100.", last, 50.0, paper=SATURATED)
            )
        )
    return claims


def _depths(networks: _Networks, found: Found) -> list[Claim]:
    claims = []
    for cell in CELLS:
        one, two = (found[Network(cell, DEEP, depth)].laws.length for depth in networks.depths[:2])
        claims.append(
            ratio_claim(
                f"A second layer makes the correlation length of {NAMES[cell]}s of width {DEEP} longer.",
                two / one,
                least=1.0,
            )
        )
    return claims


def _data(laws: Laws) -> Claim:
    return settled(
        claim_near(
            "An exponential fitted to the data themselves, which have no scale, gives a correlation length of 420, "
            "comparable to the length of a sequence.",
            laws.length,
            0.25 * DATA_LENGTH,
            paper=DATA_LENGTH,
        )
    )


def _curves(cell: str, networks: _Networks, found: Found, data: Curve) -> Chart:
    title = f"What {NAMES[cell]}s write after learning binary sequences without a scale"
    return drawn_curves(f"{cell}-curves", title, [found[network] for network in networks.of(cell)], data)


def _by_width(networks: _Networks, found: Found, data: Laws) -> Chart:
    lines = [
        length_line(NAMES[cell], {width: found[Network(cell, width)].laws for width in networks.widths})
        for cell in CELLS
    ]
    return lengths_chart(
        "width",
        "How far back it remembers, by width",
        (*lines, data_line(data, networks.widths)),
    )


def _by_depth(networks: _Networks, found: Found, data: Laws) -> Chart:
    lines = [
        length_line(NAMES[cell], {depth: found[Network(cell, DEEP, depth)].laws for depth in networks.depths})
        for cell in CELLS
    ]
    return lengths_chart(
        "depth",
        f"How far back it remembers, by depth (layers of {DEEP} units)",
        (*lines, data_line(data, networks.depths)),
    )
