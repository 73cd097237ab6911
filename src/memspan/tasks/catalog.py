"""The tasks by name, with the facts that help texts, tables and reports need. Importing it does not load PyTorch.

>>> CATALOG["copy"].answers, CATALOG["characters"].loss_unit
('recalled symbols', 'bits per character')
>>> TASKS["copy"].__name__
'Copy'
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

if TYPE_CHECKING:
    from memspan.tasks.task import Task

LossUnit = Literal["nats", "bits per character", "perplexity", "squared error"]


@final
@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """What is known about a task before it is loaded."""

    word: str
    """Its name on the command line and in configuration files."""
    implementation: str | None
    """`module:Class`; None for a task with a learner of its own instead of batches."""
    description: str
    """One phrase, for help texts."""
    explanation: str
    """One to three sentences, for reports."""
    answers: str = "answers"
    """What an accuracy counts; `accuracy` is reported as a share of these."""
    loss_unit: LossUnit = "nats"
    """The unit in which a loss is shown. Stored losses are always nats, or squared errors."""
    is_text: bool = False
    """Whether a corpus is read, in which case the loss is the measure and no accuracy is reported."""
    generates: bool = False
    """Whether a trained model predicts its own next input, so that sequences can be sampled from it."""

    @property
    def location(self) -> tuple[str, str]:
        """Module and class name of the implementation."""
        module, _, name = (self.implementation or "").partition(":")
        return module, name


_DIGIT_READING = "at the end the model must name the digit."

CATALOG: dict[str, TaskFacts] = {
    facts.word: facts
    for facts in (
        TaskFacts(
            word="copy",
            implementation="memspan.tasks.synthetic:Copy",
            description="recall ten symbols after a delay",
            explanation="Ten symbols are shown, followed by blanks for the delay and a marker. After the marker the "
            "model must output the ten symbols in order. Only memory helps.",
            answers="recalled symbols",
        ),
        TaskFacts(
            word="denoise",
            implementation="memspan.tasks.synthetic:Denoise",
            description="recall ten symbols scattered among blanks",
            explanation="Ten symbols appear at random positions among blanks. After a marker the model must output "
            "them in order. It has to decide what to store and then keep it.",
            answers="recalled symbols",
        ),
        TaskFacts(
            word="adding",
            implementation="memspan.tasks.synthetic:Adding",
            description="add the two marked numbers of a long list",
            explanation="Two numbers of a long list are marked, and the model must output their sum at the end. An "
            "answer within 0.04 of the sum counts as correct.",
            answers="sums",
            loss_unit="squared error",
        ),
        TaskFacts(
            word="noisy-digits",
            implementation="memspan.tasks.digits:NoisyDigits",
            description="classify a digit shown before a delay of noise",
            explanation="The image of a digit is shown in one step, followed by noise for the delay; " + _DIGIT_READING,
            answers="digits",
        ),
        TaskFacts(
            word="digits",
            implementation="memspan.tasks.digits:SequentialDigits",
            description="classify a digit read pixel by pixel",
            explanation="The image of a digit is read a few pixels at a time; " + _DIGIT_READING,
            answers="digits",
        ),
        TaskFacts(
            word="permuted-digits",
            implementation="memspan.tasks.digits:PermutedDigits",
            description="classify a digit read pixel by pixel in a fixed random order",
            explanation="The image of a digit is read a few pixels at a time, in one random order for all images; "
            + _DIGIT_READING,
            answers="digits",
        ),
        TaskFacts(
            word="binary",
            implementation="memspan.tasks.synthetic:BinarySequences",
            description="predict binary sequences with power-law mutual information",
            explanation="In these binary sequences the mutual information between two symbols falls as a power of "
            "their lag. The model predicts the next symbol at every step, and a longer context improves predictions.",
            answers="next symbols",
            generates=True,
        ),
        TaskFacts(
            word="characters",
            implementation="memspan.tasks.text:CharacterText",
            description="predict the next character of a text",
            explanation="The model predicts every character of a text from the preceding ones. The loss is given in "
            "bits per character: the average number of yes-or-no questions that its prediction leaves open.",
            loss_unit="bits per character",
            is_text=True,
            generates=True,
        ),
        TaskFacts(
            word="words",
            implementation="memspan.tasks.text:WordText",
            description="predict the next word of a text",
            explanation="The model predicts every word of a text from the preceding ones. The loss is given as "
            "perplexity: the number of equally likely words among which its prediction leaves the choice.",
            loss_unit="perplexity",
            is_text=True,
            generates=True,
        ),
        TaskFacts(
            word="gridworld",
            implementation=None,
            description="act in a partially observed grid world",
            explanation="An agent sees only the cells in front of it and is rewarded when it completes its mission.",
            answers="return",
        ),
    )
}
"""Every task of the command line, in the order of help texts."""
USER_DEFINED = TaskFacts(
    word="task", implementation=None, description="a user-defined task", explanation="A user-defined task."
)


def facts_of(word: str) -> TaskFacts:
    """The facts of a task by its word; those of a user-defined task if the word is not in the catalog.

    >>> facts_of("words").is_text, facts_of("my task").answers
    (True, 'answers')
    """
    return CATALOG.get(word, USER_DEFINED)


@final
class _TaskTable(Mapping[str, "type[Task]"]):
    """The classes of `CATALOG` by word, each imported on first use."""

    def __getitem__(self, word: str) -> type[Task]:
        facts = CATALOG[word]
        if facts.implementation is None:
            raise KeyError(word)
        module, name = facts.location
        return getattr(importlib.import_module(module), name)

    def __iter__(self) -> Iterator[str]:
        return (word for word, facts in CATALOG.items() if facts.implementation is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


TASKS: Mapping[str, type[Task]] = _TaskTable()
"""The tasks that are trained on batches, by word."""
