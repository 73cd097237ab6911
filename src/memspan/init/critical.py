"""Weights at the edge of chaos: chi_1 = 1, so that squared gradients neither vanish nor explode.

Chen 2018, Algorithm 1 and section 3.1. Theory says which variances; here they are drawn.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.arriving import Arriving, weights_of
from memspan.init.drawing import MeanFieldLayer, Stack, check_kind, draw_, layers_of
from memspan.init.verdicts import verdict
from memspan.theory import Field, MinimalField, VanillaField, critical_minimal, critical_vanilla


def critical_(
    module: nn.Module,
    *,
    bias_mean: float = 0.0,
    input_variance: float | None = None,
    sample: Tensor | None = None,
    weights: str = "gaussian",
    q: float | None = None,
    sigma_v: float = 1.0,
    generator: torch.Generator | None = None,
) -> str:
    """Draw recurrent, input and bias weights with the variances at which chi_1 = 1; returns the `verdict` on them.

    `module` is a `VanillaRNN`, a `MinimalRNN` or one of their layers. Theory needs R, the second moment of what the
    layer reads (for the minimal RNN: of z = tanh(W_x x); W_x is left as it is). It is `input_variance`, or measured
    on `sample`, inputs as the network will see them (with `batch_first` the batch in front), or what inputs of
    variance 1 give. Layers above the first read the outputs for the sample, or states of second moment Q*. `q` is the
    variance of pre-activations; without it, input weights have `sigma_v` (vanilla) or q is the smallest that settles
    comfortably (minimal, `critical_minimal`). Where inputs change in strength along a sequence, as pixels do, small
    inputs (sigma_v of 0.025) keep a vanilla network near its critical point all along.

    The drawn matrices are scaled so that their variance is the wanted one exactly, whatever the width. chi_1 = 1 holds for
    states of second moment Q*: begin with `critical_start`, or let some tens of steps pass.
    """
    check_kind(weights)
    arriving, verdicts = Arriving.of(module, input_variance, sample), []
    below: tuple[MeanFieldLayer, Field] | None = None
    for layer in layers_of(module):
        arriving = arriving if below is None else arriving.above(*below)
        R = arriving.second_moment(layer)
        wanted = _wanted(layer.field(R), bias_mean, q, sigma_v)
        draw_(weights_of(layer), wanted, weights == "orthogonal", generator)
        drawn = layer.field(R)
        verdicts.append(verdict(drawn))
        below = layer, drawn
    if len(verdicts) == 1:
        return verdicts[0]
    return "; ".join(f"layer {number} {words}" for number, words in enumerate(verdicts, start=1))


def critical_start(
    module: nn.Module,
    batch: int,
    *,
    input_variance: float | None = None,
    sample: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, ...]:
    """A state whose h is N(0, Q*) with Q* the fixed point of the weights as they are; give it to the first call.

    From zero, squared gradients of the first steps would change by another factor than chi_1. The arguments are those
    of `critical_`.
    """
    arriving, hidden = Arriving.of(module, input_variance, sample), []
    below: tuple[MeanFieldLayer, Field] | None = None
    for layer in layers_of(module):
        arriving = arriving if below is None else arriving.above(*below)
        field = layer.field(arriving.second_moment(layer))
        h = layer.start(batch)[0]
        hidden.append(h.normal_(0.0, math.sqrt(field.fixed_point().Q), generator=generator))
        below = layer, field
    state = cast(Any, module).start(batch)
    return state._replace(h=torch.stack(hidden) if isinstance(module, Stack) else hidden[0])


def _wanted(kind: Field, bias_mean: float, q: float | None, sigma_v: float) -> Field:
    R = float(kind.input_variance)
    if isinstance(kind, MinimalField):
        return critical_minimal(bias_mean=bias_mean, input_variance=R, q=q)
    assert isinstance(kind, VanillaField)
    return critical_vanilla(
        sigma_v=sigma_v if q is None else _sigma_v(kind, bias_mean, q),
        bias_mean=bias_mean,
        input_variance=R,
        activation=kind.activation,
    )


def _sigma_v(kind: VanillaField, bias_mean: float, q: float) -> float:
    """sigma_v^2 R = q - E[phi^2] / E[phi'^2]: what is left for inputs where sigma_w^2 E[phi'^2] = 1."""
    R = float(kind.input_variance)
    at, mean = np.array([q]), np.array([bias_mean])
    unit = VanillaField(activation=kind.activation)
    square = unit.share(at, mean)[0]
    slope2 = unit.chi1_at(at, square, VanillaField(bias_mean=bias_mean).parameters)
    drive = float((at - square / slope2)[0])
    if not (q > 0 and R > 0 and drive > 0):
        raise InputError(
            f"no critical vanilla RNN has q = {q:g}, bias mean {bias_mean:g} and input variance {R:g}: "
            "sigma_v^2 would be negative; choose a larger q, or leave it out"
        )
    return math.sqrt(drive / R)
