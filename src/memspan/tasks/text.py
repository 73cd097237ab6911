"""The next symbol of a text, read in many places at once, with the state carried from window to window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.errors import InputError
from memspan.models.vocabulary import END, UNKNOWN, Kind, Vocabulary
from memspan.tasks.corpus import corpus, resolved
from memspan.tasks.passes import passed
from memspan.tasks.task import SPLITS, Batch, Split, Task, check_count, check_split, random_of


class Encoded(NamedTuple):
    """A text in numbers."""

    vocabulary: Vocabulary
    symbols: Mapping[Split, NDArray[np.int64]]
    unknown: Mapping[Split, int]
    """How many of them the vocabulary does not have."""


@dataclass(frozen=True, kw_only=True)
class TextTask(Task):
    """What comes next, in a text of which only what came before is known.

        inputs   | T h e _ c a t _ s a      a line's end, then symbols 0 to n - 2
        targets  T h e _ c a t _ s a t      symbols 0 to n - 1, all of them

    The text is cut into as many pieces as a batch has sequences. Batch i + 1 goes on in every piece where batch i ended,
    so a state that is carried over has seen all that came before it in the piece; gradients go back `steps` symbols. With
    probability `restart` a batch begins from nothing instead, so that the network also learns to (Shen 2019, appendix
    E.1.2). Without `carry`, windows of `steps` symbols are gone through in an order of their own each pass, from nothing.

    Validation and test count every symbol of their texts once.
    """

    kind: ClassVar[Kind]

    data: str = "auto"
    """A folder with train, valid and test files, the name of a data set, `python` for the source of Python's own
    library, or `auto`: the Penn Treebank where it is, else Python."""
    steps: int = 100
    """Symbols of a window."""
    carry: bool = True
    """Whether a batch goes on where the one before ended."""
    restart: float = 0.01
    """How often it begins from nothing all the same."""

    def __post_init__(self) -> None:
        check_count(self.kind, "steps", self.steps)
        if not 0 <= self.restart <= 1:
            raise InputError(f"{self.kind}: restart is {self.restart}; expected a probability from 0 to 1")

    @property
    def vocabulary(self) -> Vocabulary:
        """The symbols of the training text."""
        return encoded(self.identity).vocabulary

    def text(self, split: Split, most: int | None = None) -> str:
        """What is read: the text of a split, `most` symbols of it, with those that the vocabulary lacks as unknown ones."""
        check_split(split)
        return self.vocabulary.decode(encoded(self.identity).symbols[split][:most].tolist())

    @property
    def identity(self) -> Identity:
        """What decides the numbers of the text."""
        return Identity(self.kind, resolved(self.data), None)

    @property
    def symbolic(self) -> bool:
        return True

    @property
    def carried(self) -> bool:
        return self.carry

    @property
    def symbols(self) -> int:
        return len(self.vocabulary)

    @property
    def features(self) -> int:
        return self.symbols

    @property
    def classes(self) -> int:
        return self.symbols

    @property
    def chance(self) -> float:
        """The share of the most frequent symbol of the training text."""
        return float(frequencies(self.identity).max())

    @property
    def baseline(self) -> float:
        """The entropy of the training text's symbols, each for itself: what knowing their frequencies alone costs."""
        p = frequencies(self.identity)
        p = p[p > 0]
        return float(-(p * np.log(p)).sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """How much of each text is none of the symbols that were learnt."""
        found = encoded(self.identity)
        return tuple(
            f"{count / len(found.symbols[split]):.2%} of the {split} text are {self.kind} that the vocabulary of "
            f"{self.symbols:,} lacks; they are read and asked for as {UNKNOWN[self.kind]}"
            for split, count in found.unknown.items()
            if count
        )

    def resolved(self) -> Self:
        encoded(
            replace(self, data=resolved(self.data)).identity
        )  # what is missing is told before anything else
        return replace(self, data=resolved(self.data))

    def batches(self, split: Split, size: int) -> int:
        return self._plan(split, size).windows

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:  # noqa: ARG002 - none to compute
        """None: a text is judged by its loss, in bits per character or as the perplexity of a word."""
        return {}

    def batch(
        self,
        index: int,
        size: int,
        *,
        seed: int,
        split: Split = "train",
        device: torch.device | str = "cpu",
    ) -> Batch:
        plan = self._plan(split, size)
        if self.carry:
            at = index % plan.windows
            first = at * self.steps
            starts = np.arange(size) * plan.piece + first
            length = min(self.steps, plan.piece - first)
            begins = at == 0 or self._restarts(index, seed, split)
        else:
            members, counted = passed({split: plan.pieces}, index, size, seed=seed, split=split)
            # What only fills up the last batch stands behind the end, where nothing counts.
            starts = np.where(counted > 0, members * self.steps, plan.total)
            length, begins = self.steps, True
        places = starts[None, :] + np.arange(length)[:, None]
        return self._cut(split, plan.total, places, begins, device)

    def _cut(
        self,
        split: Split,
        total: int,
        places: NDArray[np.int64],
        begins: bool,
        device: torch.device | str,
    ) -> Batch:
        """Windows whose answers stand at `places`; those behind the text's end count nothing."""
        text, end = encoded(self.identity).symbols[split], self.vocabulary.numbers[END[self.kind]]
        answers = np.minimum(places, total - 1)
        inputs = np.where(answers > 0, text[answers - 1], end)
        resets = None
        if begins:
            resets = torch.zeros(places.shape, dtype=torch.bool, device=device)
            resets[0] = True
        return Batch(
            torch.from_numpy(inputs).to(device),
            torch.from_numpy(text[answers]).to(device),
            torch.from_numpy((places < total).astype(np.float32)).to(device),
            resets,
        )

    def _plan(self, split: Split, size: int) -> Plan:
        check_split(split)
        total = len(encoded(self.identity).symbols[split])
        needed = size * self.steps if split == "train" else 1
        if total < needed:
            raise InputError(
                f"the text to train on has {total:,} {self.kind}; a batch of {size} windows of {self.steps} needs "
                f"{needed:,}; give a longer text, a smaller --batch, or fewer --set task.steps"
            )
        cut = int.__floordiv__ if split == "train" else _divided_up
        if not self.carry:
            pieces = cut(total, self.steps)
            return Plan(total, pieces, self.steps, cut(pieces, size))
        piece = cut(total, size)
        return Plan(total, size, piece, cut(piece, self.steps))

    def _restarts(self, index: int, seed: int, split: Split) -> bool:
        return split == "train" and random_of(seed, split, index).random() < self.restart


class Plan(NamedTuple):
    """How a text is cut for batches of some size."""

    total: int
    """Symbols of the text."""
    pieces: int
    """Parts that it is cut into: those that a batch has, or windows that begin from nothing."""
    piece: int
    """Symbols of a part."""
    windows: int
    """Batches of one pass."""


def _divided_up(total: int, size: int) -> int:
    """Parts of `size` with the last one, which may be smaller: training leaves that out, judging does not."""
    return -(-total // size)


class Identity(NamedTuple):
    """What decides the numbers of a text."""

    kind: Kind
    data: str
    limit: int | None


@final
@dataclass(frozen=True, kw_only=True)
class CharacterText(TextTask):
    __doc__ = TextTask.__doc__
    kind: ClassVar[Kind] = "characters"


@final
@dataclass(frozen=True, kw_only=True)
class WordText(TextTask):
    __doc__ = TextTask.__doc__
    kind: ClassVar[Kind] = "words"

    steps: int = 35
    most: int | None = None
    """Words of the vocabulary; rarer ones are `<unk>`. None: every word of the training text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most is not None:
            check_count("words", "most", self.most, least=2)

    @property
    def identity(self) -> Identity:
        return Identity(self.kind, resolved(self.data), self.most)


@lru_cache(maxsize=4)
def encoded(identity: Identity) -> Encoded:
    """A corpus in numbers, read once; not to be written to."""
    texts = corpus(identity.data)
    tokens: dict[Split, str | list[str]] = {
        split: _tokens(identity.kind, texts.text(split)) for split in SPLITS
    }
    for split, found in tokens.items():
        if not len(found):
            raise InputError(f"the {split} text of {identity.data} is empty; expected {identity.kind}")
    known = set(tokens["train"])
    if len(known) < 2:
        raise InputError(f"the training text of {identity.data} has one symbol only; expected two or more")
    new = any(token not in known for split in SPLITS for token in tokens[split])
    vocabulary = Vocabulary.of(identity.kind, tokens["train"], unknown=new, limit=identity.limit)
    unknown: dict[Split, int] = {
        split: sum(token not in vocabulary.numbers for token in tokens[split]) for split in SPLITS
    }
    symbols: dict[Split, NDArray[np.int64]] = {split: vocabulary.encode(tokens[split]) for split in SPLITS}
    for numbers in symbols.values():
        numbers.setflags(write=False)
    return Encoded(vocabulary, symbols, unknown)


def _tokens(kind: Kind, text: str) -> str | list[str]:
    if kind == "characters":
        return text
    return [token for line in text.splitlines() for token in (*line.split(), "<eos>")]


@lru_cache(maxsize=4)
def frequencies(identity: Identity) -> NDArray[np.float64]:
    """The share of every symbol in the training text."""
    found = encoded(identity)
    counts = np.bincount(found.symbols["train"], minlength=len(found.vocabulary))
    return counts / counts.sum()
