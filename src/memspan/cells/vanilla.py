"""h_t = phi(U x_t + V h_{t-1} + b): the vanilla network."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.activations import activation
from memspan.cells.cell import Cell
from memspan.cells.layer import Device, empty_weights
from memspan.cells.untied import MaybeUntiedLayer, check_tying, next_steps
from memspan.cells.vanilla_scan import VanillaScan
from memspan.errors import InputError
from memspan.theory import Identity, Tanh, VanillaField

IN_THEORY = {"tanh": Tanh(), "identity": Identity()}
"""The activations of which mean-field theory knows."""


@final
class VanillaLayer(MaybeUntiedLayer):
    """h_t = phi(U x_t + V h_{t-1} + b), with one U, V, b for all steps or, with `steps`, one of each for every step."""

    options: ClassVar = {"nonlinearity": "tanh", "tied": True, "steps": None}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        nonlinearity: str = "tanh",
        steps: int | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, steps)
        self.nonlinearity, self.phi = nonlinearity, activation(nonlinearity)
        weights = empty_weights(device, dtype)
        self.U = weights(*self.every, hidden_size, input_size)
        self.V = weights(*self.every, hidden_size, hidden_size)
        self.b = weights(*self.every, hidden_size)
        self.m = weights(hidden_size) if self.phi.biased else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.RNN`; the bias of modrelu within 0.01, as Kerg 2020."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weights in (self.U, self.V, self.b):
            nn.init.uniform_(weights, -bound, bound)
        if self.m is not None:
            nn.init.uniform_(self.m, -0.01, 0.01)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        U, V, b = self.U, self.V, self.b
        if self.steps is None:
            a = nn.functional.linear(inputs, U, b)
        else:
            now = next_steps(state[1], len(inputs), self.steps)
            a, V = inputs @ U[now].transpose(1, 2) + b[now].unsqueeze(1), V[now]
        a = a.to(V.dtype)  # under autocast the product comes in half precision
        states = VanillaScan.apply(a, V, state[0], self.m, probe, resets, self.phi)
        return states, self.end(states, state)

    def field(self, input_variance: float = 1.0) -> VanillaField:
        """The mean field of these weights: sigma_w^2 = hidden E[V^2], sigma_v^2 = inputs E[U^2], b's mean and spread.

        `input_variance` is R, the second moment of x.  Chen 2018, Eq. 2.
        """
        if self.nonlinearity not in IN_THEORY:
            raise InputError(
                f"mean-field theory is about networks of {' or '.join(IN_THEORY)}; this one has {self.nonlinearity}"
            )
        return VanillaField(
            sigma_w=math.sqrt(self.hidden_size) * _root_mean_square(self.V),
            sigma_v=math.sqrt(self.input_size) * _root_mean_square(self.U),
            sigma_b=float(self.b.detach().double().std(correction=0)),
            bias_mean=float(self.b.detach().double().mean()),
            input_variance=input_variance,
            activation=IN_THEORY[self.nonlinearity],
        )


@final
class VanillaRNN(Cell):
    """h_t = phi(U x_t + V h_{t-1} + b), phi one of tanh, relu, identity and modrelu (sign(z) relu(|z| + m)).

    With `tied=False` every one of `steps` steps has its own U, V and b, as in the networks of Chen 2018, Fig. 2, top row.
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
        nonlinearity: str = "tanh",
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
            layer=partial(VanillaLayer, nonlinearity=nonlinearity, steps=steps),
        )

    def field(self, input_variance: float = 1.0) -> VanillaField:
        """The mean field of the first layer's weights; those of others are `stack[number].field(…)`."""
        return cast(VanillaLayer, self.first).field(input_variance)


def _root_mean_square(weights: Tensor) -> float:
    norm = torch.linalg.vector_norm(weights.detach(), dtype=torch.float64)
    return float(norm) / math.sqrt(weights.numel())
