"""Chen et al. 2018: claims hold for other seeds, fail for wrong formulas, and fail for trainings with another outcome."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from tests.presentation.training_examples import training

from memspan.reproductions import RECIPES
from memspan.reproductions.chen2018 import (
    correlation,
    critical_training,
    edge_of_chaos,
    jacobian_variance,
    shared_biases,
    trainability,
)
from memspan.reproductions.chen2018.critical_existence import algorithm_1
from memspan.reproductions.chen2018.critical_training import DigitRuns
from memspan.reproductions.chen2018.edge_of_chaos import published_field
from memspan.reproductions.chen2018.jacobian_variance import linear, printed, recursion
from memspan.reproductions.chen2018.shared_biases import PlainCorrelationMap
from memspan.reproductions.chen2018.variance_relaxation import VarianceSlope, slopes_at
from memspan.reproductions.recipe import Outcome
from memspan.results import TrainingRun
from memspan.results.encoding import to_plain
from memspan.theory.meanfield.inverse import critical_minimal, feasible_range
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.sampled.cells import RandomNetwork
from memspan.theory.sampled.simulation import Simulation

MEAN_FIELD = ("meanfield-fig1", "errata-06", "errata-07", "errata-08", "errata-09", "errata-10")


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", MEAN_FIELD)
def test_claims_hold_for_another_seed(recipe: str) -> None:
    outcome = RECIPES[recipe].outcome("smoke", seed=1)
    assert broken(outcome) == []
    assert all(chart.lines and chart.caption for chart in outcome.figures)


def test_the_theory_of_another_network_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The published network is simulated, but theory has a larger bias mean."""
    simulate, shift = correlation.simulate, 0.7

    def shifted(bias_mean: float) -> MinimalField:
        return published_field(bias_mean + shift)

    def unshifted(network: RandomNetwork, **settings: Any) -> Simulation:
        return simulate(dataclasses.replace(network, bias_mean=network.bias_mean - shift), **settings)

    monkeypatch.setattr(correlation, "published_field", shifted)
    monkeypatch.setattr(correlation, "simulate", unshifted)
    failed = broken(RECIPES["meanfield-fig1"].outcome("smoke"))
    assert {"Panel a", "Panel c"} <= {claim.split(":")[0] for claim in failed}


def test_the_printed_jacobian_variance_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobian_variance, "recursion", lambda *case: printed(*case) - 1)
    failed = broken(RECIPES["errata-07"].outcome("smoke"))
    assert any("5 steps, gaussian" in claim for claim in failed)


def test_separate_biases_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PlainCorrelationMap.correlation
    monkeypatch.setattr(
        shared_biases.PlainCorrelationMap, "correlation", lambda self, *, shared: right(self, shared=0.0 * shared)
    )
    failed = broken(RECIPES["errata-06"].outcome("smoke"))
    assert len(failed) == 1
    assert "not at that of sigma_b^2 I" in failed[0]


def test_leaving_a_branch_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate = edge_of_chaos.simulate

    def from_zero(network, **settings):
        return simulate(network, **{**settings, "initial_variance": 0.0})

    monkeypatch.setattr(edge_of_chaos, "simulate", from_zero)
    assert len(broken(RECIPES["errata-10"].outcome("smoke"))) == 2


def test_the_printed_jacobian_variance_starts_at_one() -> None:
    assert printed(6.0, 10, "gaussian") == pytest.approx(1.0377, abs=5e-5)
    assert linear(6.0, 10, "gaussian") == pytest.approx(0.0191, abs=5e-5)
    assert recursion(0.0, 10, "gaussian") > 1.15 * linear(0.0, 10, "gaussian")


def test_the_plain_correlation_map_agrees_with_the_library() -> None:
    mapping = PlainCorrelationMap(0.7)
    assert mapping.correlation(shared=0.7) == pytest.approx(mapping.point.c, abs=1e-9)
    assert mapping.slope == pytest.approx(mapping.point.chi, abs=1e-7)


@pytest.mark.parametrize("slope", slopes_at([-4.0, 0.0, 4.0, 8.0]), ids=lambda slope: f"{slope.bias_mean:g}")
def test_equation_34_is_the_slope_of_the_variance_map(slope: VarianceSlope) -> None:
    assert slope.corrected == pytest.approx(slope.measured, abs=1e-7)


