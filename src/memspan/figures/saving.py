"""A figure to files or text: the same bytes every time, no date inside, letters as outlines."""

from __future__ import annotations

import io
import os
from pathlib import Path

from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.style import style
from memspan.results.atomic import write_bytes

_NO_METADATA: dict[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def save(figure: Figure, folder: str | os.PathLike[str], name: str) -> tuple[Path, Path]:
    """Write `folder/NAME.svg` and `folder/NAME.png`, each whole or not at all, and return the two paths."""
    if not name or name != Path(name).name:
        raise InputError(
            f"{name!r} is not the name of a file; expected a word without slashes; rename the figure"
        )
    vector, raster = Path(folder) / f"{name}.svg", Path(folder) / f"{name}.png"
    write_bytes(vector, _drawn(figure, "svg", _NO_METADATA))
    write_bytes(raster, _drawn(figure, "png", {"Software": None}))
    return vector, raster


def svg_text(figure: Figure) -> str:
    """The figure as one `<svg>` element that can stand inside a page."""
    text = _drawn(figure, "svg", _NO_METADATA).decode()
    return text[text.index("<svg") :]


def _drawn(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
