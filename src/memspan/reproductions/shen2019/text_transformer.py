"""Transformers trained on WikiText-2: what they generate has the dependence within sentences and paragraphs.

Shen 2019, section 5.2, Fig. 3b and 3c, and appendix E.2.2, Fig. 10.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from memspan.progress import Progress
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import CurveDecay, power_between, ratio_claim
from memspan.reproductions.shen2019.sizes import KINDS, Kind, TextSize
from memspan.reproductions.shen2019.text import (
    CHARACTERS_PER_WORD,
    FAR,
    MIDDLE,
    NEAR,
    TextResults,
    if_published,
    in_words,
    instead_of,
)
from memspan.results import Claim, LawFit

# --- Fig. 3b and 3c: curves

# Width of the single layer that was trained on characters and has too heavy a tail.  Shen 2019, section 5.2.
SINGLE = 512
# Layers, of 512 units, that were trained on words and have a tail.  The same section.
SEVERAL = (3, 5)
# Width of the networks of several layers.  Appendix E.2.2, Fig. 10.
PUBLISHED_DEEP: dict[Kind, str] = {"characters": "128", "words": "512"}
# Lags of the tail.
PARAGRAPHS = (50, 500)


def fig3bc(*, size: TextSize, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Train Transformers on characters and on words, and compare the curves of what they generate with the text."""
    results = TextResults.of(size, seed, progress, runs)
    claims = (*character_claims(results), *word_claims(results))
    return Outcome(claims, results.curve_charts(), results.notes(size))


