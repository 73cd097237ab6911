"""Sequences of symbols: readers for files of every kind, and sources whose mutual information is known exactly.

A `Sequence` is one or more documents of integer symbols plus an alphabet. It is lazy: its `Store` may be a file larger
than memory, read piece by piece. `read` makes a sequence from files; `memspan.sequences.sources` samples known processes.

Names load on first use: `memspan.sequences.formats` feeds the help of the command line, which starts without numpy.

>>> from memspan.sequences import Sequence
>>> Sequence.from_documents(["to be or not to be"]).length
18
"""

import importlib
from typing import TYPE_CHECKING, Any

from memspan.sequences.formats import SYMBOLS as SYMBOLS
from memspan.sequences.formats import TRANSFORMS as TRANSFORMS

if TYPE_CHECKING:
    from memspan.sequences.readers import read as read
    from memspan.sequences.sequence import Sequence as Sequence
    from memspan.sequences.store import Disk as Disk
    from memspan.sequences.store import Memory as Memory
    from memspan.sequences.store import Store as Store

_MODULES = {
    "read": "memspan.sequences.readers",
    "Sequence": "memspan.sequences.sequence",
    "Disk": "memspan.sequences.store",
    "Memory": "memspan.sequences.store",
    "Store": "memspan.sequences.store",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
