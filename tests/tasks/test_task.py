"""The contract of every task, and epochs through finite data sets."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.tasks import (
    TASKS,
    Adding,
    BinarySequences,
    CharacterText,
    Copy,
    Denoise,
    NoisyDigits,
    PermutedDigits,
    SequentialDigits,
    Task,
    WordText,
)
from memspan.tasks.task import SPLITS, Split, batches_per_epoch, epoch_batch
from memspan.tasks.text import TextTask

SMALL: dict[str, Task] = {
    "copy": Copy(delay=7),
    "denoise": Denoise(delay=7),
    "adding": Adding(length=11),
    "noisy-digits": NoisyDigits(delay=3, data="digits"),
    "digits": SequentialDigits(steps=16, data="digits"),
    "permuted-digits": PermutedDigits(data="digits"),
    "binary": BinarySequences(length=20, sequences=100),
    "characters": CharacterText(data="python", steps=10, carry=False),
    "words": WordText(data="python", steps=5, most=500, carry=False),
}
SIZE = 20


@pytest.fixture(params=SMALL)
def task(request: pytest.FixtureRequest) -> Task:
    return SMALL[request.param]


def logits_of(task: Task, right: torch.Tensor) -> torch.Tensor:
    """Answers that could not be better."""
    if task.classes == 1:
        return right[..., None]
    return 50.0 * torch.nn.functional.one_hot(right, task.classes).float()


def test_every_word_is_tried_here() -> None:
    assert list(SMALL) == list(TASKS)
    assert all(type(task) is TASKS[word] for word, task in SMALL.items())


@pytest.mark.parametrize("word", TASKS)
def test_every_task_is_a_frozen_dataclass_with_documented_defaults(word: str) -> None:
    kind = TASKS[word]
    task = kind()
    options = dataclasses.fields(kind)  # pyright: ignore[reportArgumentType]
    assert options
    assert all(option.init and option.kw_only for option in options)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(task, options[0].name, 1)
    assert hash(task) == hash(kind())
    assert kind.__doc__ is not None
    assert "inputs   " in kind.__doc__ or "values   " in kind.__doc__, "the docstring draws the sequence"


@pytest.mark.parametrize("split", SPLITS)
def test_batches_have_the_stated_shapes_and_types(task: Task, split: Split) -> None:
    inputs, targets, weights, _ = task.batch(3, SIZE, seed=1, split=split)
    assert inputs.shape[1] == targets.shape[1] == SIZE
    assert weights.shape == targets.shape
    assert weights.dtype == torch.float32
    assert len(targets) <= len(inputs)
    if task.symbols is None:
        assert inputs.shape[2:] == (task.features,)
        assert inputs.dtype == torch.float32
        assert bool(inputs.isfinite().all())
    else:
        assert task.features == task.symbols
        assert inputs.shape[2:] == ()
        assert inputs.dtype == torch.int64
        assert 0 <= int(inputs.min()) <= int(inputs.max()) < task.symbols
    if task.classes == 1:
        assert targets.dtype == torch.float32
    else:
        assert targets.dtype == torch.int64
        assert 0 <= int(targets.min()) <= int(targets.max()) < task.classes


def test_the_same_arguments_give_the_same_batch(task: Task) -> None:
    for first, again in zip(task.batch(5, SIZE, seed=2), task.batch(5, SIZE, seed=2), strict=True):
        if first is None or again is None:
            assert first is again
        else:
            assert torch.equal(first, again)


def test_other_indices_seeds_and_splits_give_other_batches(task: Task) -> None:
    inputs = task.batch(1, SIZE, seed=2).inputs
    assert not torch.equal(inputs, task.batch(2, SIZE, seed=2).inputs)
    assert not torch.equal(inputs, task.batch(1, SIZE, seed=3).inputs)
    valid, test = (task.batch(1, SIZE, seed=2, split=split).inputs for split in ("valid", "test"))
    assert not torch.equal(inputs, valid)
    assert not torch.equal(inputs, test)
    assert not torch.equal(valid, test)


def test_batches_leave_global_random_numbers_alone(task: Task) -> None:
    before = torch.random.get_rng_state()
    task.batch(0, SIZE, seed=0)
    assert torch.equal(before, torch.random.get_rng_state())


def test_columns_are_some_of_the_sequences(task: Task) -> None:
    batch = task.batch(0, SIZE, seed=0)
    part = batch.columns(slice(5, 10))
    assert torch.equal(part.inputs, batch.inputs[:, 5:10])
    assert torch.equal(part.targets, batch.targets[:, 5:10])
    assert part.weights.shape == part.targets.shape


def test_answers_without_preference_cost_the_logarithm_of_the_classes(task: Task) -> None:
    batch = task.batch(0, SIZE, seed=0)
    loss = task.loss(torch.zeros(*batch.targets.shape, task.classes), batch)
    expected = math.log(task.classes) if task.classes > 1 else float((batch.targets**2).mean())
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_perfect_answers_cost_nothing_and_are_all_right(task: Task) -> None:
    batch = task.batch(0, SIZE, seed=0)
    logits = logits_of(task, batch.targets)
    assert float(task.loss(logits, batch)) == pytest.approx(0.0, abs=1e-6)
    assert task.measures(logits, batch) == ({} if isinstance(task, TextTask) else {"accuracy": 1.0})


def test_what_has_no_weight_does_not_count(task: Task) -> None:
    batch = task.batch(0, SIZE, seed=0)
    weights = torch.ones_like(batch.weights)
    weights[:, SIZE // 2 :] = 0
    logits = logits_of(task, batch.targets)
    logits[:, SIZE // 2 :] = -logits[:, SIZE // 2 :] - 5
    batch = batch._replace(weights=weights)
    assert float(task.loss(logits, batch)) == pytest.approx(0.0, abs=1e-6)
    assert task.measures(logits, batch) == ({} if isinstance(task, TextTask) else {"accuracy": 1.0})


def test_losses_have_gradients(task: Task) -> None:
    batch = task.batch(0, SIZE, seed=0)
    logits = torch.zeros(*batch.targets.shape, task.classes, requires_grad=True)
    task.loss(logits, batch).backward()
    assert logits.grad is not None
    assert float(logits.grad.abs().sum()) > 0


def test_chance_and_baseline_leave_room_to_learn(task: Task) -> None:
    assert 0 < task.chance <= 0.5
    assert 0 < task.baseline <= math.log(max(task.classes, 2))


def test_resolving_twice_changes_nothing(task: Task) -> None:
    assert task.resolved() == task


def test_an_unknown_split_is_rejected(task: Task) -> None:
    with pytest.raises(InputError, match="no split 'dev'; choose one of train, valid, test"):
        task.batch(0, SIZE, seed=0, split="dev")  # pyright: ignore[reportArgumentType]


def test_batches_go_to_the_device_that_is_asked_for(task: Task) -> None:
    tensors = [tensor for tensor in task.batch(0, SIZE, seed=0, device="meta") if tensor is not None]
    assert len(tensors) >= 3
    assert all(tensor.device.type == "meta" for tensor in tensors)


COUNTS = [
    (Copy, "delay", 1),
    (Denoise, "delay", 1),
    (Adding, "length", 2),
    (NoisyDigits, "delay", 1),
    (SequentialDigits, "steps", 1),
    (PermutedDigits, "steps", 1),
    (PermutedDigits, "permutation_seed", 0),
    (BinarySequences, "length", 2),
    (BinarySequences, "sequences", 1),
    (CharacterText, "steps", 1),
    (WordText, "steps", 1),
    (WordText, "most", 2),
    (BinarySequences, "data_seed", 0),
]


@pytest.mark.parametrize(("kind", "name", "least"), COUNTS)
def test_options_that_must_be_whole_numbers_are_checked(kind: type[Task], name: str, least: int) -> None:
    for value in (least - 1, 2.5, "3", True):
        with pytest.raises(InputError, match=rf": {name} is .*expected a whole number of {least} or more"):
            kind(**{name: value})


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", True])
def test_options_that_must_be_positive_numbers_are_checked(value: float) -> None:
    with pytest.raises(InputError, match=r"noisy-digits: input_variance is .*; expected a finite number above 0"):
        NoisyDigits(input_variance=value)
    with pytest.raises(InputError, match=r"binary: amplitude is .*; expected a finite number above 0"):
        BinarySequences(amplitude=value)
    with pytest.raises(InputError, match=r"binary: exponent is .*; expected a finite number above 0"):
        BinarySequences(exponent=value)


SIZES: dict[Split, int] = {"train": 10, "valid": 7, "test": 5}


def members(index: int, size: int, *, seed: int = 0, split: Split = "train") -> list[int]:
    return epoch_batch(SIZES, index, size, seed=seed, split=split).members.tolist()


def test_a_training_pass_takes_no_member_twice() -> None:
    assert batches_per_epoch(SIZES, 3, "train") == 3
    for at in range(3):
        taken = [member for index in range(3) for member in members(3 * at + index, 3)]
        assert len(set(taken)) == 9
        assert set(taken) <= set(range(10))
    assert sorted(members(0, 5) + members(1, 5)) == list(range(10))


def test_every_pass_and_every_seed_has_its_own_order() -> None:
    orders = [tuple(members(at, 10, seed=seed)) for at in range(3) for seed in range(3)]
    assert len(set(orders)) == len(orders)


def test_every_member_is_left_out_equally_often() -> None:
    taken = np.zeros(10)
    for index in range(2_000):
        taken[members(index, 7)] += 1
    # Each batch is a pass of its own that leaves 3 of 10 out; five standard deviations.
    np.testing.assert_allclose(taken, 1_400, atol=5 * np.sqrt(2_000 * 0.21))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_the_weights_of_a_validation_pass_count_everything_once(size: int) -> None:
    counted = np.zeros(7)
    for index in range(batches_per_epoch(SIZES, size, "valid")):
        chosen = epoch_batch(SIZES, index, size, seed=0, split="valid")
        assert len(chosen.members) == size
        assert chosen.weights.sum() > 0
        np.add.at(counted, chosen.members, chosen.weights)
    np.testing.assert_array_equal(counted, 1)


def test_validation_passes_are_in_order_and_repeat() -> None:
    assert [members(index, 3, split="valid") for index in range(4)] == [[0, 1, 2], [3, 4, 5], [6, 0, 1], [0, 1, 2]]
    assert members(1, 3, split="valid", seed=5) == [3, 4, 5]


@pytest.mark.parametrize("size", [0, 11])
def test_a_training_batch_larger_than_the_set_is_rejected(size: int) -> None:
    with pytest.raises(InputError, match=f"a batch of {size} sequences; expected 1 to 10"):
        members(0, size)
