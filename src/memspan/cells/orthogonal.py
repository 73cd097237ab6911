"""h_t = modrelu(U x_t + V h_{t-1} + b), V orthogonal at the start and free from then on: the "orth-RNN"."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.activations import activation
from memspan.cells.cell import Cell
from memspan.cells.layer import Device, Hidden, Layer, empty_weights
from memspan.cells.vanilla_scan import VanillaScan
from memspan.errors import InputError, suggestion
from memspan.init import henaff_, orthogonal_

STARTS = {"henaff": henaff_, "haar": orthogonal_}
"""Rotations by random angles in separate planes, or a matrix drawn uniformly among all orthogonal ones."""


@final
class OrthogonalLayer(Layer):
    """h_t = modrelu(U x_t + V h_{t-1} + b), modrelu(z) = sign(z) max(|z| + m, 0).  Kerg 2020, appendix C."""

    State = Hidden
    options: ClassVar = {"orthogonal_start": "henaff"}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        orthogonal_start: str = "henaff",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.orthogonal_start, self.phi = orthogonal_start, activation("modrelu")
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(hidden_size, input_size), weights(hidden_size, hidden_size)
        self.b, self.m = weights(hidden_size), weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """V orthogonal; U of variance 2 / input_size, b within 1 / sqrt(input_size) and m within 0.01, as Kerg 2020."""
        STARTS[self.orthogonal_start](self.V)
        nn.init.kaiming_normal_(self.U)
        bound = 1 / math.sqrt(self.input_size)
        nn.init.uniform_(self.b, -bound, bound)
        nn.init.uniform_(self.m, -0.01, 0.01)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        a = nn.functional.linear(inputs, self.U, self.b).to(self.V.dtype)
        states = VanillaScan.apply(a, self.V, state[0], self.m, probe, resets, self.phi)
        return states, Hidden(states[-1])


@final
class OrthogonalRNN(Cell):
    """h_t = modrelu(U x_t + V h_{t-1} + b), V orthogonal at the start only.  "orth-RNN" of Kerg 2020, section 5.

    `orthogonal_start` is how V is drawn: "henaff" (rotations in separate planes, by angles uniform within pi) or "haar"
    (uniform among all orthogonal matrices). The program of Kerg 2020 draws Henaff's angles between -pi and 0, which gives
    the same eigenvalues.
    """

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
        dtype: torch.dtype | None = None,
    ) -> None:
        if orthogonal_start not in STARTS:
            raise InputError(
                f"there is no orthogonal start {orthogonal_start!r}; {suggestion(orthogonal_start, STARTS)}"
            )
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(OrthogonalLayer, orthogonal_start=orthogonal_start),
        )
