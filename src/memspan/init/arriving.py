"""What arrives at a layer: the second moment R of its inputs, given, measured or implied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from torch import Tensor

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
    def of(cls, input_variance: float | None, sample: Tensor | None) -> Arriving:
        """What a person says about the inputs of the first layer."""
        if input_variance is not None and sample is not None:
            raise InputError("both input_variance and a sample were given; expected one of them")
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
        return Arriving(sample=layer(inputs, layer.start(inputs.shape[1]))[0])
