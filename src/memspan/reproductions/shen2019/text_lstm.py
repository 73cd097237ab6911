"""LSTMs trained on WikiText-2: what they generate has no long-range dependence.

Shen 2019, section 4.2.2, Fig. 2, and appendix E.1.2, Fig. 8.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import (
    exponential_between,
    largest,
    law_claim,
    length_ratio,
    ratio_claim,
    total_ratio,
)
from memspan.reproductions.shen2019.sizes import KINDS, Kind, TextSize
from memspan.reproductions.shen2019.text import FAR, MIDDLE, NEAR, TextResults, if_published, in_words, instead_of
from memspan.results import Claim, Curve

# --- Fig. 2: curves

# From this width on, character LSTMs have the information within words.  Shen 2019, section 4.2.2.
SPELLING = 32
# Character LSTMs of these widths have too much of it.  The same section.
LARGE = (1_024, 2_048)
# A word LSTM of this width has a power law; a character LSTM reaches lags within sentences.  Appendix E.1.2.
WIDEST = 2_048
# Where that power law is. Too few lags to distinguish an exponential, so the claim is about the remaining information.
LONGER = (50, 150)
# A weight from which on one law of two is preferred beyond the noise.
DECIDED = 0.9
# Informations that differ by less than this factor count as one constant.
LEVEL = 1.25


def fig2(*, size: TextSize, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Train LSTMs on characters and on words, and compare the curves of what they generate with that of the text."""
    results = TextResults.of(size, seed, progress, runs)
    constants = [claim for kind in KINDS for claim in constant_claims(results, kind)]
    claims = (*character_claims(results), *word_claims(results), *constants)
    return Outcome(claims, results.curve_charts(), results.notes(size))


def _who(width: int, kind: Kind) -> str:
    return f"An LSTM of {width:,} units trained on {kind}"


def character_claims(results: TextResults) -> list[Claim]:
    """Section 4.2.2, about LSTMs trained on characters."""
    widths, claims = results.kinds["characters"].plan.grid.widths, []
    for width in widths:
        who = _who(width, "characters")
        if width >= SPELLING:
            claims.append(results.captures(who, "characters", width, NEAR))
        claims.append(
            ratio_claim(
                f"{who} has less than half of the text's information at lags {in_words(FAR)}: no power law is left there.",
                total_ratio(results.curve("characters", width), results.kinds["characters"].text, FAR),
                most=0.5,
            )
        )
    claims.append(
        law_claim(
            f"What even the widest LSTM trained on characters, of {widths[-1]:,} units, generates follows an exponential "
            f"rather than a power law at lags {in_words(MIDDLE)}, with a weight of at least {DECIDED:.0%}.",
            exponential_between(results.curve("characters", widths[-1]), MIDDLE),
            "exponential",
            DECIDED,
        )
    )
    # Those that the paper calls large, or the widest if there are none.
    for width in [width for width in widths if width in LARGE] or widths[-1:]:
        who = f"{_who(width, 'characters')}{'' if width in LARGE else ' (the paper: 1,024 and 2,048)'}"
        claim = f"{who} has more information than the text at lags {in_words(NEAR)}."
        more = ratio_claim(claim, results.ratio("characters", width, NEAR), least=1.0)
        claims.append(more if width in LARGE else if_published(more, width, "1,024 and 2,048"))
    return claims


def word_claims(results: TextResults) -> list[Claim]:
    """Section 4.2.2, about LSTMs trained on words."""
    widths = results.kinds["words"].plan.grid.widths
    widest, up_to = widths[-1], (NEAR[0], LONGER[1])
    who = f"{_who(widest, 'words')}{instead_of(f'{widest:,}', f'{WIDEST:,}')}"
    power_law = [
        ratio_claim(
            f"{who} still has at least half of the text's information at lags {in_words(LONGER)}, where the text has its "
            "power law.",
            results.ratio("words", widest, LONGER),
            least=0.5,
        ),
        ratio_claim(
            f"{who} has about twice the information of the text, 1.5 to 3 times, at lags {in_words(up_to)}.",
            results.ratio("words", widest, up_to),
            least=1.5,
            most=3.0,
            paper=2.0,
        ),
    ]
    return [
        *(results.captures(_who(width, "words"), "words", width, lags) for width in widths for lags in (NEAR, MIDDLE)),
        *(if_published(each, f"{widest:,}", f"{WIDEST:,}") for each in power_law),
    ]


