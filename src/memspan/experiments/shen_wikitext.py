"""Shen 2019, Fig. 2, 8, 3b, c and 10: what LSTMs and Transformers write after learning WikiText-2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.experiments.forgetting import Laws, ratio_claim
from memspan.experiments.generated import Generated, Network
from memspan.experiments.generated_charts import (
    curve_lines,
    curves_chart,
    data_line,
    length_line,
    lengths_chart,
)
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.shen_text import (
    CHARACTERS_OF_A_WORD,
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


WIDE = 2_048
"""Character LSTMs of so many units do reach the distances within sentences.  Shen 2019, appendix E.1.2."""
SAME = 1.2
"""A correlation length that is less than so many times another is not longer in any way that matters."""


@final
@dataclass(frozen=True, eq=False)
class Side:
    """Networks of one cell that learnt one kind of symbols, beside the text as they read it."""

    plan: Plan
    found: Found
    text: Curve
    laws: Laws

    def share(self, network: Network, distances: tuple[int, int]) -> float:
        """Of the text's information at some distances."""
        return ratio(self.found[network].curve, self.text, distances)


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """What the networks of one cell wrote, by kind of symbols."""

    cell: str
    sides: Mapping[Kind, Side]

    @classmethod
    def of(cls, cell: str, scale: str, seed: int, progress: Progress, runs: Path) -> Learnt:
        check_models("what networks write")
        size = SIZES[scale]
        return cls(cell, {kind: _side(size, cell, kind, seed, progress, runs) for kind in KINDS})

    @property
    def notes(self) -> tuple[str, ...]:
        """What each network came to, and how what it wrote begins."""
        texts = [f"the text of {kind}: {side.laws}." for kind, side in self.sides.items()]
        written = [
            f"{kind}, {each}. It begins: {' '.join(each.excerpt.split())!r}."
            for kind, side in self.sides.items()
            for each in side.found.values()
        ]
        return (*texts, *written)

    def network(self, width: int) -> Network:
        return Network(self.cell, width)

    def share(self, kind: Kind, width: int, distances: tuple[int, int]) -> float:
        return self.sides[kind].share(self.network(width), distances)

    def length(self, kind: Kind, width: int) -> float:
        """The correlation length as a share of that of the text."""
        side = self.sides[kind]
        return side.found[self.network(width)].laws.length / side.laws.length

    def by_width(self, kind: Kind) -> dict[int, Laws]:
        side = self.sides[kind]
        return {width: side.found[self.network(width)].laws for width in side.plan.widths}

    def by_depth(self, kind: Kind) -> dict[int, Laws]:
        side = self.sides[kind]
        return {
            depth: side.found[Network(self.cell, side.plan.deep, depth)].laws for depth in side.plan.depths
        }


def _side(size: TextSize, cell: str, kind: Kind, seed: int, progress: Progress, runs: Path) -> Side:
    text, laws = size.measured(cell, kind, seed, progress)
    return Side(size.plans[cell, kind], size.generate(cell, kind, seed, runs, progress), text, laws)


def _curves(learnt: Learnt, kind: Kind) -> Chart:
    name, side = NAMES[learnt.cell], learnt.sides[kind]
    return curves_chart(
        f"{kind}-curves",
        f"What {name}s write that learnt {kind}",
        curve_lines(side.found.values(), side.text, f"the text, {side.text.length:,} characters"),
        f"Each line is one {name}, by its width (x depth): the information between characters of what it wrote, with the "
        "floor taken off, where it is significant. Networks that learnt words write words, and are measured as characters, "
        "too. Markers are the text as they read it, as much of it as they wrote.",
        unit="characters",
    )


def _lengths(learnt: Learnt, by: str) -> Chart:
    lines = []
    for kind in KINDS:
        laws = learnt.by_width(kind) if by == "width" else learnt.by_depth(kind)
        label = f"learnt {kind}"
        lines += [length_line(label, laws), data_line(learnt.sides[kind].laws, laws, f"the text of {kind}")]
    return lengths_chart(by, f"How far back {NAMES[learnt.cell]}s remember a text, by {by}", tuple(lines))


