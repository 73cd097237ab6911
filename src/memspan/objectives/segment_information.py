"""How much two segments of a text tell of each other, by a critic that has nothing to do with who wrote it."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import t as student
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.objectives.bounds import donsker_varadhan, softplus_proxy
from memspan.objectives.discriminator import Discriminator
from memspan.objectives.segments import LENGTH
from memspan.progress import SILENT, Progress, Stage
from memspan.results import SegmentInformation

Text = NDArray[np.integer]

GAP, FOLDS = 10, 10
"""Symbols between two segments, and parts of which each is tested on once.  Cao and Xu 2020, Table 2."""
FAR = 0.1
"""Share of a stretch of the text that lies between segments that should have nothing to do with each other, at the least."""
ROOM = 20
"""Pairs without a symbol in common that each stretch must have room for."""
SMALL = 0.1
"""Size of the first vectors of symbols. The largest of 40 numbers of size 1 is about 2, whatever the segment; products of
such numbers soon leave no unit of the discriminator alive."""


@final
@dataclass(frozen=True, kw_only=True)
class Critic:
    """What the critic is and how it learns. It is small, so that it finds what is plain to see."""

    width: int = 64
    """Numbers that stand for a symbol."""
    hidden: int = 64
    """Units of the discriminator."""
    highest: float = 5.0
    """Within which its scores are kept, T = 5 tanh(D / 5), so that no single pair decides the bound: e^5 is 148."""
    dropout: float = 0.5
    learning_rate: float = 3e-3
    batch: int = 128
    """Pairs of an update."""
    product: int = 4
    """Pairs that do not belong together for each that does, in learning; in judging ten times as many."""
    updates: int = 2_000
    """At the most."""
    look: int = 100
    """Updates from one look at the validation pairs to the next."""
    patience: int = 6
    """Looks without a better bound after which it ends."""
    pairs: int = 2_000
    """On which it is validated, and on which it is tested."""

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
    name: str = "what segments tell of each other",
    progress: Progress = SILENT,
) -> SegmentInformation:
    """What segments of `length` symbols tell of the one `gap` symbols later.  Cao and Xu 2020, section 5.2 and Table 2.

    Texts are documents of numbers below `symbols`; no pair crosses from one to the next. Places where pairs begin are cut
    into `folds` stretches. A critic learns from all but two of them by the softplus proxy, ends where the Donsker-Varadhan
    bound of the next to last is highest, and what it tells of the last counts; each stretch is the last one once. Segments
    that have nothing to do with each other are taken from places far apart in a stretch: from two documents, where these
    are shorter than a tenth of it. `progress` calls it `name`, and counts updates, fewer where a critic ends early.
    """
    span = 2 * length + gap
    stretches = _stretches(texts, span, folds)
    whole = torch.from_numpy(np.concatenate([np.asarray(text, dtype=np.int64) for text in texts]))
    if int(whole.min()) < 0 or int(whole.max()) >= symbols:
        raise InputError(
            f"texts hold symbols from {int(whole.min())} to {int(whole.max())}; expected 0 to {symbols - 1}"
        )
    found = []
    with progress.stage(name, folds * critic.updates) as stage:
        for fold in range(folds):
            held = {fold, (fold + 1) % folds}
            learnt = np.concatenate([stretch for place, stretch in enumerate(stretches) if place not in held])
            parts = (learnt, stretches[(fold + 1) % folds], stretches[fold])
            pairs = [_Pairs(whole, part, length, gap) for part in parts]
            stage.tell(f"fold {fold + 1} of {folds}")
            found.append(_learnt(pairs[0], pairs[1], pairs[2], symbols, critic, [seed, fold], stage))
    return _summary(found)


@final
class _Network(nn.Module):
    """Scores of pairs of segments, by the mean and the largest of the vectors that stand for their symbols."""

    def __init__(self, symbols: int, critic: Critic) -> None:
        super().__init__()
        self.highest = critic.highest
        self.embedding = nn.Embedding(symbols, critic.width)
        nn.init.normal_(self.embedding.weight, std=SMALL)
        self.discriminator = Discriminator(
            2 * critic.width, critic.hidden, input_dropout=critic.dropout, hidden_dropout=critic.dropout
        )

    def forward(self, segments: Tensor) -> Tensor:
        """Vectors (batch, features) of segments (batch, length)."""
        vectors = self.embedding(segments)
        return torch.cat([vectors.mean(dim=1), vectors.amax(dim=1)], dim=1)

    def scores(self, first: Tensor, second: Tensor, product: int) -> tuple[Tensor, Tensor]:
        """Of each pair as it is, and of the first with the second of so many pairs from places far away.

        Pairs come in the order of the text.
        """
        a, b = self(first), self(second)
        others = [self._score(a, b.roll(shift, dims=0)) for shift in far_shifts(len(b), product)]
        return self._score(a, b), torch.cat(others)

    def _score(self, a: Tensor, b: Tensor) -> Tensor:
        return self.highest * (self.discriminator(a, b) / self.highest).tanh()


@final
@dataclass(frozen=True)
class _Pairs:
    """Segments of one part of the text."""

    text: Tensor
    starts: NDArray[np.int64]
    length: int
    gap: int

    def draw(self, count: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Segments (count, length) at random places in order, and those that come a gap after each."""
        starts = torch.from_numpy(np.sort(random.choice(self.starts, count)))
        places = starts.unsqueeze(1) + torch.arange(self.length)
        return self.text[places], self.text[places + self.length + self.gap]


