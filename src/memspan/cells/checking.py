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


def check_input(name: str, inputs: Tensor | PackedSequence, input_size: int, like: Tensor) -> None:
    """(time, batch, features), or (time, features) for one sequence; one step or more."""
    if isinstance(inputs, PackedSequence):
        raise InputError(
            f"{name} got a packed sequence; pad it, and give `resets` where sequences begin, or a mask to the loss"
        )
    if inputs.dim() not in (2, 3):
        raise InputError(
            f"{name} got an input of shape {tuple(inputs.shape)}; "
            f"expected (time, batch, {input_size}) or (time, {input_size})"
        )
    if inputs.shape[-1] != input_size:
        raise InputError(f"{name} got {inputs.shape[-1]} features; expected {input_size}, its input_size")
    if 0 in inputs.shape:
        raise InputError(
            f"{name} got an empty input of shape {tuple(inputs.shape)}; expected one step or more"
        )
    if inputs.dtype != like.dtype and not torch.is_autocast_enabled(inputs.device.type):
        raise InputError(
            f"{name} got {inputs.dtype} values; its weights are {like.dtype}; convert one of them"
        )
    if inputs.device != like.device:
        raise InputError(
            f"{name} got an input on {inputs.device}; its weights are on {like.device}; move one of them"
        )


def check_resets(resets: Tensor | None, steps: int, batch: int, batch_first: bool) -> None:
    """A mask in the layout of the input."""
    if resets is None:
        return
    expected = (batch, steps) if batch_first else (steps, batch)
    words = "(batch, time)" if batch_first else "(time, batch)"
    if tuple(resets.shape) != expected:
        raise InputError(f"resets have shape {tuple(resets.shape)}; expected {words} = {expected}")
    if resets.dtype != torch.bool:
        raise InputError(f"resets hold {resets.dtype} values; expected a bool mask; write resets.bool()")


def check_probe(probe: Tensor | None, expected: tuple[int, ...]) -> None:
    """Zeros in the shape of the output."""
    if probe is not None and tuple(probe.shape) != expected:
        raise InputError(f"the probe has shape {tuple(probe.shape)}; expected that of the output, {expected}")


def check_state(name: str, layer: Layer, layers: int, batch: int, state: object) -> None:
    """A state that this kind of cell gave back, for as many layers and sequences."""
    kind, shapes = layer.State, layer.state_shapes(batch)
    fields = ", ".join(kind._fields)  # type: ignore[attr-defined]
    if not isinstance(state, tuple) or (type(state) is not kind and type(state) is not tuple):
        raise InputError(
            f"{name} got a state of type {type(state).__name__}; expected what it gave back before, ({fields})"
        )
    if len(state) != len(shapes):
        raise InputError(f"{name} got a state of {len(state)} tensors; expected {len(shapes)}: {fields}")
    like = next(layer.parameters())
    for field, tensor, shape in zip(kind._fields, state, shapes, strict=True):  # type: ignore[attr-defined]
        expected = (layers, *shape)
        fits = tensor.dim() == len(expected) and all(
            e is None or e == got for e, got in zip(expected, tensor.shape, strict=True)
        )
        if not fits:
            shown = ", ".join("any" if e is None else str(e) for e in expected)
            raise InputError(
                f"{name}: {field} of the state has shape {tuple(tensor.shape)}; expected ({shown}): layers, batch, …"
            )
        if tensor.is_floating_point() and tensor.dtype != like.dtype:
            raise InputError(
                f"{name}: {field} of the state is {tensor.dtype}; expected {like.dtype}, as the weights"
            )
