"""Public data sets by name: what they contain, where they are, and how to get them.

A data set is in the folder named by `MEMSPAN_DATA`, otherwise in the user's cache, always as `NAME/FILE`. `get` downloads
it to the cache and checks it against the catalog; `resolve` turns `data:NAME` of the command line into paths.

>>> from memspan.data import CATALOG
>>> [file.name for file in CATALOG["ptb"].files]
['ptb.train.txt', 'ptb.valid.txt', 'ptb.test.txt']
"""

import warnings
from typing import Any

from memspan.data.catalog import CATALOG, Archive, DataFile, DataSet, Folder
from memspan.data.download import get
from memspan.data.locations import available, find, locate, resolve

__all__ = ["CATALOG", "Archive", "DataFile", "DataSet", "Folder", "available", "find", "get", "locate", "resolve"]


def __getattr__(name: str) -> Any:
    if name == "CATALOGUE":
        warnings.warn("memspan.data.CATALOGUE is deprecated; use CATALOG", DeprecationWarning, stacklevel=2)
        return CATALOG
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
