"""The look of all figures: colors, markers, fonts and text, and figures as files.

Colors differ in gray and for the color-blind; each comes with a marker and a dash.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, final, get_args

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.layout_engine import ConstrainedLayoutEngine

from memspan.errors import InputError
from memspan.results.files import write_bytes

INK, GREY, PALE = "#222222", "#8a8a8a", "#dddddd"
# Okabe and Ito's colors.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"
BROWN = "#7a4a21"

# Points from which on a line reads better than markers.
MANY = 120

StyleName: TypeAlias = Literal["report", "paper"]
# Inches of a figure in the style `paper`: one column of a two-column page.
PAPER_SIZE = 3.4, 2.4
# Families with characters that DejaVu Sans lacks, in the order in which installed ones are tried.
FALLBACK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK TC", "Noto Sans SC", "Noto Sans JP"),
    *("Source Han Sans SC", "Source Han Sans", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback"),
    *("PingFang SC", "PingFang HK", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Heiti TC"),
    *("Microsoft YaHei", "SimHei", "SimSun", "Yu Gothic", "MS Gothic", "Meiryo", "Malgun Gothic", "IPAexGothic"),
    *("NanumGothic", "UnBatang", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Arabic", "Noto Sans Hebrew"),
    *("Noto Sans Symbols2", "Arial Unicode MS", "Unifont"),
)

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
class LineLook:
    """Color, marker and dash of one of several lines."""

    color: str
    marker: str
    dash: Any


_LOOKS = (
    LineLook(BLUE, "o", "-"),
    LineLook(ORANGE, "s", (0, (5, 1.5))),
    LineLook(INK, "^", (0, (1.2, 1.2))),
    LineLook(GREEN, "D", (0, (6, 1.5, 1.2, 1.5))),
    LineLook(PURPLE, "v", (0, (3, 3))),
    LineLook(VERMILION, "P", (0, (8, 2))),
    LineLook(SKY, "X", (0, (3, 1, 1, 1, 1, 1))),
    LineLook(BROWN, "<", (0, (2, 4))),
)


def look(position: int) -> LineLook:
    """The look of the line at this position; a ninth line is the first color with the second marker."""
    color, turn = _LOOKS[position % len(_LOOKS)], position // len(_LOOKS)
    shifted = _LOOKS[(position + turn) % len(_LOOKS)]
    return LineLook(color.color, shifted.marker, shifted.dash)


@contextlib.contextmanager
def drawing_style(name: StyleName = "report") -> Iterator[None]:
    """Use our matplotlib settings inside, and restore the previous ones afterwards.

    Matplotlib's settings are global to the process, so only one thread draws at a time.
    """
    chosen = {**_RC, "font.family": list(_families()), **(_PAPER_RC if name == "paper" else {})}
    with _LOCK, matplotlib.style.context(["default", chosen]):
        yield


def label_size() -> float:
    """Font size of text inside the axes, in points."""
    return float(matplotlib.rcParams["legend.fontsize"])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` inches outside pyplot: no window, nothing to close."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.06))


def pyplot_axes(style: StyleName) -> Axes:
    """The axes of a new pyplot figure, which a notebook or `pyplot.show()` shows."""
    from matplotlib import pyplot

    size = PAPER_SIZE if style == "paper" else (7.4, 5.0)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def check_style(style: str) -> None:
    """Refuse an unknown style."""
    if style not in get_args(StyleName):
        raise InputError(f"unknown style {style!r}; use {' or '.join(get_args(StyleName))}")


def settle(figure: Figure) -> None:
    """Lay the figure out once; a layout at every drawing would change it between two files."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")


def literal(text: str, *, instead: str | None = None) -> str:
    """`text` drawn verbatim: no math between dollars, no hidden labels, and a spelling for characters without a font.

    Other scripts are drawn with the first installed font that has them. Characters without a font are decomposed,
    transliterated by their Unicode name (kana, hangul), or given as code points; if `instead` is given, it replaces the
    whole text.
    """
    shown = text if _known(text) else _spelled(text) if instead is None else instead
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib hides labels that start with _


def _families() -> tuple[str, ...]:
    """DejaVu Sans, which comes with matplotlib, then the installed fallback fonts."""
    installed = set(fontManager.get_font_names())
    return ("DejaVu Sans", *(name for name in FALLBACK_FONTS if name in installed))


def _known(text: str) -> bool:
    """Whether every character can be drawn; large fonts are opened only for characters that DejaVu Sans lacks."""
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


_NO_METADATA: dict[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def save(
    figure: Figure, folder: str | os.PathLike[str], name: str, *, style: StyleName = "report", svg: bytes | None = None
) -> tuple[Path, ...]:
    """Write `folder/NAME.svg` and `folder/NAME.png` atomically and return the paths.

    In the style `paper` also `folder/NAME.pdf`, with its fonts embedded. `svg` is the SVG file if it was drawn before.
    """
    if not name or name != Path(name).name:
        raise InputError(f"{name!r} is not a file name; expected a name without slashes; rename the figure")
    kinds = {"svg": _NO_METADATA, "png": {"Software": None}}
    if style == "paper":
        kinds["pdf"] = dict.fromkeys(("Creator", "Producer", "CreationDate"))
    paths = []
    for kind, metadata in kinds.items():
        paths.append(Path(folder) / f"{name}.{kind}")
        drawn = svg if kind == "svg" and svg is not None else _rendered(figure, kind, metadata, style)
        write_bytes(paths[-1], drawn)
    return tuple(paths)


def svg_text(figure: Figure) -> str:
    """The figure as one `<svg>` element for a page."""
    return svg_element(svg_bytes(figure))


def svg_bytes(figure: Figure) -> bytes:
    """The figure as an SVG file: without a date, so that the same figure gives the same bytes."""
    return _rendered(figure, "svg", _NO_METADATA)


def svg_element(svg: bytes) -> str:
    """The `<svg>` element of an SVG file."""
    text = svg.decode()
    return text[text.index("<svg") :]


def _rendered(figure: Figure, kind: str, metadata: dict[str, None], style: StyleName = "report") -> bytes:
    buffer = io.BytesIO()
    with drawing_style(style):
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
