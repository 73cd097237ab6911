"""`segment_information`: mutual information between segments of a text, estimated by an independent critic."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.objectives.bounds import Discriminator, donsker_varadhan, softplus_proxy
from memspan.objectives.segments import LENGTH
from memspan.progress import SILENT, Progress, Stage
from memspan.results import SegmentInformation
from memspan.statistics import student_interval

Text = NDArray[np.integer]

# Symbols between two segments, and number of folds.  Cao and Xu 2020, Table 2.
GAP, FOLDS = 10, 10
# Minimum share of a fold that lies between segments treated as independent.
MIN_SEPARATION = 0.1
# Minimum number of non-overlapping pairs in a fold.
MIN_PAIRS = 20
# Standard deviation of the initial embeddings. The maximum of 40 numbers of deviation 1 is about 2 for any segment,
# and products of such numbers soon leave no active unit in the discriminator.
EMBEDDING_STD = 0.1


@final
@dataclass(frozen=True, kw_only=True)
class Critic:
    """Architecture and training of the critic, small enough to train in seconds."""

    width: int = 64
    """Embedding size of a symbol."""
    hidden: int = 64
    """Hidden size of the discriminator."""
    highest: float = 5.0
    """Bound of the scores, T = 5 tanh(D / 5), so that no single pair dominates the bound: e^5 is 148."""
    dropout: float = 0.5
    learning_rate: float = 3e-3
    batch: int = 128
    """Pairs per update."""
    product: int = 4
    """Independent pairs for each joint pair in training; ten times as many in validation and testing."""
    updates: int = 2_000
    """Maximum number of updates."""
    look: int = 100
    """Updates between validations."""
    patience: int = 6
    """Validations without improvement before training stops."""
    pairs: int = 2_000
    """Pairs for validation, and for testing."""

    def __post_init__(self) -> None:
        counts = ("width", "hidden", "product", "updates", "look", "patience")
        for name, least in (*((each, 1) for each in counts), ("batch", 2), ("pairs", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"Critic: {name} is {value!r}; expected a whole number of {least} or more")
        if not 0 <= self.dropout < 1:
            raise InputError(f"Critic: dropout is {self.dropout}; expected 0 or more and below 1")
        for name in ("highest", "learning_rate"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise InputError(f"Critic: {name} is {value}; expected a finite number above 0")


def segment_information(
    texts: Sequence[Text],
    symbols: int,
    *,
    seed: int,
    length: int = LENGTH,
    gap: int = GAP,
    folds: int = FOLDS,
    critic: Critic = Critic(),  # noqa: B008 - frozen
    name: str = "mutual information of segments",
    progress: Progress = SILENT,
) -> SegmentInformation:
    """Mutual information between segments of `length` symbols that are `gap` symbols apart.  Cao and Xu 2020, Table 2.

    `texts` are documents of numbers below `symbols`; no pair spans two documents. The starting points of pairs are
    divided into `folds` contiguous folds. A critic is trained on all but two of them with the softplus proxy, selected
    by its Donsker-Varadhan bound on one of the others and evaluated on the last; each fold is the test fold once.
    Independent pairs combine segments that are far apart in a fold, and thus from different documents if these are
    shorter than a tenth of it. `progress` shows `name` and counts updates, fewer if a critic stops early.
    """
    span = 2 * length + gap
    parts = _folds(texts, span, folds)
    text = torch.from_numpy(np.concatenate([np.asarray(document, dtype=np.int64) for document in texts]))
    if int(text.min()) < 0 or int(text.max()) >= symbols:
        raise InputError(f"texts hold symbols from {int(text.min())} to {int(text.max())}; expected 0 to {symbols - 1}")
    bounds = []
    with progress.stage(name, folds * critic.updates) as stage:
        for fold in range(folds):
            valid = (fold + 1) % folds  # the test fold of the next round
            train = np.concatenate([part for number, part in enumerate(parts) if number not in (fold, valid)])
            training, validation, test = (
                _PairSampler(text, part, length, gap) for part in (train, parts[valid], parts[fold])
            )
            stage.tell(f"fold {fold + 1} of {folds}")
            bounds.append(_train_critic(training, validation, test, symbols, critic, [seed, fold], stage))
    return SegmentInformation(float(np.mean(bounds)), student_interval(bounds), tuple(bounds))


@final
class _CriticNetwork(nn.Module):
    """Scores of pairs of segments, from the mean and the maximum of the embeddings of their symbols."""

    def __init__(self, symbols: int, critic: Critic) -> None:
        super().__init__()
        self.highest = critic.highest
        self.embedding = nn.Embedding(symbols, critic.width)
        nn.init.normal_(self.embedding.weight, std=EMBEDDING_STD)
        self.discriminator = Discriminator(
            2 * critic.width, critic.hidden, input_dropout=critic.dropout, hidden_dropout=critic.dropout
        )

    def forward(self, segments: Tensor) -> Tensor:
        """Vectors (batch, features) of segments (batch, length)."""
        vectors = self.embedding(segments)
        return torch.cat([vectors.mean(dim=1), vectors.amax(dim=1)], dim=1)

    def scores(self, first: Tensor, second: Tensor, product: int) -> tuple[Tensor, Tensor]:
        """Scores of the pairs, in the order of the text, and of each first with `product` distant seconds."""
        a, b = self(first), self(second)
        independent = [self._score(a, b.roll(shift, dims=0)) for shift in far_shifts(len(b), product)]
        return self._score(a, b), torch.cat(independent)

    def _score(self, a: Tensor, b: Tensor) -> Tensor:
        return self.highest * (self.discriminator(a, b) / self.highest).tanh()

    def bound(self, pairs: tuple[Tensor, Tensor], product: int) -> float:
        """The Donsker-Varadhan bound in evaluation mode."""
        self.eval()
        with torch.no_grad():
            bound = float(donsker_varadhan(*self.scores(*pairs, product)))
        self.train()
        return bound


@final
@dataclass(frozen=True)
class _PairSampler:
    """Pairs of segments that start in one part of the text."""

    text: Tensor
    starts: NDArray[np.int64]
    length: int
    gap: int

    def draw(self, count: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Segments (count, length) at random starting points in ascending order, and those a gap after each."""
        # In ascending order, so that a cyclic shift pairs distant segments.
        starts = torch.from_numpy(np.sort(random.choice(self.starts, count)))
        places = starts.unsqueeze(1) + torch.arange(self.length)
        return self.text[places], self.text[places + self.length + self.gap]


