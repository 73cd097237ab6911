"""What arrives at a layer: the second moment R of its inputs, given, measured or implied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.theory import Field, VanillaField


class RecurrentWeights(NamedTuple):
    """The weights of a layer by what they do, under the names of theory."""

    recurrent: Tensor
    driven: Tensor
    bias: Tensor
    input_map: Tensor | None
    """W_x of z = tanh(W_x x), where z and not x is what theory calls the input."""


def weights_of(layer: Any) -> RecurrentWeights:
    """Those of e = V h + U x + b (vanilla) or, where there is an input map, of e = W h + V z + b (minimal)."""
    if hasattr(layer, "W_x"):
        return RecurrentWeights(layer.W, layer.V, layer.b, layer.W_x)
    return RecurrentWeights(layer.V, layer.U, layer.b, None)


@final
@dataclass(frozen=True, eq=False)
class Arriving:
    """What is known of a layer's inputs: a sample of them, R itself, or the variance of x."""

    sample: Tensor | None = None
    R: float | None = None
    variance: float = 1.0

    @classmethod
    def of(cls, module: nn.Module, input_variance: float | None, sample: Tensor | None) -> Arriving:
        """What a person says about the inputs of the first layer; a sample is laid out as the module takes its inputs."""
        if input_variance is not None and sample is not None:
            raise InputError("both input_variance and a sample were given; expected one of them")
        if sample is not None:
            _check_sample(sample, next(module.parameters()))
            if sample.dim() == 3 and getattr(module, "batch_first", False):
                sample = sample.transpose(0, 1)
        return cls(sample, input_variance)

    @torch.no_grad()
    def second_moment(self, layer: Any) -> float:
        """R, after the input map where there is one."""
        weights = weights_of(layer)
        if self.sample is not None:
            if self.sample.shape[-1] != layer.input_size:
                raise InputError(
                    f"the sample has {self.sample.shape[-1]} features; expected {layer.input_size}, the input_size"
                )
            read = self.sample if weights.input_map is None else torch.tanh(self.sample @ weights.input_map.T)
            return float(read.double().square().mean())
        if self.R is not None:
            return self.R
        if weights.input_map is None:
            return self.variance
        # Rows of W_x take sums of variance |row|^2 var(x); E[tanh^2] of them is what a network without recurrence holds.
        drive = self.variance * float(weights.input_map.double().square().sum(dim=1).mean())
        return VanillaField(sigma_w=0.0, input_variance=drive).fixed_point().Q

    @torch.no_grad()
    def above(self, layer: Any, field: Field) -> Arriving:
        """What the layer hands on: its outputs for the sample, or states of second moment Q*."""
        if self.sample is None:
            return Arriving(variance=field.fixed_point().Q)
        inputs = self.sample if self.sample.dim() == 3 else self.sample.unsqueeze(-2)
        inputs = inputs[: getattr(layer, "steps", None)]  # an untied layer has weights for so many steps
        return Arriving(sample=layer(inputs, layer.start(inputs.shape[1]))[0])


def _check_sample(sample: Tensor, like: Tensor) -> None:
    expected = f"expected numbers of type {like.dtype} on {like.device}, as the network reads them"
    if not isinstance(sample, Tensor):
        raise InputError(f"the sample is a {type(sample).__name__}; {expected}")
    if sample.dtype != like.dtype or sample.device != like.device:
        raise InputError(f"the sample is of type {sample.dtype} on {sample.device}; {expected}")
    if sample.dim() not in (2, 3) or not sample.numel():
        raise InputError(
            f"the sample has shape {tuple(sample.shape)}; expected (time, batch, features), one step or more"
        )
    if not torch.isfinite(sample).all():
        raise InputError(
            "the sample holds numbers that are not finite; expected inputs as the network reads them"
        )
