"""Recurrent cells with the call signature of `torch.nn.LSTM`: what all of them share."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from memspan.cells.base.autograd import Probe, Resets, States
from memspan.cells.base.layer import Device, Dtype, Layer
from memspan.errors import InputError
from memspan.progress import Progress


class Cell(nn.Module, ABC):
    """A stack of layers of one kind; the outputs of a layer are the inputs of the next.

        output, state = cell(inputs)              # (time, batch, features) -> (time, batch, hidden)
        output, state = cell(more, state)         # continues, as if both inputs were one sequence

    The state is a flat named tuple of tensors (layers, batch, …), `h` first. A single sequence may be passed as
    (time, features); its state then has no batch dimension.

    A subclass without options names the class of its layers as `kind`. One with options has a constructor that adds them as
    keyword arguments and passes a `layer` with the options filled in. The class attributes below are the facts of a cell
    from which configurations, help texts and reports derive theirs.
    """

    kind: ClassVar[type[Layer]]
    """The class of the layers of a cell without options."""
    label: ClassVar[str]
    """The name in tables and figures, as in the literature."""
    description: ClassVar[str]
    """One phrase for help texts and reports."""
    attends: ClassVar[bool] = False
    """Whether the cell attends to earlier steps, so that `attention` returns weights."""
    stores_past: ClassVar[bool] = False
    """Whether the state grows with the number of steps."""
    recurrent: ClassVar[bool] = True
    """Whether information passes from step to step through a state other than stored keys and values."""
    initialization: ClassVar[str] = "default"
    """The `init.name` of a training run unless its configuration names another."""
    training_defaults: ClassVar[Mapping[str, Any]] = {}
    """Other settings of a training run that differ from the general defaults."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        device: Device = None,
        dtype: Dtype = None,
        layer: Callable[..., Layer] | None = None,
    ) -> None:
        """`layer` makes a layer from its sizes, `device` and `dtype`; `kind` by default."""
        super().__init__()
        check_arguments(input_size, hidden_size, num_layers, dropout)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout = batch_first, dropout
        make = layer or cast(Callable[..., Layer], self.kind)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            size = cast(Layer, self.layers[-1]).output_size if self.layers else input_size
            self.layers.append(make(size, hidden_size, device=device, dtype=dtype))
        self.output_size = cast(Layer, self.layers[-1]).output_size

    @classmethod
    def options(cls) -> dict[str, inspect.Parameter]:
        """The options of this cell alone, with defaults and types: arguments that not every cell takes."""
        shared = inspect.signature(Cell.__init__).parameters
        own = inspect.signature(cls.__init__, eval_str=True).parameters
        return {name: parameter for name, parameter in own.items() if name not in shared}

    @property
    def stack(self) -> list[Layer]:
        """The layers, the one that reads the input first."""
        return cast(list[Layer], list(self.layers))

    @property
    def first(self) -> Layer:
        """The layer that reads the input."""
        return self.stack[0]

    def forward(
        self, input: Tensor, state: States | None = None, resets: Resets = None, probe: Probe = None
    ) -> tuple[Tensor, States]:
        """Outputs of the last layer, and the state after the last step.

        `resets`, a bool mask (time, batch), clears the state before a step. `probe`, zeros of the output's shape, is added
        to every h_t of the last layer inside the scan, so that its gradient is the total dL/dh_t. With `batch_first`, the
        batch comes first in input, output, resets and probe, but not in the state.
        """
        (*_, output), after = self.outputs(input, state, resets, probe)
        return output, after

    def outputs(
        self, input: Tensor, state: States | None = None, resets: Resets = None, probe: Probe = None
    ) -> tuple[list[Tensor], States]:
        """Like the call itself, with the outputs of every layer; dropout between layers is applied to them."""
        inputs, state, resets, probe = self._time_first(input, state, resets, probe)
        outputs, states = [], []
        for number, layer in enumerate(self.stack):
            last = number == self.num_layers - 1
            before = _layer_state(layer, state, number, inputs.shape[1])
            inputs, after = layer(inputs, before, resets, probe if last else None)
            states.append(after)
            if not last:
                inputs = functional.dropout(inputs, self.dropout, self.training)
            outputs.append(inputs)
        return self._caller_layout(input, outputs, self._stacked(states))

    @torch.no_grad()
    def attention(self, input: Tensor, state: States | None = None, resets: Resets = None) -> Tensor:
        """Attention weights (time, batch, source) of the last layer, by the plain equations.

        Source i is the state h_i of this input; sources of the given state precede them. Dropout is off, also in training,
        and no gradient is recorded.
        """
        inputs, state, resets, _ = self._time_first(input, state, resets, None)
        for number, layer in enumerate(self.stack):
            before = _layer_state(layer, state, number, inputs.shape[1])
            if number < self.num_layers - 1:
                inputs = layer.scan_without_dropout(inputs, before, resets)
                continue
            weights = layer.attention(inputs, before, resets)
            if weights is not None:
                return weights
        from memspan.cells import CELLS  # for the message only

        attending = [cell.__name__ for cell in CELLS.values() if cell.attends]
        raise InputError(f"{type(self).__name__} has no attention; use one of {', '.join(attending)}")

    def start(self, batch: int) -> States:
        """The state of all layers before the first step."""
        return self._stacked([layer.start(batch) for layer in self.stack])

    def state_size(self, length: int) -> int:
        """Number of values carried per sequence after `length` steps, in all layers."""
        return sum(layer.state_size(length) for layer in self.stack)

    def reset_parameters(self) -> None:
        """Draw all parameters from torch's random numbers."""
        for layer in self.stack:
            layer.reset_parameters()

    def set_detaching(self, on: bool) -> None:
        """Whether training stops gradients at random steps, for cells that do so; others ignore it."""

    def flatten_parameters(self) -> None:
        """Does nothing; programs written for `torch.nn.LSTM` call it."""

    def announce_compilation(self, progress: Progress) -> None:
        """Report if the first call is going to compile kernels, which takes about half a minute."""
        self.first.announce_compilation(progress)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Parameter groups for a torch optimizer; parameters with a different learning rate have their own group."""
        groups: dict[float, list[nn.Parameter]] = {}
        for factor, parameter in self._learning_rate_factors():
            groups.setdefault(factor, []).append(parameter)
        return [{"params": params, "lr": factor * learning_rate} for factor, params in groups.items()]

    def _learning_rate_factors(self) -> Iterator[tuple[float, nn.Parameter]]:
        for layer in self.stack:
            for name, parameter in layer.named_parameters():
                factors = [f for start, f in layer.learning_rate_factors.items() if name.startswith(start)]
                yield (factors[0] if factors else 1.0), parameter

    def extra_repr(self) -> str:
        """Sizes, and arguments that differ from their defaults, as torch's layers show them."""
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("num_layers", 1), ("batch_first", False), ("dropout", 0.0)):
            if getattr(self, name) != default:
                shown += f", {name}={getattr(self, name)}"
        return shown

    def _stacked(self, states: list[States]) -> States:
        return self.first.State(*map(torch.stack, zip(*states, strict=True)))

    def _time_first(
        self, input: Tensor, state: States | None, resets: Resets, probe: Probe
    ) -> tuple[Tensor, States | None, Tensor | None, Tensor | None]:
        """The checked arguments, with time first and a batch dimension."""
        name = type(self).__name__
        like = next(self.parameters())
        check_input(name, input, self.input_size, like)
        unbatched = input.dim() == 2

        def arrange(tensor: Tensor) -> Tensor:
            return tensor.unsqueeze(1) if unbatched else tensor.transpose(0, 1) if self.batch_first else tensor

        batched = arrange(input)
        if resets is not None:
            check_resets(name, resets, input.shape, self.batch_first, like)
            resets = arrange(resets)
        if probe is not None:
            check_probe(name, probe, (*input.shape[:-1], self.hidden_size), like)
            probe = arrange(probe)
        if state is not None:
            check_state(name, self.first, self.num_layers, None if unbatched else batched.shape[1], state)
            state = tuple(tensor.unsqueeze(1) for tensor in state) if unbatched else state
            self.first.check_state(state)
        return batched, state, resets, probe

    def _caller_layout(self, input: Tensor, outputs: list[Tensor], state: States) -> tuple[list[Tensor], States]:
        """The inverse of `_time_first`."""
        if input.dim() == 2:
            unbatched = self.first.State(*(tensor.squeeze(1) for tensor in state))
            return [output.squeeze(1) for output in outputs], unbatched
        return [output.transpose(0, 1) if self.batch_first else output for output in outputs], state


