"""Shen 2019, Fig. 2 and 8: what LSTMs write after learning WikiText-2, and how far back it remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import exponential_between, settled, share_claim
from memspan.reproductions.shen2019.ratios import longest, times_claim, times_length
from memspan.reproductions.shen2019.text import FAR, KINDS, MIDDLE, NEAR, Kind
from memspan.reproductions.shen2019.text_charts import (
    SMOKE,
    Learnt,
    at,
    drawn_curves,
    drawn_lengths,
    instead_of,
)
from memspan.results import Claim, Curve, claim_near

SPELLING = 32
"""From so many units on LSTMs that learn characters have the information within words.  Shen 2019, section 4.2.2."""
LARGE = (1_024, 2_048)
"""Character LSTMs of so many units have too much of it.  The same."""
WIDEST = 2_048
"""A word LSTM of so many units has a power law; a character LSTM reaches the distances within sentences.  Appendix E.1.2."""
LONGER = (50, 150)
"""Where that power law is. Too few lags to tell an exponential from it, so that a claim is about how much is left."""
SAME = 1.2
"""A correlation length that is less than so many times another is not longer in any way that matters."""
DECIDED = 0.9
"""A weight from which on one law of two is preferred beyond the noise."""
LEVEL = 1.25
"""Informations that differ by less than this factor are one constant."""


def fig2(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    constants = [claim for kind in KINDS for claim in _constant(learnt, kind)]
    claims = (*_characters(learnt), *_words(learnt), *constants)
    return Outcome(
        claims, tuple(drawn_curves(learnt, kind) for kind in KINDS), (*learnt.notes, _NOTES[scale])
    )


def _characters(learnt: Learnt) -> list[Claim]:
    """Section 4.2.2, of LSTMs that learnt characters."""
    widths, claims = learnt.sides["characters"].plan.widths, []
    for width in widths:
        if width >= SPELLING:
            claims.append(learnt.captures(_who(width, "characters"), "characters", width, NEAR))
        claims.append(
            times_claim(
                f"{_who(width, 'characters')} has less than half of the text's information at distances {at(FAR)}: no power "
                "law is left there.",
                learnt.share("characters", width, FAR),
                most=0.5,
            )
        )
    exponential = exponential_between(learnt.curve("characters", widths[-1]), MIDDLE)
    claims.append(
        share_claim(
            f"What even the widest that learnt characters, of {widths[-1]:,} units, writes forgets exponentially rather "
            f"than by a power law at {at(MIDDLE)}, with {DECIDED:.0%} of the weight or more.",
            exponential,
            "exponential's",
            DECIDED,
        )
    )
    return [*claims, *(_too_much(learnt, width) for width in _large(widths))]


def _large(widths: tuple[int, ...]) -> tuple[int, ...]:
    """Those that the paper calls large, or the widest where there are none."""
    return tuple(width for width in widths if width in LARGE) or widths[-1:]


def _too_much(learnt: Learnt, width: int) -> Claim:
    near = "" if width in LARGE else " (the paper: 1,024 and 2,048)"
    return times_claim(
        f"{_who(width, 'characters')}{near} has more information than the text at distances {at(NEAR)}.",
        learnt.share("characters", width, NEAR),
        least=1.0,
    )


def _words(learnt: Learnt) -> list[Claim]:
    """The same, of LSTMs that learnt words."""
    widths = learnt.sides["words"].plan.widths
    claims = [
        learnt.captures(_who(width, "words"), "words", width, distances)
        for width in widths
        for distances in (NEAR, MIDDLE)
    ]
    widest, up_to = widths[-1], (NEAR[0], LONGER[1])
    who = f"{_who(widest, 'words')}{instead_of(f'{widest:,}', f'{WIDEST:,}')}"
    return [
        *claims,
        times_claim(
            f"{who} still has half of the text's information or more at distances {at(LONGER)}, where the text has its "
            "power law.",
            learnt.share("words", widest, LONGER),
            least=0.5,
        ),
        replace(
            times_claim(
                f"{who} has about twice the information of the text, 1.5 to 3 times, at distances {at(up_to)}.",
                learnt.share("words", widest, up_to),
                least=1.5,
                most=3.0,
            ),
            paper=2.0,
        ),
    ]


def _constant(learnt: Learnt, kind: Kind) -> list[Claim]:
    """The paper finds a constant far away, in what every LSTM writes; erratum 3 says what it is."""
    curves = [each.curve for each in learnt.sides[kind].found.values()]
    first = int(curves[0].lags[-1]) // 2
    levels = [_level(curve, curve.information, first) for curve in curves]
    flat = [
        _level(each, each.information, first // 2) / level for each, level in zip(curves, levels, strict=True)
    ]
    floors = [level / _level(each, each.floor, first) for each, level in zip(curves, levels, strict=True)]
    farthest = max(floors, key=lambda times: abs(times - 1))
    said = (
        f"With nothing taken off, the information of what LSTMs write that learnt {kind} does not fall to zero: it is a "
        f"constant within {LEVEL} times from {first // 2} characters on. (Measured: the least one from {first} on, in nats.)"
    )
    noise = [2 * _level(each, each.error, first) for each in curves]
    above = all(level > scatter for level, scatter in zip(levels, noise, strict=True))
    constant = above and max(flat) < LEVEL and min(flat) > 1 / LEVEL
    return [
        settled(Claim(said, None, None, min(levels), None, constant)),
        settled(
            claim_near(
                f"That constant, of those that learnt {kind}, is the floor of the estimator (errata-03). (Measured: how "
                "many times the floor it is, where that is farthest from once.)",
                farthest,
                LEVEL - 1,
                corrected=1.0,
            )
        ),
    ]


def _level(curve: Curve, values: np.ndarray, first: int) -> float:
    """The mean from some lag on."""
    return float(np.mean(values[curve.lags >= first]))


def fig8(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    learnt = Learnt.of("lstm", scale, seed, progress, runs)
    figures = (drawn_lengths(learnt, "width"), drawn_lengths(learnt, "depth"))
    return Outcome(tuple(_lengths(learnt)), figures, (*learnt.notes, _NOTES[scale]))


def _lengths(learnt: Learnt) -> list[Claim]:
    """Appendix E.1.2."""
    widths, narrow = learnt.sides["characters"].plan.widths, learnt.sides["words"].plan.widths[0]
    below = [width for width in widths if width < WIDEST]
    claims = [
        times_claim(
            f"LSTMs of up to {below[-1]:,} units that learnt characters do not reach the distances within sentences: the "
            "longest of their correlation lengths is below that of the text.",
            longest(learnt.length("characters", width) for width in below),
            most=1.0,
        ),
        times_claim(
            f"An LSTM of {narrow} units that learnt words does{instead_of(narrow, '16')}: its correlation length is 2/3 to "
            "3/2 of that of the text.",
            learnt.length("words", narrow),
            least=2 / 3,
            most=3 / 2,
        ),
        *(_deeper(learnt, kind) for kind in learnt.deep()),
    ]
    if WIDEST in widths:
        said = (
            f"{_who(WIDEST, 'characters')} does: its correlation length is 2/3 of that of the text or more."
        )
        claims.append(times_claim(said, learnt.length("characters", WIDEST), least=2 / 3))
    return claims


def _deeper(learnt: Learnt, kind: Kind) -> Claim:
    one, *more = learnt.by_depth(kind).values()
    width = learnt.sides[kind].plan.deep
    published = {"characters": "128", "words": "512"}[kind]
    return times_claim(
        f"More layers of {width} units{instead_of(width, published)} do not help an LSTM that learnt {kind}: the longest "
        f"correlation length of them is less than {SAME:g} times that of one.",
        longest(times_length(laws, one) for laws in more),
        most=SAME,
    )


def _who(width: int, kind: Kind) -> str:
    return f"An LSTM of {width:,} units that learnt {kind}"


_START = (
    "LSTMs of characters begin as in PyTorch, their embeddings uniform within 0.1; the paper's, in Keras, with orthogonal "
    "recurrent weights, an orthogonal embedding and a forget bias of 1. What is written is many texts side by side, where "
    "the paper's networks write one."
)
_SHORT = (
    "Trainings are shorter than the paper's, from one seed and by Adam, whose rate falls along a cosine, without dropout; "
    f"the embedding of characters and the vocabulary of words are smaller. {_START}"
)
_NOTES = {
    "smoke": f"{_SHORT} {SMOKE}",
    "laptop": _SHORT,
    "paper": f"{_START} Their gates are sigmoids, of which Keras had an approximation by straight lines; gradients are "
    "clipped by their norm, where the paper does not say how; 200,000 updates are the most, where it has no limit. In "
    "networks of words dropout also follows the last layer, as in the example of PyTorch that the paper trains, which its "
    "text leaves out.",
}
