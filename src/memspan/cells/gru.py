"""h_t = z * h_{t-1} + (1 - z) * n: torch's own GRU with resets and probes."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Hidden, Layer
from memspan.cells.segments import cleared, in_segments
from memspan.init.chrono import GateBiases


@final
class GRULayer(Layer):
    """h_t = z * h_{t-1} + (1 - z) * n, n = tanh(W_n x_t + b_n + r * (U_n h_{t-1} + c_n)), r and z sigmoid gates.

    The weights are those of the `torch.nn.GRU` that is `network`.
    """

    State: ClassVar[type[tuple]] = Hidden

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.network = nn.GRU(input_size, hidden_size, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.GRU`."""
        self.network.reset_parameters()

    def start(self, batch: int) -> Hidden:
        return Hidden(self.zeros(batch, self.hidden_size))

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        if probe is not None:
            return self._probed(inputs, state, resets, probe)
        outputs, state = in_segments(self._kernel, inputs, state, resets)
        return outputs, Hidden(*state)

    def gate_biases(self) -> GateBiases:
        """The biases of the update gate z, which keeps what is there and shuts out what is new; the two add up."""
        _, _, *biases = self.network.all_weights[0]
        return GateBiases(remember=tuple(b.chunk(3)[1] for b in biases))

    def _kernel(self, inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        outputs, h = self.network(inputs, state[0].unsqueeze(0))
        return outputs, (h.squeeze(0),)

    def _probed(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor
    ) -> tuple[Tensor, Hidden]:
        """Step by step: no kernel lets a probe into its states."""
        W, U, b, c = self.network.all_weights[0]
        driven = nn.functional.linear(inputs, W, b)
        (h,), outputs = state, []
        for t in range(len(inputs)):
            if resets is not None:
                (h,) = cleared((h,), resets[t])
            r, z, n = driven[t].chunk(3, dim=1)
            of_r, of_z, of_n = torch.addmm(c, h, U.T).chunk(3, dim=1)
            z = (z + of_z).sigmoid()
            n = (n + (r + of_r).sigmoid() * of_n).tanh()
            h = z * h + (1 - z) * n + probe[t]
            outputs.append(h)
        return torch.stack(outputs), Hidden(h)


@final
class GRU(Cell):
    """h_t = z * h_{t-1} + (1 - z) * n: `torch.nn.GRU`, its kernels and its start, as a cell.

    Cho 2014, with the reset gate after the product, as cuDNN has it. A `probe` costs a plain loop over the steps.
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
            layer=lambda size: GRULayer(size, hidden_size, device, dtype),
        )
