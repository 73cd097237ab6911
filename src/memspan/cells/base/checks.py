"""Checks of the arguments of a cell. Every error says what was received, what was expected and what to do."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from memspan.cells.base.layer import Layer
from memspan.errors import InputError


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
