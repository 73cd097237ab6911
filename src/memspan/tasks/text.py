"""Language modeling: prediction of the next symbol of a text, with the state passed from window to window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from memspan.errors import InputError
from memspan.models.vocabulary import END, UNKNOWN, Kind, Vocabulary
from memspan.tasks.catalog import CATALOG
from memspan.tasks.corpus import AUTO, corpus_files, resolve_corpus
from memspan.tasks.task import (
    ADAM,
    SPLITS,
    Batch,
    Device,
    Settings,
    Split,
    Task,
    batch_random,
    check_split,
    epoch_batch,
)


@dataclass(frozen=True, kw_only=True)
class TextTask(Task):
    """Prediction of each symbol of a text from the preceding ones.

        inputs   | T h e _ c a t _ s a      a line's end, then symbols 0 to n - 2
        targets  T h e _ c a t _ s a t      symbols 0 to n - 1, all of them

    The text is cut into as many pieces as a batch has sequences. Batch i + 1 continues every piece where batch i
    ended, so a state that is passed on has seen everything before it in the piece; gradients go back `steps` symbols.
    With probability `restart` a batch starts from an empty state instead, so that the network also learns to start
    (Shen 2019, appendix E.1.2). Without `carry`, each epoch reads windows of `steps` symbols in its own order, each
    from an empty state.

    Validation and test count every symbol of their texts once.
    """

    kind: ClassVar[Kind]

    data: str = "auto"
    """A folder with train, valid and test files, the name of a data set, `python` for the source of Python's standard
    library, or `auto`: the Penn Treebank if it is present, else Python."""
    steps: int = 100
    """Symbols of a window."""
    carry: bool = True
    """Whether a batch continues the previous one."""
    restart: float = 0.01
    """Probability that it starts from an empty state nevertheless."""
    fraction: float = 1.0
    """Share of the training text that is read: its first lines. The vocabulary is that of the whole training text."""

    def __post_init__(self) -> None:
        self.check_count("steps")
        if not 0 < self.fraction <= 1:
            raise InputError(f"{self.kind}: fraction is {self.fraction}; expected a number above 0, at most 1")
        if not 0 <= self.restart <= 1:
            raise InputError(f"{self.kind}: restart is {self.restart}; expected a probability from 0 to 1")

    @property
    def window(self) -> int:
        return self.steps

    def with_delay(self, steps: int) -> Self:
        """Windows of `steps` symbols, each from an empty state."""
        return replace(self, steps=steps, carry=False)

    @property
    def vocabulary(self) -> Vocabulary:
        """The symbols of the training text."""
        return encode_corpus(self.identity).vocabulary

    def text(self, split: Split, most: int | None = None) -> str:
        """The first `most` symbols of a split, with symbols outside the vocabulary shown as unknown."""
        check_split(split)
        return self.vocabulary.decode(encode_corpus(self.identity).symbols[split][:most].tolist())

    @property
    def identity(self) -> CorpusKey:
        """What determines the encoded text."""
        return CorpusKey(self.kind, resolve_corpus(self.data), None, self.fraction)

    @property
    def corpus(self) -> str:
        """The name of the text, with `auto` resolved; the path of a folder as it was given."""
        return resolve_corpus(self.data) if self.data == AUTO else self.data

    @property
    def symbolic(self) -> bool:
        return True

    @property
    def stateful(self) -> bool:
        return self.carry

    @property
    def symbols(self) -> int:
        return len(self.vocabulary)

    @property
    def classes(self) -> int:
        return self.symbols

    @property
    def chance(self) -> float:
        """The relative frequency of the most frequent symbol of the training text."""
        return float(_frequencies(self.identity).max())

    @property
    def baseline(self) -> float:
        """The entropy of single symbols of the training text: the loss of predicting their frequencies."""
        p = _frequencies(self.identity)
        p = p[p > 0]
        return float(-(p * np.log(p)).sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """The share of each text that is not in the vocabulary."""
        corpus = encode_corpus(self.identity)
        return tuple(
            f"{count / len(corpus.symbols[split]):.2%} of the {split} text are {self.kind} outside the vocabulary of "
            f"{self.symbols:,}; they are read and predicted as {UNKNOWN[self.kind]}"
            for split, count in corpus.unknown.items()
            if count
        )

    def resolved(self) -> Self:
        task = replace(self, data=resolve_corpus(self.data))
        encode_corpus(task.identity)  # report missing or unreadable files before training starts
        return task

    def batches(self, split: Split, size: int) -> int:
        return self._layout(split, size).batches

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:  # noqa: ARG002 - the loss is the metric
        """Empty: the metric of a text is its loss, as bits per character or perplexity."""
        return {}

    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        layout = self._layout(split, size)
        if self.carry:
            at = index % layout.batches
            first = at * self.steps
            starts = np.arange(size) * layout.piece + first
            length = min(self.steps, layout.piece - first)
            restarts = split == "train" and batch_random(seed, split, index).random() < self.restart
            reset = at == 0 or restarts
        else:
            members, counted = epoch_batch({split: layout.pieces}, index, size, seed=seed, split=split)
            # Padding in the last batch starts behind the end of the text, where weights are zero.
            starts = np.where(counted > 0, members * self.steps, layout.total)
            length, reset = self.steps, True
        positions = starts[None, :] + np.arange(length)[:, None]
        text, end = encode_corpus(self.identity).symbols[split], self.vocabulary.numbers[END[self.kind]]
        # Positions behind the end have weight 0 and repeat the last symbol; a line end precedes the first one.
        targets = np.minimum(positions, layout.total - 1)
        inputs = np.where(targets > 0, text[targets - 1], end)
        weights = (positions < layout.total).astype(np.float32)
        resets = np.zeros(positions.shape, np.bool_) if reset else None
        if resets is not None:
            resets[0] = True
        return Batch.from_numpy(inputs, text[targets], weights, resets, device=device)

    def _layout(self, split: Split, size: int) -> TextLayout:
        check_split(split)
        total = len(encode_corpus(self.identity).symbols[split])
        needed = size * self.steps if split == "train" else 1
        if total < needed:
            raise InputError(
                f"the training text has {total:,} {self.kind}; a batch of {size} windows of {self.steps} needs "
                f"{needed:,}; use a longer text, a smaller --batch, or a smaller --set task.steps"
            )

        def divide(number: int, parts: int) -> int:
            # Training drops the incomplete last part; evaluation counts every symbol and keeps it.
            return number // parts if split == "train" else -(-number // parts)

        if not self.carry:
            pieces = divide(total, self.steps)
            return TextLayout(total, pieces, self.steps, divide(pieces, size))
        piece = divide(total, size)
        return TextLayout(total, size, piece, divide(piece, self.steps))


class TextLayout(NamedTuple):
    """How a text is cut for batches of a given size."""

    total: int
    """Symbols of the text."""
    pieces: int
    """Number of parts: the sequences of a batch, or the windows that start from an empty state."""
    piece: int
    """Symbols of a part."""
    batches: int
    """Batches of one epoch."""


@final
@dataclass(frozen=True, kw_only=True)
class CharacterText(TextTask):
    __doc__ = TextTask.__doc__
    facts = CATALOG["characters"]
    kind: ClassVar[Kind] = "characters"
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 256},
        "model": {"embedding": 64},
        "training": ADAM
        | {"batch": 64, "updates": 12_000, "learning_rate": 2e-3, "schedule": "cosine"}
        | {"validate_every": 500, "validation_batches": 200, "validation_size": 20},
    }


@final
@dataclass(frozen=True, kw_only=True)
class WordText(TextTask):
    __doc__ = TextTask.__doc__
    facts = CATALOG["words"]
    kind: ClassVar[Kind] = "words"
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 200},
        "model": {"embedding": 200, "dropout": 0.2},
        "training": ADAM
        | {"batch": 20, "updates": 20_000, "learning_rate": 2e-3, "schedule": "cosine"}
        | {"validate_every": 1_000, "validation_batches": 500, "validation_size": 10},
    }

    steps: int = 35
    most: int | None = None
    """Size of the vocabulary; rarer words become `<unk>`. None: every word of the training text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most is not None:
            self.check_count("most", least=2)

    @property
    def identity(self) -> CorpusKey:
        return CorpusKey(self.kind, resolve_corpus(self.data), self.most, self.fraction)


