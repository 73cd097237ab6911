"""Where a training runs: its device, its threads, its random streams and the processes that share its batches."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, Protocol, TypeVar, final

import numpy as np
import torch
from torch import Tensor, nn

from memspan.engines import available_cores
from memspan.errors import InputError

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["float32", "bfloat16"]
Value = TypeVar("Value")


class MachineSettings(Protocol):
    """The settings of a training that are about the machine."""

    @property
    def device(self) -> Device: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def threads(self) -> int | None: ...


@final
class Machine:
    """The device and the processes that `accelerate` finds. Under `torchrun`, each process takes its share of a batch.

    All processes hold the same weights; whatever they must agree on goes through this class.
    """

    def __init__(self, settings: MachineSettings) -> None:
        from accelerate import PartialState

        check_device(settings.device)
        self._precision = settings.precision
        # Without an accelerator, accelerate joins the process group only if the CPU is requested.
        processes = PartialState(cpu=settings.device == "cpu" or not any(accelerators().values()))
        self.rank: int = processes.process_index
        self.count: int = processes.num_processes
        if self.count > 1:
            _leave_group_at_exit()
        self.device = _process_device(settings.device, processes)

    @property
    def main(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """Compute matrix products in the configured precision."""
        if self._precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def share(self, size: int) -> slice:
        """Columns of a batch of count x size sequences that belong to this process."""
        return slice(self.rank * size, (self.rank + 1) * size)

    def average_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace every gradient by its mean over the processes; None stays None if it is None in all of them."""
        if self.count == 1:
            return
        present = [float(parameter.grad is not None) for parameter in parameters]
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad for parameter in parameters
        ]
        # One message for all gradients: many small ones would cost more than the update of a small network.
        flat = torch.cat([gradient.flatten() for gradient in gradients] + [gradients[0].new_tensor(present)])
        *parts, found = self._mean(flat).split([*(p.numel() for p in parameters), len(present)])
        for parameter, part, exists in zip(parameters, parts, found.tolist(), strict=True):
            if exists:
                parameter.grad = part.view_as(parameter)

    def means(self, numbers: dict[str, float]) -> dict[str, float]:
        """The mean of each number over the processes, bitwise equal in all of them."""
        if self.count == 1:
            return numbers
        together = self._mean(torch.tensor(list(numbers.values()), dtype=torch.float64, device=self.device))
        return dict(zip(numbers, together.tolist(), strict=True))

    def any(self, *flags: bool) -> list[bool]:
        """For each flag, whether it is set in any process."""
        if self.count == 1:
            return list(flags)
        together = self._mean(torch.tensor(flags, dtype=torch.float32, device=self.device))
        return [share > 0 for share in together.tolist()]

    def every(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all processes in order of rank; their shapes must agree."""
        if self.count == 1:
            return [tensor]
        from accelerate.utils import gather

        return list(gather(tensor.to(self.device).unsqueeze(0)))

    def of_main(self, value: Value) -> Value:
        """The main process's value, in every process."""
        if self.count == 1:
            return value
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([value])[0]

    def wait(self) -> None:
        """Block until every process has arrived."""
        self.any(False)

    def _mean(self, tensor: Tensor) -> Tensor:
        from accelerate.utils import reduce

        return reduce(tensor, "mean")  # pyright: ignore[reportReturnType]


def _process_device(name: str, processes: Any) -> torch.device:
    """The requested device. With several processes, each may have its own."""
    if name == "cpu":
        return torch.device("cpu")
    if processes.num_processes > 1:
        return processes.device
    return processes.default_device if name == "auto" else torch.device(name)


@cache
def _leave_group_at_exit() -> None:
    # The group's threads would otherwise be torn down by the interpreter while they run.
    atexit.register(lambda: torch.distributed.is_initialized() and torch.distributed.destroy_process_group())


def is_distributed() -> bool:
    """Whether torchrun has started more than one process for this training."""
    return os.environ.get("WORLD_SIZE", "1") != "1"


def accelerators() -> dict[str, bool]:
    """Devices other than the CPU, and whether each is available."""
    return {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def check_device(name: Device) -> None:
    """Refuse a device that is not available."""
    if not accelerators().get(name, True):
        raise InputError(f"--device {name}: PyTorch finds no such device on this machine; use auto or cpu")


def resolve_device(name: Device) -> torch.device:
    """The torch device; `auto` is the fastest available."""
    check_device(name)
    if name == "auto":
        return torch.device(next((kind for kind, available in accelerators().items() if available), "cpu"))
    return torch.device(name)


def thread_count(settings: MachineSettings, processes: int = 1) -> int:
    """CPU threads of one process: as configured, or its share of the cores."""
    return settings.threads if settings.threads is not None else max(1, available_cores() // processes)


@contextlib.contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Give torch `count` threads inside the block and restore the number afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch's random numbers inside the block and restore their state afterwards."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def stream_seed(seed: int, rank: int) -> int:
    """Seed of what a process draws while it trains (dropout); differs from that of the weights and of other ranks."""
    return int(np.random.SeedSequence([seed, rank]).generate_state(1, np.uint64)[0])
