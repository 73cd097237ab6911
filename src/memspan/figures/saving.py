"""A figure to files or text: the same bytes every time, no date inside, letters as outlines."""

from __future__ import annotations

import io
import os
from pathlib import Path

from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.style import StyleName
from memspan.figures.style import style as drawing_style
from memspan.results.files import write_bytes

_NO_METADATA: dict[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def save(
    figure: Figure, folder: str | os.PathLike[str], name: str, *, style: StyleName = "report"
) -> tuple[Path, ...]:
    """Write `folder/NAME.svg` and `folder/NAME.png`, each whole or not at all, and return the paths.

    In the style `paper` also `folder/NAME.pdf`, with its fonts embedded.
    """
    if not name or name != Path(name).name:
        raise InputError(
            f"{name!r} is not the name of a file; expected a word without slashes; rename the figure"
        )
    kinds = {"svg": _NO_METADATA, "png": {"Software": None}}
    if style == "paper":
        kinds["pdf"] = dict.fromkeys(("Creator", "Producer", "CreationDate"))
    paths = []
    for kind, metadata in kinds.items():
        paths.append(Path(folder) / f"{name}.{kind}")
        write_bytes(paths[-1], _drawn(figure, kind, metadata, style))
    return tuple(paths)


def svg_text(figure: Figure) -> str:
    """The figure as one `<svg>` element that can stand inside a page."""
    text = _drawn(figure, "svg", _NO_METADATA).decode()
    return text[text.index("<svg") :]


def _drawn(figure: Figure, kind: str, metadata: dict[str, None], style: StyleName = "report") -> bytes:
    buffer = io.BytesIO()
    with drawing_style(style):
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