class CorpusKey(NamedTuple):
    """What determines an encoded corpus."""

    kind: Kind
    data: str
    limit: int | None
    fraction: float = 1.0


class EncodedCorpus(NamedTuple):
    """The texts of a corpus as numbers of a vocabulary."""

    vocabulary: Vocabulary
    symbols: Mapping[Split, NDArray[np.int64]]
    unknown: Mapping[Split, int]
    """Number of symbols that are not in the vocabulary."""


@lru_cache(maxsize=4)
def encode_corpus(key: CorpusKey) -> EncodedCorpus:
    """The encoded texts of a corpus, read once; read-only."""
    files = corpus_files(key.data)
    tokens: dict[Split, str | list[str]] = {split: _tokens(key.kind, files.text(split)) for split in SPLITS}
    for split, sequence in tokens.items():
        if not len(sequence):
            raise InputError(f"the {split} text of {key.data} is empty; expected {key.kind}")
    known = set(tokens["train"])
    if len(known) < 2:
        raise InputError(f"the training text of {key.data} has only one symbol; expected two or more")
    # The unknown symbol is part of the vocabulary only if one of the texts needs it.
    new = any(token not in known for split in SPLITS for token in tokens[split])
    vocabulary = Vocabulary.of(key.kind, tokens["train"], unknown=new, limit=key.limit)
    if key.fraction < 1:
        tokens["train"] = _first_lines(tokens["train"], key.fraction, END[key.kind])
    unknown: dict[Split, int] = {
        split: sum(token not in vocabulary.numbers for token in tokens[split]) for split in SPLITS
    }
    symbols: dict[Split, NDArray[np.int64]] = {split: vocabulary.encode(tokens[split]) for split in SPLITS}
    for numbers in symbols.values():
        numbers.setflags(write=False)
    return EncodedCorpus(vocabulary, symbols, unknown)


def _tokens(kind: Kind, text: str) -> str | list[str]:
    if kind == "characters":
        return text
    return [token for line in text.splitlines() for token in (*line.split(), "<eos>")]


def _first_lines(tokens: str | list[str], fraction: float, end: str) -> str | list[str]:
    """The first lines with at least this share of all tokens.

    >>> "".join(_first_lines("ab|cd|ef|", 0.4, "|"))
    'ab|cd|'
    """
    least = math.ceil(fraction * len(tokens))
    return tokens[: tokens.index(end, least - 1) + 1] if end in tokens[least - 1 :] else tokens


@lru_cache(maxsize=4)
def _frequencies(key: CorpusKey) -> NDArray[np.float64]:
    """The relative frequency of every symbol in the training text."""
    corpus = encode_corpus(key)
    counts = np.bincount(corpus.symbols["train"], minlength=len(corpus.vocabulary))
    return counts / counts.sum()
