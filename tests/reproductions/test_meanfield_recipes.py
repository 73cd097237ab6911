"""The recipes on mean-field theory: their claims hold for another seed than the usual one, and can fail."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.chen2018 import (
    correlation,
    jacobian_variance,
    second_critical_point,
    shared_biases,
)
from memspan.reproductions.chen2018.critical_existence import algorithm_1
from memspan.reproductions.chen2018.jacobian_variance import linear, printed, recursion
from memspan.reproductions.chen2018.published import published
from memspan.reproductions.chen2018.shared_biases import Slopes
from memspan.reproductions.chen2018.variance_relaxation import Slope, slopes_at
from memspan.reproductions.recipe import Computed, Outcome
from memspan.theory.critical import critical_minimal, feasible_range
from memspan.theory.elementwise import Network
from memspan.theory.minimal import MinimalField
from memspan.theory.simulation import Simulation

MEAN_FIELD = (
    RECIPES["meanfield-fig1"],
    RECIPES["errata-06"],
    RECIPES["errata-07"],
    RECIPES["errata-08"],
    RECIPES["errata-09"],
    RECIPES["errata-10"],
)


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", MEAN_FIELD, ids=lambda recipe: recipe.id)
def test_the_claims_hold_for_another_seed(recipe: Computed) -> None:
    outcome = recipe.outcome("smoke", 1, SILENT)
    assert broken(outcome) == []
    assert all(chart.lines and chart.caption for chart in outcome.figures)


def test_the_theory_of_another_network_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated is the published network; theory is given a larger bias mean."""
    simulated, wrong = correlation.simulate, 0.7

    def moved(bias_mean: float) -> MinimalField:
        return published(bias_mean + wrong)

    def unmoved(network: Network, **settings: Any) -> Simulation:
        return simulated(dataclasses.replace(network, bias_mean=network.bias_mean - wrong), **settings)

    monkeypatch.setattr(correlation, "published", moved)
    monkeypatch.setattr(correlation, "simulate", unmoved)
    failed = broken(RECIPES["meanfield-fig1"].outcome("smoke", 0, SILENT))
    assert {"Panel a", "Panel c"} <= {claim.split(":")[0] for claim in failed}


def test_the_printed_jacobian_variance_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobian_variance, "recursion", lambda *case: printed(*case) - 1)
    failed = broken(RECIPES["errata-07"].outcome("smoke", 0, SILENT))
    assert any("5 steps, gaussian" in claim for claim in failed)


def test_biases_of_their_own_do_not_pass_for_shared_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Slopes.correlation
    monkeypatch.setattr(
        shared_biases.Slopes, "correlation", lambda self, *, shared: right(self, shared=0.0 * shared)
    )
    failed = broken(RECIPES["errata-06"].outcome("smoke", 0, SILENT))
    assert len(failed) == 1
    assert "not at that of sigma_b^2 I" in failed[0]


def test_a_branch_that_is_left_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = second_critical_point.simulate

    def from_zero(network, **settings):
        return simulated(network, **{**settings, "initial_variance": 0.0})

    monkeypatch.setattr(second_critical_point, "simulate", from_zero)
    assert len(broken(RECIPES["errata-10"].outcome("smoke", 0, SILENT))) == 2


def test_the_jacobian_of_the_printed_form_starts_at_one() -> None:
    assert printed(6.0, 10, "gaussian") == pytest.approx(1.0377, abs=5e-5)
    assert linear(6.0, 10, "gaussian") == pytest.approx(0.0191, abs=5e-5)
    assert recursion(0.0, 10, "gaussian") > 1.15 * linear(0.0, 10, "gaussian")


def test_the_plain_step_of_errata_6_is_that_of_the_library() -> None:
    slopes = Slopes(0.7)
    assert slopes.correlation(shared=0.7) == pytest.approx(slopes.point.c, abs=1e-9)
    assert slopes.measured == pytest.approx(slopes.point.chi, abs=1e-7)


@pytest.mark.parametrize("slope", slopes_at([-4.0, 0.0, 4.0, 8.0]), ids=lambda slope: f"{slope.bias_mean:g}")
def test_only_equation_34_is_the_slope_of_the_variance_map(slope: Slope) -> None:
    assert slope.corrected == pytest.approx(slope.measured, abs=1e-7)


def test_algorithm_1_line_by_line_is_what_the_library_returns_where_it_is_feasible() -> None:
    q = 1.2 * feasible_range(2.0).low
    plain, field = algorithm_1(q, 2.0, 0.46), critical_minimal(bias_mean=2.0, input_variance=0.46, q=q)
    assert np.sqrt([plain.sigma_w2, plain.sigma_v2]) == pytest.approx(
        [field.sigma_w, field.sigma_v], rel=1e-9
    )