def _layer_state(layer: Layer, state: States | None, number: int, batch: int) -> States:
    return layer.start(batch) if state is None else layer.State(*(tensor[number] for tensor in state))


def join_states(cell: Cell, states: Sequence[States]) -> States:
    """Concatenate states of several calls along the batch.

    Stored past states are zero-padded to the longest; padding is never attended to.
    """
    shapes, newest_last = cell.first.state_shapes(1), cell.first.newest_last

    def join(parts: Sequence[Tensor], shape: tuple[int | None, ...]) -> Tensor:
        if None in shape:  # (layers, batch, time, hidden)
            longest = max(part.shape[2] for part in parts)
            missing = [longest - part.shape[2] for part in parts]
            padding = [(0, 0, count, 0) if newest_last else (0, 0, 0, count) for count in missing]
            parts = [functional.pad(part, pad) for part, pad in zip(parts, padding, strict=True)]
        return torch.cat(list(parts), dim=1)

    fields = zip(zip(*states, strict=True), shapes, strict=True)
    return cell.first.State(*(join(parts, shape) for parts, shape in fields))


def select_sequences(cell: Cell, state: States, index: Tensor) -> States:
    """The state of the sequences with these batch indices."""
    return cell.first.State(*(tensor[:, index] for tensor in state))


