"""Random weights as mean-field theory assumes them: variances sigma_w^2 / hidden and sigma_v^2 / inputs, a constant bias."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.orthogonal import orthogonal_
from memspan.theory import Field, VanillaField

# The recurrent matrix: independent Gaussian entries, or sigma_w times a uniform orthogonal matrix.
ENSEMBLES = ("gaussian", "orthogonal")


def mean_field_(
    module: nn.Module,
    *,
    sigma_w: float,
    sigma_v: float,
    bias_mean: float = 0.0,
    weights: str = "gaussian",
    generator: torch.Generator | None = None,
) -> None:
    """Draw every layer of a `VanillaRNN` or `MinimalRNN` from the ensemble of the theory.  Chen 2018, sections 3.1 and 4.

    The recurrent matrix is Gaussian, or sigma_w times a uniform orthogonal one. The input map of a minimal RNN is unchanged.
    """
    check_ensemble(weights)
    if not (sigma_w >= 0 and sigma_v >= 0):
        raise InputError(f"sigma_w is {sigma_w} and sigma_v is {sigma_v}; expected both to be 0 or more")
    field = VanillaField(sigma_w=sigma_w, sigma_v=sigma_v, bias_mean=bias_mean)
    for layer in mean_field_layers(module):
        draw_(layer, field, weights == "orthogonal", generator)


@runtime_checkable
class MeanFieldLayer(Protocol):
    """A layer that mean-field theory covers: of a vanilla or of a minimal RNN."""

    def field(self, input_variance: float = 1.0) -> Field: ...

    def start(self, batch: int) -> tuple[Tensor, ...]: ...


@runtime_checkable
class Stack(Protocol):
    """A cell."""

    @property
    def stack(self) -> list[Any]: ...


class RecurrentWeights(NamedTuple):
    """The weights of a layer by their role in the theory."""

    recurrent: Tensor
    input: Tensor
    bias: Tensor
    input_map: Tensor | None
    """W_x of z = tanh(W_x x), if the input of the theory is z and not x."""


def recurrent_weights(layer: Any) -> RecurrentWeights:
    """Those of e = V h + U x + b (vanilla) or, with an input map, of e = W h + V z + b (minimal)."""
    if hasattr(layer, "W_x"):
        return RecurrentWeights(layer.W, layer.V, layer.b, layer.W_x)
    return RecurrentWeights(layer.V, layer.U, layer.b, None)


def check_ensemble(weights: str) -> None:
    """Raise unless `weights` is one of `ENSEMBLES`."""
    if weights not in ENSEMBLES:
        raise InputError(f"weights is {weights!r}; expected {' or '.join(ENSEMBLES)}")


def mean_field_layers(module: nn.Module) -> list[MeanFieldLayer]:
    """The layers of a cell, or the layer itself; raises if the theory does not cover one of them."""
    layers = module.stack if isinstance(module, Stack) else [module]
    known = [layer for layer in layers if isinstance(layer, MeanFieldLayer)]
    if len(known) < len(layers):
        raise InputError(
            f"mean-field theory does not describe {type(module).__name__}; use VanillaRNN or MinimalRNN (--cell rnn or "
            "minimal-rnn), or another init.name"
        )
    return known


@torch.no_grad()
def draw_(layer: MeanFieldLayer, field: Field, orthogonal: bool, generator: torch.Generator | None) -> None:
    """Draw recurrent matrix, input weights and bias with the sigmas and the bias mean of a field."""
    weights = recurrent_weights(layer)
    if orthogonal:
        orthogonal_(weights.recurrent, field.sigma_w, generator=generator)
    else:
        _gaussian_(weights.recurrent, field.sigma_w, generator)
    _gaussian_(weights.input, field.sigma_v, generator)
    weights.bias.fill_(field.bias_mean)


def _gaussian_(matrices: Tensor, sigma: float, generator: torch.Generator | None) -> None:
    """Mean 0 and variance sigma^2 / columns, exactly, for each of the matrices (…, rows, columns)."""
    matrices.normal_(generator=generator)
    if matrices.shape[-2:].numel() == 1:
        # A single number has no variance: it becomes +-sigma.
        matrices.sign_().mul_(sigma)
    else:
        deviation, mean = torch.std_mean(matrices, dim=(-2, -1), correction=0, keepdim=True)
        matrices.sub_(mean).mul_(sigma / (math.sqrt(matrices.shape[-1]) * deviation))


@final
@dataclass(frozen=True, eq=False)
class InputStatistics:
    """What is known about the inputs of a layer: a sample of them, their second moment R, or the variance of x."""

    sample: Tensor | None = None
    R: float | None = None
    variance: float = 1.0

    @classmethod
    def of(cls, module: nn.Module, input_variance: float | None, sample: Tensor | None) -> InputStatistics:
        """From the caller's arguments for the first layer; a sample has the layout of the module's inputs."""
        if input_variance is not None and sample is not None:
            raise InputError("both input_variance and sample were given; pass one of them")
        if sample is not None:
            _check_sample(sample, next(module.parameters()))
            if sample.dim() == 3 and getattr(module, "batch_first", False):
                sample = sample.transpose(0, 1)
        return cls(sample, input_variance)

    @torch.no_grad()
    def second_moment(self, layer: Any) -> float:
        """R, after the input map if there is one."""
        input_map = recurrent_weights(layer).input_map
        if self.sample is not None:
            if self.sample.shape[-1] != layer.input_size:
                raise InputError(
                    f"the sample has {self.sample.shape[-1]} features; expected {layer.input_size}, the input_size"
                )
            inputs = self.sample if input_map is None else torch.tanh(self.sample @ input_map.T)
            return float(inputs.double().square().mean())
        if self.R is not None:
            return self.R
        if input_map is None:
            return self.variance
        # A row of W_x gives sums of variance |row|^2 var(x). Their E[tanh^2] is Q of a network without recurrence.
        drive = self.variance * float(input_map.double().square().sum(dim=1).mean())
        return VanillaField(sigma_w=0.0, input_variance=drive).fixed_point().Q

    @torch.no_grad()
    def above(self, layer: Any, field: Field) -> InputStatistics:
        """The inputs of the next layer: outputs of `layer` for the sample, or states of second moment Q*."""
        if self.sample is None:
            return InputStatistics(variance=field.fixed_point().Q)
        inputs = self.sample if self.sample.dim() == 3 else self.sample.unsqueeze(-2)
        inputs = inputs[: getattr(layer, "steps", None)]  # an untied layer has weights for that many steps only
        return InputStatistics(sample=layer(inputs, layer.start(inputs.shape[1]))[0])


def _check_sample(sample: Tensor, like: Tensor) -> None:
    expected = f"expected values of type {like.dtype} on {like.device}, as the network reads them"
    if not isinstance(sample, Tensor):
        raise InputError(f"the sample is a {type(sample).__name__}; {expected}")
    if sample.dtype != like.dtype or sample.device != like.device:
        raise InputError(f"the sample is of type {sample.dtype} on {sample.device}; {expected}")
    if sample.dim() not in (2, 3) or not sample.numel():
        raise InputError(
            f"the sample has shape {tuple(sample.shape)}; expected (time, batch, features), one step or more"
        )
    if not torch.isfinite(sample).all():
        raise InputError("the sample holds non-finite values; expected inputs as the network reads them")
