"""Results to figures: `plot(result)` draws one pair of axes, `figures_of(result)` gives all by name.

A figure says its answer in the title, names its units on the axes and can be read in grey. Nothing here
computes a result; laws are evaluated by `memspan.decay`. Names load on first use, because the words and
numbers of this folder also serve the command line, which should not wait for matplotlib.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memspan.figures.drawing import figures_of as figures_of
    from memspan.figures.drawing import plot as plot
    from memspan.figures.saving import save as save
    from memspan.figures.saving import svg_text as svg_text

_PUBLIC = {
    "figures_of": "memspan.figures.drawing",
    "plot": "memspan.figures.drawing",
    "save": "memspan.figures.saving",
    "svg_text": "memspan.figures.saving",
}

__all__ = list(_PUBLIC)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'memspan.figures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
