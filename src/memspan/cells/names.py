"""The words of the command line for cells."""

from __future__ import annotations

from memspan.cells.cell import Cell
from memspan.cells.detach import DetachLSTM
from memspan.cells.exp import ExpRNN
from memspan.cells.goru import GORU
from memspan.cells.gru import GRU
from memspan.cells.lstm import LSTM
from memspan.cells.mem_lstm import MemLSTM
from memspan.cells.mem_rnn import MemRNN
from memspan.cells.minimal import MinimalRNN
from memspan.cells.orthogonal import OrthogonalRNN
from memspan.cells.rel_lstm import RelLSTM
from memspan.cells.rel_rnn import RelRNN
from memspan.cells.sparse_backtrack import SparseBacktrackLSTM
from memspan.cells.transformer import Transformer
from memspan.cells.vanilla import VanillaRNN

CELLS: dict[str, type[Cell]] = {
    "rnn": VanillaRNN,
    "orthogonal-rnn": OrthogonalRNN,
    "exp-rnn": ExpRNN,
    "goru": GORU,
    "minimal-rnn": MinimalRNN,
    "lstm": LSTM,
    "gru": GRU,
    "detach-lstm": DetachLSTM,
    "mem-rnn": MemRNN,
    "mem-lstm": MemLSTM,
    "sab-lstm": SparseBacktrackLSTM,
    "rel-rnn": RelRNN,
    "rel-lstm": RelLSTM,
    "transformer": Transformer,
}
