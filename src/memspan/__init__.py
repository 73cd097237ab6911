"""memspan: how far back does it remember?

Measures the long-range memory of sequences and of sequence models. Names load on first use, so that
`import memspan` is instant.

>>> import memspan as ms
>>> curve = ms.mutual_information(["abab" * 500, "baba" * 500], lags=[1, 2, 3])
>>> round(float(curve.information[0]), 2)
0.69
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from memspan import cells as cells
    from memspan import data as data
    from memspan import decay as decay
    from memspan import diagnostics as diagnostics
    from memspan import information as information
    from memspan import init as init
    from memspan import memorization as memorization
    from memspan import models as models
    from memspan import presentation as presentation
    from memspan import reproductions as reproductions
    from memspan import results as results
    from memspan import sequences as sequences
    from memspan import tasks as tasks
    from memspan import theory as theory
    from memspan import training as training
    from memspan.decay import compare as compare
    from memspan.decay import fit_decay as fit_decay
    from memspan.decay import measure as measure
    from memspan.errors import MemspanError as MemspanError
    from memspan.information import PairCounts as PairCounts
    from memspan.information import count_pairs as count_pairs
    from memspan.information import log_lags as log_lags
    from memspan.information import mutual_information as mutual_information
    from memspan.memorization import memorize as memorize
    from memspan.presentation import plot as plot
    from memspan.reproductions import reproduce as reproduce
    from memspan.results import Curve as Curve
    from memspan.sequences import Sequence as Sequence
    from memspan.sequences import read as read
    from memspan.sequences import sources as sources

_PUBLIC = {
    # verbs
    "read": "memspan.sequences",
    "count_pairs": "memspan.information",
    "mutual_information": "memspan.information",
    "fit_decay": "memspan.decay",
    "measure": "memspan.decay",
    "compare": "memspan.decay",
    "memorize": "memspan.memorization",
    "plot": "memspan.presentation",
    "reproduce": "memspan.reproductions",
    # nouns
    "Sequence": "memspan.sequences",
    "PairCounts": "memspan.information",
    "Curve": "memspan.results",
    "log_lags": "memspan.information",
    "MemspanError": "memspan.errors",
}
_NAMESPACES = {
    "sequences": "memspan.sequences",
    "sources": "memspan.sequences.sources",
    "information": "memspan.information",
    "decay": "memspan.decay",
    "theory": "memspan.theory",
    "memorization": "memspan.memorization",
    "init": "memspan.init",
    "cells": "memspan.cells",
    "models": "memspan.models",
    "tasks": "memspan.tasks",
    "training": "memspan.training",
    "diagnostics": "memspan.diagnostics",
    "results": "memspan.results",
    "presentation": "memspan.presentation",
    "data": "memspan.data",
    "reproductions": "memspan.reproductions",
}
_RENAMED = {"experiments": "reproductions", "figures": "presentation", "report": "presentation"}
"""Old names, which still work and warn."""

__all__ = ["__version__", *_PUBLIC, *_NAMESPACES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        import warnings

        warnings.warn(f"memspan.{name} is now memspan.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _NAMESPACES:
        try:
            return importlib.import_module(_NAMESPACES[name])
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from memspan.errors import MissingExtraError

            raise MissingExtraError(f"memspan.{name}", "PyTorch", "models") from error
    raise AttributeError(f"module 'memspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
