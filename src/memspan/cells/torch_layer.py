"""torch's own recurrent networks as layers: with resets, with probes, and under autocast on the CPU."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from memspan.cells.layer import Device, Layer
from memspan.cells.segments import States, cleared, in_segments


class TorchLayer(Layer, ABC):
    """The weights and the kernels of `network`, one layer of `torch.nn`; a probe takes the plain steps instead."""

    Network: ClassVar[type[nn.LSTM | nn.GRU]]

    def __init__(
        self, input_size: int, hidden_size: int, device: Device = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.network = self.Network(input_size, hidden_size, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch has it."""
        self.network.reset_parameters()

    @abstractmethod
    def driven(self, inputs: Tensor) -> Tensor:
        """The part of all steps that is the input's, (time, batch, gates)."""

    @abstractmethod
    def step(self, driven: Tensor, state: States) -> States:
        """One plain step: the next state."""

    def scan(
        self, inputs: Tensor, state: States, resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, States]:
        # The kernels of the CPU refuse weights and states of two types, which is what autocast would give them.
        with torch.autocast(inputs.device.type, enabled=False):
            if probe is not None:
                outputs, state = self._probed(inputs, state, resets, probe)
            else:
                outputs, state = in_segments(self._kernel, inputs, state, resets)
        return outputs, self.State(*state)

    def _kernel(self, inputs: Tensor, state: States) -> tuple[Tensor, States]:
        first, *more = (tensor.unsqueeze(0) for tensor in state)
        outputs, end = self.network(inputs.to(state[0].dtype), (first, *more) if more else first)
        return outputs, tuple(tensor.squeeze(0) for tensor in (end if more else (end,)))

    def _probed(
        self, inputs: Tensor, state: States, resets: Tensor | None, probe: Tensor
    ) -> tuple[Tensor, States]:
        """Step by step: no kernel lets a probe into its states."""
        driven, outputs = self.driven(inputs.to(state[0].dtype)), []
        for t in range(len(inputs)):
            h, *more = self.step(driven[t], state if resets is None else cleared(state, resets[t]))
            state = (h + probe[t], *more)
            outputs.append(state[0])
        return torch.stack(outputs), state
