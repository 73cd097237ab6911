"""h_t = phi(U x_t + V h_{t-1} + b): the vanilla RNN, its scan, and the memoryless baseline h_t = tanh(U x_t + b)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.base.activations import Nonlinearity, nonlinearity_named
from memspan.cells.base.autograd import Probe, Resets, Scan, States, clear, previous_states, weight_gradient
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, HiddenState, Layer, TiedOrUntiedLayer, draw_uniform, empty_weights
from memspan.errors import InputError
from memspan.theory import Identity, Tanh, VanillaField

# The nonlinearities that mean-field theory covers.
MEAN_FIELD_ACTIVATIONS = {"tanh": Tanh(), "identity": Identity()}


@final
class VanillaRNN(Cell):
    """h_t = phi(U x_t + V h_{t-1} + b), phi one of tanh, relu, identity and modrelu (sign(z) relu(|z| + m)).

    With `tied=False` each of `steps` steps has its own U, V and b, as in the networks of Chen 2018, Fig. 2, top row.
    A `resets` mask then clears h but does not return to the weights of the first step.
    """

    label = "RNN"
    description = "vanilla RNN"

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
        dtype: Dtype = None,
    ) -> None:
        layer = partial(VanillaLayer, nonlinearity=nonlinearity, tied=tied, steps=steps)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )

    def field(self, input_variance: float = 1.0) -> VanillaField:
        """The mean field of the first layer; that of another is `stack[number].field(…)`."""
        return cast(VanillaLayer, self.first).field(input_variance)


@final
class VanillaLayer(TiedOrUntiedLayer):
    """h_t = phi(U x_t + V h_{t-1} + b)"""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        nonlinearity: str = "tanh",
        tied: bool = True,
        steps: int | None = None,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size, tied, steps)
        self.nonlinearity, self.phi = nonlinearity, nonlinearity_named(nonlinearity)
        weights = empty_weights(device, dtype)
        self.U = weights(*self.leading_shape, hidden_size, input_size)
        self.V = weights(*self.leading_shape, hidden_size, hidden_size)
        self.b = weights(*self.leading_shape, hidden_size)
        self.m = weights(hidden_size) if self.phi.biased else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.RNN`; the bias of modrelu within 0.01, as Kerg 2020."""
        draw_uniform(1 / math.sqrt(self.hidden_size), self.U, self.V, self.b)
        if self.m is not None:
            draw_uniform(0.01, self.m)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        U, V, b = self.U, self.V, self.b
        if self.tied:
            a = nn.functional.linear(inputs, U, b)
        else:
            now = self.next_steps(state, len(inputs))
            a, V = inputs @ U[now].transpose(1, 2) + b[now].unsqueeze(1), V[now]
        a = a.to(V.dtype)  # under autocast the product is in half precision
        outputs = VanillaScan.apply(a, V, state[0], self.m, probe, resets, self.phi)
        return outputs, self.final_state(outputs, state)

    def field(self, input_variance: float = 1.0) -> VanillaField:
        """The mean field of these weights: sigma_w^2 = hidden E[V^2], sigma_v^2 = inputs E[U^2], mean and spread of b.

        `input_variance` is R, the second moment of x.  Chen 2018, Eq. 2.
        """
        if self.nonlinearity not in MEAN_FIELD_ACTIVATIONS:
            raise InputError(
                f"nonlinearity is {self.nonlinearity}; mean-field theory covers {' and '.join(MEAN_FIELD_ACTIVATIONS)}"
            )
        return VanillaField(
            sigma_w=math.sqrt(self.hidden_size) * _root_mean_square(self.V),
            sigma_v=math.sqrt(self.input_size) * _root_mean_square(self.U),
            sigma_b=float(self.b.detach().double().std(correction=0)),
            bias_mean=float(self.b.detach().double().mean()),
            input_variance=input_variance,
            activation=MEAN_FIELD_ACTIVATIONS[self.nonlinearity],
        )


def _root_mean_square(weights: Tensor) -> float:
    norm = torch.linalg.vector_norm(weights.detach(), dtype=torch.float64)
    return float(norm) / math.sqrt(weights.numel())


class VanillaScan(Scan):
    """h_t = phi(a_t + V h_{t-1}, m) for all t, where a = U x + b has been computed in one product.

    Returns h_1 … h_T (time, batch, hidden) from a of that shape, V (hidden, hidden) or (time, hidden, hidden), and h_0. Only
    the states are saved: the slope of phi follows from its value, and the gradient of V is one product over all steps.
    """

    @staticmethod
    def forward(
        ctx: Any, a: Tensor, V: Tensor, h_0: Tensor, m: Tensor | None, probe: Probe, resets: Resets, phi: Nonlinearity
    ) -> Tensor:
        h, states = h_0, torch.empty_like(a)
        for t in range(len(a)):
            if resets is not None:
                (h,) = clear((h,), resets[t])
            h = phi.value(torch.addmm(a[t], h, (V if V.dim() == 2 else V[t]).T), m)
            if probe is not None:
                h = h + probe[t]
            states[t] = h
        ctx.save_for_backward(V, h_0, m, probe, resets, states)
        ctx.phi = phi
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        V, h_0, m, probe, resets, states = ctx.saved_tensors
        (outer,) = gradients
        values = states if probe is None else states - probe
        slopes = ctx.phi.slope(values)
        total = torch.empty_like(states)
        inner = torch.empty_like(states) if slopes is not None else total
        dh = torch.zeros_like(h_0)
        for t in range(len(states) - 1, -1, -1):
            torch.add(outer[t], dh, out=total[t])
            if slopes is not None:
                torch.mul(total[t], slopes[t], out=inner[t])
            dh = inner[t] @ (V if V.dim() == 2 else V[t])
            if resets is not None:
                (dh,) = clear((dh,), resets[t])
        before = previous_states(h_0, states, resets)
        dV = weight_gradient(inner, before, V.dim() == 2) if ctx.needs_input_grad[1] else None
        dm = (inner * torch.sign(values)).sum((0, 1)) if m is not None else None
        return inner, dV, dh, dm, total if probe is not None else None, None, None


@final
class MemorylessLayer(Layer):
    """h_t = tanh(U x_t + b); the state is returned and never read."""

    def __init__(self, input_size: int, hidden_size: int, device: Device = None, dtype: Dtype = None) -> None:
        super().__init__(input_size, hidden_size)
        weights = empty_weights(device, dtype)
        self.U, self.b = weights(hidden_size, input_size), weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.RNN`."""
        draw_uniform(1 / math.sqrt(self.hidden_size), self.U, self.b)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        del state, resets
        h = torch.tanh(nn.functional.linear(inputs, self.U, self.b))
        h = h if probe is None else h + probe
        return h, HiddenState(h[-1])


@final
class Memoryless(Cell):
    """h_t = tanh(U x_t + b): the memoryless baseline, with the signature of a cell."""

    kind = MemorylessLayer
    label = "no memory"
    description = "memoryless baseline"
    recurrent = False
