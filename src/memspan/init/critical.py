"""Weights at the edge of chaos: chi_1 = 1, so that squared gradients neither vanish nor explode.

Chen 2018, Algorithm 1 and section 3.1. `memspan.theory` gives the variances; this module draws the weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.mean_field import InputStatistics, MeanFieldLayer, Stack, check_ensemble, draw_, mean_field_layers
from memspan.theory import Field, MinimalField, VanillaField, critical_minimal, critical_vanilla
from memspan.theory.meanfield.field import phase_of

# What the gradients do in each phase.
WORDS = {"ordered": "vanishing", "critical": "critical", "chaotic": "exploding"}
# The longest timescale to report: single-precision weights determine chi_1 to about seven digits.
LONGEST = 100_000


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
    """Draw recurrent, input and bias weights with the variances at which chi_1 = 1; return the `verdict` on them.

    `module` is a `VanillaRNN`, a `MinimalRNN` or one of their layers. The theory needs R, the second moment of the layer's
    inputs (for the minimal RNN: of z = tanh(W_x x); W_x is unchanged). It is `input_variance`, or measured on `sample`,
    typical inputs of the network (batch first with `batch_first`), or that of inputs of variance 1. The inputs of layers
    above the first are the outputs for the sample, or states of second moment Q*. `q` is the variance of pre-activations; by
    default, input weights have `sigma_v` (vanilla) or q is the smallest that converges comfortably (minimal,
    `critical_minimal`). If the strength of the inputs changes along a sequence, as that of pixels, small input weights
    (sigma_v of 0.025) keep a vanilla network near its critical point throughout.

    The matrices are scaled to the exact variance for every width. chi_1 = 1 holds for states of second moment Q*: start
    with `critical_start`, or let some tens of steps pass.
    """
    check_ensemble(weights)
    verdicts = []
    inputs = InputStatistics.of(module, input_variance, sample)
    for layer, R in _layers_with_inputs(module, inputs):
        draw_(layer, _critical_field(layer.field(R), bias_mean, q, sigma_v), weights == "orthogonal", generator)
        verdicts.append(verdict(layer.field(R)))
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
    """A state for the first call whose h is N(0, Q*), with Q* the fixed point of the current weights.

    From a zero state, squared gradients of the first steps would change by a factor other than chi_1. The arguments are
    those of `critical_`.
    """
    hidden = []
    inputs = InputStatistics.of(module, input_variance, sample)
    for layer, R in _layers_with_inputs(module, inputs):
        h = layer.start(batch)[0]
        hidden.append(h.normal_(0.0, math.sqrt(layer.field(R).fixed_point().Q), generator=generator))
    state = cast(Any, module).start(batch)
    return state._replace(h=torch.stack(hidden) if isinstance(module, Stack) else hidden[0])


def verdict(field: Field, input_correlation: float = 1.0) -> str:
    """Whether gradients vanish, persist or explode, by chi_1, and how long signals last: -1 / log chi steps.

    chi_1 is the factor per step of a gradient's squared norm; within 0.005 of 1 it counts as critical. The timescale is
    that for inputs of the given correlation.

    >>> from memspan.theory import VanillaField, critical_vanilla
    >>> verdict(VanillaField(sigma_w=1.3, sigma_v=0.5))
    'vanishing: squared gradients change by chi_1 = 0.8252 a step; signals last 5.2 steps'
    >>> verdict(critical_vanilla(sigma_v=0.5))
    'critical: squared gradients change by chi_1 = 1.0000 a step; signals last more than 100,000 steps'
    """
    chi1 = field.chi1
    endless = input_correlation == 1 and abs(chi1 - 1) < 1 / LONGEST
    steps = LONGEST + 1 if endless else field.timescale(input_correlation)
    under = "" if input_correlation == 1 else f" under inputs of correlation {input_correlation:g}"
    shown = f"{steps:,.0f}" if steps >= 100 else f"{steps:.1f}"
    shown = f"more than {LONGEST:,}" if steps > LONGEST else shown
    return (
        f"{WORDS[phase_of(chi1)]}: squared gradients change by chi_1 = {chi1:.4f} a step; "
        f"signals last {shown} steps{under}"
    )


def _layers_with_inputs(module: nn.Module, inputs: InputStatistics) -> Iterator[tuple[MeanFieldLayer, float]]:
    """The layers of a module with R of their inputs; the next layer is measured after the caller has drawn this one."""
    layers = mean_field_layers(module)
    for number, layer in enumerate(layers):
        R = inputs.second_moment(layer)
        yield layer, R
        if number < len(layers) - 1:
            inputs = inputs.above(layer, layer.field(R))


def _critical_field(current: Field, bias_mean: float, q: float | None, sigma_v: float) -> Field:
    """The critical field of the same kind and with the same input variance as `current`."""
    R = float(current.input_variance)
    if isinstance(current, MinimalField):
        return critical_minimal(bias_mean=bias_mean, input_variance=R, q=q)
    assert isinstance(current, VanillaField)
    return critical_vanilla(
        sigma_v=sigma_v if q is None else _sigma_v(current, bias_mean, q),
        bias_mean=bias_mean,
        input_variance=R,
        activation=current.activation,
    )


def _sigma_v(current: VanillaField, bias_mean: float, q: float) -> float:
    """sigma_v^2 R = q - E[phi^2] / E[phi'^2]: what remains for inputs if sigma_w^2 E[phi'^2] = 1."""
    R = float(current.input_variance)
    at, mean = np.array([q]), np.array([bias_mean])
    unit = VanillaField(activation=current.activation)
    square = unit.share(at, mean)[0]
    slope2 = unit.chi1_at(at, square, VanillaField(bias_mean=bias_mean).parameters)
    drive = float((at - square / slope2)[0])
    if not (q > 0 and R > 0 and drive > 0):
        raise InputError(
            f"no critical vanilla RNN has q = {q:g}, bias mean {bias_mean:g} and input variance {R:g}: "
            "sigma_v^2 would be negative; choose a larger q, or omit it"
        )
    return math.sqrt(drive / R)