def far_shifts(count: int, product: int) -> list[int]:
    """By how many places to turn `count` segments that stand in order, so that each meets one from far away.

    >>> far_shifts(100, 3), far_shifts(3, 4)
    ([10, 50, 90], [1, 1, 2, 2])
    """
    shifts = np.linspace(FAR * count, (1 - FAR) * count, product).round().astype(int)
    return shifts.clip(1, count - 1).tolist()


def _learnt(
    train: _Pairs,
    valid: _Pairs,
    test: _Pairs,
    symbols: int,
    critic: Critic,
    seed: list[int],
    stage: Stage,
) -> float:
    """The bound on the test pairs of the critic that was best on the validation pairs."""
    random = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(int(random.integers(2**62)))
        network = _Network(symbols, critic)
        optimizer = torch.optim.Adam(network.parameters(), lr=critic.learning_rate)
        watched = valid.draw(critic.pairs, random)
        best, state, missed = -float("inf"), copy.deepcopy(network.state_dict()), 0
        for update in range(1, critic.updates + 1):
            joint, product = network.scores(*train.draw(critic.batch, random), critic.product)
            optimizer.zero_grad()
            (-softplus_proxy(joint, product)).backward()
            optimizer.step()
            stage.advance()
            if update % critic.look:
                continue
            bound = _bound(network, watched, critic)
            missed = 0 if bound > best else missed + 1
            if bound > best:
                best, state = bound, copy.deepcopy(network.state_dict())
            if missed == critic.patience:
                stage.advance(critic.updates - update)
                break
        network.load_state_dict(state)
        return _bound(network, test.draw(critic.pairs, random), critic)


def _bound(network: _Network, pairs: tuple[Tensor, Tensor], critic: Critic) -> float:
    network.eval()
    with torch.no_grad():
        bound = float(donsker_varadhan(*network.scores(*pairs, 10 * critic.product)))
    network.train()
    return bound


def _stretches(texts: Sequence[Text], span: int, folds: int) -> list[NDArray[np.int64]]:
    """Where pairs may begin, in `folds` stretches whose pairs have no symbol in common."""
    if folds < 3:
        raise InputError(f"{folds} folds; expected 3 or more: to learn from, to validate on and to test on")
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    ends = np.cumsum(lengths)
    starts = np.concatenate(
        [
            np.arange(end - length, end - span + 1)
            for end, length in zip(ends, lengths, strict=True)
            if length >= span
        ]
        or [np.zeros(0, dtype=np.int64)]
    )
    parts = np.array_split(starts, folds)
    for place in range(folds - 1):
        if len(parts[place + 1]):
            parts[place] = parts[place][parts[place] + span <= parts[place + 1][0]]
    room = min(_without_overlap(part, span) for part in parts)
    if room < ROOM:
        raise InputError(
            f"one of {folds} folds has room for {room} pairs of segments that share no symbol, of {span:,} symbols each; "
            f"expected {ROOM} or more; give texts of {folds * (ROOM + 1) * span:,} symbols together, or shorter segments"
        )
    return parts


def _without_overlap(starts: NDArray[np.int64], span: int) -> int:
    """How many of these places can be chosen at least `span` apart."""
    runs = np.split(starts, np.flatnonzero(np.diff(starts) > 1) + 1)
    return sum(-(-len(run) // span) for run in runs)


def _summary(found: list[float]) -> SegmentInformation:
    values = np.array(found)
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = error * float(student.ppf(0.975, len(values) - 1))
    return SegmentInformation(mean, (mean - reach, mean + reach), tuple(found))