def check_count(name: str, value: object, least: int = 1, meaning: str = "") -> None:
    """Raise unless `value` is an integer of at least `least`; `meaning` ends the message."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} is {value!r}; expected an integer of {least} or more{meaning}")


def check_arguments(input_size: int, hidden_size: int, num_layers: int, dropout: float) -> None:
    """Sizes and dropout as `torch.nn.LSTM` takes them."""
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        check_count(name, value)
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is {dropout}; expected a probability below 1, such as 0.1")


def check_input(name: str, inputs: object, input_size: int, like: Tensor) -> None:
    """(time, batch, features), or (time, features) for a single sequence; one step or more."""
    if isinstance(inputs, PackedSequence):
        raise InputError(
            f"{name} got a packed sequence; pad it, and pass `resets` where sequences begin, or mask the loss"
        )
    tensor = _tensor(f"{name}: the input", inputs)
    shape = tuple(tensor.shape)
    if tensor.dim() not in (2, 3):
        raise InputError(
            f"{name} got an input of shape {shape}; expected (time, batch, {input_size}) or (time, {input_size})"
        )
    if shape[-1] != input_size:
        raise InputError(f"{name} got {shape[-1]} features; expected {input_size}, its input_size")
    if 0 in shape:
        raise InputError(f"{name} got an empty input of shape {shape}; expected one step or more")
    if tensor.dtype != like.dtype and not torch.is_autocast_enabled(tensor.device.type):
        raise InputError(f"{name} got {tensor.dtype} values; its weights are {like.dtype}; convert one of them")
    _check_device(f"{name}: the input", tensor, like)


def check_resets(name: str, resets: object, input_shape: torch.Size, batch_first: bool, like: Tensor) -> None:
    """A mask in the layout of the input."""
    tensor, expected = _tensor(f"{name}: resets", resets), tuple(input_shape[:-1])
    if tuple(tensor.shape) != expected:
        words = "(time)" if len(expected) == 1 else "(batch, time)" if batch_first else "(time, batch)"
        raise InputError(
            f"{name}: resets have shape {tuple(tensor.shape)}; expected that of the input, {words} = {expected}"
        )
    if tensor.dtype != torch.bool:
        raise InputError(f"{name}: resets hold {tensor.dtype} values; expected a bool mask; use resets.bool()")
    _check_device(f"{name}: the mask of resets", tensor, like)


def check_probe(name: str, probe: object, expected: tuple[int, ...], like: Tensor) -> None:
    """Zeros with the shape of the output and the type of the weights."""
    tensor = _tensor(f"{name}: the probe", probe)
    if tuple(tensor.shape) != expected:
        raise InputError(f"{name}: the probe has shape {tuple(tensor.shape)}; expected that of the output, {expected}")
    _check_dtype(f"{name}: the probe", tensor, like.dtype)
    _check_device(f"{name}: the probe", tensor, like)


def check_state(name: str, layer: Layer, layers: int, batch: int | None, state: object) -> None:
    """A state of this kind of cell for `layers` layers and `batch` sequences; None for an input without a batch."""
    kind, starts = layer.State, layer.start(1)
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    fields = ", ".join(names)
    if not isinstance(state, tuple) or (type(state) is not kind and type(state) is not tuple):
        raise InputError(
            f"{name} got a state of type {type(state).__name__}; expected a state that it returned, ({fields})"
        )
    if len(state) != len(names):
        known = ", ".join(f"{field}=…" for field in names if field in ("h", "c"))
        raise InputError(
            f"{name} got a state of {len(state)} tensors; expected {len(names)}: {fields}; "
            f"omit it, or start from cell.start(batch)._replace({known})"
        )
    shapes = layer.state_shapes(1 if batch is None else batch)
    for field, value, shape, start in zip(names, state, shapes, starts, strict=True):
        what = f"{name}: {field} of the state"
        tensor = _tensor(what, value)
        _check_shape(what, tensor, (layers, *(shape[1:] if batch is None else shape)), batch is None)
        _check_dtype(what, tensor, start.dtype)
        _check_device(what, tensor, start)


def _tensor(what: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise InputError(f"{what} is of type {type(value).__name__}; expected a tensor; use torch.as_tensor(…)")
    return value


def _check_shape(what: str, tensor: Tensor, expected: tuple[int | None, ...], unbatched: bool) -> None:
    fits = tensor.dim() == len(expected) and all(
        size is None or size == received for size, received in zip(expected, tensor.shape, strict=True)
    )
    if not fits:
        shown = ", ".join("any" if size is None else str(size) for size in expected)
        order = "layers, …, for an input without a batch" if unbatched else "layers, batch, …"
        raise InputError(f"{what} has shape {tuple(tensor.shape)}; expected ({shown}): {order}")


def _check_dtype(what: str, tensor: Tensor, expected: torch.dtype) -> None:
    if tensor.dtype != expected:
        like_weights = ", as the weights" if expected.is_floating_point else ""
        raise InputError(f"{what} is {tensor.dtype}; expected {expected}{like_weights}; convert it")


def _check_device(what: str, tensor: Tensor, like: Tensor) -> None:
    if tensor.device != like.device:
        raise InputError(f"{what} is on {tensor.device}; the weights are on {like.device}; move one of them")
