"""Shen 2019, Fig. 2, 8, 3b, c and 10: what LSTMs and Transformers write after learning WikiText-2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.experiments.generated import (
    Generated,
    Laws,
    Network,
    curve_lines,
    curves_chart,
    data_line,
    length_line,
    lengths_chart,
    ratio_claim,
    told,
)
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.shen_text import (
    FAR,
    KINDS,
    MIDDLE,
    NEAR,
    SIZES,
    Kind,
    Plan,
    TextSize,
    captured,
    ratio,
)
from memspan.progress import Progress
from memspan.results import Chart, Claim, Curve

NAMES = {"lstm": "LSTM", "transformer": "Transformer"}
Found = dict[Network, Generated]


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """What the networks of one cell wrote, by kind of symbols, beside the data."""

    cell: str
    size: TextSize
    found: Mapping[Kind, Found]
    data: Curve
    laws: Laws
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, cell: str, scale: str, seed: int, progress: Progress, runs: Path) -> Learnt:
        check_models("what networks write")
        size = SIZES[scale]
        data, laws = size.measured(seed, progress)
        found: dict[Kind, Found] = {kind: size.generate(cell, kind, seed, runs, progress) for kind in KINDS}
        written = [
            f"{kind}, {each}. It begins: {' '.join(each.excerpt.split())!r}"
            for kind, networks in found.items()
            for each in networks.values()
        ]
        return cls(cell, size, found, data, laws, (f"the data: {laws}.", *written))

    def plan(self, kind: Kind) -> Plan:
        return self.size.plans[self.cell, kind]

    def share(self, kind: Kind, width: int, distances: tuple[int, int]) -> float:
        """Of the data's information at some distances."""
        return ratio(self.found[kind][Network(self.cell, width)].curve, self.data, distances)

    def by_width(self, kind: Kind) -> dict[int, Laws]:
        found = self.found[kind]
        return {width: found[Network(self.cell, width)].laws for width in self.plan(kind).widths}

    def by_depth(self, kind: Kind) -> dict[int, Laws]:
        found, plan = self.found[kind], self.plan(kind)
        return {depth: found[Network(self.cell, plan.deep, depth)].laws for depth in plan.depths}


def _curves(learnt: Learnt, kind: Kind) -> Chart:
    name = NAMES[learnt.cell]
    return curves_chart(
        f"{kind}-curves",
        f"What {name}s write that learnt {kind}",
        curve_lines(learnt.found[kind].values(), learnt.data, f"the text, {learnt.data.length:,} characters"),
        f"Each line is one {name}, by its width (x depth): the information between characters of what it wrote, with the "
        "floor taken off, where it is significant. Networks that learnt words write words, and are measured as characters, "
        "too. Markers are the text that they learnt, as much of it as they wrote.",
        unit="characters",
    )


def _lengths(learnt: Learnt, by: str) -> Chart:
    kinds = {kind: learnt.by_width(kind) if by == "width" else learnt.by_depth(kind) for kind in KINDS}
    lines = [length_line(f"learnt {kind}", laws) for kind, laws in kinds.items()]
    ends = [at for laws in kinds.values() for at in laws]
    return lengths_chart(
        f"lengths-by-{by}",
        f"How far back {NAMES[learnt.cell]}s remember a text, by {by}",
        "units of the one layer" if by == "width" else "layers",
        (*lines, data_line(learnt.laws, ends)),
    )


