"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): torch's own LSTM with resets and probes."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Layer
from memspan.cells.segments import cleared, in_segments
from memspan.init.chrono import GateBiases


class HiddenAndMemory(NamedTuple):
    """The state of an LSTM."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""


@final
class LSTMLayer(Layer):
    """i, f, o = sigmoid(W x_t + U h_{t-1} + b), g = tanh(…), c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t).

    The weights are those of the `torch.nn.LSTM` that is `network`.
    """

    State: ClassVar[type[tuple]] = HiddenAndMemory

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.network = nn.LSTM(input_size, hidden_size, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.LSTM`."""
        self.network.reset_parameters()

    def start(self, batch: int) -> HiddenAndMemory:
        return HiddenAndMemory(self.zeros(batch, self.hidden_size), self.zeros(batch, self.hidden_size))

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        if probe is not None:
            return self._probed(inputs, state, resets, probe)
        outputs, state = in_segments(self._kernel, inputs, state, resets)
        return outputs, HiddenAndMemory(*state)

    def gate_biases(self) -> GateBiases:
        """The biases of the forget and of the input gate; each has two, which add up."""
        _, _, *biases = self.network.all_weights[0]
        admit, remember, _, _ = zip(*(b.chunk(4) for b in biases), strict=True)
        return GateBiases(remember=remember, admit=admit)

    def _kernel(self, inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, (h, c) = self.network(inputs, (state[0].unsqueeze(0), state[1].unsqueeze(0)))
        return outputs, (h.squeeze(0), c.squeeze(0))

    def _probed(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor
    ) -> tuple[Tensor, HiddenAndMemory]:
        """Step by step: no kernel lets a probe into its states."""
        W, U, b, b_more = self.network.all_weights[0]
        driven = nn.functional.linear(inputs, W, b + b_more)
        (h, c), outputs = state, []
        for t in range(len(inputs)):
            if resets is not None:
                h, c = cleared((h, c), resets[t])
            i, f, g, o = torch.addmm(driven[t], h, U.T).chunk(4, dim=1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh() + probe[t]
            outputs.append(h)
        return torch.stack(outputs), HiddenAndMemory(h, c)


@final
class LSTM(Cell):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): `torch.nn.LSTM`, its kernels and its start, as a cell.

    Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000. A `probe` costs a plain loop over the steps.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            layer=lambda size: LSTMLayer(size, hidden_size, device, dtype),
        )
