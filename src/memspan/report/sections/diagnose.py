"""The section of `diagnose`: what a trained network does with its past."""

from __future__ import annotations

from memspan.figures.diagnosis import diagnosis_drawings
from memspan.report.diagnosis_rows import diagnosis_rows, gradient_table
from memspan.report.illustration import illustrations
from memspan.report.section import MEANING, Section, Table
from memspan.report.sentences import sentence
from memspan.results import Diagnosis


def section(result: Diagnosis) -> Section:
    """One network under the lens."""
    return Section(
        title=f"What {result.name} does with its past",
        answer=sentence(result),
        explanation=_explanation(result),
        table=Table("What was found", MEANING, diagnosis_rows(result), stacked=True),
        figures=illustrations(
            result, {drawing.name: drawing.caption for drawing in diagnosis_drawings(result)}
        ),
        details=(gradient_table(result.gradients),),
        notes=result.notes,
    )


def _explanation(result: Diagnosis) -> tuple[str, ...]:
    whole = (
        f"A network learns from long ago only if the gradient of its loss arrives there. {_changed(result)} of every step "
        "is changed a little, in thought, and the change of the loss is the gradient's norm: the first figure shows it "
        "against how long before the end that step was."
    )
    if result.attention is not None:
        looks = (
            "This network also looks back: at every step it gives each remembered state a share of its attention. Attention "
            "is a bridge for gradients, which need not go through all the steps between."
        )
        return (whole, looks)
    if result.jacobian is not None:
        chain = (
            "In this network the past acts on the present only through the state, step by step. What a step does to a "
            "small change of the state is its Jacobian; gradients over many steps are products of Jacobians, and vanish or "
            "explode with their singular values."
        )
        return (whole, chain)
    return (whole,)


def _changed(result: Diagnosis) -> str:
    return "The state h" if result.gradients.of == "h" else "The vector x of the token"
