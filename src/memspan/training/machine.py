"""Where a training runs: a device, a precision, and the processes that share its batches."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeVar, final

import torch
from torch import Tensor, nn

from memspan.engines import available_cores
from memspan.training.config import TrainingConfig
from memspan.training.devices import accelerators, check_device

Value = TypeVar("Value")


@final
class Machine:
    """Devices and processes as `accelerate` finds them: of several (`torchrun`), each works on its share of every batch.

    All processes hold the same weights and random starts; what they have to agree on goes through this class.
    """

    def __init__(self, config: TrainingConfig) -> None:
        from accelerate import PartialState

        check_device(config.device)
        self._precision = config.precision
        # Where there is nothing but the processor, accelerate joins processes only if it is told so.
        processes = PartialState(cpu=config.device == "cpu" or not any(accelerators().values()))
        self.rank: int = processes.process_index
        self.count: int = processes.num_processes
        if self.count > 1:
            _leave_at_exit()
        self.device = _device(config.device, processes)

    @property
    def main(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """Inside, products are computed in the precision of the configuration."""
        if self._precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def share(self, size: int) -> slice:
        """Which of count x size sequences are this process's."""
        return slice(self.rank * size, (self.rank + 1) * size)

    def average_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Every gradient becomes its mean over the processes; one that no process has stays away."""
        if self.count == 1:
            return
        there = [float(parameter.grad is not None) for parameter in parameters]
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in parameters
        ]
        flat = torch.cat([gradient.flatten() for gradient in gradients] + [gradients[0].new_tensor(there)])
        *parts, found = self._mean(flat).split([*(p.numel() for p in parameters), len(there)])
        for parameter, part, exists in zip(parameters, parts, found.tolist(), strict=True):
            if exists:
                parameter.grad = part.view_as(parameter)

    def means(self, numbers: dict[str, float]) -> dict[str, float]:
        """The means over the processes, the same to the last bit in all of them."""
        if self.count == 1:
            return numbers
        together = self._mean(torch.tensor(list(numbers.values()), dtype=torch.float64, device=self.device))
        return dict(zip(numbers, together.tolist(), strict=True))

    def any(self, *flags: bool) -> list[bool]:
        """Of each, whether it is so in some process."""
        if self.count == 1:
            return list(flags)
        together = self._mean(torch.tensor(flags, dtype=torch.float32, device=self.device))
        return [share > 0 for share in together.tolist()]

    def every(self, tensor: Tensor) -> list[Tensor]:
        """The tensor of every process, in order; alike in shape."""
        if self.count == 1:
            return [tensor]
        from accelerate.utils import gather

        return list(gather(tensor.to(self.device).unsqueeze(0)))

    def of_main(self, value: Value) -> Value:
        """What the main process has, in every process."""
        if self.count == 1:
            return value
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([value])[0]

    def wait(self) -> None:
        """Until every process has come here."""
        self.any(False)

    def _mean(self, tensor: Tensor) -> Tensor:
        from accelerate.utils import reduce

        return reduce(tensor, "mean")  # pyright: ignore[reportReturnType]


def _device(name: str, processes: Any) -> torch.device:
    """The chosen device. Of several processes, each may have its own."""
    if name == "cpu":
        return torch.device("cpu")
    if processes.num_processes > 1:
        return processes.device
    return processes.default_device if name == "auto" else torch.device(name)


@cache
def _leave_at_exit() -> None:
    """Leave the group of processes before the interpreter ends: its threads would otherwise be torn down while they run."""
    atexit.register(_leave)


def _leave() -> None:
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def several_processes() -> bool:
    """Whether torchrun has started more than one for this training."""
    return os.environ.get("WORLD_SIZE", "1") != "1"


def threads_of(config: TrainingConfig, processes: int = 1) -> int:
    """Processor threads of one process: as configured, or as many as there are cores for it."""
    return config.threads if config.threads is not None else max(1, available_cores() // processes)


@contextlib.contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Inside, torch has `count` threads; afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
