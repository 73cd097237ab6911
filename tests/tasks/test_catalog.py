"""The catalog of tasks: facts without PyTorch, classes on first use, and a new task by one class and one entry."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import final

import pytest
import torch

import memspan.tasks
from memspan.errors import InputError
from memspan.tasks import (
    CATALOG,
    TASKS,
    Adding,
    Batch,
    BinarySequences,
    CharacterText,
    Copy,
    NoisyDigits,
    PermutedDigits,
    SequentialDigits,
    Task,
    WordText,
)
from memspan.tasks.catalog import TaskFacts
from memspan.training.supervised.config import from_json


def test_the_words_are_those_of_the_command_line_in_its_order() -> None:
    assert list(TASKS) == [
        *("copy", "denoise", "adding", "noisy-digits", "digits", "permuted-digits", "binary"),
        *("characters", "words"),
    ]
    assert list(CATALOG) == [*TASKS, "gridworld"]
    assert len(TASKS) == 9
    assert "gridworld" not in TASKS
    with pytest.raises(KeyError):
        TASKS["gridworld"]


@pytest.mark.parametrize("word", CATALOG)
def test_every_entry_is_complete(word: str) -> None:
    facts = CATALOG[word]
    assert facts.word == word
    assert facts.description == facts.description.strip(" .\n")
    assert "\n" not in facts.description
    assert facts.explanation.endswith(".")
    assert facts.answers
    if facts.implementation is not None:
        assert TASKS[word].facts is facts
        assert getattr(memspan.tasks, facts.location[1]) is TASKS[word]
        assert facts.location[1] in dir(memspan.tasks)


def test_text_and_generation_are_stated_as_the_classes_have_them() -> None:
    assert [word for word in TASKS if CATALOG[word].is_text] == ["characters", "words"]
    assert [word for word in TASKS if CATALOG[word].generates] == ["binary", "characters", "words"]
    for word in set(TASKS) - {"characters", "words"}:
        assert (TASKS[word]().vocabulary is not None) == CATALOG[word].generates


def test_the_catalog_loads_neither_torch_nor_numpy() -> None:
    code = "import sys; from memspan.tasks.catalog import CATALOG; print({'torch', 'numpy'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'memspan\.tasks' has no attribute 'Horizon'"):
        _ = memspan.tasks.Horizon  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("task", "option", "memory", "window"),
    [
        (Copy(delay=7), "delay", 7, 7),
        (Adding(length=11), "length", 11, 11),
        (NoisyDigits(delay=3), "delay", 3, 3),
        (SequentialDigits(data="mnist"), None, 784, 784),
        (PermutedDigits(data="digits", steps=16), None, 16, 16),
        (BinarySequences(length=20), "length", 20, 20),
        (CharacterText(), None, None, 100),
        (WordText(steps=9), None, None, 9),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Task) else None,
)
def test_a_task_knows_how_far_back_it_must_remember(
    task: Task, option: str | None, memory: int | None, window: int
) -> None:
    assert type(task).delay_option() == option
    assert task.delay_value == (None if option is None else memory)
    assert task.required_memory == memory
    assert task.window == window
    if option is not None:
        assert task.with_delay(5).required_memory == 5


def test_the_delay_of_a_text_is_a_window_without_a_carried_state() -> None:
    assert CharacterText(data="python").with_delay(40) == CharacterText(data="python", steps=40, carry=False)


def test_a_task_whose_data_set_the_length_has_no_delay() -> None:
    with pytest.raises(InputError, match=r"--delay 5: the task digits has no delay, its data .*; omit --delay"):
        SequentialDigits().with_delay(5)


@final
@dataclass(frozen=True, kw_only=True)
class Echo(Task):
    """The first symbol, at the last step."""

    facts = TaskFacts(
        word="echo",
        implementation=f"{__name__}:Echo",
        description="repeat the first symbol",
        explanation="The first symbol is asked for at the end.",
    )
    delay: int = 5

    @property
    def symbols(self) -> int:
        return 2

    @property
    def classes(self) -> int:
        return 2

    @property
    def chance(self) -> float:
        return 0.5

    @property
    def baseline(self) -> float:
        return 0.7

    def batch(self, index: int, size: int, *, seed: int, split: str = "train", device="cpu") -> Batch:
        inputs = torch.zeros(self.delay + 1, size, dtype=torch.int64)
        return Batch(inputs, inputs[:1], torch.ones(1, size))


def test_a_new_task_is_one_class_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOG, "echo", Echo.facts)
    assert TASKS["echo"] is Echo
    config = from_json({"task": {"name": "echo", "delay": 9}})
    assert config.task == Echo(delay=9)
    assert config.task.required_memory == 9
    with pytest.raises(InputError, match="echo"):
        from_json({"task": {"name": "ecco"}})
