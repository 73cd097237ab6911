"""Where tensors may lie: the words for it, and what is there."""

from __future__ import annotations

from typing import Literal

import torch

from memspan.errors import InputError

Device = Literal["auto", "cpu", "cuda", "mps"]


def accelerators() -> dict[str, bool]:
    """Devices besides the processor, and whether they are there."""
    return {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def check_device(name: Device) -> None:
    """Refuse a device that is not there."""
    if not accelerators().get(name, True):
        raise InputError(f"--device {name}: PyTorch finds no such device here; use auto or cpu")


def device_of(name: Device) -> torch.device:
    """`auto`: the fastest there is."""
    check_device(name)
    if name == "auto":
        return torch.device(next((kind for kind, there in accelerators().items() if there), "cpu"))
    return torch.device(name)
