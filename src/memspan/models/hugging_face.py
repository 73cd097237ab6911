"""Causal language models of Hugging Face transformers, loaded from this machine, behind the interface of `Model`.

The state of such a model is its cache of keys and values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.hugging_face_files import load_network, model_folder
from memspan.models.model import Model, ModelOutput, State
from memspan.models.vocabulary import Numbers, Spelling
from memspan.sequences.readers.bpe import load_tokenizer
from memspan.sequences.readers.inputs import one_line
from memspan.sequences.store import Symbols

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import DynamicCache, PreTrainedModel
    from transformers.cache_utils import DynamicLayer

# Tolerance for equal logits, relative to the largest one; float32 deviates by about 1e-6.
SAME = 1e-3
_EXPECTED = "use a causal Transformer, such as GPT-2 or Llama"
_POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len")
_FIRST_TOKENS = ("bos_token_id", "eos_token_id")


def load_hugging_face(path: str | Path, *, device: torch.device | str = "cpu") -> HuggingFaceModel:
    """The causal model in a folder, or of a hub name that is in the local cache; in float32, with its tokenizer.

    The folder holds config.json, *.safetensors and, for text, tokenizer.json. Nothing is downloaded, no code of the model is
    run and no pickle is opened.
    """
    folder = model_folder(path)
    network = load_network(folder)
    file = folder / "tokenizer.json"
    spelling = HuggingFaceTokens(load_tokenizer(file)) if file.is_file() else None
    return HuggingFaceModel(network, spelling).to(device)


@final
class HuggingFaceModel(Model):
    """logits_t = f(x_1 … x_t) of a model of transformers, with the keys and values of all layers as the state.

    `hidden` is the input of the output layer. `sample(model, first=model.first, context=model.context, …)` generates text
    of any length.
    """

    kind: str
    """The model type in transformers, such as gpt2."""
    spelling: Spelling
    """Converts tokens to text; without a tokenizer, to numbers."""
    symbols: int
    """Number of input tokens."""
    classes: int
    """Number of output tokens."""
    context: int | None
    """Number of positions; None if unbounded."""
    first: int
    """The token that begins a text, else the one that ends it, else 0: the first of them that the model can read."""

    def __init__(self, network: PreTrainedModel, spelling: Spelling | None = None) -> None:
        """Puts the network in evaluation mode and verifies on two tokens that it is causal and can be continued."""
        super().__init__()
        config = network.config.get_text_config(decoder=True)
        self.network, self.kind = network, str(config.model_type)
        self.eval()
        self.context = next((count for count in _config_numbers(config, _POSITIONS) if count > 0), None)
        self.symbols = cast(Tensor, network.get_input_embeddings().weight).shape[0]
        candidates = (*_config_numbers(config, _FIRST_TOKENS), 0)
        self.first = next(number for number in candidates if 0 <= number < self.symbols)
        _check_cache(network)
        trial = self._trial(set(_config_numbers(config, ("pad_token_id",))))
        self.classes = trial.logits.shape[2]
        with torch.no_grad():
            self._linear_head = _close(self._head(trial.hidden), trial.logits)
        self.spelling = Numbers(self.classes) if spelling is None else spelling
        self._shapes = [tensor.shape for tensor in trial.state]

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> ModelOutput:
        """As for every `Model`, but `resets` must clear all streams at a step or none, as their states have one length.

        `probe` is added to the input of the output layer, on which no later step depends.
        """
        time, batch = inputs.shape
        begins, outputs = _reset_steps(resets), []
        state = self.start(batch) if state is None else self._check_state(state, batch)
        unscored = 0 if scored is None else time - scored
        for begin, end in pairwise(sorted({0, *begins, time})):
            output = self._read(
                inputs[begin:end],
                self.start(batch) if begin in begins else state,
                None if probe is None else probe[begin:end],
                unscored=min(max(unscored - begin, 0), end - begin),
            )
            outputs.append(output)
            state = output.state
        if len(outputs) == 1:  # without copying
            return ModelOutput(outputs[0].logits, outputs[0].hidden, state)
        logits, hidden, _ = zip(*outputs, strict=True)
        return ModelOutput(torch.cat(logits), torch.cat(hidden), state)

    def start(self, batch: int) -> HuggingFaceState:
        """The state before the first token: tensors (1, batch, heads, 0, size)."""
        like = next(self.network.parameters())
        empty = (like.new_zeros(1, batch, heads, 0, size) for _, _, heads, _, size in self._shapes)
        return HuggingFaceState(*empty)

    def state_size(self, length: int) -> int:
        return sum(heads * length * size for _, _, heads, _, size in self._shapes)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return [{"params": list(self.parameters()), "lr": learning_rate}]

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        """The outputs of all layers as transformers returns them; the last includes the final norm."""
        begins = _reset_steps(resets)
        if begins - {0}:
            raise InputError("resets after the first step; expected none when the outputs of all layers are requested")
        batch = inputs.shape[1]
        start = self.start(batch) if state is None or begins else self._check_state(state, batch)
        output = self._call(inputs, start, lambda hidden: hidden[:, :0], output_hidden_states=True)
        every = output.hidden_states
        if every is None:
            raise InputError(f"the model, of type {self.kind}, does not return its layers; {_EXPECTED}")
        return [hidden.transpose(0, 1) for hidden in every[1:]], _state_of(output.past_key_values)

    def answered(self, hidden: Tensor) -> Tensor:
        if not self._linear_head:
            raise InputError(
                f"the model, of type {self.kind}, modifies the logits of its output layer, so hidden states alone do not "
                f"determine them; {_EXPECTED}"
            )
        return self._head(hidden)

    @property
    def _head(self) -> nn.Module:
        return cast(nn.Module, self.network.get_output_embeddings())

    def _read(self, inputs: Tensor, state: State, probe: Tensor | None, *, unscored: int) -> ModelOutput:
        """All tokens in one call, with logits of those after the first `unscored`."""
        read: list[Tensor] = []

        def before_head(hidden: Tensor) -> Tensor:
            # Not every model can return its last states, or some logits only; but each has an output layer.
            read.append(hidden if probe is None else hidden + probe.transpose(0, 1))
            return read[0][:, unscored:]

        output = self._call(inputs, state, before_head)
        after = _state_of(output.past_key_values)
        return ModelOutput(output.logits.transpose(0, 1), read[0].transpose(0, 1), after)

    def _call(self, inputs: Tensor, state: State, before_head: Callable[[Tensor], Tensor], **more: bool) -> Any:
        """Run the network on all tokens, with `before_head` applied to the input of its output layer."""
        time, batch = inputs.shape
        total = time + (state[0].shape[3] if state else 0)
        if self.context is not None and total > self.context:
            raise InputError(
                f"the input has {total:,} tokens, and the model has positions for {self.context:,}; "
                f"pass fewer, or sample with context={self.context}"
            )
        handle = self._head.register_forward_pre_hook(lambda _, arguments: before_head(arguments[0]))
        try:
            return self.network(
                input_ids=inputs.T,
                attention_mask=inputs.new_ones(batch, total),
                past_key_values=_cache_of(state),
                use_cache=True,
                **more,
            )
        finally:
            handle.remove()

    @torch.no_grad()
    def _trial(self, padding: set[int]) -> ModelOutput:
        """The output for two tokens read one by one, which must equal that for both at once."""
        numbers = [number for number in range(self.symbols) if number not in padding][:2]
        both = torch.tensor(numbers, device=next(self.network.parameters()).device).unsqueeze(1)
        try:
            whole = self._read(both, HuggingFaceState(), None, unscored=0).logits
            one = self._read(both[:1], HuggingFaceState(), None, unscored=0)
            two = self._read(both[1:], one.state, None, unscored=0)
        except (ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
            raise InputError(
                f"the model, of type {self.kind}, cannot be run token by token ({one_line(error)}); {_EXPECTED}"
            ) from error
        if not _close(one.logits, whole[:1]):
            raise InputError(
                f"the model, of type {self.kind}, attends to later tokens, so it is not causal; {_EXPECTED}"
            )
        if not one.state or not _close(two.logits, whole[1:]):
            raise InputError(
                f"the model, of type {self.kind}, cannot be continued from its keys and values; {_EXPECTED}"
            )
        return two

    def _check_state(self, state: State, batch: int) -> State:
        times = {tensor.shape[3] for tensor in state if tensor.dim() == 5}
        expected = [(1, batch, heads, *times, size) for _, _, heads, _, size in self._shapes]
        if [tuple(tensor.shape) for tensor in state] != expected:
            raise InputError(
                f"the state does not fit this model and {batch} streams; pass it as it was returned, or use start({batch})"
            )
        return state


@final
class HuggingFaceState(tuple[Tensor, ...]):
    """Keys and values of the first layer, of the second, …: tensors (1, batch, heads, time, size)."""

    def __new__(cls, *tensors: Tensor) -> HuggingFaceState:
        return super().__new__(cls, tensors)


def _check_cache(network: PreTrainedModel) -> None:
    """Raise if the network carries anything but keys and values, which would be lost."""
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if "past_key_values" in inspect.signature(network.forward).parameters:
        # A sliding window is stored in full here: the model's own mask hides what precedes it.
        layers = DynamicCache(config=network.config).layers
        if {type(layer) for layer in layers} <= {DynamicLayer, DynamicSlidingWindowLayer}:
            return
    raise InputError(
        f"the model, of type {network.config.model_type}, carries more than keys and values; "
        "use a Transformer with attention in all layers, such as GPT-2 or Llama"
    )


def _cache_of(state: State) -> DynamicCache:
    """The cache that transformers extends; the tensors of the state are not modified."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    cache = DynamicCache()
    if not state or state[0].shape[3] == 0:
        return cache
    for keys, values in zip(state[::2], state[1::2], strict=True):
        layer = DynamicLayer()
        layer.lazy_initialization(keys[0], values[0])
        # Assigned, as `update` would copy everything.
        layer.keys, layer.values = keys[0], values[0]
        cache.layers.append(layer)
    return cache


