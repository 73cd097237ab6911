"""Results to one self-contained HTML page, and to the sentences that the command line prints.

A section is made from a result alone, so a page can be made again from `result.json`; nothing is computed
here. Names load on first use: sentences should not wait for matplotlib.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memspan.report.files import report as report
    from memspan.report.files import write_report as write_report
    from memspan.report.notebook import notebook_html as notebook_html
    from memspan.report.page import render as render
    from memspan.report.section import Section as Section
    from memspan.report.sentences import sentence as sentence

_PUBLIC = {
    "Section": "memspan.report.section",
    "notebook_html": "memspan.report.notebook",
    "render": "memspan.report.page",
    "report": "memspan.report.files",
    "sentence": "memspan.report.sentences",
    "write_report": "memspan.report.files",
}

__all__ = list(_PUBLIC)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'memspan.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
