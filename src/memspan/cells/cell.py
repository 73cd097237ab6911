"""Recurrent layers with the call signature of `torch.nn.LSTM`: what all of them share."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.checking import check_arguments, check_input, check_probe, check_resets, check_state
from memspan.cells.layer import Device, Layer
from memspan.errors import InputError


class Cell(nn.Module, ABC):
    """Layers of one kind on top of each other; the outputs of one are the inputs of the next.

        output, state = cell(inputs)              # (time, batch, features) -> (time, batch, hidden)
        output, state = cell(more, state)         # goes on where it stopped, as if both were one sequence

    The state is a flat named tuple of tensors of shape (layers, batch, …), `h` first. One sequence alone may be given as
    (time, features); its state then has no batch.

    A cell names the class of its layers as `kind` and has the constructor below; one with options of its own has a
    constructor that hands them on, by a `layer` that is that class with the options filled in.
    """

    kind: ClassVar[type[Layer]]
    """What the layers are, where there is nothing to choose."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
        layer: Callable[..., Layer] | None = None,
    ) -> None:
        """`layer` makes a layer from its sizes, `device` and `dtype`; without, that is `kind`."""
        super().__init__()
        check_arguments(input_size, hidden_size, num_layers, dropout)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout = batch_first, dropout
        sizes = [input_size, *[hidden_size] * (num_layers - 1)]
        make = layer or cast(Callable[..., Layer], self.kind)
        self.layers = nn.ModuleList(make(size, hidden_size, device=device, dtype=dtype) for size in sizes)

    @property
    def stack(self) -> list[Layer]:
        """The layers, the one that reads the input first."""
        return cast(list[Layer], list(self.layers))

    @property
    def first(self) -> Layer:
        """The layer that reads the input."""
        return self.stack[0]

    def forward(
        self,
        input: Tensor,
        state: tuple[Tensor, ...] | None = None,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Outputs of the last layer and the state after the last step.

        `resets`, a bool mask (time, batch), clears the state before a step; `probe`, zeros of the output's shape, is added
        to every h_t of the last layer inside the scan, so that its gradient is the total dL/dh_t. With `batch_first` input,
        output, resets and probe have the batch in front; the state has not.
        """
        (*_, output), after = self.outputs(input, state, resets, probe)
        return output, after

    def outputs(
        self,
        input: Tensor,
        state: tuple[Tensor, ...] | None = None,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
    ) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        """As the call itself, with what every layer gives: all but the last as the next one reads it."""
        inputs, state, resets, probe = self._arranged(input, state, resets, probe)
        outputs, states = [], []
        for number, layer in enumerate(self.stack):
            last = number == self.num_layers - 1
            of_layer = layer.start(inputs.shape[1]) if state is None else _of_layer(layer, state, number)
            inputs, after = layer(inputs, of_layer, resets, probe if last else None)
            states.append(after)
            if not last:
                inputs = functional.dropout(inputs, self.dropout, self.training)
            outputs.append(inputs)
        after = self.first.State(*map(torch.stack, zip(*states, strict=True)))
        return self._as_given(input, outputs, after)

    @torch.no_grad()
    def attention(
        self, input: Tensor, state: tuple[Tensor, ...] | None = None, resets: Tensor | None = None
    ) -> Tensor:
        """What each step of the last layer looked at: (time, batch, source), by the plain equations.

        Source i is the state h_i of this input; with a state from before, those that it remembers come first. Nothing is
        dropped, in training neither, and no gradient is kept.
        """
        inputs, state, resets, _ = self._arranged(input, state, resets, None)
        for number, layer in enumerate(self.stack):
            of_layer = layer.start(inputs.shape[1]) if state is None else _of_layer(layer, state, number)
            if number < self.num_layers - 1:
                inputs = layer.undropped(inputs, of_layer, resets)
                continue
            weights = layer.attention(inputs, of_layer, resets)
            if weights is not None:
                return weights
        raise InputError(
            f"{type(self).__name__} has no attention; "
            "ask RelRNN, RelLSTM, MemRNN, MemLSTM, SparseBacktrackLSTM or Transformer"
        )

    def start(self, batch: int) -> tuple[Tensor, ...]:
        """The state before the first step, of all layers."""
        states = [layer.start(batch) for layer in self.stack]
        return self.first.State(*map(torch.stack, zip(*states, strict=True)))

    def state_size(self, length: int) -> int:
        """Numbers carried for each sequence after `length` steps, in all layers."""
        return sum(layer.state_size(length) for layer in self.stack)

    def reset_parameters(self) -> None:
        """Draw all parameters anew, from torch's random numbers."""
        for layer in self.stack:
            layer.reset_parameters()

    def flatten_parameters(self) -> None:
        """Nothing: programs written for `torch.nn.LSTM` call it."""

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Groups for a torch optimizer: parameters that the equations want to learn at another rate have their own."""
        groups: dict[float, list[nn.Parameter]] = {}
        for factor, parameter in self._factors():
            groups.setdefault(factor, []).append(parameter)
        return [{"params": params, "lr": factor * learning_rate} for factor, params in groups.items()]

    def _factors(self) -> Iterator[tuple[float, nn.Parameter]]:
        for layer in self.stack:
            for name, parameter in layer.named_parameters():
                special = [f for start, f in layer.learning_rate_factors.items() if name.startswith(start)]
                yield (special[0] if special else 1.0), parameter

    def extra_repr(self) -> str:
        """Sizes and what differs from the defaults, as torch's own layers show them."""
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("num_layers", 1), ("batch_first", False), ("dropout", 0.0)):
            if getattr(self, name) != default:
                shown += f", {name}={getattr(self, name)}"
        return shown

    def _arranged(
        self, input: Tensor, state: tuple[Tensor, ...] | None, resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...] | None, Tensor | None, Tensor | None]:
        """Everything checked, with time first and a batch."""
        name = type(self).__name__
        like = next(self.parameters())
        check_input(name, input, self.input_size, like)
        alone = input.dim() == 2

        def arranged(tensor: Tensor) -> Tensor:
            return tensor.unsqueeze(1) if alone else tensor.transpose(0, 1) if self.batch_first else tensor

        batched = arranged(input)
        if resets is not None:
            check_resets(name, resets, input.shape, self.batch_first, like)
            resets = arranged(resets)
        if probe is not None:
            check_probe(name, probe, (*input.shape[:-1], self.hidden_size), like)
            probe = arranged(probe)
        if state is not None:
            check_state(name, self.first, self.num_layers, None if alone else batched.shape[1], state)
            state = tuple(tensor.unsqueeze(1) for tensor in state) if alone else state
            self.first.check_state(state)
        return batched, state, resets, probe

    def _as_given(
        self, input: Tensor, outputs: list[Tensor], state: tuple[Tensor, ...]
    ) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        if input.dim() == 2:
            alone = self.first.State(*(tensor.squeeze(1) for tensor in state))
            return [output.squeeze(1) for output in outputs], alone
        return [output.transpose(0, 1) if self.batch_first else output for output in outputs], state


def _of_layer(layer: Layer, state: tuple[Tensor, ...], number: int) -> tuple[Tensor, ...]:
    return layer.State(*(tensor[number] for tensor in state))
