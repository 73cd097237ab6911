"""The section of `predict`: how long signals last, which side of the edge of chaos, what to set."""

from __future__ import annotations

from memspan.figures.prediction_words import SIMULATED, steps_words
from memspan.report.illustration import illustrations
from memspan.report.prediction_rows import attention_rows, field_rows, linear_rows
from memspan.report.prediction_tables import (
    branch_tables,
    distance_tables,
    lag_tables,
    settings_table,
    wanted_tables,
)
from memspan.report.section import MEANING, Section, Table
from memspan.report.sentences import sentence
from memspan.results import AnyPrediction, AttentionPrediction, LinearPrediction, Prediction


def section(result: AnyPrediction, *, bits: bool = False) -> Section:
    """One network, whichever kind it is."""
    match result:
        case Prediction():
            return _field(result)
        case LinearPrediction():
            return _linear(result, bits)
        case AttentionPrediction():
            return _attention(result)


def _field(result: Prediction) -> Section:
    captions = {drawing.name: drawing.caption for drawing in (*result.figures, *result.maps)}
    return Section(
        title=f"How long signals last in a random {result.cell}",
        answer=sentence(result),
        explanation=_explanation(result),
        table=Table("What was found", MEANING, field_rows(result), stacked=True),
        figures=illustrations(result, captions),
        details=(*wanted_tables(result), *branch_tables(result), settings_table(result.settings)),
        notes=result.notes,
    )


def _explanation(result: Prediction) -> tuple[str, ...]:
    if result.cell in SIMULATED:
        origin = (
            "There is no closed theory of this cell, so its numbers are simulated: many wide networks with "
            "random weights, drawn anew at every step, are run before any training."
        )
    else:
        origin = (
            "This is a theory of wide networks with random weights before any training. It is exact for very "
            "many units if the weights are drawn anew at every step; the usual networks, which keep theirs, "
            "are expected to come close. What training makes of them it does not say."
        )
    return (
        origin,
        "It follows two copies of the network and asks what becomes of a difference between them, as their "
        "correlation shows it: that is how long something seen stays in the state. chi is the factor by which "
        "the difference changes per step, and the timescale, -1 / log chi, is the number of steps in which it "
        "falls to 37 %.",
        "chi_1 is that factor for two nearly equal states under the same inputs. Below 1 they merge, and the "
        "network is ordered: it forgets. Above 1 they part, and it is chaotic: what it holds is drowned by its "
        "own noise. In between, at the edge of chaos, signals and gradients last longest.",
    )


def _linear(result: LinearPrediction, bits: bool) -> Section:
    start = (
        "A linear network that generates its own inputs makes Gaussian sequences, so the information between "
        "two of its outputs is known exactly: no data, no estimate."
    )
    tail = (
        "Far apart it falls exponentially: by the factor e in every correlation length. Nearer, where data "
        "can show it, it may fall faster or more slowly."
    )
    lasting = (
        "A network whose spectral radius is 1 or more never settles: there is no stationary information, and "
        "what is shown starts from h = 0."
    )
    return Section(
        title="What a linear network remembers",
        answer=sentence(result, bits=bits),
        explanation=(start, tail if result.stationary else lasting),
        table=Table("What was found", MEANING, linear_rows(result, bits=bits), stacked=True),
        figures=illustrations(result, {chart.name: chart.caption for chart in result.figures}, bits=bits),
        details=(settings_table(result.settings), *lag_tables(result, bits=bits)),
        notes=result.notes,
    )


def _attention(result: AttentionPrediction) -> Section:
    farthest = steps_words(int(result.distances[-1])) if result.distances.size else "many steps"
    return Section(
        title="How gradients survive with attention",
        answer=sentence(result),
        explanation=(
            "Without attention a gradient is multiplied by the same eigenvalue at every step, so it falls "
            "exponentially. Attention over all past states with equal weights opens a shortcut from every "
            f"step to every later one, and the gradient follows a power of the distance T, here up to {farthest}.",
            "The exponent is Re(lambda / (1 - lambda)) - 1 for the eigenvalue lambda of a linear recurrence; "
            "the source prints Re(lambda) - 1, which does not agree with the recursion it starts from.",
        ),
        table=Table("What was found", MEANING, attention_rows(result), stacked=True),
        figures=illustrations(result, {chart.name: chart.caption for chart in result.figures}),
        details=(settings_table(result.settings), *distance_tables(result)),
        notes=result.notes,
    )
