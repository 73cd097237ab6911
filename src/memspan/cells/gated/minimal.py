"""z_t = tanh(W_x x_t), u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t: the minimal RNN."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.base.autograd import (
    Probe,
    Resets,
    Scan,
    States,
    clear,
    leaky_backward,
    previous_states,
    weight_gradient,
    weights_per_step,
)
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, TiedOrUntiedLayer, empty_weights
from memspan.theory import MinimalField


@final
class MinimalRNN(Cell):
    """z_t = tanh(W_x x_t), u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t.  Chen 2018, Eq. 5.

    With `tied=False` each of `steps` steps has its own W, V and b, as in the networks of Chen 2018, Fig. 2, top row.
    A `resets` mask then clears h but does not return to the weights of the first step.
    """

    label = "Minimal RNN"
    description = "minimal RNN, one update gate"

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
        dtype: Dtype = None,
    ) -> None:
        layer = partial(MinimalLayer, tied=tied, steps=steps)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )

    def field(self, input_variance: float = 1.0) -> MinimalField:
        """The mean field of the first layer; that of another is `stack[number].field(…)`."""
        return cast(MinimalLayer, self.first).field(input_variance)


@final
class MinimalLayer(TiedOrUntiedLayer):
    """u_t = sigmoid(W h_{t-1} + V z_t + b), h_t = u_t h_{t-1} + (1 - u_t) z_t, z_t = tanh(W_x x_t).  Chen 2018, Eq. 5.

    The input map has no bias (footnote 2). It is shared by all steps also where W, V and b are untied, since theory counts
    it as part of the inputs.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        tied: bool = True,
        steps: int | None = None,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size, tied, steps)
        weights = empty_weights(device, dtype)
        self.W_x = weights(hidden_size, input_size)
        self.W = weights(*self.leading_shape, hidden_size, hidden_size)
        self.V = weights(*self.leading_shape, hidden_size, hidden_size)
        self.b = weights(*self.leading_shape, hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """sigma_w = sigma_v = 1 and b = 0, the baseline to which Chen 2018, section 4.2, compares critical weights.

        W_x has variance 1 / input_size, so that inputs of variance 1 reach tanh with variance 1.
        """
        nn.init.normal_(self.W_x, std=1 / math.sqrt(self.input_size))
        for weights in (self.W, self.V):
            nn.init.normal_(weights, std=1 / math.sqrt(self.hidden_size))
        nn.init.zeros_(self.b)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        W, V, b = self.W, self.V, self.b
        z = torch.tanh(nn.functional.linear(inputs, self.W_x))
        if self.tied:
            a = nn.functional.linear(z, V, b)
        else:
            now = self.next_steps(state, len(inputs))
            a, W = torch.baddbmm(b[now].unsqueeze(1), z, V[now].mT), W[now]
        # Under autocast the products above are in half precision; the scan runs in the precision of the weights.
        a, z = a.to(W.dtype), z.to(W.dtype)
        outputs = MinimalScan.apply(a, z, W, state[0], probe, resets)
        return outputs, self.final_state(outputs, state)

    def field(self, input_variance: float = 1.0) -> MinimalField:
        """The mean field of these weights: sigma_w^2 = hidden E[W^2], sigma_v^2 = hidden E[V^2], mean and spread of b.

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


class MinimalScan(Scan):
    """u_t = sigmoid(a_t + W h_{t-1}), h_t = u_t h_{t-1} + (1 - u_t) z_t for all t, with a = V z + b computed before.

    Returns h_1 … h_T (time, batch, hidden) from a and z of that shape, W (hidden, hidden) or one per step, and h_0. States
    and gates are saved. The derivatives of h_t with respect to the gate and to h_{t-1} are then element-wise, and the
    gradient of W is one product over all steps.
    """

    @staticmethod
    def forward(ctx: Any, a: Tensor, z: Tensor, W: Tensor, h_0: Tensor, probe: Probe, resets: Resets) -> Tensor:
        h, states, gates = h_0, torch.empty_like(a), torch.empty_like(a)
        W_t = weights_per_step(W.mT, len(a))
        steps = zip(a.unbind(), z.unbind(), W_t, gates.unbind(), states.unbind(), strict=True)
        for t, (a_t, z_t, W_now, u, state) in enumerate(steps):
            if resets is not None:
                (h,) = clear((h,), resets[t])
            torch.addmm(a_t, h, W_now, out=u).sigmoid_()
            h = torch.lerp(z_t, h, u, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(z, W, h_0, resets, gates, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        z, W, h_0, resets, gates, states = ctx.saved_tensors
        (outer,) = gradients
        before = previous_states(h_0, states, resets)
        closed = 1 - gates
        # First the derivative of h_t with respect to a_t, then, in place, the gradient of a_t.
        inner = (before - z).mul_(gates).mul_(closed)
        total, dh = leaky_backward(outer, gates, inner, W, resets)
        dW = weight_gradient(inner, before, W.dim() == 2) if ctx.needs_input_grad[2] else None
        return inner, closed.mul_(total), dW, dh, total if ctx.probed else None, None
