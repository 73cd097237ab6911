"""Causal language models of Hugging Face's transformers: read from this machine, run and carried on like our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.hugging_face_cache import Past, as_cache, check_carried, of_cache
from memspan.models.hugging_face_files import folder_of, load_network
from memspan.models.hugging_face_tokens import HuggingFaceTokens
from memspan.models.model import Model, Output, State
from memspan.models.vocabulary import Numbers, Spelling
from memspan.sequences.readers.bpe import load_tokenizer
from memspan.sequences.readers.inputs import one_line

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SAME = 1e-3
"""By how much of the largest logit two answers to the same tokens may differ: float32 does by some 1e-6."""
_EXPECTED = "give a causal Transformer, such as GPT-2 or Llama"


def load_hugging_face(path: str | Path, *, device: torch.device | str = "cpu") -> HuggingFaceModel:
    """The causal model in a folder, or of a name on the hub that was fetched before; in float32, with its tokenizer.

    The folder holds config.json, *.safetensors and, for text, tokenizer.json. Nothing is fetched, no code of the model is
    run and no pickle opened.
    """
    folder = folder_of(path)
    network = load_network(folder)
    file = folder / "tokenizer.json"
    spelling = HuggingFaceTokens(load_tokenizer(file)) if file.is_file() else None
    return HuggingFaceModel(network, spelling).to(device)


@final
class HuggingFaceModel(Model):
    """logits_t = f(x_1 … x_t) of a model of transformers, with the keys and values of all layers as the state.

    `hidden` is what the output layer reads. `sample(model, first=model.first, context=model.context, …)` writes on and on.
    """

    kind: str
    """What transformers calls it, such as gpt2."""
    spelling: Spelling
    """What the numbers stand for: a tokenizer's tokens, or nothing but themselves."""
    symbols: int
    """Kinds of tokens that are read."""
    classes: int
    """Kinds of tokens that are told apart."""
    context: int | None
    """How many tokens have a position; None where that is not bounded."""
    first: int
    """The token that begins a text, else the one that ends it, else 0: the first of them that the model reads."""

    def __init__(self, network: PreTrainedModel, spelling: Spelling | None = None) -> None:
        """Without a spelling numbers stand for themselves. The network is put at rest and tried out."""
        super().__init__()
        config = network.config.get_text_config(decoder=True)
        self.network, self.kind = network, str(config.model_type)
        self.eval()
        self.context = next((count for count in _numbers(config, _POSITIONS) if count > 0), None)
        self.symbols = cast(Tensor, network.get_input_embeddings().weight).shape[0]
        begins = (*_numbers(config, _BEGINS), 0)
        self.first = next(number for number in begins if 0 <= number < self.symbols)
        check_carried(network)
        tried = self._tried(set(_numbers(config, ("pad_token_id",))))
        self.classes = tried.logits.shape[2]
        with torch.no_grad():
            self._plain = _alike(self._head(tried.hidden), tried.logits)
        self.spelling = Numbers(self.classes) if spelling is None else spelling
        self._shapes = [tensor.shape for tensor in tried.state]

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> Output:
        """As of every `Model`, but that `resets` clear all streams at a step or none: their states are of one length.

        `probe` is added to what the output layer reads, which no later step looks at.
        """
        time, batch = inputs.shape
        begins, outputs = _begins(resets), []
        state = self.start(batch) if state is None else self._checked(state, batch)
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
        logits, hidden, _ = zip(*outputs, strict=True)
        return Output(_joined(logits), _joined(hidden), state)

    def start(self, batch: int) -> Past:
        """Of no token: tensors (1, batch, heads, 0, size)."""
        like = next(self.network.parameters())
        return Past(*(like.new_zeros(1, batch, heads, 0, size) for _, _, heads, _, size in self._shapes))

    def state_size(self, length: int) -> int:
        return sum(heads * length * size for _, _, heads, _, size in self._shapes)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return [{"params": list(self.parameters()), "lr": learning_rate}]

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        """What every layer gives, as transformers tells it; the last with the norm that the output layer wants."""
        if _begins(resets) - {0}:
            raise InputError("resets after the first step; expected none where all layers are asked for")
        batch = inputs.shape[1]
        begin = self.start(batch) if state is None or _begins(resets) else self._checked(state, batch)
        output = self._called(inputs, begin, lambda hidden: hidden[:, :0], output_hidden_states=True)
        every = output.hidden_states
        if every is None:
            raise InputError(f"the model, of the kind {self.kind}, does not show its layers; {_EXPECTED}")
        return [hidden.transpose(0, 1) for hidden in every[1:]], of_cache(output.past_key_values)

    def answered(self, hidden: Tensor) -> Tensor:
        if not self._plain:
            raise InputError(
                f"the model, of the kind {self.kind}, changes what its output layer gives, so states alone tell no logits; "
                f"{_EXPECTED}"
            )
        return self._head(hidden)

    @property
    def _head(self) -> nn.Module:
        return cast(nn.Module, self.network.get_output_embeddings())

    def _read(self, inputs: Tensor, state: State, probe: Tensor | None, *, unscored: int) -> Output:
        """All tokens in one call, and logits of those after the first `unscored`."""
        read: list[Tensor] = []

        def before_head(hidden: Tensor) -> Tensor:
            # Not every model can be asked for its last states, or for some logits only; each has an output layer.
            read.append(hidden if probe is None else hidden + probe.transpose(0, 1))
            return read[0][:, unscored:]

        output = self._called(inputs, state, before_head)
        after = of_cache(output.past_key_values)
        return Output(output.logits.transpose(0, 1), read[0].transpose(0, 1), after)

    def _called(
        self, inputs: Tensor, state: State, before_head: Callable[[Tensor], Tensor], **more: bool
    ) -> Any:
        """The network on all tokens; its output layer reads what `before_head` makes of the last states."""
        time, batch = inputs.shape
        total = time + (state[0].shape[3] if state else 0)
        if self.context is not None and total > self.context:
            raise InputError(
                f"{total:,} tokens are to be read, and the model has positions for {self.context:,}; "
                f"read fewer, or sample with context={self.context}"
            )
        handle = self._head.register_forward_pre_hook(lambda _, arguments: before_head(arguments[0]))
        try:
            return self.network(
                input_ids=inputs.T,
                attention_mask=inputs.new_ones(batch, total),
                past_key_values=as_cache(state),
                use_cache=True,
                **more,
            )
        finally:
            handle.remove()

    @torch.no_grad()
    def _tried(self, padding: set[int]) -> Output:
        """The answer to two tokens that are read one after the other, which must be that to both at once."""
        numbers = [number for number in range(self.symbols) if number not in padding][:2]
        both = torch.tensor(numbers, device=next(self.network.parameters()).device).unsqueeze(1)
        try:
            whole = self._read(both, Past(), None, unscored=0).logits
            one = self._read(both[:1], Past(), None, unscored=0)
            two = self._read(both[1:], one.state, None, unscored=0)
        except (ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
            raise InputError(
                f"the model, of the kind {self.kind}, cannot read token after token ({one_line(error)}); {_EXPECTED}"
            ) from error
        if not _alike(one.logits, whole[:1]):
            raise InputError(
                f"the model, of the kind {self.kind}, looks at what follows, so it cannot tell it; {_EXPECTED}"
            )
        if not one.state or not _alike(two.logits, whole[1:]):
            raise InputError(
                f"the model, of the kind {self.kind}, does not go on from its keys and values; {_EXPECTED}"
            )
        return two

    def _checked(self, state: State, batch: int) -> State:
        times = {tensor.shape[3] for tensor in state if tensor.dim() == 5}
        wanted = [(1, batch, heads, *times, size) for _, _, heads, _, size in self._shapes]
        if [tuple(tensor.shape) for tensor in state] != wanted:
            raise InputError(
                f"the state is not of this model and {batch} streams; give it back as it came, or begin with start({batch})"
            )
        return state


_POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len")
_BEGINS = ("bos_token_id", "eos_token_id")


def _numbers(config: object, names: tuple[str, ...]) -> Iterator[int]:
    """What a configuration has under these names, several numbers under one as well, and nothing where it has None."""
    for name in names:
        value = getattr(config, name, None)
        yield from value if isinstance(value, list) else [] if value is None else [value]


def _begins(resets: Tensor | None) -> set[int]:
    """Steps before which all streams are cleared; refused where only some are."""
    if resets is None:
        return set()
    cleared = resets.sum(1).tolist()
    streams = resets.shape[1]
    for step, count in enumerate(cleared):
        if 0 < count < streams:
            raise InputError(
                f"resets clear {count} of {streams} streams before step {step}; a Hugging Face model can clear all or none, "
                "as their states are of one length; read streams that begin at other steps by themselves"
            )
    return {step for step, count in enumerate(cleared) if count}


def _joined(parts: tuple[Tensor, ...]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _alike(logits: Tensor, others: Tensor) -> bool:
    largest = float(others.nan_to_num().abs().max())
    return torch.allclose(logits, others, rtol=0, atol=SAME * largest, equal_nan=True)
