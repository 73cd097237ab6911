"""Recurrent layers that remember, each with the call signature of `torch.nn.LSTM`.

>>> import torch
>>> layer = RelLSTM(10, 16, short_term=5, relevant=5)
>>> output, state = layer(torch.zeros(7, 2, 10))
>>> output.shape, state.h.shape
(torch.Size([7, 2, 16]), torch.Size([1, 2, 16]))
"""

from memspan.cells.cell import Cell as Cell
from memspan.cells.detach import DetachLSTM as DetachLSTM
from memspan.cells.exp import ExpRNN as ExpRNN
from memspan.cells.goru import GORU as GORU
from memspan.cells.gru import GRU as GRU
from memspan.cells.lstm import LSTM as LSTM
from memspan.cells.mem_lstm import MemLSTM as MemLSTM
from memspan.cells.mem_rnn import MemRNN as MemRNN
from memspan.cells.minimal import MinimalRNN as MinimalRNN
from memspan.cells.names import CELLS as CELLS
from memspan.cells.orthogonal import OrthogonalRNN as OrthogonalRNN
from memspan.cells.rel_lstm import RelLSTM as RelLSTM
from memspan.cells.rel_rnn import RelRNN as RelRNN
from memspan.cells.sparse_backtrack import SparseBacktrackLSTM as SparseBacktrackLSTM
from memspan.cells.transformer import Transformer as Transformer
from memspan.cells.vanilla import VanillaRNN as VanillaRNN