def test_algorithm_1_agrees_with_the_library_where_it_is_feasible() -> None:
    q = 1.2 * feasible_range(2.0).low
    plain, field = algorithm_1(q, 2.0, 0.46), critical_minimal(bias_mean=2.0, input_variance=0.46, q=q)
    assert np.sqrt([plain.sigma_w2, plain.sigma_v2]) == pytest.approx([field.sigma_w, field.sigma_v], rel=1e-9)


@pytest.fixture(scope="module")
def gated() -> Outcome:
    return RECIPES["meanfield-gated"].outcome("smoke")


def test_sampling_and_redrawn_matrices_agree(gated: Outcome) -> None:
    assert len(gated.claims) == 3
    assert broken(gated) == []
    assert all(claim.measured is not None and np.isfinite(claim.measured) for claim in gated.claims)


def test_lines_pass_through_the_markers_of_redrawn_matrices(gated: Outcome) -> None:
    charts = {chart.name: chart for chart in gated.figures}
    assert list(charts) == ["lstm", "gru", "factors"]
    sampled, fresh, _ = charts["gru"].lines
    assert sampled.x[0] == fresh.x[0] == 0
    assert sampled.y[0] == pytest.approx(fresh.y[0], rel=0.05)  # what the recipe claims


def test_the_gated_outcome_is_valid_json(gated: Outcome) -> None:
    json.dumps([to_plain(chart) for chart in gated.figures], allow_nan=False)
    assert all(len(chart.caption) > 80 for chart in gated.figures)
    assert "with redrawn matrices" in gated.notes[0]


@pytest.mark.slow
def test_every_gated_claim_holds_at_width_2000() -> None:
    outcome = RECIPES["meanfield-gated"].outcome("laptop")
    assert len(outcome.claims) == 8
    assert broken(outcome) == []


def digit_runs(critical: float, other: float) -> DigitRuns:
    """Trainings at laptop scale whose validation accuracy jumps from chance to 0.95 at an update."""
    size, run = RECIPES["meanfield-fig3"].sizes["laptop"].size, training()

    def learned_at(updates: float) -> TrainingRun:
        accuracy = np.where(run.validated >= updates, 0.95, 0.1)
        return dataclasses.replace(run, validation_accuracy=accuracy)

    return DigitRuns(
        {
            (steps, cell, start, weights): learned_at(critical if start == "critical" else other)
            for steps in size["updates"]
            for cell in critical_training.CELLS
            for start in critical_training.STARTS
            for weights in critical_training.WEIGHTS
        },
        size["updates"],
        size["goals"],
    )


def test_critical_weights_are_faster_only_if_they_were() -> None:
    claims = [
        critical_training.critical_is_faster(digit_runs(*pair), 196, "rnn")
        for pair in ((250, 500), (500, 250), (500, 500), (500, math.inf))
    ]
    assert [claim.holds for claim in claims] == [True, False, False, True]
    assert claims[0].measured == 2
    assert "lower bound" in claims[3].claim


def test_a_network_fails_only_if_it_stays_near_chance() -> None:
    assert critical_training.failure_claim(digit_runs(250, math.inf), 784, "rnn").holds
    assert not critical_training.failure_claim(digit_runs(250, 250), 784, "rnn").holds


TRAINABILITY = RECIPES["meanfield-fig2"].sizes["laptop"].size


def test_the_trainable_length_ends_at_the_first_failure() -> None:
    accuracy = np.array([[0.9, 0.9, 0.1], [0.9, 0.2, 0.1], [0.9, 0.9, 0.1], [0.9, 0.9, 0.1]])
    assert trainability.trainable_lengths(TRAINABILITY["lengths"], accuracy).tolist() == [150, 10, 0]


@pytest.mark.parametrize("agrees", [True, False])
def test_trainable_lengths_follow_the_timescale_or_do_not(agrees: bool) -> None:
    panel, lengths = trainability.PANELS["vanilla"], TRAINABILITY["lengths"]
    timescale = panel.timescale(panel.grid(TRAINABILITY["values"]))
    shown = timescale if agrees else 1 / timescale * 100
    accuracy = np.where(np.array(lengths)[:, None] <= 6 * shown, 0.9, 0.1)
    assert trainability.timescale_claim(panel, "untied", lengths, accuracy).holds == agrees
