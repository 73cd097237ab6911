"""Shen 2019, Fig. 3b, 3c and 10: what Transformers write after learning WikiText-2, and how far back it remembers."""

from __future__ import annotations

import math
from pathlib import Path

from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import Laws, power_between, settled
from memspan.reproductions.shen2019.ratios import times_claim
from memspan.reproductions.shen2019.text import CHARACTERS_OF_A_WORD, FAR, KINDS, MIDDLE, NEAR, Kind
from memspan.reproductions.shen2019.text_charts import (
    SMOKE,
    Learnt,
    at,
    drawn_curves,
    drawn_lengths,
    instead_of,
)
from memspan.results import Claim, LawFit

SINGLE = 512
"""Units of the one layer that learnt characters and has a tail too heavy.  Shen 2019, section 5.2."""
SEVERAL = (3, 5)
"""Layers, of 512 units, that learnt words and have a tail.  The same."""
DEEP: dict[Kind, str] = {"characters": "128", "words": "512"}
"""Units of the networks of several layers.  Appendix E.2.2, Fig. 10."""
PARAGRAPHS = (50, 500)
"""Where the tail is."""


def fig3bc(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    claims = (*_characters(learnt), *_words(learnt))
    return Outcome(
        claims, tuple(drawn_curves(learnt, kind) for kind in KINDS), (*learnt.notes, _NOTES[scale])
    )


def _characters(learnt: Learnt) -> list[Claim]:
    """Section 5.2: of one layer that learnt characters."""
    widest = learnt.sides["characters"].plan.widths[-1]
    who = f"A Transformer of one layer of {widest} units{instead_of(widest, f'{SINGLE}')} that learnt characters"
    sight = _sight(learnt, "characters")
    seen = (min(FAR[0], sight // 2), sight)
    return [
        *(learnt.captures(who, "characters", widest, distances) for distances in (NEAR, MIDDLE)),
        times_claim(
            f"{who} has more information than the text at distances {at(seen)}, as far as it can look back.",
            learnt.share("characters", widest, seen),
            least=1.0,
        ),
    ]


def _words(learnt: Learnt) -> list[Claim]:
    """Section 5.2: even small ones that learnt words, and those of three and five layers."""
    plan = learnt.sides["words"].plan
    who = f"Even a Transformer of one layer of {plan.widths[0]} units that learnt words"
    small = [learnt.captures(who, "words", plan.widths[0], distances) for distances in (NEAR, MIDDLE)]
    several = [depth for depth in plan.depths if depth in SEVERAL] or [max(plan.depths)]
    return [*small, *(claim for depth in several for claim in _tail(learnt, depth))]


def _tail(learnt: Learnt, depth: int) -> list[Claim]:
    """A power law that goes on to 500 characters, with another exponent than the text's."""
    side = learnt.sides["words"]
    seen = (PARAGRAPHS[0], min(PARAGRAPHS[1], _sight(learnt, "words")))
    here = "" if depth in SEVERAL and f"{side.plan.deep}" == DEEP["words"] else " (the paper: 3 and 5 of 512)"
    who = f"a Transformer of {depth} layers of {side.plan.deep} units{here} that learnt words"
    return [
        times_claim(
            f"What {who} writes still has half of the text's information or more at distances {at(seen)}, where the text "
            "has its power law.",
            learnt.share("words", side.plan.deep, seen, depth),
            least=0.5,
        ),
        _another(
            who,
            power_between(learnt.curve("words", side.plan.deep, depth), seen),
            power_between(side.text, seen),
        ),
    ]


def _another(who: str, own: LawFit | None, text: LawFit | None) -> Claim:
    """Whether two exponents are told apart."""
    (value, (low, high)), (other, (least, most)) = (_exponent(fit) for fit in (own, text))
    told = "" if text is None else f", {other:.2f} [{least:.2f}, {most:.2f}]"
    return settled(
        Claim(
            f"What {who} writes falls with another exponent there than the text{told}. (Measured: its exponent; it holds "
            "where the 95 % intervals have nothing in common.)",
            None,
            None,
            value,
            None,
            high < least or most < low,
        )
    )


def _exponent(fit: LawFit | None) -> tuple[float, tuple[float, float]]:
    nothing = math.nan, (math.nan, math.nan)
    return nothing if fit is None else (fit.parameters["exponent"], fit.intervals["exponent"])


def _sight(learnt: Learnt, kind: Kind) -> int:
    """How far back a Transformer looks when it writes, in characters."""
    steps = learnt.sides[kind].plan.task["steps"]
    return min(FAR[1], steps if kind == "characters" else round(steps * CHARACTERS_OF_A_WORD))


def fig10(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("transformer", scale, seed, progress, runs)
    figures = (drawn_lengths(learnt, "width"), drawn_lengths(learnt, "depth"))
    return Outcome(tuple(_lengths(learnt)), figures, (*learnt.notes, _NOTES[scale]))


def _lengths(learnt: Learnt) -> list[Claim]:
    """Appendix E.2.2."""
    widths = learnt.sides["characters"].plan.widths
    narrow, widest = widths[0], widths[-1]
    who = f"A Transformer of {widest} units{instead_of(widest, f'{SINGLE}')} that learnt characters"
    return [
        times_claim(
            f"{who} reaches the distances within sentences: its correlation length is 2/3 of that of the text or more.",
            learnt.length("characters", widest),
            least=2 / 3,
        ),
        learnt.captures(who, "characters", widest, MIDDLE),
        *_spurious(learnt, narrow),
        *(_deeper(learnt, kind) for kind in learnt.deep()),
    ]


def _spurious(learnt: Learnt, narrow: int) -> list[Claim]:
    """A long correlation length of next to nothing."""
    who = f"A Transformer of one layer of {narrow} units that learnt characters"
    return [
        times_claim(
            f"{who} has a longer correlation length than the text.",
            learnt.length("characters", narrow),
            least=1.0,
        ),
        times_claim(
            f"{who} has much less information than the text at distances {at(NEAR)} all the same: less than half.",
            learnt.share("characters", narrow, NEAR),
            most=0.5,
        ),
    ]


def _deeper(learnt: Learnt, kind: Kind) -> Claim:
    plan, by_depth = learnt.sides[kind].plan, learnt.by_depth(kind)
    deepest = max(by_depth)
    value, least = _nearer(by_depth[deepest], by_depth[min(by_depth)], learnt.sides[kind].laws)
    said = (
        f"The correlation length of a Transformer of {deepest} layers of {plan.deep} units"
        f"{instead_of(plan.deep, DEEP[kind])} that learnt {kind} is nearer to the text's than that of one layer. (Measured: "
        "by how much, in logarithms of how many times the text's they are; it holds if this is more than the 95 % intervals "
        "of all three allow for.)"
    )
    return settled(Claim(said, None, None, value, None, least > 0))


def _nearer(one: Laws, other: Laws, text: Laws) -> tuple[float, float]:
    """By how much one correlation length is nearer to the text's than another, too long counting as much as too short.

    And the least that this may be, given their intervals: wherever in its own the text's is. (Outside of the two it does not
    matter where.)
    """
    first, last = sorted((one.length, other.length))

    def difference(middle: float) -> float:
        inside = min(max(middle, first), last)
        return abs(math.log(other.length / inside)) - abs(math.log(one.length / inside))

    margin = math.hypot(*(math.log(high / low) / 2 for low, high in (one.interval, other.interval)))
    return difference(text.length), min(difference(end) for end in text.interval) - margin


_PARTS = (
    "Inner layers have ReLU, where the program that the paper's is based on has GELU. What is written is many texts side by "
    "side, where the paper's networks write one."
)
_SHORT = (
    "Trainings are shorter than the paper's, at larger rates and from one seed; Transformers look back over fewer symbols; "
    "those of characters write less; the vocabulary of words is smaller, and embedding and output are two matrices. "
    f"{_PARTS}"
)
_NOTES = {
    "smoke": f"{_SHORT} {SMOKE}",
    "laptop": _SHORT,
    "paper": f"{_PARTS} In networks of words the embedding has no L2 regularization, of which the paper's has 0.01, and all "
    "are of batches of 20, where the paper has 32 for some, and of 3 seeds, of which the paper says nothing.",
}
