"""h_t = modrelu(U x_t + V h_{t-1}), V = exp(A) with A skew-symmetric: orthogonal before, during and after training."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.activations import activation
from memspan.cells.cell import Cell
from memspan.cells.layer import Device, Hidden, Layer, empty_weights
from memspan.cells.skew_exponential import draw_planes, keep_orthogonal
from memspan.cells.vanilla_scan import VanillaScan


@final
class ExpLayer(Layer):
    """h_t = modrelu(U x_t + V h_{t-1}), V = exp(A), modrelu(z) = sign(z) max(|z| + m, 0).

    Lezcano and Martinez-Rubio 2019. The part of `parametrizations.V.original` below the diagonal is that of A; the rest
    has no effect. Every access of V computes the exponential.
    """

    State = Hidden
    learning_rate_factors: ClassVar = {"parametrizations.V": 0.1}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.phi = activation("modrelu")
        weights = empty_weights(device, dtype)
        self.U, self.V, self.m = (
            weights(hidden_size, input_size),
            weights(hidden_size, hidden_size),
            weights(hidden_size),
        )
        nn.init.zeros_(self.V)  # the exponential of what is not drawn yet might be no number
        keep_orthogonal(self, "V")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """exp(A) turns separate planes by angles uniform within pi; U of variance 2 / input_size; m within 0.01."""
        draw_planes(self.get_parameter("parametrizations.V.original"))
        nn.init.kaiming_normal_(self.U)
        nn.init.uniform_(self.m, -0.01, 0.01)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        V = self.V  # one exponential for all steps
        a = nn.functional.linear(inputs, self.U).to(V.dtype)
        states = VanillaScan.apply(a, V, state[0], self.m, probe, resets, self.phi)
        return states, Hidden(states[-1])


@final
class ExpRNN(Cell):
    """h_t = modrelu(U x_t + V h_{t-1}), V = exp(A) with A skew-symmetric.  Lezcano and Martinez-Rubio 2019.

    V stays orthogonal whatever the optimizer does. `parameter_groups` gives A a tenth of the learning rate, as the authors
    do. Each call computes the exponential once; to feed single symbols, do it once for all of them:

        with torch.no_grad(), torch.nn.utils.parametrize.cached():
            output, state = cell(symbol, state)
    """

    kind = ExpLayer
