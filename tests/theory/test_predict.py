"""What is predicted of one network, the plane around it, and its course in time."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.results import read_prediction
from memspan.theory import Axis, LinearRNN, MinimalField, VanillaField, phase_diagram
from memspan.theory.diagrams import APART, LONGEST, dynamics_charts
from memspan.theory.predict import DEFAULTS, PredictionRequest, predict_attention, predict_cell, predict_linear

MINIMAL = DEFAULTS["minimal-rnn"]


def every_prediction():
    yield predict_cell("minimal-rnn", MINIMAL | {"bias_mean": 4.59}, PredictionRequest(timescale=500.0, steps=3))
    yield predict_cell("rnn", DEFAULTS["rnn"] | {"sigma_w": 2.5}, PredictionRequest(input_correlation=0.5))
    yield predict_cell("gru", DEFAULTS["gru"], PredictionRequest())
    yield predict_linear(LinearRNN.random(3, 2, spectral_radius=0.9, seed=0))
    yield predict_linear(LinearRNN.random(3, 1, spectral_radius=1.05, seed=0))
    yield predict_attention(0.3 + 0.4j, 50)
    yield predict_attention(0.5, 10, kappa=2, depth=1)


def test_every_prediction_survives_json():
    for found in every_prediction():
        text = json.dumps(found.to_json(), allow_nan=False)
        assert json.dumps(read_prediction(json.loads(text)).to_json(), allow_nan=False) == text


def test_a_plane_holds_the_timescale_of_each_of_its_points():
    field = MinimalField(sigma_w=6.88, sigma_v=1.39, input_variance=0.46)
    plane = phase_diagram(field, Axis("bias_mean", -2.0, 6.0), Axis("sigma_w", 1.0, 8.0), points=5)
    for row, sigma_w in enumerate(plane.y):
        for column, bias_mean in enumerate(plane.x):
            at = dataclasses.replace(field, sigma_w=float(sigma_w), bias_mean=float(bias_mean))
            assert plane.values[row, column] == pytest.approx(at.timescale(), rel=1e-4)
            assert math.copysign(1, plane.edge[row, column]) == math.copysign(1, at.chi1 - 1)


def test_an_endless_timescale_is_drawn_as_the_longest():
    plane = phase_diagram(VanillaField(sigma_v=0.0), Axis("sigma_w", 1.0, 2.0), Axis("sigma_b", 0.0, 1.0), points=3)
    assert plane.values[0, 0] > LONGEST  # sigma_w = 1 without input or bias is critical
    assert np.isfinite(plane.values).all()


def test_one_parameter_cannot_be_both_axes():
    with pytest.raises(InputError, match="both axes are sigma_w"):
        phase_diagram(VanillaField(), Axis("sigma_w", 1.0, 2.0), Axis("sigma_w", 1.0, 3.0))


def test_drawn_dynamics_are_those_of_theory_and_simulation_agrees():
    field = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=2.0, input_variance=0.46)
    charts = {chart.name: chart for chart in dynamics_charts(field, seed=1)}
    assert set(charts) == {"dynamics", "settled-correlation", "timescales"}
    lines = charts["dynamics"].lines
    own = next(i for i, line in enumerate(lines) if line.label == "bias mean 2")
    theory, simulated = lines[own], lines[own + 1]
    at = simulated.x.astype(int)
    # 16 networks of width 2,048 scatter by about 0.01 each, most while their inputs differ.
    assert np.abs(theory.y[at] - simulated.y).max() < 0.02
    assert theory.y[APART - 1] < 0.1 < theory.y[-1]


def test_a_wanted_timescale_of_a_gated_cell_is_found_by_simulation():
    target = predict_cell("gru", DEFAULTS["gru"], PredictionRequest(timescale=5.0)).wanted
    assert target is not None
    # The timescale of a GRU with bias mean 2 is 3.3 steps, with 4 it is 18 (fresh matrices of width 2,000).
    assert 2 < target.value < 4  # type: ignore[operator]
    assert target.reached == pytest.approx(5.0, rel=0.05)


def test_a_cell_without_theory_is_refused_with_those_that_have_one():
    with pytest.raises(InputError, match="no theory of the cell 'rel-rnn'; expected rnn, minimal-rnn, lstm, gru"):
        predict_cell("rel-rnn", MINIMAL, PredictionRequest())
