"""One recurrent layer: an initial state and a scan over time that can be interrupted and resumed at any step."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from memspan.cells.base.autograd import Probe, Resets, States, clear, scan_segments
from memspan.errors import InputError
from memspan.progress import Progress

Device = torch.device | str | None
Dtype = torch.dtype | None


class HiddenState(NamedTuple):
    """The state of layers that carry h alone."""

    h: Tensor
    """(layers, batch, hidden)"""


class Layer(nn.Module, ABC):
    """Maps inputs (time, batch, features) and a state to outputs (time, batch, hidden) and the next state.

    Inside a layer the tensors of a state are (batch, …); a `Cell` stacks those of its layers. Parameters are attributes of
    the layer itself, named as in the equations. Options of a layer are keyword arguments of its constructor with the
    defaults of the cell, and attributes of the same name.
    """

    State: ClassVar[type[tuple]] = HiddenState
    """The named tuple that is carried from step to step, `h` first."""
    learning_rate_factors: ClassVar[dict[str, float]] = {}
    """Factors of the learning rate, by the start of a parameter's name."""
    newest_last: ClassVar[bool] = True
    """For layers that store past states: whether padding precedes the stored states or follows them."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size

    @property
    def output_size(self) -> int:
        """Number of features of the outputs; of most layers that of the states."""
        return self.hidden_size

    @abstractmethod
    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        """Run all steps, one or more.

        Where `resets` (time, batch, bool) is true, the state is `start` before that step. `probe` (time, batch, hidden) is
        added to every h_t as soon as it is computed, so that its gradient is the total dL/dh_t.
        """

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw all parameters from torch's random numbers."""

    def start(self, batch: int) -> States:
        """The state before the first step and after a reset: zeros, on the device of the parameters."""
        return self.State(*(self.zeros(batch, self.hidden_size) for _ in self.State._fields))  # type: ignore[attr-defined]

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        """The shape of each tensor of a state; None for a dimension that grows with time."""
        return tuple(tuple(tensor.shape) for tensor in self.start(batch))

    def state_size(self, length: int) -> int:  # noqa: ARG002 - layers that store past states grow
        """Number of values carried per sequence after `length` steps."""
        return sum(tensor.numel() for tensor in self.start(1))

    def check_state(self, state: States) -> None:
        """Raise if values of a state (layers, batch, …) contradict each other; shapes have been checked before."""

    def scan_without_dropout(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        """The outputs of a scan in evaluation mode, also during training."""
        return self.scan(inputs, state, resets, None)[0]

    def attention(self, inputs: Tensor, state: States, resets: Resets) -> Tensor | None:  # noqa: ARG002
        """Attention weights (time, batch, source) by the plain equations; None for layers without attention."""
        return None

    def announce_compilation(self, progress: Progress) -> None:
        """Report a compilation that the first call is going to start; layers without kernels report nothing."""

    def forward(
        self, inputs: Tensor, state: States, resets: Resets = None, probe: Probe = None
    ) -> tuple[Tensor, States]:
        """The scan, as a call that hooks and `torch.compile` see."""
        return self.scan(inputs, state, resets, probe)

    def extra_repr(self) -> str:
        """Sizes, and the options that differ from their defaults."""
        shown = [f"{self.input_size}, {self.hidden_size}"]
        for name, parameter in inspect.signature(type(self)).parameters.items():
            if name not in ("input_size", "hidden_size", "device", "dtype"):
                value = getattr(self, name)
                shown += [f"{name}={value!r}"] if value != parameter.default else []
        return ", ".join(shown)

    def zeros(self, *shape: int, dtype: Dtype = None) -> Tensor:
        """Zeros on the device of the parameters, by default of their type."""
        like = next(self.parameters())
        return torch.zeros(shape, device=like.device, dtype=dtype or like.dtype)


def empty_weights(device: Device, dtype: Dtype) -> Callable[..., nn.Parameter]:
    """A function that makes an uninitialized parameter of a given shape."""

    def weights(*shape: int) -> nn.Parameter:
        return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))

    return weights


def draw_uniform(bound: float, *parameters: Tensor) -> None:
    """Draw every value between -bound and bound."""
    for parameter in parameters:
        nn.init.uniform_(parameter, -bound, bound)


class UntiedState(NamedTuple):
    """The state of a layer with separate weights for every step."""

    h: Tensor
    """(layers, batch, hidden)"""
    step: Tensor
    """(layers, batch), int64: the step whose weights come next; the same for all sequences of a batch"""


