"""Dropout whose masks last: one for all steps of a sequence, one for a word wherever it stands, one for a matrix.

Masks are 0 with probability p and 1 / (1 - p) otherwise, so that nothing changes on average. They are drawn in training
only, from `generator` or else from torch's random numbers.
"""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from memspan.cells.layer import Device, Layer
from memspan.cells.lstm import HiddenAndMemory
from memspan.cells.segments import States, cleared, in_segments


def dropout_mask(
    shape: tuple[int, ...], p: float, like: Tensor, generator: torch.Generator | None = None
) -> Tensor:
    """0 with probability p, else 1 / (1 - p), each number for itself."""
    mask = torch.empty(shape, device=like.device, dtype=like.dtype)
    return mask.bernoulli_(1 - p, generator=generator).div_(1 - p)


def locked_dropout(
    sequence: Tensor, p: float, *, training: bool, generator: torch.Generator | None = None
) -> Tensor:
    """m * x_t, one m (batch, features) for all steps of x (time, batch, features).  Gal and Ghahramani 2016."""
    if not training or p == 0:
        return sequence
    return sequence * dropout_mask((1, *sequence.shape[1:]), p, sequence, generator)


def embedded(
    words: Tensor, weight: Tensor, p: float, *, training: bool, generator: torch.Generator | None = None
) -> Tensor:
    """m_w E_w: words (time, batch) as rows of E (vocabulary, features), each word dropped wherever it stands, or nowhere.

    Gal and Ghahramani 2016. The mask meets the rows that were looked up; the matrix itself stays whole.
    """
    rows = functional.embedding(words, weight)
    if not training or p == 0:
        return rows
    return rows * dropout_mask((len(weight), 1), p, weight, generator)[words]


@final
class WeightDropLSTMLayer(Layer):
    """An LSTM that in training runs with m * U for the recurrent matrix U, one mask for all steps and sequences of a call.

    Merity 2018 (AWD-LSTM), section 2, after the DropConnect of Wan 2013. `network` holds the weights, all of them learnt,
    and is never changed; the kernels are torch's.
    """

    State: ClassVar[type[tuple]] = HiddenAndMemory
    options: ClassVar = {"p": 0.5}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        p: float = 0.5,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.p = p
        self.network = nn.LSTM(input_size, hidden_size, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch has it."""
        self.network.reset_parameters()

    def scan(
        self, inputs: Tensor, state: States, resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, States]:
        _, U, *_ = self.network.all_weights[0]
        if self.training and self.p > 0:
            U = U * dropout_mask(tuple(U.shape), self.p, U)
        return self._run(U, inputs, state, resets, probe)

    def undropped(self, inputs: Tensor, state: States, resets: Tensor | None) -> Tensor:
        _, U, *_ = self.network.all_weights[0]
        return self._run(U, inputs, state, resets, None)[0]

    def _run(
        self, U: Tensor, inputs: Tensor, state: States, resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, States]:
        def kernel(inputs: Tensor, state: States) -> tuple[Tensor, States]:
            first = tuple(tensor.unsqueeze(0) for tensor in state)
            outputs, end = functional_call(self.network, {"weight_hh_l0": U}, (inputs, first))
            return outputs, tuple(tensor.squeeze(0) for tensor in end)

        # The kernels of the CPU refuse weights and states of two types, which is what autocast would give them.
        with torch.autocast(inputs.device.type, enabled=False):
            inputs = inputs.to(U.dtype)
            if probe is None:
                outputs, state = in_segments(kernel, inputs, state, resets)
            else:
                outputs, state = self._probed(U, inputs, state, resets, probe)
        return outputs, HiddenAndMemory(*state)

    def _probed(
        self, U: Tensor, inputs: Tensor, state: States, resets: Tensor | None, probe: Tensor
    ) -> tuple[Tensor, States]:
        """Step by step: no kernel lets a probe into its states."""
        W, _, b, b_more = self.network.all_weights[0]
        driven, outputs = functional.linear(inputs, W, b + b_more), []
        for t in range(len(inputs)):
            h, c = state if resets is None else cleared(state, resets[t])
            i, f, g, o = torch.addmm(driven[t], h, U.T).chunk(4, dim=1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh() + probe[t]
            state = (h, c)
            outputs.append(h)
        return torch.stack(outputs), state