def constant_claims(results: TextResults, kind: Kind) -> list[Claim]:
    """The paper finds a constant at long lags in what every LSTM generates; erratum 3 explains it."""
    curves = [each.curve for each in results.kinds[kind].found.values()]
    first = int(curves[0].lags[-1]) // 2
    levels = np.array([_level(curve, curve.information, first) for curve in curves])
    flat = np.array([_level(each, each.information, first // 2) for each in curves]) / levels
    floors = levels / [_level(each, each.floor, first) for each in curves]
    above = levels > [2 * _level(each, each.error, first) for each in curves]
    return [
        claim(
            f"With nothing subtracted, the information of what LSTMs trained on {kind} generate does not fall to zero: "
            f"it is a constant within a factor of {LEVEL} from lag {first // 2} on.",
            measure=f"the lowest level from lag {first} on, in nats",
        ).holds_if(levels.min(), above.all() and flat.max() < LEVEL and flat.min() > 1 / LEVEL),
        claim(
            f"That constant, for LSTMs trained on {kind}, is the noise floor of the estimator (errata-03). (Measured: "
            "level / floor, where it deviates most from one.)"
        ).near(max(floors, key=lambda ratio: abs(ratio - 1)), LEVEL - 1, corrected=1.0),
    ]


def _level(curve: Curve, values: NDArray[np.float64], first: int) -> float:
    """The mean from some lag on."""
    return float(np.mean(values[curve.lags >= first]))


# --- Fig. 8: correlation lengths

# A correlation length that is less than this many times another is no relevant improvement.
SAME = 1.2
# Width of the networks of several layers.
PUBLISHED_DEEP: dict[Kind, str] = {"characters": "128", "words": "512"}


def fig8(*, size: TextSize, seed: int, progress: Progress, runs: Path) -> Outcome:
    """The correlation lengths of the same networks, by width and depth."""
    results = TextResults.of(size, seed, progress, runs)
    return Outcome(tuple(length_claims(results)), results.length_charts(), results.notes(size))


def length_claims(results: TextResults) -> list[Claim]:
    """Appendix E.1.2."""
    widths = results.kinds["characters"].plan.grid.widths
    narrow = results.kinds["words"].plan.grid.widths[0]
    below = [width for width in widths if width < WIDEST]
    claims = [
        ratio_claim(
            f"LSTMs of up to {below[-1]:,} units trained on characters do not reach lags within sentences: the longest of "
            "their correlation lengths is below that of the text.",
            largest(results.length("characters", width) for width in below),
            most=1.0,
        ),
        ratio_claim(
            f"An LSTM of {narrow} units trained on words does{instead_of(narrow, '16')}: its correlation length is 2/3 to "
            "3/2 of that of the text.",
            results.length("words", narrow),
            least=2 / 3,
            most=3 / 2,
        ),
        *(_depth_claim(results, kind) for kind in KINDS if len(results.by_depth(kind)) > 1),
    ]
    if WIDEST in widths:
        claim = f"{_who(WIDEST, 'characters')} does: its correlation length is at least 2/3 of that of the text."
        claims.append(ratio_claim(claim, results.length("characters", WIDEST), least=2 / 3))
    return claims


def _depth_claim(results: TextResults, kind: Kind) -> Claim:
    one, *more = results.by_depth(kind).values()
    width = results.kinds[kind].plan.grid.deep
    found = ratio_claim(
        f"More layers of {width} units{instead_of(width, PUBLISHED_DEEP[kind])} do not help an LSTM trained on {kind}: the "
        f"longest correlation length of them is less than {SAME:g} times that of one, a limit of ours.",
        largest(length_ratio(decay, one) for decay in more),
        most=SAME,
    )
    return if_published(found, width, PUBLISHED_DEEP[kind])
