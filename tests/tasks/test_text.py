"""Text tasks: every symbol is predicted once, windows continue each other, and missing files are reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.tasks import Batch, CharacterText, WordText
from memspan.tasks.corpus import corpus_files, resolve_corpus
from memspan.tasks.task import Split
from memspan.tasks.text import TextTask, encode_corpus

TRAIN = "the cat sat on the mat\nthe dog sat on the cat\n" * 20
VALID = "the dog sat\non the mat\n"
TEST = "a cat sat on the yak\n"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for split, text in {"train": TRAIN, "valid": VALID, "test": TEST}.items():
        (tmp_path / f"{split}.txt").write_text(text)
    return str(tmp_path)


def pass_of(task: TextTask, split: Split, size: int) -> list[Batch]:
    return [task.batch(index, size, seed=0, split=split) for index in range(task.batches(split, size))]


def read_along(task: TextTask, batches: list[Batch], column: int) -> str:
    """The answers of one sequence, batch after batch."""
    numbers = [
        int(symbol)
        for batch in batches
        for symbol, weight in zip(batch.targets[:, column], batch.weights[:, column], strict=True)
        if weight
    ]
    return task.vocabulary.decode(numbers)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("steps", [4, 7, 100])
def test_validation_predicts_every_symbol_once_and_in_order(folder: str, size: int, steps: int):
    task = CharacterText(data=folder, steps=steps)
    batches = pass_of(task, "valid", size)
    assert "".join(read_along(task, batches, column) for column in range(size)) == VALID


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize("steps", [4, 7, 100])
@pytest.mark.parametrize("split", ["valid", "test"])
def test_windows_from_an_empty_state_predict_every_symbol_once_and_in_order(
    folder: str, split: Split, size: int, steps: int
):
    task = CharacterText(data=folder, steps=steps, carry=False)
    batches = pass_of(task, split, size)
    read = "".join(
        read_along(task, [batch.columns(slice(column, column + 1))], 0) for batch in batches for column in range(size)
    )
    assert read == task.text(split)
    assert all(batch.resets is not None and batch.resets[0].all() for batch in batches)
    assert len(batches) == math.ceil(math.ceil(len(read) / steps) / size)


def test_inputs_are_the_symbols_before_the_answers_and_a_line_ends_before_the_first(folder: str):
    task = CharacterText(data=folder, steps=5)
    batches = pass_of(task, "valid", 2)
    inputs = torch.cat([batch.inputs for batch in batches])
    targets = torch.cat([batch.targets for batch in batches])
    weights = torch.cat([batch.weights for batch in batches]).bool()
    assert int(inputs[0, 0]) == task.vocabulary.end
    both = weights[1:] & weights[:-1]
    assert torch.equal(inputs[1:][both], targets[:-1][both])
    assert int(inputs[0, 1]) == int(encode_corpus(task.identity).symbols["valid"][math.ceil(len(VALID) / 2) - 1])


def test_words_are_split_at_blanks_and_lines_have_an_end(folder: str):
    task = WordText(data=folder, steps=3)
    assert set(task.vocabulary.symbols) == {"the", "cat", "sat", "on", "mat", "dog", "<eos>", "<unk>"}
    assert read_along(task, pass_of(task, "valid", 1), 0) == VALID


def test_symbols_outside_the_training_text_are_unknown(folder: str):
    task = WordText(data=folder)
    assert encode_corpus(task.identity).unknown == {"train": 0, "valid": 0, "test": 2}
    assert read_along(task, pass_of(task, "test", 1), 0) == "<unk> cat sat on the <unk>\n"
    (note,) = task.notes
    assert "28.57% of the test text" in note
    assert "outside the vocabulary of 8" in note


def test_a_vocabulary_can_be_limited_to_the_most_frequent_words(folder: str):
    task = WordText(data=folder, most=3)
    assert task.vocabulary.symbols == ("the", "<eos>", "cat", "<unk>")
    assert encode_corpus(task.identity).unknown["valid"] == 4
    assert read_along(task, pass_of(task, "valid", 1), 0) == "the <unk> <unk>\n<unk> the <unk>\n"


def test_chance_and_baseline_are_those_of_the_frequencies(folder: str):
    task = WordText(data=folder)
    counts = np.array([80, 40, 40, 40, 20, 20, 40])  # the, cat, sat, on, mat, dog and line ends; per 280
    counts[1] = 40
    shares = counts / counts.sum()
    assert task.chance == pytest.approx(shares.max())
    assert task.baseline == pytest.approx(-(shares * np.log(shares)).sum())


def test_training_windows_continue_the_previous_ones_and_an_epoch_starts_again(folder: str):
    task = CharacterText(data=folder, steps=10, restart=0.0)
    first, second = (task.batch(index, 3, seed=0) for index in range(2))
    assert torch.equal(second.inputs[0], first.targets[-1])
    assert first.resets is not None
    assert first.resets[0].all()
    assert not first.resets[1:].any()
    assert second.resets is None
    again = task.batch(task.batches("train", 3), 3, seed=0)
    assert torch.equal(again.inputs, first.inputs)
    assert again.resets is not None


def test_batches_restart_with_the_given_probability(folder: str):
    task = CharacterText(data=folder, steps=1, restart=0.2)
    passes = task.batches("train", 1)
    begun = [task.batch(index, 1, seed=3).resets is not None for index in range(1, passes)]
    share = np.mean(begun)
    assert abs(share - 0.2) < 4 * math.sqrt(0.2 * 0.8 / len(begun))
    assert begun != [task.batch(index, 1, seed=4).resets is not None for index in range(1, passes)]
    kept = [task.batch(index, 1, seed=3, split="valid").resets for index in range(1, 20)]
    assert kept == [None] * 19


def test_without_carry_each_epoch_has_another_order_of_windows(folder: str):
    task = CharacterText(data=folder, steps=10, carry=False)
    number = task.batches("train", 4)
    passes = [
        sorted(
            tuple(column.tolist())
            for index in range(number)
            for column in task.batch(at * number + index, 4, seed=0).targets.T
        )
        for at in range(2)
    ]
    assert not task.stateful
    assert passes[0] == passes[1]
    assert not torch.equal(task.batch(0, 4, seed=0).targets, task.batch(number, 4, seed=0).targets)


def test_the_same_arguments_give_the_same_batch(folder: str):
    task = WordText(data=folder, steps=4)
    one, other = (task.batch(5, 3, seed=1) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))


def test_pythons_own_library_is_there_without_any_file():
    task = CharacterText(data="python")
    files = corpus_files("python").files
    assert not {*files["train"]} & {*files["valid"], *files["test"]}
    assert task.symbols > 90
    assert task.batch(0, 2, seed=0).inputs.shape == (100, 2)


@pytest.mark.parametrize("name", ["ptb.{}.txt", "wiki.{}.tokens", "my-{}-text.txt"])
def test_known_layouts_are_found(tmp_path: Path, name: str):
    for split in ("train", "valid", "test"):
        (tmp_path / name.format(split)).write_text(f" {split} it \n")
    (tmp_path / "README.rst").write_text("train valid test")
    task = CharacterText(data=str(tmp_path))
    expected = "valid it\n" if name.startswith("ptb") else " valid it \n"
    assert corpus_files(resolve_corpus(task.data)).text("valid") == expected


def test_a_missing_split_is_reported(tmp_path: Path):
    (tmp_path / "train.txt").write_text(TRAIN)
    with pytest.raises(InputError, match=r"no single validation text: none; expected one file such as valid\.txt"):
        CharacterText(data=str(tmp_path)).resolved()


def test_two_files_for_one_split_are_rejected(folder: str):
    (Path(folder) / "other.train.txt").write_text(TRAIN)
    with pytest.raises(InputError, match=r"no single training text: other\.train\.txt, train\.txt"):
        CharacterText(data=folder).resolved()


def test_an_unknown_corpus_is_rejected_with_the_nearest_name():
    with pytest.raises(InputError, match=r"there is no text and no folder 'ptbb'; did you mean ptb\?"):
        CharacterText(data="ptbb").resolved()


def test_an_empty_text_is_rejected(folder: str):
    (Path(folder) / "valid.txt").write_text("")
    with pytest.raises(InputError, match=r"the valid text of .* is empty"):
        WordText(data=folder).resolved()


@pytest.mark.parametrize("test", ["\n", "new\n"])
def test_a_text_of_one_symbol_is_rejected(folder: str, test: str):
    (Path(folder) / "train.txt").write_text("\n\n\n")
    (Path(folder) / "valid.txt").write_text("\n")
    (Path(folder) / "test.txt").write_text(test)
    with pytest.raises(InputError, match="has only one symbol"):
        CharacterText(data=folder).resolved()


def test_a_text_shorter_than_one_window_is_rejected(folder: str):
    task = CharacterText(data=folder, steps=2_000)
    with pytest.raises(InputError, match=r"has 920 characters; a batch of 3 windows of 2000 needs 6,000"):
        task.batch(0, 3, seed=0)


def test_a_file_that_is_not_utf8_is_rejected(folder: str):
    (Path(folder) / "test.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"test\.txt is not UTF-8 text"):
        CharacterText(data=folder).resolved()


@pytest.mark.parametrize("bad", [{"steps": 0}, {"restart": 1.5}])
def test_invalid_options_are_rejected(bad: dict[str, float]):
    with pytest.raises(InputError, match="characters: "):
        CharacterText(**bad)  # type: ignore[arg-type]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("task", "vocabulary", "sizes"),
    [
        (WordText(data="ptb"), 10_000, (929_589, 73_760, 82_430)),
        (WordText(data="wikitext-2"), 33_278, (2_088_628, 217_646, 245_569)),
        (CharacterText(data="ptb"), 50, (5_017_482, 393_042, 442_423)),
    ],
)
def test_published_sizes_are_met(
    realdata: Callable[[str], Path], task: TextTask, vocabulary: int, sizes: tuple[int, ...]
):
    realdata({"ptb": "ptb/ptb.train.txt", "wikitext-2": "wikitext-2/wiki.train.tokens"}[task.data])
    found = encode_corpus(task.identity)
    assert len(found.vocabulary) == vocabulary
    assert tuple(len(found.symbols[split]) for split in ("train", "valid", "test")) == sizes


@pytest.mark.parametrize("kind", [CharacterText, WordText])
def test_a_fraction_of_the_training_text_is_its_first_lines(folder: str, kind: type[CharacterText] | type[WordText]):
    whole, tenth = kind(data=folder), kind(data=folder, fraction=0.1)
    text = whole.text("train")
    assert tenth.text("train") == "the cat sat on the mat\nthe dog sat on the cat\n" * 2
    assert text.startswith(tenth.text("train"))
    assert tenth.vocabulary.symbols == whole.vocabulary.symbols
    for split in ("valid", "test"):
        assert tenth.text(split) == whole.text(split)
    with pytest.raises(InputError, match="fraction is 0; expected a number above 0, at most 1"):
        kind(data=folder, fraction=0)
