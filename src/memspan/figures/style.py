"""One look: colours that differ in grey and for the colour-blind, each with a marker and a dash."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.layout_engine import ConstrainedLayoutEngine

INK, GREY, PALE = "#222222", "#8a8a8a", "#dddddd"
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"
"""Okabe and Ito's colours."""
BROWN = "#7a4a21"

MANY = 120
"""From this number of points on, a line says more than markers."""

StyleName: TypeAlias = Literal["report", "paper"]
PAPER_SIZE = 3.4, 2.4
"""Inches of a figure in the style `paper`: one column of a two-column page."""
FALLBACK_FONTS = (
    *(
        "Noto Sans CJK SC",
        "Noto Sans CJK JP",
        "Noto Sans CJK KR",
        "Noto Sans CJK TC",
        "Noto Sans SC",
        "Noto Sans JP",
    ),
    *(
        "Source Han Sans SC",
        "Source Han Sans",
        "WenQuanYi Zen Hei",
        "WenQuanYi Micro Hei",
        "Droid Sans Fallback",
    ),
    *("PingFang SC", "PingFang HK", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Heiti TC"),
    *(
        "Microsoft YaHei",
        "SimHei",
        "SimSun",
        "Yu Gothic",
        "MS Gothic",
        "Meiryo",
        "Malgun Gothic",
        "IPAexGothic",
    ),
    *(
        "NanumGothic",
        "UnBatang",
        "Noto Sans Devanagari",
        "Noto Sans Thai",
        "Noto Sans Arabic",
        "Noto Sans Hebrew",
    ),
    *("Noto Sans Symbols2", "Arial Unicode MS", "Unifont"),
)
"""Families with letters that DejaVu Sans lacks; those that are installed are asked in this order."""

_RC: dict[str, Any] = {
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
_PAPER_RC: dict[str, Any] = {
    "font.size": 7.0,
    "axes.titlesize": 7.0,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "grid.linewidth": 0.4,
    "legend.fontsize": 6.0,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.0,
    "legend.labelspacing": 0.25,
    "legend.borderaxespad": 0.3,
    "lines.linewidth": 1.0,
    "lines.markersize": 2.6,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # TrueType outlines: text in the PDF can be searched, and publishers accept it
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
def style(name: StyleName = "report") -> Iterator[None]:
    """Matplotlib's settings are ours inside, and what they were afterwards.

    Matplotlib keeps its settings for the whole process, so one thread draws at a time.
    """
    chosen = {**_RC, "font.family": list(_families()), **(_PAPER_RC if name == "paper" else {})}
    with _LOCK, matplotlib.style.context(["default", chosen]):
        yield


def label_size() -> float:
    """Size in points of the words inside the axes."""
    return float(matplotlib.rcParams["legend.fontsize"])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` inches that belongs to nobody: no window, nothing to close."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.06))


def settle(figure: Figure) -> None:
    """Give every part its place, once: laid out at each drawing, a figure would not be the same twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")


def literal(text: str, *, instead: str | None = None) -> str:
    """`text` as it is: no formulas between dollars, no hidden labels, letters that no font has spelled out.

    Letters of other scripts are drawn with the first installed font that has them. Where there is none, they are
    decomposed, transliterated by their Unicode name (kana, hangul), or given as code points. `instead` stands
    for the whole text then, where there is no room for that.
    """
    shown = text if _known(text) else _spelled(text) if instead is None else instead
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _families() -> tuple[str, ...]:
    """DejaVu Sans, which matplotlib brings along, then the fallback fonts that are installed."""
    installed = set(fontManager.get_font_names())
    return ("DejaVu Sans", *(name for name in FALLBACK_FONTS if name in installed))


def _known(text: str) -> bool:
    """Whether every letter can be drawn; large fonts are opened only for letters that DejaVu Sans lacks."""
    missing = {ord(letter) for letter in text if letter != "\n"}
    for family in _families():
        missing -= _characters(family)
        if not missing:
            return True
    return False


@functools.cache
def _characters(family: str) -> frozenset[int]:
    return frozenset(FT2Font(findfont(family)).get_charmap())


_LETTER = re.compile(r"(?:HIRAGANA|KATAKANA|HANGUL|BOPOMOFO|YI)\b.*?(?:LETTER|SYLLABLE)(?: SMALL)? ([A-Z]+)$")


def _spelled(text: str) -> str:
    parts: list[str] = []
    for letter in text:
        plain = unicodedata.normalize("NFKD", letter)
        named = _LETTER.match(unicodedata.name(letter, ""))
        if _known(letter):
            parts.append(letter)
        elif _known(plain):
            parts.append(plain)
        elif named:
            parts.append(named[1].lower())
        elif parts and parts[-1].startswith("[U+"):
            parts[-1] = f"{parts[-1][:-1]} U+{ord(letter):04X}]"
        else:
            parts.append(f"[U+{ord(letter):04X}]")
    return "".join(parts)
