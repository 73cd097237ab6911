"""h_t = modrelu(U x_t + V h_{t-1} + b), V orthogonal at initialization and unconstrained in training: the "orth-RNN"."""

from __future__ import annotations

import math
from functools import partial
from typing import final

from torch import Tensor, nn

from memspan.cells.base.activations import nonlinearity_named
from memspan.cells.base.autograd import Probe, Resets, States
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, HiddenState, Layer, draw_uniform, empty_weights
from memspan.cells.plain.vanilla import VanillaScan
from memspan.errors import InputError, suggestion
from memspan.init import henaff_, orthogonal_

# Rotations by random angles in separate planes, or uniform over all orthogonal matrices.
STARTS = {"henaff": henaff_, "haar": orthogonal_}


@final
class OrthogonalRNN(Cell):
    """h_t = modrelu(U x_t + V h_{t-1} + b), V orthogonal at initialization only.  "orth-RNN" of Kerg 2020, section 5.

    `orthogonal_start` selects the distribution of V: "henaff" (rotations in separate planes, by angles uniform within pi) or
    "haar" (uniform over all orthogonal matrices). The program of Kerg 2020 draws Henaff's angles between -pi and 0, which
    gives the same eigenvalues.
    """

    label = "orth-RNN"
    description = "RNN with an orthogonal recurrent matrix at initialization"
    initialization = "henaff"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        orthogonal_start: str = "henaff",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        if orthogonal_start not in STARTS:
            raise InputError(f"unknown orthogonal_start {orthogonal_start!r}; {suggestion(orthogonal_start, STARTS)}")
        layer = partial(OrthogonalLayer, orthogonal_start=orthogonal_start)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


@final
class OrthogonalLayer(Layer):
    """h_t = modrelu(U x_t + V h_{t-1} + b), modrelu(z) = sign(z) max(|z| + m, 0).  Kerg 2020, appendix C."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        orthogonal_start: str = "henaff",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.orthogonal_start, self.phi = orthogonal_start, nonlinearity_named("modrelu")
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(hidden_size, input_size), weights(hidden_size, hidden_size)
        self.b, self.m = weights(hidden_size), weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """V orthogonal; U of variance 2 / input_size, b within 1 / sqrt(input_size) and m within 0.01, as Kerg 2020."""
        STARTS[self.orthogonal_start](self.V)
        nn.init.kaiming_normal_(self.U)
        draw_uniform(1 / math.sqrt(self.input_size), self.b)
        draw_uniform(0.01, self.m)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        a = nn.functional.linear(inputs, self.U, self.b).to(self.V.dtype)
        outputs = VanillaScan.apply(a, self.V, state[0], self.m, probe, resets, self.phi)
        return outputs, HiddenState(outputs[-1])
