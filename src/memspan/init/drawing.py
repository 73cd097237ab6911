"""Layers that mean-field theory describes, and their weights drawn with the variances of a field."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.arriving import RecurrentWeights
from memspan.init.orthogonal import orthogonal_
from memspan.theory import Field

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


def check_kind(weights: str) -> None:
    """Refuse a word that is none of `KINDS`."""
    if weights not in KINDS:
        raise InputError(f"weights is {weights!r}; expected {' or '.join(KINDS)}; choose one of them")


def layers_of(module: nn.Module) -> list[MeanFieldLayer]:
    """The layers of a cell, or the layer itself; others than theory knows are refused."""
    layers = module.stack if isinstance(module, Stack) else [module]
    known = [layer for layer in layers if isinstance(layer, MeanFieldLayer)]
    if len(known) < len(layers):
        raise InputError(
            f"mean-field theory does not describe {type(module).__name__}; expected VanillaRNN or MinimalRNN (--cell rnn or "
            "minimal-rnn); choose one of them or another init.name"
        )
    return known


@torch.no_grad()
def draw_(
    weights: RecurrentWeights, field: Field, orthogonal: bool, generator: torch.Generator | None
) -> None:
    """Recurrent matrix, input weights and bias with the sigmas and the bias mean of a field."""
    if orthogonal:
        orthogonal_(weights.recurrent, field.sigma_w, generator=generator)
    else:
        _gaussian_(weights.recurrent, field.sigma_w, generator)
    _gaussian_(weights.driven, field.sigma_v, generator)
    weights.bias.fill_(field.bias_mean)


def _gaussian_(matrices: Tensor, sigma: float, generator: torch.Generator | None) -> None:
    """Mean 0 and variance sigma^2 / columns, exactly, for each of the matrices (…, rows, columns); one number is +-sigma."""
    matrices.normal_(generator=generator)
    if matrices.shape[-2:].numel() == 1:
        matrices.sign_().mul_(sigma)
    else:
        deviation, mean = torch.std_mean(matrices, dim=(-2, -1), correction=0, keepdim=True)
        matrices.sub_(mean).mul_(sigma / (math.sqrt(matrices.shape[-1]) * deviation))
