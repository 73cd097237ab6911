"""What diagnoses are called, and drawings of results at the edge of what can be drawn."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from memspan.presentation import figures_of, plot, sentence
from memspan.presentation.diagnosis import context_words, diagnosis_drawings, gradient_words, growth_words
from memspan.results import (
    AttentionMap,
    Chart,
    ContextLoss,
    Diagnosis,
    GradientNorms,
    JacobianSpectrum,
    RelevantSet,
    TrainingCosts,
)


def norms(*mean: float) -> GradientNorms:
    values = np.array(mean)
    return GradientNorms("recalled", 1, 2, np.arange(len(mean)), values, 0.5 * values, 2 * values, values)


def costs(steps: tuple[int, ...], peak: tuple[float, ...]) -> TrainingCosts:
    return TrainingCosts(10, 2, np.array(steps), np.ones(len(steps)), np.array(peak))


def diagnosis(gradients: GradientNorms, theory: tuple[float, ...] = (0.5, 0.25)) -> Diagnosis:
    steps = gradients.distances.size
    blocks = -(-steps // 2)
    square = np.tril(np.ones((blocks, blocks))) / 2
    spectrum = JacobianSpectrum(
        of="h",
        sequences=2,
        distances=np.array([1, 2]),
        mean_square=np.array([0.4, 0.0]),
        variance=np.zeros(2),
        quantiles=np.array([[0, 0.1, 0.5, 0.9, 1.0], [0, 0, 0, 0, 0]]),
        one_step=np.linspace(0, 1, 101),
        one_step_mean=0.4,
        one_step_variance=0.1,
        theory=np.array(theory),
        theory_variance=0.2,
        theory_weights="gaussian" if theory else "",
    )
    return Diagnosis(
        run="runs/copy-rnn-1",
        task={"name": "copy", "delay": 3},
        cell="rnn",
        hidden=4,
        update=100,
        steps=steps,
        answers_from=steps,
        sequences=2,
        seed=0,
        gradients=gradients,
        attention=AttentionMap(steps, 2, 2, square, 1.0, 2.0),
        relevant=RelevantSet(steps, 2, 2, 10, 10, square, 0.5),
        jacobian=spectrum,
        context=ContextLoss(1, 2, np.array([0, 1]), np.array([2.0, 0.0]), np.array([np.nan, np.nan])),
        costs=costs((100, 200), (1e6, 2e6)),
        notes=(),
        seconds=1.0,
    )


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        ((3.1, 2.0, 1.0), "gradients reach all 2 steps back with 3.1 times less norm than at the end"),
        ((1.0, 2.0, 8.0), "gradients reach all 2 steps back with 8.0 times more norm than at the end"),
        ((1.0, 2.0, 1.05), "gradients reach all 2 steps back with the same norm as at the end"),
        ((1.0, 0.5, 1e-7), "gradients reach 1 of 2 steps back"),
        ((0.0, 0.0), "the loss has no gradient at the last step"),
        ((1.0, float("nan")), "gradients overflow"),
    ],
)
def test_gradients_in_words(mean, expected):
    assert gradient_words(norms(*mean)) == expected


def test_contexts_and_costs_in_words():
    k, none = np.array([0, 1, 4]), np.zeros(3)
    assert context_words(ContextLoss(1, 2, k, np.array([1.0, 0.9, 0.0]), none)) == (
        "the answers need all 5 steps up to the first of them"
    )
    assert context_words(ContextLoss(1, 2, k, np.array([1.0, 0.0, 0.0]), none)) == (
        "the answers use the last 2 of 5 steps up to the first of them"
    )
    assert growth_words(costs((100, 200), (1e6, 4e6))) == "twice the length takes 4.0 times the memory"
    assert growth_words(costs((100, 300), (1e6, 3e6))) == "3.0 times the length takes 3.0 times the memory"


def test_the_sentence_joins_what_there_is():
    assert sentence(diagnosis(norms(2.0, 1.0, 1.0))) == (
        "copy-rnn-1: gradients reach all 2 steps back with 2.0 times less norm than at the end; "
        "attention on 1.0 state, 2 steps back on average; squared singular values of one step average 0.400 (theory: 0.500)"
    )


@pytest.mark.parametrize("gradients", [norms(1.0, 0.1, 0.0), norms(0.0, 0.0, 0.0)], ids=["vanishing", "none"])
@pytest.mark.parametrize("theory", [(0.5, 0.25), (float("nan"), float("nan")), ()], ids=["known", "chaos", "none"])
def test_everything_is_drawn_whatever_is_zero_or_unknown(gradients, theory):
    result = diagnosis(gradients, theory)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = figures_of(result)
    assert list(figures) == [
        *("gradients", "attention", "relevant", "jacobian", "spectrum", "context", "memory", "time")
    ]
    for drawing in diagnosis_drawings(result):
        assert drawing.caption.endswith(".")
        assert drawing.x_label
        assert drawing.y_label


@pytest.mark.parametrize(
    ("task", "unit", "values"),
    [
        ("copy", "nats", (2.0, 0.0)),
        ("characters", "bits per character", (2 / np.log(2), 0.0)),
        ("words", "perplexity", (np.exp(2), 1.0)),
    ],
)
def test_losses_against_context_are_drawn_in_the_unit_they_are_told_in(task, unit, values):
    result = replace(diagnosis(norms(1.0, 1.0)), task={"name": task})
    drawing = next(one for one in diagnosis_drawings(result) if one.name == "context")
    assert isinstance(drawing, Chart)
    assert drawing.y_label == f"loss of the answers, {unit}"
    np.testing.assert_allclose(drawing.lines[0].y, values)


def test_plot_draws_the_gradients():
    from matplotlib import pyplot

    ax = plot(diagnosis(norms(2.0, 1.0)))
    assert ax.get_ylabel() == "gradient norm |dL / dh|"
    pyplot.close("all")
