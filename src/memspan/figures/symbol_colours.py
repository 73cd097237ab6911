"""One colour per symbol: the usual ones for few, a circle of hues for many."""

from __future__ import annotations

import colorsys

from matplotlib.colors import to_hex, to_rgb

from memspan.figures.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

_FEW = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, "#f0e442", GREY)
_GOLDEN = 0.381966
"""A share of the circle of hues: steps of this length never come close to an earlier hue soon."""


def symbol_colours(amount: int) -> list[str]:
    """Colours that differ; for more than eight symbols neighbours in the alphabet lie far apart.

    >>> len(set(symbol_colours(60)))
    60
    """
    if amount <= len(_FEW):
        return list(_FEW[:amount])
    return [
        to_hex(colorsys.hls_to_rgb((0.58 + _GOLDEN * place) % 1.0, (0.42, 0.60)[place % 2], 0.62))
        for place in range(amount)
    ]


def pale(colour: str, strength: float) -> str:
    """The colour mixed with white, for areas that carry points and letters."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))
