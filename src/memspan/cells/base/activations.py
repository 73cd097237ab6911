"""Nonlinearities phi of the cells, each with its derivative as a function of its own value.

Scans store phi(z) and not z, so the derivative must follow from the value alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from memspan.errors import InputError, suggestion


@final
@dataclass(frozen=True)
class Nonlinearity:
    """phi(z), or phi(z, m) with a learned bias m for each unit."""

    name: str
    value: Callable[[Tensor, Tensor | None], Tensor]
    """phi(z, m); m is None unless `biased`."""
    slope: Callable[[Tensor], Tensor | None]
    """dphi/dz where phi(z) is the argument; None where the derivative is 1 everywhere."""
    biased: bool = False


def modrelu(z: Tensor, m: Tensor | None) -> Tensor:
    """sign(z) max(|z| + m, 0).  Arjovsky 2016; Kerg 2020, appendix C."""
    assert m is not None
    return torch.sign(z) * torch.relu(z.abs() + m)


def modrelu_slope(value: Tensor) -> Tensor:
    """1 where modrelu passes its input on, else 0."""
    return (value != 0).to(value.dtype)


NONLINEARITIES = {
    phi.name: phi
    for phi in (
        Nonlinearity("tanh", lambda z, _: torch.tanh(z), lambda value: 1 - value * value),
        Nonlinearity("relu", lambda z, _: torch.relu(z), lambda value: (value > 0).to(value.dtype)),
        Nonlinearity("identity", lambda z, _: z, lambda _: None),
        Nonlinearity("modrelu", modrelu, modrelu_slope, biased=True),
    )
}


def nonlinearity_named(name: str) -> Nonlinearity:
    """The nonlinearity with this name."""
    if name not in NONLINEARITIES:
        raise InputError(f"unknown nonlinearity {name!r}; {suggestion(name, NONLINEARITIES)}")
    return NONLINEARITIES[name]
