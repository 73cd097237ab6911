"""Every wrong call of a cell is told at the door: what was got, what was expected, what to do."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from memspan.cells.layer import Layer
from memspan.errors import InputError


def check_arguments(input_size: int, hidden_size: int, num_layers: int, dropout: float) -> None:
    """Sizes and dropout as `torch.nn.LSTM` takes them."""
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; expected a whole number of 1 or more")
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is {dropout}; expected a probability below 1, such as 0.1")


def check_input(name: str, inputs: object, input_size: int, like: Tensor) -> None:
    """(time, batch, features), or (time, features) for one sequence; one step or more."""
    if isinstance(inputs, PackedSequence):
        raise InputError(
            f"{name} got a packed sequence; pad it, and give `resets` where sequences begin, or a mask to the loss"
        )
    tensor = _tensor(f"{name}: the input", inputs)
    if tensor.dim() not in (2, 3):
        raise InputError(
            f"{name} got an input of shape {tuple(tensor.shape)}; "
            f"expected (time, batch, {input_size}) or (time, {input_size})"
        )
    if tensor.shape[-1] != input_size:
        raise InputError(f"{name} got {tensor.shape[-1]} features; expected {input_size}, its input_size")
    if 0 in tensor.shape:
        raise InputError(
            f"{name} got an empty input of shape {tuple(tensor.shape)}; expected one step or more"
        )
    if tensor.dtype != like.dtype and not torch.is_autocast_enabled(tensor.device.type):
        raise InputError(
            f"{name} got {tensor.dtype} values; its weights are {like.dtype}; convert one of them"
        )
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
        raise InputError(
            f"{name}: resets hold {tensor.dtype} values; expected a bool mask; write resets.bool()"
        )
    _check_device(f"{name}: the mask of resets", tensor, like)


def check_probe(name: str, probe: object, expected: tuple[int, ...], like: Tensor) -> None:
    """Zeros in the shape of the output, like the weights."""
    tensor = _tensor(f"{name}: the probe", probe)
    if tuple(tensor.shape) != expected:
        raise InputError(
            f"{name}: the probe has shape {tuple(tensor.shape)}; expected that of the output, {expected}"
        )
    _check_dtype(f"{name}: the probe", tensor, like.dtype)
    _check_device(f"{name}: the probe", tensor, like)


def check_state(name: str, layer: Layer, layers: int, batch: int | None, state: object) -> None:
    """A state that this kind of cell gave back, for as many layers and sequences; `batch` is None for one alone."""
    kind, starts = layer.State, layer.start(1)
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    fields = ", ".join(names)
    if not isinstance(state, tuple) or (type(state) is not kind and type(state) is not tuple):
        raise InputError(
            f"{name} got a state of type {type(state).__name__}; expected what it gave back before, ({fields})"
        )
    if len(state) != len(names):
        known = ", ".join(f"{field}=…" for field in names if field in ("h", "c"))
        raise InputError(
            f"{name} got a state of {len(state)} tensors; expected {len(names)}: {fields}; "
            f"leave it out, or begin with cell.start(batch)._replace({known})"
        )
    shapes = layer.state_shapes(1 if batch is None else batch)
    for field, given, shape, start in zip(names, state, shapes, starts, strict=True):
        what = f"{name}: {field} of the state"
        tensor = _tensor(what, given)
        _check_shape(what, tensor, (layers, *(shape[1:] if batch is None else shape)), batch is None)
        _check_dtype(what, tensor, start.dtype)
        _check_device(what, tensor, start)


def _tensor(what: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise InputError(
            f"{what} is of type {type(value).__name__}; expected a tensor; write torch.as_tensor(…)"
        )
    return value


def _check_shape(what: str, tensor: Tensor, expected: tuple[int | None, ...], alone: bool) -> None:
    fits = tensor.dim() == len(expected) and all(
        e is None or e == got for e, got in zip(expected, tensor.shape, strict=True)
    )
    if not fits:
        shown = ", ".join("any" if e is None else str(e) for e in expected)
        order = "layers, …, for an input without a batch" if alone else "layers, batch, …"
        raise InputError(f"{what} has shape {tuple(tensor.shape)}; expected ({shown}): {order}")


def _check_dtype(what: str, tensor: Tensor, expected: torch.dtype) -> None:
    if tensor.dtype != expected:
        whose = ", as the weights" if expected.is_floating_point else ""
        raise InputError(f"{what} is {tensor.dtype}; expected {expected}{whose}; convert it")


def _check_device(what: str, tensor: Tensor, like: Tensor) -> None:
    if tensor.device != like.device:
        raise InputError(f"{what} is on {tensor.device}; the weights are on {like.device}; move one of them")
