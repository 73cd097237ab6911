"""The packages that memspan is set beside, and the single core that all of them get."""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType

from memspan.errors import MissingExtraError

PEERS = {
    "sklearn.metrics": "scikit-learn",
    "threadpoolctl": "scikit-learn",
    "automutualinformation": "automutualinformation",
}
"""Module and the package that brings it."""


def peer(module: str) -> ModuleType:
    """The module, or the message which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("this benchmark", PEERS[module], "bench") from error


def check_peers() -> None:
    """Every peer is there: better to know before two minutes have passed than after."""
    for module in PEERS:
        peer(module)


def one_core() -> contextlib.AbstractContextManager[object]:
    """Inside, matrix products take one thread, as everything else does by itself."""
    return peer("threadpoolctl").threadpool_limits(limits=1)