def character_claims(results: TextResults) -> list[Claim]:
    """Section 5.2, about one layer trained on characters."""
    widest = results.kinds["characters"].plan.grid.widths[-1]
    who = f"A Transformer of one layer of {widest} units{instead_of(widest, f'{SINGLE}')} trained on characters"
    context = _context(results, "characters")
    seen = (min(FAR[0], context // 2), context)
    claims = [
        *(results.captures(who, "characters", widest, lags) for lags in (NEAR, MIDDLE)),
        ratio_claim(
            f"{who} has more information than the text at lags {in_words(seen)}, within its context length.",
            results.ratio("characters", widest, seen),
            least=1.0,
        ),
    ]
    return [if_published(each, widest, f"{SINGLE}") for each in claims]


def word_claims(results: TextResults) -> list[Claim]:
    """Section 5.2: even small Transformers trained on words, and those of three and five layers."""
    grid = results.kinds["words"].plan.grid
    who = f"Even a Transformer of one layer of {grid.widths[0]} units trained on words"
    several = [depth for depth in grid.depths if depth in SEVERAL] or [max(grid.depths)]
    return [
        *(results.captures(who, "words", grid.widths[0], lags) for lags in (NEAR, MIDDLE)),
        *(claim for depth in several for claim in _tail_claims(results, depth)),
    ]


def _tail_claims(results: TextResults, depth: int) -> list[Claim]:
    """A power law that continues to 500 characters, with a different exponent than the text."""
    words, deep = results.kinds["words"], results.kinds["words"].plan.grid.deep
    seen = (PARAGRAPHS[0], min(PARAGRAPHS[1], _context(results, "words")))
    published = depth in SEVERAL and f"{deep}" == PUBLISHED_DEEP["words"]
    here = "" if published else " (the paper: 3 and 5 of 512)"
    who = f"a Transformer of {depth} layers of {deep} units{here} trained on words"
    own, text = (power_between(curve, seen) for curve in (results.curve("words", deep, depth), words.text))
    claims = [
        ratio_claim(
            f"What {who} generates still has at least half of the text's information at lags {in_words(seen)}, where the "
            "text has its power law.",
            results.ratio("words", deep, seen, depth),
            least=0.5,
        ),
        _exponent_claim(who, own, text),
    ]
    return (
        claims
        if published
        else [replace(each, untestable="the paper has 3 and 5 layers of 512 units") for each in claims]
    )


def _exponent_claim(who: str, own: LawFit | None, text: LawFit | None) -> Claim:
    """Whether two exponents differ."""
    (value, (low, high)), (other, (least, most)) = (_exponent(fit) for fit in (own, text))
    of_text = "" if text is None else f", {other:.2f} [{least:.2f}, {most:.2f}]"
    return claim(
        f"What {who} generates falls with a different exponent there than the text{of_text}.",
        measure="its exponent; it holds if the 95 % intervals are disjoint",
    ).holds_if(value, high < least or most < low)


def _exponent(fit: LawFit | None) -> tuple[float, tuple[float, float]]:
    unknown = math.nan, (math.nan, math.nan)
    return unknown if fit is None else (fit.parameters["exponent"], fit.intervals["exponent"])


def _context(results: TextResults, kind: Kind) -> int:
    """The context length of a Transformer, in characters."""
    steps = results.kinds[kind].plan.task["steps"]
    return min(FAR[1], steps if kind == "characters" else round(steps * CHARACTERS_PER_WORD))


# --- Fig. 10: correlation lengths


def fig10(*, size: TextSize, seed: int, progress: Progress, runs: Path) -> Outcome:
    """The correlation lengths of the same networks, by width and depth."""
    results = TextResults.of(size, seed, progress, runs)
    return Outcome(tuple(length_claims(results)), results.length_charts(), results.notes(size))


def length_claims(results: TextResults) -> list[Claim]:
    """Appendix E.2.2: wide ones reach sentences; narrow ones have a long correlation length of almost no information."""
    widths = results.kinds["characters"].plan.grid.widths
    narrow, widest = widths[0], widths[-1]
    wide_one = f"A Transformer of {widest} units{instead_of(widest, f'{SINGLE}')} trained on characters"
    narrow_one = f"A Transformer of one layer of {narrow} units trained on characters"
    wide = [
        ratio_claim(
            f"{wide_one} reaches lags within sentences: its correlation length is at least 2/3 of that of the text.",
            results.length("characters", widest),
            least=2 / 3,
        ),
        results.captures(wide_one, "characters", widest, MIDDLE),
    ]
    return [
        *(if_published(each, widest, f"{SINGLE}") for each in wide),
        ratio_claim(
            f"{narrow_one} has a longer correlation length than the text.",
            results.length("characters", narrow),
            least=1.0,
        ),
        ratio_claim(
            f"{narrow_one} nevertheless has much less information than the text at lags {in_words(NEAR)}: less than half.",
            results.ratio("characters", narrow, NEAR),
            most=0.5,
        ),
        *(_depth_claim(results, kind) for kind in KINDS if len(results.by_depth(kind)) > 1),
    ]


def _depth_claim(results: TextResults, kind: Kind) -> Claim:
    deep, by_depth = results.kinds[kind].plan.grid.deep, results.by_depth(kind)
    deepest = max(by_depth)
    value, least = closeness(by_depth[deepest], by_depth[min(by_depth)], results.kinds[kind].decay)
    found = claim(
        f"The correlation length of a Transformer of {deepest} layers of {deep} units"
        f"{instead_of(deep, PUBLISHED_DEEP[kind])} trained on {kind} is closer to the text's than that of one layer.",
        measure="the difference of |log(length / the text's)|; it holds if this exceeds the 95 % intervals of all three",
    ).holds_if(value, least > 0)
    return if_published(found, deep, PUBLISHED_DEEP[kind])


def closeness(one: CurveDecay, other: CurveDecay, text: CurveDecay) -> tuple[float, float]:
    """How much closer one correlation length is to the text's than another, on a logarithmic scale; and a lower bound.

    The bound considers the intervals of all three: the text's length may be anywhere in its own. (Outside of the other
    two lengths its position does not matter.)
    """
    first, last = sorted((one.length, other.length))

    def difference(middle: float) -> float:
        inside = min(max(middle, first), last)
        return abs(math.log(other.length / inside)) - abs(math.log(one.length / inside))

    margin = math.hypot(*(math.log(high / low) / 2 for low, high in (one.interval, other.interval)))
    return difference(text.length), min(difference(end) for end in text.interval) - margin
