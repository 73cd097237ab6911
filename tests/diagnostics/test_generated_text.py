"""Reverse perplexity of samples from a known source, against the source's entropy rate."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from memspan.diagnostics.generated_text import PlainModel, reverse_perplexity
from memspan.errors import InputError
from memspan.tasks import CharacterText

STAY = 0.9
RATE = -(STAY * math.log(STAY) + (1 - STAY) * math.log((1 - STAY) / 3))
"""Nats per symbol of a chain of four letters that stays where it is nine times in ten, else goes anywhere else."""
PLAIN = PlainModel(hidden=12, dropout=0.0, batch=8, steps=12, passes=3, learning_rate=0.03)


def chain(length: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    steps = np.where(random.random(length) < STAY, 0, random.integers(1, 4, length))
    return np.cumsum(steps) % 4


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> CharacterText:
    folder: Path = tmp_path_factory.mktemp("chain")
    for seed, split in enumerate(("train", "valid", "test")):
        text = "".join("abcd"[number] for number in chain(3_000, seed))
        (folder / f"{split}.txt").write_text(f"{text}\n")
    return CharacterText(data=str(folder), steps=20)


def written(task: CharacterText, numbers: np.ndarray) -> np.ndarray:
    """In numbers of the task's vocabulary, twelve texts."""
    names = task.vocabulary.numbers
    return np.array([names[letter] for letter in "abcd"])[numbers].reshape(12, -1)


def test_it_is_the_entropy_rate_where_the_network_writes_as_the_text_is(task):
    found = reverse_perplexity(written(task, chain(12_000, 7)), task, seed=0, plain=PLAIN)
    assert found.test_loss == pytest.approx(RATE, rel=0.1)
    assert found.valid_loss == pytest.approx(RATE, rel=0.1)
    assert found.written_loss == pytest.approx(RATE, rel=0.1)
    assert found.test_perplexity == pytest.approx(math.exp(found.test_loss))
    assert (found.symbols, found.updates) == (12_000, 3 * math.ceil(9_999 // 8 / 12))
    assert 0 < found.best_update <= found.updates


def test_letters_in_any_order_teach_their_frequencies_only(task):
    mixed = np.random.default_rng(0).permutation(chain(12_000, 7))
    found = reverse_perplexity(written(task, mixed), task, seed=0, plain=PLAIN)
    assert found.test_loss == pytest.approx(math.log(4), rel=0.05)


def test_a_network_that_always_says_the_same_is_a_poor_teacher_however_sure_it_is(task):
    found = reverse_perplexity(written(task, np.zeros(12_000, int)), task, seed=0, plain=PLAIN)
    assert found.written_loss < 0.1
    assert found.test_loss > math.log(4)


def test_a_seed_gives_the_same_numbers(task):
    text = written(task, chain(1_200, 7))
    small = PlainModel(hidden=4, batch=4, steps=8, passes=1)
    one, again, other = (reverse_perplexity(text, task, seed=seed, plain=small) for seed in (0, 0, 1))
    assert one == again
    assert one.test_loss != other.test_loss


def test_too_little_text_is_rejected(task):
    with pytest.raises(
        InputError, match=r"1,200 generated symbols are too few .* expected 7,010 or more; use a larger"
    ):
        reverse_perplexity(written(task, chain(1_200, 7)), task, seed=0)
