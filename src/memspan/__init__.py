"""memspan: how far back does it remember?

Measures the long-range memory of sequences and of sequence models. Names load on first use, so that
`import memspan` is instant.

>>> import memspan as ms
>>> curve = ms.mutual_information(["abab" * 500, "baba" * 500], lags=[1, 2, 3])
>>> round(curve.information[0], 2)
0.69
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from memspan import results as results
    from memspan.errors import MemspanError as MemspanError
    from memspan.sequences import Sequence as Sequence

_PUBLIC = {
    "MemspanError": "memspan.errors",
    "Sequence": "memspan.sequences",
}
_NAMESPACES = ("results",)

__all__ = ["__version__", *_PUBLIC, *_NAMESPACES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _NAMESPACES:
        return importlib.import_module(f"memspan.{name}")
    raise AttributeError(f"module 'memspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
