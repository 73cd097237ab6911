"""The section of `train`: what is remembered after training, and how it was learnt."""

from __future__ import annotations

from memspan.figures.second_goal import CAPTION as BOUND
from memspan.figures.training import CAPTION, CAPTION_WITHOUT, has_accuracy
from memspan.report.illustration import illustrations
from memspan.report.section import MEANING, Section, Table
from memspan.report.sentences import sentence
from memspan.report.training_rows import config_tables, training_rows
from memspan.report.training_sentences import training_notes
from memspan.results import TrainingRun

TASKS = {
    "copy": (
        "Ten symbols are shown, then nothing for the delay, then a marker; after it the ten symbols are to be written in "
        "their order. Nothing but memory helps."
    ),
    "denoise": (
        "Ten symbols are shown at random places among blanks; after a marker they are to be written in their order. The "
        "network must tell what is worth remembering, and remember it."
    ),
    "adding": (
        "Among many numbers two are marked; at the end their sum is asked for. An answer counts as right if it is within "
        "0.04 of it."
    ),
    "noisy-digits": (
        "The image of a digit is shown in one step, then noise for the delay; at the end the digit is asked for."
    ),
    "digits": "The image of a digit is read a few pixels at a time; at the end the digit is asked for.",
    "permuted-digits": (
        "The image of a digit is read a few pixels at a time, in one disorder for all images; at the end the digit is "
        "asked for."
    ),
    "binary": (
        "Sequences of two symbols in which the information about a symbol falls with a power of the distance: at every step "
        "the next one is to be told, and the farther one looks back, the better it can be."
    ),
    "characters": (
        "Every character of a text is to be foretold from those before it. The loss is told in bits per character: how many "
        "yes-or-no questions are left open by a good guesser."
    ),
    "words": (
        "Every word of a text is to be foretold from those before it. The loss is told as perplexity: among how many "
        "equally likely words the network is left to guess."
    ),
}
"""What must be remembered, in plain words."""


def section(run: TrainingRun) -> Section:
    """One training."""
    captions = {"training": CAPTION if has_accuracy(run) else CAPTION_WITHOUT, "bound": BOUND}
    return Section(
        title=f"Training {run.cell} on {run.task}",
        answer=sentence(run),
        explanation=(
            TASKS.get(run.task, f"The task is {run.task}."),
            "The weights were changed step by step so that the loss falls. From time to time the network was tried on "
            "sequences kept apart for validation; the weights that did best there were kept, and were then judged on "
            "test sequences, which neither training nor validation had seen.",
        ),
        table=Table("What was found", MEANING, training_rows(run), stacked=True),
        figures=illustrations(run, captions),
        details=config_tables(run.config),
        notes=training_notes(run),
    )
