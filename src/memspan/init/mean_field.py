"""Weights of chosen variances: sigma_w^2 / hidden, sigma_v^2 / inputs, and one bias for all units."""

from __future__ import annotations

import torch
from torch import nn

from memspan.errors import InputError
from memspan.init.arriving import weights_of
from memspan.init.drawing import check_kind, draw_, layers_of
from memspan.theory import VanillaField


def mean_field_(
    module: nn.Module,
    *,
    sigma_w: float,
    sigma_v: float,
    bias_mean: float = 0.0,
    weights: str = "gaussian",
    generator: torch.Generator | None = None,
) -> None:
    """Draw every layer of a `VanillaRNN` or `MinimalRNN` from the ensemble of theory.  Chen 2018, sections 3.1 and 4.

    The recurrent matrix is Gaussian or sigma_w times a uniform orthogonal one; a minimal RNN's input map is left alone.
    """
    check_kind(weights)
    if not (sigma_w >= 0 and sigma_v >= 0):
        raise InputError(f"sigma_w is {sigma_w} and sigma_v is {sigma_v}; expected 0 or more of both")
    wanted = VanillaField(sigma_w=sigma_w, sigma_v=sigma_v, bias_mean=bias_mean)
    for layer in layers_of(module):
        draw_(weights_of(layer), wanted, weights == "orthogonal", generator)