class TiedOrUntiedLayer(Layer, ABC):
    """A layer whose weights are shared by all steps (`tied`) or separate for each of `steps` steps.

    Mean-field theory assumes untied weights.  Chen 2018, section 3 and Fig. 2.
    """

    def __init__(self, input_size: int, hidden_size: int, tied: bool, steps: int | None) -> None:
        if tied and steps is not None:
            raise InputError(f"steps is {steps} but the weights are tied; omit it, or add tied=False")
        if not tied and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
            raise InputError(
                f"tied=False requires the number of steps, got {steps!r}; pass steps=T, one set of weights per step"
            )
        super().__init__(input_size, hidden_size)
        self.tied, self.steps = tied, steps
        self.leading_shape = () if steps is None else (steps,)
        self.State = HiddenState if tied else UntiedState  # type: ignore[misc]

    def start(self, batch: int) -> States:
        h = self.zeros(batch, self.hidden_size)
        return HiddenState(h) if self.tied else UntiedState(h, self.zeros(batch, dtype=torch.int64))

    def check_state(self, state: States) -> None:
        if self.tied:
            return
        least, most = state[1].min(), state[1].max()
        if least < 0 or least != most:
            raise InputError(
                f"step of the state ranges from {int(least)} to {int(most)}; expected one number of 0 or more for all "
                "layers and sequences; pass the state as it was returned"
            )

    def next_steps(self, state: States, length: int) -> slice:
        """The steps whose weights the next `length` steps use; raises beyond the last."""
        assert self.steps is not None
        begin = int(state[1][0])
        end = begin + length
        if end > self.steps:
            raise InputError(f"step {end} of a network with weights for {self.steps} steps; build it with steps={end}")
        return slice(begin, end)

    def final_state(self, outputs: Tensor, state: States) -> States:
        """The state after steps that started from `state` and gave `outputs` (time, batch, hidden)."""
        h = outputs[-1]
        return HiddenState(h) if self.tied else UntiedState(h, state[1] + len(outputs))


class TorchLayer(Layer, ABC):
    """The weights and kernels of `network`, one layer of `torch.nn`; with a probe, plain steps."""

    Network: ClassVar[type[nn.LSTM | nn.GRU]]

    def __init__(self, input_size: int, hidden_size: int, device: Device = None, dtype: Dtype = None) -> None:
        super().__init__(input_size, hidden_size)
        self.network = self.Network(input_size, hidden_size, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), the default of torch."""
        self.network.reset_parameters()

    @property
    def recurrent_matrix(self) -> Tensor:
        """U (gates x hidden, hidden)"""
        return self.network.all_weights[0][1]

    @abstractmethod
    def input_part(self, inputs: Tensor) -> Tensor:
        """The input's contribution to the gates of all steps, (time, batch, gates)."""

    @abstractmethod
    def step(self, a: Tensor, U: Tensor, state: States) -> States:
        """The next state by the plain equations, from one step of the input part."""

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        return self.scan_with(None, inputs, state, resets, probe)

    def scan_with(
        self, U: Tensor | None, inputs: Tensor, state: States, resets: Resets, probe: Probe
    ) -> tuple[Tensor, States]:
        """The scan with U in place of the network's own recurrent matrix, unless it is None."""
        # The CPU kernels reject weights and states of different types, which autocast would give them.
        with torch.autocast(inputs.device.type, enabled=False):
            inputs = inputs.to(state[0].dtype)
            if probe is None:
                outputs, state = scan_segments(partial(self._kernel, U), inputs, state, resets)
            else:
                U = self.recurrent_matrix if U is None else U
                outputs, state = self._probed(U, inputs, state, resets, probe)
        return outputs, self.State(*state)

    def _kernel(self, U: Tensor | None, inputs: Tensor, state: States) -> tuple[Tensor, States]:
        first, *more = (tensor.unsqueeze(0) for tensor in state)
        arguments = (inputs, (first, *more) if more else first)
        if U is None:
            outputs, end = self.network(*arguments)
        else:
            outputs, end = functional_call(self.network, {"weight_hh_l0": U}, arguments)
        return outputs, tuple(tensor.squeeze(0) for tensor in (end if more else (end,)))

    def _probed(self, U: Tensor, inputs: Tensor, state: States, resets: Resets, probe: Tensor) -> tuple[Tensor, States]:
        """A loop over the steps, as no kernel can add a probe to its states."""
        a, outputs = self.input_part(inputs), []
        for t in range(len(inputs)):
            h, *more = self.step(a[t], U, state if resets is None else clear(state, resets[t]))
            state = (h + probe[t], *more)
            outputs.append(state[0])
        return torch.stack(outputs), state
