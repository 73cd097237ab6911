"""Weights at the edge of chaos: chi_1 = 1, so that squared gradients neither vanish nor explode.

Chen 2018, Algorithm 1 and section 3.1. Theory says which variances; here they are drawn.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.arriving import Arriving, RecurrentWeights, weights_of
from memspan.init.orthogonal import orthogonal_
from memspan.init.verdicts import verdict
from memspan.theory import Field, MinimalField, VanillaField, critical_minimal, critical_vanilla

KINDS = ("gaussian", "orthogonal")
"""The recurrent matrix: independent Gaussian numbers, or sigma_w times a uniform orthogonal one; others are Gaussian."""


@runtime_checkable
class MeanFieldLayer(Protocol):
    """A layer whose random weights mean-field theory describes: of a vanilla or of a minimal RNN."""

    def field(self, input_variance: float = 1.0) -> Field: ...

    def start(self, batch: int) -> tuple[Tensor, ...]: ...


@runtime_checkable
class Stack(Protocol):
    """A cell."""

    @property
    def stack(self) -> list[Any]: ...


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

    `module` is a `VanillaRNN`, a `MinimalRNN` or one of their layers. Theory needs R, the second moment of what the layer
    reads (for the minimal RNN: of z = tanh(W_x x); W_x is left as it is). It is `input_variance`, or measured on `sample`,
    inputs (time, batch, features) as the network will see them, or what inputs of variance 1 give. Layers above the first
    read the outputs for the sample, or states of second moment Q*. `q` is the variance of pre-activations; without it,
    input weights have `sigma_v` (vanilla) or q is the smallest that settles comfortably (minimal, `critical_minimal`).
    Where inputs change in strength along a sequence, as pixels do, small inputs (sigma_v of 0.025) keep a vanilla network
    near its critical point all along.

    The drawn matrices are scaled so that their variance is the wanted one exactly, whatever the width. chi_1 = 1 holds for
    states of second moment Q*: begin with `critical_start`, or let some tens of steps pass.
    """
    if weights not in KINDS:
        raise InputError(f"weights is {weights!r}; expected {' or '.join(KINDS)}; choose one of them")
    arriving, verdicts = Arriving.of(input_variance, sample), []
    for layer in _layers(module):
        R = arriving.second_moment(layer)
        wanted = _wanted(layer.field(R), bias_mean, q, sigma_v)
        _draw(weights_of(layer), wanted, weights == "orthogonal", generator)
        drawn = layer.field(R)
        verdicts.append(verdict(drawn))
        arriving = arriving.above(layer, drawn)
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
    arriving, hidden = Arriving.of(input_variance, sample), []
    for layer in _layers(module):
        field = layer.field(arriving.second_moment(layer))
        h = layer.start(batch)[0]
        hidden.append(h.normal_(0.0, math.sqrt(field.fixed_point().Q), generator=generator))
        arriving = arriving.above(layer, field)
    state = cast(Any, module).start(batch)
    return state._replace(h=torch.stack(hidden) if isinstance(module, Stack) else hidden[0])


def _layers(module: nn.Module) -> list[MeanFieldLayer]:
    layers = module.stack if isinstance(module, Stack) else [module]
    known = [layer for layer in layers if isinstance(layer, MeanFieldLayer)]
    if len(known) < len(layers):
        raise InputError(
            f"mean-field theory has no critical weights for {type(module).__name__}; expected VanillaRNN or MinimalRNN"
        )
    return known


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


@torch.no_grad()
def _draw(
    weights: RecurrentWeights, field: Field, orthogonal: bool, generator: torch.Generator | None
) -> None:
    if orthogonal:
        orthogonal_(weights.recurrent, field.sigma_w, generator=generator)
    else:
        _gaussian_(weights.recurrent, field.sigma_w, generator)
    _gaussian_(weights.driven, field.sigma_v, generator)
    weights.bias.fill_(field.bias_mean)


def _gaussian_(matrices: Tensor, sigma: float, generator: torch.Generator | None) -> None:
    """Mean 0 and variance sigma^2 / columns, exactly, for each of the matrices (…, rows, columns)."""
    matrices.normal_(generator=generator)
    if matrices.shape[-2:].numel() > 1:
        deviation, mean = torch.std_mean(matrices, dim=(-2, -1), correction=0, keepdim=True)
        matrices.sub_(mean).mul_(sigma / (math.sqrt(matrices.shape[-1]) * deviation))