def far_shifts(count: int, product: int) -> list[int]:
    """Cyclic shifts that pair each of `count` ordered segments with distant ones.

    >>> far_shifts(100, 3), far_shifts(3, 4)
    ([10, 50, 90], [1, 1, 2, 2])
    """
    shifts = np.linspace(MIN_SEPARATION * count, (1 - MIN_SEPARATION) * count, product).round().astype(int)
    return shifts.clip(1, count - 1).tolist()


def _train_critic(
    train: _PairSampler,
    valid: _PairSampler,
    test: _PairSampler,
    symbols: int,
    critic: Critic,
    seed: list[int],
    stage: Stage,
) -> float:
    """The bound on the test pairs of the critic with the highest bound on the validation pairs."""
    random = np.random.default_rng(seed)
    # The caller's random state is restored afterwards.
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(int(random.integers(2**62)))
        network = _CriticNetwork(symbols, critic)
        optimizer = torch.optim.Adam(network.parameters(), lr=critic.learning_rate)
        validation = valid.draw(critic.pairs, random)
        best, state, missed = -float("inf"), copy.deepcopy(network.state_dict()), 0
        for update in range(1, critic.updates + 1):
            joint, product = network.scores(*train.draw(critic.batch, random), critic.product)
            optimizer.zero_grad()
            (-softplus_proxy(joint, product)).backward()
            optimizer.step()
            stage.advance()
            if update % critic.look:
                continue
            # With few product pairs the bound is biased upwards, hence ten times as many as in training.
            bound = network.bound(validation, 10 * critic.product)
            missed = 0 if bound > best else missed + 1
            if bound > best:
                best, state = bound, copy.deepcopy(network.state_dict())
            if missed == critic.patience:
                stage.advance(critic.updates - update)
                break
        network.load_state_dict(state)
        return network.bound(test.draw(critic.pairs, random), 10 * critic.product)


def _folds(texts: Sequence[Text], span: int, folds: int) -> list[NDArray[np.int64]]:
    """The starting points of pairs, in contiguous folds whose pairs share no symbol."""
    if folds < 3:
        raise InputError(f"{folds} folds; expected 3 or more: for training, validation and testing")
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    ends = np.cumsum(lengths)
    starts = np.concatenate(
        [np.arange(end - length, end - span + 1) for end, length in zip(ends, lengths, strict=True) if length >= span]
        or [np.zeros(0, dtype=np.int64)]
    )
    parts = np.array_split(starts, folds)
    for fold in range(folds - 1):
        # Drop starting points whose second segment reaches into the next fold.
        if len(parts[fold + 1]):
            parts[fold] = parts[fold][parts[fold] + span <= parts[fold + 1][0]]
    pairs = min(_disjoint_pairs(part, span) for part in parts)
    if pairs < MIN_PAIRS:
        raise InputError(
            f"one of {folds} folds has room for {pairs} non-overlapping pairs of segments, of {span:,} symbols each; "
            f"expected {MIN_PAIRS} or more; use texts of {folds * (MIN_PAIRS + 1) * span:,} symbols in total, "
            "or shorter segments"
        )
    return parts


def _disjoint_pairs(starts: NDArray[np.int64], span: int) -> int:
    """How many of these starting points can be chosen at least `span` apart."""
    runs = np.split(starts, np.flatnonzero(np.diff(starts) > 1) + 1)
    return sum(-(-len(run) // span) for run in runs)
