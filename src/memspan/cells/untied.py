"""Networks with fresh weights at every step, as mean-field theory assumes them.  Chen 2018, section 3 and Fig. 2."""

from __future__ import annotations

from abc import ABC
from typing import NamedTuple

import torch
from torch import Tensor

from memspan.cells.layer import Hidden, Layer
from memspan.errors import InputError


class HiddenAtStep(NamedTuple):
    """The state of untied layers: h, and which step's weights come next."""

    h: Tensor
    """(layers, batch, hidden)"""
    step: Tensor
    """(layers, batch), int64: the same for all sequences of a batch"""


def check_tying(tied: bool, steps: int | None) -> None:
    """Untied weights need a number of steps, tied ones have none."""
    if tied and steps is not None:
        raise InputError(f"steps is {steps} but the weights are tied; leave it out, or add tied=False")
    if not tied and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise InputError(
            f"tied=False needs the number of steps, got {steps!r}; give steps=T, one set of weights for each"
        )


def next_steps(step: Tensor, length: int, steps: int) -> slice:
    """Which weights the next `length` steps use; refuses to go beyond the last."""
    begin = int(step[0])
    if begin + length > steps:
        raise InputError(
            f"step {begin + length} of a network with weights for {steps} steps; make it with steps={begin + length}"
        )
    return slice(begin, begin + length)


class MaybeUntiedLayer(Layer, ABC):
    """A layer whose weights are the same at every step or, with `steps`, of which each step has its own."""

    def __init__(self, input_size: int, hidden_size: int, steps: int | None) -> None:
        super().__init__(input_size, hidden_size)
        self.steps, self.every = steps, () if steps is None else (steps,)
        self.State = Hidden if steps is None else HiddenAtStep  # type: ignore[misc]

    def start(self, batch: int) -> tuple[Tensor, ...]:
        h = self.zeros(batch, self.hidden_size)
        return Hidden(h) if self.steps is None else HiddenAtStep(h, self.zeros(batch, dtype=torch.int64))

    @property
    def tied(self) -> bool:
        """Whether all steps have the same weights."""
        return self.steps is None

    def check_state(self, state: tuple[Tensor, ...]) -> None:
        if self.tied:
            return
        least, most = state[1].min(), state[1].max()
        if least < 0 or least != most:
            raise InputError(
                f"step of the state holds {int(least)} to {int(most)}; expected one number of 0 or more, the same for all "
                "layers and sequences; give it back as it came"
            )

    def end(self, states: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The state after steps that left `states` (time, batch, hidden) and began at `state`."""
        return Hidden(states[-1]) if self.steps is None else HiddenAtStep(states[-1], state[1] + len(states))