def _fig2(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    claims: list[Claim] = []
    for width in learnt.sides["characters"].plan.widths:
        who = f"An LSTM of {width} units that learnt characters"
        if width >= 32:
            near = learnt.share("characters", width, NEAR)
            claims.append(captured(f"{who} has the information of the text at distances {_at(NEAR)}", near))
        claims.append(
            ratio_claim(
                f"{who} has less than half of the text's information at distances {_at(FAR)}: no power law is left there.",
                learnt.share("characters", width, FAR),
                most=0.5,
            )
        )
    for width in learnt.sides["words"].plan.widths:
        said = f"An LSTM of {width} units that learnt words has the information of the text at distances {_at(MIDDLE)}"
        claims.append(captured(said, learnt.share("words", width, MIDDLE)))
    return Outcome(tuple(claims), tuple(_curves(learnt, kind) for kind in KINDS), learnt.notes)


def _fig8(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    widths, narrow = learnt.sides["characters"].plan.widths, learnt.sides["words"].plan.widths[0]
    below = max(width for width in widths if width < WIDE)
    claims = [
        ratio_claim(
            f"An LSTM of {below} units that learnt characters does not reach the distances within sentences: its "
            "correlation length is below that of the text.",
            learnt.length("characters", below),
            most=1.0,
        ),
        ratio_claim(
            f"One of {narrow} units that learnt words does: its correlation length is 2/3 to 3/2 of that of the text.",
            learnt.length("words", narrow),
            least=2 / 3,
            most=3 / 2,
        ),
        *(_deeper(learnt, kind, f"is less than {SAME:g} times", most=SAME) for kind in _deep(learnt)),
    ]
    if WIDE in widths:
        said = f"An LSTM of {WIDE:,} units that learnt characters does: its correlation length is 2/3 of the text's or more."
        claims.append(ratio_claim(said, learnt.length("characters", WIDE), least=2 / 3))
    return Outcome(tuple(claims), (_lengths(learnt, "width"), _lengths(learnt, "depth")), learnt.notes)


def _deep(learnt: Learnt) -> list[Kind]:
    """Where there are networks of more than one layer."""
    return [kind for kind in KINDS if len(learnt.sides[kind].plan.depths) > 1]


def _deeper(
    learnt: Learnt, kind: Kind, says: str, *, least: float | None = None, most: float | None = None
) -> Claim:
    one, two = (laws.length for laws in list(learnt.by_depth(kind).values())[:2])
    return ratio_claim(
        f"The correlation length of two layers of a {NAMES[learnt.cell]} that learnt {kind} {says} that of one layer.",
        two / one,
        least=least,
        most=most,
    )


def _fig3bc(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    claims: list[Claim] = []
    for kind in KINDS:
        widest = learnt.sides[kind].plan.widths[-1]
        who = f"A Transformer of {widest} units that learnt {kind}"
        claims += [
            captured(
                f"{who} has the information of the text at distances {_at(at)}",
                learnt.share(kind, widest, at),
            )
            for at in (NEAR, MIDDLE)
        ]
        seen = (FAR[0], _sight(learnt, kind))
        claims.append(
            ratio_claim(
                f"{who} has more information than the text at distances {_at(seen)}, as far as it can look back.",
                learnt.share(kind, widest, seen),
                least=1.0,
            )
        )
    return Outcome(tuple(claims), tuple(_curves(learnt, kind) for kind in KINDS), learnt.notes)


def _sight(learnt: Learnt, kind: Kind) -> int:
    """How far back a Transformer looks when it writes, in characters."""
    steps = learnt.sides[kind].plan.task["steps"]
    return min(FAR[1], steps if kind == "characters" else round(steps * CHARACTERS_OF_A_WORD))


def _fig10(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    widest = learnt.sides["characters"].plan.widths[-1]
    who = f"A Transformer of {widest} units that learnt characters"
    claims = [
        ratio_claim(
            f"{who} reaches the distances within sentences: its correlation length is 2/3 of that of the text or more.",
            learnt.length("characters", widest),
            least=2 / 3,
        ),
        captured(
            f"{who} has the information of the text at distances {_at(MIDDLE)}, so that this length is no accident",
            learnt.share("characters", widest, MIDDLE),
        ),
        *(_deeper(learnt, kind, "is longer than", least=1.0) for kind in _deep(learnt)),
    ]
    return Outcome(tuple(claims), (_lengths(learnt, "width"), _lengths(learnt, "depth")), learnt.notes)


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