def _state_of(cache: DynamicCache | None) -> HuggingFaceState:
    """The state after a call; empty if the model has no cache."""
    layers = [] if cache is None else cast("list[DynamicLayer]", cache.layers)
    tensors = (cast(Tensor, tensor) for layer in layers for tensor in (layer.keys, layer.values))
    return HuggingFaceState(*(tensor.unsqueeze(0) for tensor in tensors))


def _config_numbers(config: object, names: tuple[str, ...]) -> Iterator[int]:
    """The values of a configuration under these names; lists are flattened and None is skipped."""
    for name in names:
        value = getattr(config, name, None)
        yield from value if isinstance(value, list) else [] if value is None else [value]


def _reset_steps(resets: Tensor | None) -> set[int]:
    """Steps before which all streams are cleared; raises if only some are."""
    if resets is None:
        return set()
    counts, streams = resets.sum(1).tolist(), resets.shape[1]
    for step, count in enumerate(counts):
        if 0 < count < streams:
            raise InputError(
                f"resets clear {count} of {streams} streams before step {step}; a Hugging Face model can clear all or none, "
                "as their states have one length; run streams that begin at other steps separately"
            )
    return {step for step, count in enumerate(counts) if count}


def _close(logits: Tensor, others: Tensor) -> bool:
    largest = float(others.nan_to_num().abs().max())
    return torch.allclose(logits, others, rtol=0, atol=SAME * largest, equal_nan=True)


@final
@dataclass(frozen=True)
class HuggingFaceTokens:
    """A tokenizer of the library tokenizers, as `load_tokenizer` reads it from a tokenizer.json.

    Special tokens, such as the separator of documents, are not text: they are neither added by `encode` nor decoded.
    """

    tokenizer: Tokenizer

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> NDArray[np.int64]:
        """The numbers of a text."""
        return np.array(self.tokenizer.encode(text, add_special_tokens=False).ids, np.int64)

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of numbers; bytes that form no character become U+FFFD."""
        return self.tokenizer.decode(list(numbers))

    def decode_pieces(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The whole text at once: the bytes of a character may be spread over several tokens."""
        yield self.decode(number for numbers in pieces for number in numbers.tolist())
