"""Where a training runs: a device, a precision, and the processes that share its batches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import final

import torch
from torch import Tensor, nn

from memspan.engines import available_cores
from memspan.errors import InputError
from memspan.training.config import TrainingConfig


@final
class Machine:
    """A wrapper of `accelerate.Accelerator`: of several processes (`torchrun`), each works on its share of every batch."""

    def __init__(self, config: TrainingConfig) -> None:
        from accelerate import Accelerator

        _check_device(config.device)
        precision = {"float32": "no", "bfloat16": "bf16"}[config.precision]
        self._accelerator = Accelerator(cpu=config.device == "cpu", mixed_precision=precision)
        self.device: torch.device = self._accelerator.device
        self.rank: int = self._accelerator.process_index
        self.count: int = self._accelerator.num_processes

    @property
    def main(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def prepare(self, network: nn.Module) -> nn.Module:
        """The network, its gradients averaged over the processes."""
        return self._accelerator.prepare(network) if self.count > 1 else network

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        """Inside, products are computed in the precision of the configuration."""
        return self._accelerator.autocast()

    def alone(self, model: nn.Module) -> contextlib.AbstractContextManager[None]:
        """Inside, gradients are not averaged yet: more of the same update follow."""
        return self._accelerator.no_sync(model)

    def share(self, size: int) -> slice:
        """Which of count x size sequences are this process's."""
        return slice(self.rank * size, (self.rank + 1) * size)

    def mean(self, number: float) -> float:
        """The mean over the processes."""
        if self.count == 1:
            return number
        total = self._accelerator.reduce(torch.tensor(number, dtype=torch.float64), "mean")
        assert isinstance(total, Tensor)
        return float(total)

    def every(self, tensor: Tensor) -> list[Tensor]:
        """The tensor of every process, in order."""
        if self.count == 1:
            return [tensor]
        gathered = self._accelerator.gather(tensor.unsqueeze(0))
        assert isinstance(gathered, Tensor)
        return list(gathered)

    def any(self, flag: bool) -> bool:
        """Whether it is so in some process."""
        return self.mean(float(flag)) > 0


def _check_device(name: str) -> None:
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(name, True):
        raise InputError(f"--device {name}: PyTorch finds no such device here; use auto or cpu")


def threads_of(config: TrainingConfig) -> int:
    """Processor threads: as configured, or one for every core."""
    return config.threads if config.threads is not None else available_cores()


@contextlib.contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Inside, torch has `count` threads; afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
