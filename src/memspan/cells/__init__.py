"""Recurrent cells, each with the call signature of `torch.nn.LSTM`.

>>> import torch
>>> from memspan.cells import CELLS, RelLSTM
>>> layer = RelLSTM(10, 16, short_term=5, relevant=5)
>>> output, state = layer(torch.zeros(7, 2, 10))
>>> output.shape, state.h.shape
(torch.Size([7, 2, 16]), torch.Size([1, 2, 16]))

`CELLS` maps the name of a cell on the command line to its class, which holds all other facts: label, description, options
with defaults, whether it attends. To add a cell, write its file and add one line to `CELLS`.

>>> CELLS["rel-lstm"].description
'LSTM that attends to recent and relevant states'
>>> list(CELLS["rel-lstm"].options())
['short_term', 'relevant', 'combine']
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, final

from memspan.errors import InputError, MissingExtraError, suggestion

if TYPE_CHECKING:
    from memspan.cells.attentive.memory import MemLSTM as MemLSTM
    from memspan.cells.attentive.memory import MemRNN as MemRNN
    from memspan.cells.attentive.relevance import RelLSTM as RelLSTM
    from memspan.cells.attentive.relevance import RelRNN as RelRNN
    from memspan.cells.attentive.sparse_backtrack import SparseBacktrackLSTM as SparseBacktrackLSTM
    from memspan.cells.attentive.transformer import Transformer as Transformer
    from memspan.cells.base.cell import Cell as Cell
    from memspan.cells.gated.detach import DetachLSTM as DetachLSTM
    from memspan.cells.gated.goru import GORU as GORU
    from memspan.cells.gated.gru import GRU as GRU
    from memspan.cells.gated.lstm import LSTM as LSTM
    from memspan.cells.gated.minimal import MinimalRNN as MinimalRNN
    from memspan.cells.plain.exp import ExpRNN as ExpRNN
    from memspan.cells.plain.orthogonal import OrthogonalRNN as OrthogonalRNN
    from memspan.cells.plain.vanilla import VanillaRNN as VanillaRNN


@final
class Catalog(Mapping[str, "type[Cell]"]):
    """Cell classes by name, imported on first use: names can be listed without loading torch."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """`places`: for every name, "module:class" relative to this package."""
        self.places = dict(places)

    def __getitem__(self, name: str) -> type[Cell]:
        module, _, attribute = self.places[name].partition(":")
        return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)

    def find(self, name: str) -> type[Cell]:
        """The cell with this name; raises an error that suggests the nearest name."""
        if name not in self.places:
            raise InputError(f"there is no cell {name!r}; {suggestion(name, self.places)}")
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def with_option(self, option: str) -> list[str]:
        """The names of the cells that have this option."""
        return [name for name, cell in self.items() if option in cell.options()]

    def name_of(self, cell: type[Cell]) -> str:
        """The name of a cell class."""
        return next(name for name, place in self.places.items() if place.endswith(f":{cell.__name__}"))


CELLS = Catalog(
    {
        "rnn": "plain.vanilla:VanillaRNN",
        "orthogonal-rnn": "plain.orthogonal:OrthogonalRNN",
        "exp-rnn": "plain.exp:ExpRNN",
        "goru": "gated.goru:GORU",
        "minimal-rnn": "gated.minimal:MinimalRNN",
        "lstm": "gated.lstm:LSTM",
        "gru": "gated.gru:GRU",
        "detach-lstm": "gated.detach:DetachLSTM",
        "mem-rnn": "attentive.memory:MemRNN",
        "mem-lstm": "attentive.memory:MemLSTM",
        "sab-lstm": "attentive.sparse_backtrack:SparseBacktrackLSTM",
        "rel-rnn": "attentive.relevance:RelRNN",
        "rel-lstm": "attentive.relevance:RelLSTM",
        "transformer": "attentive.transformer:Transformer",
    }
)


def __getattr__(name: str) -> Any:
    places = ("base.cell:Cell", *CELLS.places.values())
    place = next((place for place in places if place.endswith(f":{name}")), None)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{place.partition(':')[0]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError(f"{__name__}.{name}", "PyTorch", "models") from error
