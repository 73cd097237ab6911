"""What people see of results: sentences, tables, figures, HTML pages and notebook cells.

Each result type has one file with one `Presenter`; `draw/` has the matplotlib drawings, `page/` the HTML, `terminal.py` the
tables of the command line. Names load on first use: a sentence does not wait for matplotlib.

>>> from memspan.presentation import sentence
>>> from memspan.results import Chart
>>> sentence(Chart("c", "A chart is its own answer", "x", "y", "linear", "linear", (), ""))
'A chart is its own answer'
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memspan.presentation.draw.style import save as save
    from memspan.presentation.draw.style import svg_text as svg_text
    from memspan.presentation.page.html import notebook_html as notebook_html
    from memspan.presentation.page.html import report as report
    from memspan.presentation.page.html import write_report as write_report
    from memspan.presentation.page.section import Section as Section
    from memspan.presentation.page.section import render as render
    from memspan.presentation.presenter import Presenter as Presenter
    from memspan.presentation.presenter import figures_of as figures_of
    from memspan.presentation.presenter import plot as plot
    from memspan.presentation.presenter import present as present
    from memspan.presentation.presenter import sentence as sentence

_PUBLIC = {
    **dict.fromkeys(("Presenter", "figures_of", "plot", "present", "sentence"), "presenter"),
    **dict.fromkeys(("Section", "render"), "page.section"),
    **dict.fromkeys(("report", "write_report"), "page.html"),
    "notebook_html": "page.html",
    **dict.fromkeys(("save", "svg_text"), "draw.style"),
}

__all__ = list(_PUBLIC)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"memspan.presentation.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'memspan.presentation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
