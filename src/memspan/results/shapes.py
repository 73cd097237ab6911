"""Shape checks of results read from files: arrays along the same axis must have the same length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memspan.results import (
    AgentEvaluation,
    AgentRun,
    AttentionPrediction,
    Chart,
    Comparison,
    Diagnosis,
    Evaluation,
    HeatMap,
    Line,
    LinearPrediction,
    Measurement,
    Memorization,
    Orbit,
    Prediction,
    Reproduction,
    TrainingRun,
)
from memspan.results.display import Notebook

_CURVE = ("information", "floor", "floor_sd", "corrected", "stderr", "stderr_bias", "undersampled", "pairs", "p_value")
_DIFFERENCE = ("difference", "error", "lag_p_values")


def mismatch(result: Notebook) -> str | None:
    """The first mismatch, such as `floor and lags differ in length`; None if all shapes agree."""
    return next(_mismatches(result), None)


def _mismatches(result: Notebook) -> Iterator[str]:
    match result:
        case Measurement():
            yield from _along(result.curve, _CURVE, "lags")
        case Comparison():
            for source in result.sources.values():
                yield from _along(source.curve, _CURVE, "lags")
            for pair in result.pairs:
                yield from _along(pair, _DIFFERENCE, "lags")
        case LinearPrediction():
            yield from _along(result, ("information",), "lags")
        case AttentionPrediction():
            yield from _along(result, ("gradient", "without_attention"), "distances")
        case TrainingRun():
            yield from _along(result, ("training_loss",), "logged")
            yield from _along(result, ("validation_loss", "validation_accuracy"), "validated")
            if result.second_goal is not None:
                yield from _along(result.second_goal, ("bound", "accuracy", "effective"), "logged")
        case Evaluation():
            if not result.transfer:
                yield "transfer and delays differ in length"
        case Diagnosis():
            yield from _of_diagnosis(result)
        case AgentRun() | AgentEvaluation():
            yield from _of_agent(result)
    if isinstance(result, Reproduction | Prediction | LinearPrediction | AttentionPrediction):
        yield from _of_drawings(result.figures)
    if isinstance(result, Prediction | Reproduction):
        yield from _of_drawings(result.maps)
    if isinstance(result, Reproduction):
        for table in result.tables:
            if any(len(row.entries) != len(table.columns) for row in table.rows):
                yield f"entries and columns differ in length in {table.title}"
        for orbit in result.orbits:
            yield from _of_orbit(orbit)
    if isinstance(result, Memorization):
        yield from _of_memorization(result)


def _along(owner: object, fields: tuple[str, ...], along: str) -> Iterator[str]:
    shape = np.shape(getattr(owner, along))
    wrong = [name for name in fields if np.shape(getattr(owner, name)) != shape]
    if wrong or len(shape) != 1:
        yield f"{', '.join(wrong) or 'a list'} and {along} differ in length"


def _of_drawings(drawings: tuple[Chart | HeatMap, ...]) -> Iterator[str]:
    for drawing in drawings:
        for line in drawing.lines:
            yield from (f"{wrong} in {drawing.name}" for wrong in _along(line, _line_fields(line), "x"))
        if isinstance(drawing, HeatMap) and drawing.values.shape != (drawing.y.size, drawing.x.size):
            yield f"values, x and y differ in length in {drawing.name}"
        if isinstance(drawing, HeatMap) and drawing.edge.size and drawing.edge.shape != drawing.values.shape:
            yield f"edge and values differ in length in {drawing.name}"


def _line_fields(line: Line) -> tuple[str, ...]:
    return ("y", "low", "high") if line.low.size or line.high.size else ("y",)


def _of_diagnosis(result: Diagnosis) -> Iterator[str]:
    yield from _along(result.gradients, ("mean", "low", "high"), "distances")
    if result.context is not None:
        yield from _along(result.context, ("loss", "error"), "context")
    if result.costs is not None:
        yield from _along(result.costs, ("seconds", "peak"), "steps")
    for name, square in (
        ("attention", None if result.attention is None else result.attention.weights),
        ("relevant", None if result.relevant is None else result.relevant.held),
    ):
        if square is not None and (square.ndim != 2 or len(set(square.shape)) > 1):
            yield f"rows and columns of {name} differ in length"
    spectrum = result.jacobian
    if spectrum is not None:
        theory = ("theory",) if spectrum.theory.size else ()
        yield from _along(spectrum, ("mean_square", "variance", *theory), "distances")
        if spectrum.quantiles.shape != (spectrum.distances.size, 5):
            yield "quantiles and distances differ in length"


def _of_agent(result: AgentRun | AgentEvaluation) -> Iterator[str]:
    if isinstance(result, AgentRun):
        for one in result.learning:
            yield from _along(one, ("rewards",), "frames")
    elif not result.transfer:
        yield "transfer and worlds differ in length"
    episode = result.episode
    if episode is not None and episode.attention.size and episode.attention.shape != (episode.shown,) * 2:
        yield "attention and steps differ in length"


def _of_orbit(orbit: Orbit) -> Iterator[str]:
    if orbit.points.shape != (orbit.symbols.size, 2) or not orbit.symbols.size:
        yield f"points and symbols differ in length in {orbit.name}"
    if not np.isin(orbit.symbols, np.arange(len(orbit.alphabet))).all():
        yield f"symbols and alphabet differ in length in {orbit.name}"
    if orbit.weights.size and not len(orbit.weights) == len(orbit.bias) == len(orbit.alphabet):
        yield f"weights, bias and alphabet differ in length in {orbit.name}"


def _of_memorization(result: Memorization) -> Iterator[str]:
    taken = sum(1 if 2 * frequency == result.period else 2 for frequency in result.frequencies)
    if len(result.frequencies) > 1 and taken != result.hidden_size:
        yield "frequencies and hidden units differ in length"
    if result.learnt is not None:
        yield from _along(result.learnt, ("nearest_roots", "distances"), "eigenvalues")
