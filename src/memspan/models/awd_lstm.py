"""The AWD-LSTM with a mixture of softmaxes: the language model that Cao and Xu 2020 (BMI) extend."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.base.cell import check_count, check_probe, check_resets
from memspan.cells.base.layer import Device, Dtype
from memspan.errors import InputError
from memspan.models.model import Model, ModelOutput, State
from memspan.models.softmax_mixture import SoftmaxMixture
from memspan.models.variational import WeightDropLSTMLayer, dropout_mask, embed, locked_dropout

# The embedding is drawn uniformly within this, as in the program of Yang 2018.
AWD_SPREAD = 0.1


@final
@dataclass(frozen=True, kw_only=True)
class Dropouts:
    """Dropout probabilities in training; the defaults are those of Yang 2018 for the Penn Treebank."""

    embedding: float = 0.1
    """Whole words, at all their occurrences."""
    input: float = 0.4
    """Inputs of the first layer."""
    hidden: float = 0.225
    """Outputs of a layer to the next."""
    weight: float = 0.5
    """Recurrent matrices."""
    output: float = 0.4
    """Outputs of the last layer."""
    latent: float = 0.29
    """Latent vectors of the softmaxes."""

    def __post_init__(self) -> None:
        for field, value in zip(fields(self), astuple(self), strict=True):
            if not 0 <= value < 1:
                raise InputError(
                    f"the dropout {field.name} is {value}; expected a probability below 1, such as {field.default}"
                )

    def times(self, factor: float) -> Dropouts:
        """All of them multiplied by a factor."""
        return Dropouts(**{field.name: factor * getattr(self, field.name) for field in fields(self)})


PENN_TREEBANK = Dropouts()
NO_DROPOUT = Dropouts(embedding=0.0, input=0.0, hidden=0.0, weight=0.0, output=0.0, latent=0.0)


@final
class AwdLstm(Model):
    """log p_t = mixture(drop(h_t)), with h of stacked LSTMs that read drop(E x_t): a language model.

    Merity 2018 (AWD-LSTM) with the output layer of Yang 2018 (MoS), whose sizes for the Penn Treebank are the defaults. The
    last layer has width `last`, all others `hidden`. `tied` uses E as the matrix of the softmaxes. Every dropout mask is the
    same for a whole call. The logits are log-probabilities; a state is h_1, c_1, h_2, c_2, …, (1, batch, width) each.

    >>> AwdLstm(10_000, device="meta").parameter_count()  # Yang 2018: 22 million
    21500620
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        embedding: int = 280,
        hidden: int = 960,
        last: int = 620,
        layers: int = 3,
        experts: int = 15,
        dropouts: Dropouts = PENN_TREEBANK,
        tied: bool = True,
        alpha: float = 2.0,
        beta: float = 1.0,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        """`alpha` and `beta` are the coefficients of `regularization`."""
        super().__init__()
        sizes = {
            "vocabulary": vocabulary,
            "embedding": embedding,
            "hidden": hidden,
            "last": last,
            "layers": layers,
            "experts": experts,
        }
        for name, value in sizes.items():
            check_count(f"AwdLstm: {name}", value)
        self.dropouts, self.alpha, self.beta = dropouts, alpha, beta
        self.embedding = nn.Embedding(vocabulary, embedding, device=device, dtype=dtype)
        widths = [embedding, *[hidden] * (layers - 1), last]
        self.layers = nn.ModuleList(
            WeightDropLSTMLayer(inputs, outputs, dropouts.weight, device, dtype) for inputs, outputs in pairwise(widths)
        )
        self.head = SoftmaxMixture(
            last, embedding, vocabulary, experts, dropout=dropouts.latent, device=device, dtype=dtype
        )
        self._output_mask: Tensor | None = None
        self._reset_parameters(tied)

    @property
    def stack(self) -> list[WeightDropLSTMLayer]:
        """The layers, the one that reads the words first."""
        return cast(list[WeightDropLSTMLayer], list(self.layers))

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> ModelOutput:
        (*_, hidden), after = self.outputs(inputs, state, resets=resets, probe=probe)
        dropped = hidden
        self._output_mask = None
        if self.training and self.dropouts.output > 0:
            self._output_mask = dropout_mask((1, *hidden.shape[1:]), self.dropouts.output, hidden)
            dropped = hidden * self._output_mask
        last = dropped if scored is None else dropped[len(dropped) - scored :]
        return ModelOutput(self.head(last), hidden, after)

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None, probe: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        state = self._check_arguments(inputs, state, resets, probe)
        training, drop = self.training, self.dropouts
        vectors = embed(inputs, self.embedding.weight, drop.embedding, training=training)
        vectors = locked_dropout(vectors, drop.input, training=training)
        outputs, after = [], []
        for number, layer in enumerate(self.stack):
            last = number == len(self.stack) - 1
            h, c = (tensor.squeeze(0) for tensor in state[2 * number : 2 * number + 2])
            vectors, end = layer(vectors, (h, c), resets, probe if last else None)
            if not last:
                vectors = locked_dropout(vectors, drop.hidden, training=training)
            outputs.append(vectors)
            after += [tensor.unsqueeze(0) for tensor in end]
        return outputs, self.as_state(after)

    def answered(self, hidden: Tensor) -> Tensor:
        """Logits of states, each with its own dropout mask in training."""
        flat = hidden.reshape(1, -1, hidden.shape[-1])
        dropped = locked_dropout(flat, self.dropouts.output, training=self.training)
        return self.head(dropped).reshape(*hidden.shape[:-1], -1)

    def regularization(self, output: ModelOutput) -> Tensor:
        """alpha mean((m * h_t)^2) + beta mean((h_t - h_{t-1})^2), of the last layer.  Merity 2017 (AR and TAR).

        `output` must be that of the last call; m is its dropout mask of h.
        """
        h, m = output.hidden, self._output_mask
        if m is not None and m.shape[1:] != h.shape[1:]:
            raise InputError(
                f"the output has {h.shape[1]} sequences, the last call had {m.shape[1]}; "
                "expected the output of the last call; compute its regularization before the next call"
            )
        dropped = h if m is None else m * h
        activation = self.alpha * dropped.square().mean()
        if len(h) == 1:  # a single step has no difference
            return activation
        return activation + self.beta * h.diff(dim=0).square().mean()

    def start(self, batch: int) -> State:
        states = [tensor.unsqueeze(0) for layer in self.stack for tensor in layer.start(batch)]
        return _state_type(len(self.stack))(*states)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return [{"params": list(self.parameters()), "lr": learning_rate}]

    def _reset_parameters(self, tied: bool) -> None:
        nn.init.uniform_(self.embedding.weight, -AWD_SPREAD, AWD_SPREAD)
        nn.init.uniform_(self.head.decoder.weight, -AWD_SPREAD, AWD_SPREAD)
        nn.init.zeros_(self.head.decoder.bias)
        if tied:
            self.head.decoder.weight = self.embedding.weight

    def _check_arguments(
        self, inputs: Tensor, state: State | None, resets: Tensor | None, probe: Tensor | None
    ) -> State:
        """The initial state; raises if arguments do not fit the model or each other."""
        name, like = type(self).__name__, self.embedding.weight
        if inputs.dim() != 2 or 0 in inputs.shape:
            raise InputError(
                f"{name} got words of shape {tuple(inputs.shape)}; expected (time, batch), at least one of each"
            )
        if resets is not None:
            check_resets(name, resets, torch.Size((*inputs.shape, 1)), False, like)
        if probe is not None:
            check_probe(name, probe, (*inputs.shape, self.stack[-1].hidden_size), like)
        start = self.start(inputs.shape[1])
        if state is None:
            return start
        got, expected = ([tuple(tensor.shape) for tensor in tensors] for tensors in (state, start))
        if got != expected:
            raise InputError(
                f"{name} got a state of shapes {got}; expected {expected}; pass a state of {inputs.shape[1]} "
                "sequences as it was returned"
            )
        return state


@lru_cache
def _state_type(layers: int) -> Any:
    """A named tuple of h and c of every layer, the one that reads the words first."""
    return namedtuple("AwdState", [f"{name}_{number}" for number in range(1, layers + 1) for name in "hc"])