def _fig2(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    claims: list[Claim] = []
    for width in learnt.plan("characters").widths:
        near, far = (learnt.share("characters", width, at) for at in (NEAR, FAR))
        if width >= 32:
            claims.append(
                captured(
                    f"An LSTM of {width} units that learnt characters has the information of the text at distances "
                    f"{_at(NEAR)}",
                    near,
                )
            )
        claims.append(
            ratio_claim(
                f"It has none of the power law: with {width} units, less than half of the text's information at distances "
                f"{_at(FAR)}.",
                far,
                most=0.5,
            )
        )
    for width in learnt.plan("words").widths:
        claims.append(
            captured(
                f"An LSTM of {width} units that learnt words has the information of the text at distances {_at(MIDDLE)}",
                learnt.share("words", width, MIDDLE),
            )
        )
    return Outcome(tuple(told(claims)), tuple(_curves(learnt, kind) for kind in KINDS), learnt.notes)


def _fig8(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    narrow = learnt.plan("words").widths[0]
    widest = learnt.plan("characters").widths[-1]
    claims = [
        ratio_claim(
            f"An LSTM of {widest} units that learnt characters does not reach the distances within sentences: its "
            "correlation length is below that of the text.",
            learnt.by_width("characters")[widest].length / learnt.laws.length,
            most=1.0,
        ),
        ratio_claim(
            f"One of {narrow} units that learnt words does: its correlation length is that of the text within a third.",
            learnt.by_width("words")[narrow].length / learnt.laws.length,
            least=2 / 3,
            most=3 / 2,
        ),
        *_deeper(learnt, most=1.2),
    ]
    figures = (_lengths(learnt, "width"), _lengths(learnt, "depth"))
    return Outcome(tuple(told(claims)), figures, learnt.notes)


def _deeper(learnt: Learnt, least: float | None = None, most: float | None = None) -> list[Claim]:
    """LSTMs do not gain by more layers, Transformers do."""
    claims = []
    for kind in KINDS:
        lengths = [laws.length for laws in learnt.by_depth(kind).values()]
        if len(lengths) > 1:
            says = "does not make" if most is not None else "makes"
            claims.append(
                ratio_claim(
                    f"A second layer {says} the correlation length of {NAMES[learnt.cell]}s that learnt {kind} longer.",
                    lengths[1] / lengths[0],
                    least=least,
                    most=most,
                )
            )
    return claims


def _fig3bc(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    claims: list[Claim] = []
    for kind in KINDS:
        widest = learnt.plan(kind).widths[-1]
        for distances in (NEAR, MIDDLE):
            claims.append(
                captured(
                    f"A Transformer of {widest} units that learnt {kind} has the information of the text at distances "
                    f"{_at(distances)}",
                    learnt.share(kind, widest, distances),
                )
            )
    widest = learnt.plan("characters").widths[-1]
    claims.append(
        ratio_claim(
            f"A Transformer of {widest} units that learnt characters has more information than the text at distances "
            f"{_at(FAR)}.",
            learnt.share("characters", widest, FAR),
            least=1.0,
        )
    )
    return Outcome(tuple(told(claims)), tuple(_curves(learnt, kind) for kind in KINDS), learnt.notes)


def _fig10(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    widest = learnt.plan("characters").widths[-1]
    claims = [
        ratio_claim(
            f"A Transformer of {widest} units that learnt characters reaches the distances within sentences: its "
            "correlation length is at least two thirds of that of the text.",
            learnt.by_width("characters")[widest].length / learnt.laws.length,
            least=2 / 3,
        ),
        *_deeper(learnt, least=1.0),
    ]
    figures = (_lengths(learnt, "width"), _lengths(learnt, "depth"))
    return Outcome(tuple(told(claims)), figures, learnt.notes)


def _at(distances: tuple[int, int]) -> str:
    return f"{distances[0]:,} to {distances[1]:,}"


_SMOKE = "4 networks on Python's own source, 10 updates: some seconds"
_PAPER = "networks of up to 2,048 units, 3 or 5 seeds each, until validation no longer improves: weeks"

SHEN_FIG2 = Trained(
    id="shen-fig2",
    title="What LSTMs write has no long memory",
    source="Shen 2019, section 4.2.2, Fig. 2",
    scales={
        "smoke": _SMOKE,
        "laptop": "4 LSTMs of characters and 2 of words, 1,500 or 2,000 updates each: about 20 minutes",
        "paper": _PAPER,
    },
    train=_fig2,
)
SHEN_FIG8 = Trained(
    id="shen-fig8",
    title="How far back LSTMs remember a text, by width and depth",
    source="Shen 2019, appendix E.1.2, Fig. 8",
    scales=SHEN_FIG2.scales,
    train=_fig8,
)
SHEN_FIG3BC = Trained(
    id="shen-fig3bc",
    title="What Transformers write remembers sentences and paragraphs",
    source="Shen 2019, section 5.2, Fig. 3b and 3c",
    scales={
        "smoke": _SMOKE,
        "laptop": "3 Transformers of characters and 2 of words, 800 or 2,000 updates each: about 30 minutes",
        "paper": _PAPER,
    },
    train=_fig3bc,
)
SHEN_FIG10 = Trained(
    id="shen-fig10",
    title="How far back Transformers remember a text, by width and depth",
    source="Shen 2019, appendix E.2.2, Fig. 10",
    scales=SHEN_FIG3BC.scales,
    train=_fig10,
)
