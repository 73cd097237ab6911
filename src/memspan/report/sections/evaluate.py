"""The section of `evaluate`: what a trained network still remembers at other delays."""

from __future__ import annotations

from memspan.figures.transfer import CAPTION
from memspan.report.illustration import illustrations
from memspan.report.section import MEANING, Section, Table
from memspan.report.sections.train import TASKS
from memspan.report.sentences import sentence
from memspan.report.training_rows import evaluation_rows, transfer_table
from memspan.report.written_rows import EXPLANATIONS, written_table
from memspan.results import Evaluation


def section(evaluation: Evaluation) -> Section:
    """One network at one or more delays."""
    explanation = (
        TASKS.get(evaluation.task, f"The task is {evaluation.task}."),
        "The weights were learnt at one delay and are not changed here. A network that has found a way to keep what it was "
        "shown does as well at longer delays; one that has only learnt to count steps, or whose memory fades, does not.",
    )
    intervals = (
        "Intervals are Wilson's at 95 %, for as many independent answers as scatter between sequences like those "
        "found: answers to one sequence go right and wrong together."
    )
    if evaluation.distance is None:
        explanation = explanation[:1]
    told = [text for name, text in EXPLANATIONS.items() if getattr(evaluation, name) is not None]
    written = written_table(evaluation)
    return Section(
        title=f"What {evaluation.cell} remembers of {evaluation.task}",
        answer=sentence(evaluation),
        explanation=(*explanation, *told),
        table=Table("Which network", MEANING, evaluation_rows(evaluation), stacked=True),
        figures=illustrations(evaluation, {"transfer": CAPTION}),
        details=(transfer_table(evaluation), *(() if written is None else (written,))),
        notes=(*evaluation.notes, intervals),
    )
