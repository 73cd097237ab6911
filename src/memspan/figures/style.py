"""One look: colours that differ in grey and for the colour-blind, each with a marker and a dash."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from matplotlib.layout_engine import ConstrainedLayoutEngine

INK, GREY, PALE = "#222222", "#8a8a8a", "#dddddd"
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"
"""Okabe and Ito's colours."""
BROWN = "#7a4a21"

MANY = 120
"""From this number of points on, a line says more than markers."""

_RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#eeeeee",
    "grid.linewidth": 0.6,
    "figure.titlesize": 11,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "savefig.dpi": 160,
    "svg.fonttype": "path",
    "svg.hashsalt": "memspan",
}
_LOCK = threading.RLock()


@final
@dataclass(frozen=True)
class Look:
    """How one of several lines is told from the others, in colour and without it."""

    color: str
    marker: str
    dash: Any


_LOOKS = (
    Look(BLUE, "o", "-"),
    Look(ORANGE, "s", (0, (5, 1.5))),
    Look(INK, "^", (0, (1.2, 1.2))),
    Look(GREEN, "D", (0, (6, 1.5, 1.2, 1.5))),
    Look(PURPLE, "v", (0, (3, 3))),
    Look(VERMILION, "P", (0, (8, 2))),
    Look(SKY, "X", (0, (3, 1, 1, 1, 1, 1))),
    Look(BROWN, "<", (0, (2, 4))),
)


def look(position: int) -> Look:
    """The look of the line at this position; a ninth line is the first colour with the second marker."""
    colour, turn = _LOOKS[position % len(_LOOKS)], position // len(_LOOKS)
    shifted = _LOOKS[(position + turn) % len(_LOOKS)]
    return Look(colour.color, shifted.marker, shifted.dash)


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings are ours inside, and what they were afterwards.

    Matplotlib keeps its settings for the whole process, so one thread draws at a time.
    """
    with _LOCK, matplotlib.style.context(["default", _RC]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` inches that belongs to nobody: no window, nothing to close."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.06))


def settle(figure: Figure) -> None:
    """Give every part its place, once: laid out at each drawing, a figure would not be the same twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")


def literal(text: str) -> str:
    """`text` as it is: no formulas between dollars, no letters that the font lacks, no hidden labels."""
    known = _characters()
    shown = "".join(
        letter if letter == "\n" or ord(letter) in known else "\N{WHITE SQUARE}" for letter in text
    )
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


@functools.cache
def _characters() -> frozenset[int]:
    return frozenset(FT2Font(findfont("DejaVu Sans")).get_charmap())
