"""z_t = tanh(W_x x_t), u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t: the minimalRNN."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Device, empty_weights
from memspan.cells.minimal_scan import MinimalScan
from memspan.cells.untied import MaybeUntiedLayer, check_tying, next_steps
from memspan.theory import MinimalField


@final
class MinimalLayer(MaybeUntiedLayer):
    """u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t, z_t = tanh(W_x x_t).  Chen 2018, Eq. 5.

    The input map has no bias (footnote 2). With `steps` every step has its own W, V and b; the input map, which theory
    counts to the inputs, is the same at every step.
    """

    options: ClassVar = {"tied": True, "steps": None}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        steps: int | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, steps)
        weights = empty_weights(device, dtype)
        self.W_x = weights(hidden_size, input_size)
        self.W = weights(*self.every, hidden_size, hidden_size)
        self.V = weights(*self.every, hidden_size, hidden_size)
        self.b = weights(*self.every, hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """sigma_w = sigma_v = 1 and b = 0, the start that Chen 2018, section 4.2, compares the critical one with.

        W_x has variance 1 / input_size, so that inputs of variance one reach tanh with variance one.
        """
        nn.init.normal_(self.W_x, std=1 / math.sqrt(self.input_size))
        for weights in (self.W, self.V):
            nn.init.normal_(weights, std=1 / math.sqrt(self.hidden_size))
        nn.init.zeros_(self.b)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        W, V, b = self.W, self.V, self.b
        z = torch.tanh(nn.functional.linear(inputs, self.W_x))
        if self.steps is None:
            a = nn.functional.linear(z, V, b)
        else:
            now = next_steps(state[1], len(inputs), self.steps)
            a, W = torch.baddbmm(b[now].unsqueeze(1), z, V[now].mT), W[now]
        # Under autocast the products above are short; the scan itself runs in the precision of the weights.
        a, z = a.to(W.dtype), z.to(W.dtype)
        states = MinimalScan.apply(a, z, W, state[0], probe, resets)
        return states, self.end(states, state)

    def field(self, input_variance: float = 1.0) -> MinimalField:
        """The mean field of these weights: sigma_w^2 = hidden E[W^2], sigma_v^2 = hidden E[V^2], b's mean and spread.

        `input_variance` is R, the second moment of z = tanh(W_x x), not that of x.  Chen 2018, Eq. 6.
        """
        W, V, b = (tensor.detach().double() for tensor in (self.W, self.V, self.b))
        return MinimalField(
            sigma_w=math.sqrt(self.hidden_size * float(W.square().mean())),
            sigma_v=math.sqrt(self.hidden_size * float(V.square().mean())),
            sigma_b=float(b.std(correction=0)),
            bias_mean=float(b.mean()),
            input_variance=input_variance,
        )


@final
class MinimalRNN(Cell):
    """z_t = tanh(W_x x_t), u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t.  Chen 2018, Eq. 5.

    With `tied=False` every one of `steps` steps has its own W, V and b, as in the networks of Chen 2018, Fig. 2, top row.
    A `resets` mask then clears h and does not go back to the first step's weights.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        tied: bool = True,
        steps: int | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_tying(tied, steps)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(MinimalLayer, steps=steps),
        )

    def field(self, input_variance: float = 1.0) -> MinimalField:
        """The mean field of the first layer's weights; those of others are `stack[number].field(…)`."""
        return cast(MinimalLayer, self.first).field(input_variance)
