"""The recipes on mean-field theory: their claims hold for another seed than the usual one, and can fail."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from memspan.experiments import errata_06, errata_07, errata_10, meanfield_fig1
from memspan.experiments.errata_06 import ERRATA_06, Slopes
from memspan.experiments.errata_07 import ERRATA_07, linear, printed, recursion
from memspan.experiments.errata_08 import ERRATA_08, Slope, slopes_at
from memspan.experiments.errata_09 import ERRATA_09, algorithm_1
from memspan.experiments.errata_10 import ERRATA_10
from memspan.experiments.meanfield_fig1 import MEANFIELD_FIG1
from memspan.experiments.meanfield_published import published
from memspan.experiments.recipe import Computed, Outcome
from memspan.progress import SILENT
from memspan.theory.meanfield.inverse import critical_minimal, feasible_range
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.sampled.cells import RandomNetwork
from memspan.theory.sampled.simulation import Simulation

MEAN_FIELD = (MEANFIELD_FIG1, ERRATA_06, ERRATA_07, ERRATA_08, ERRATA_09, ERRATA_10)


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", MEAN_FIELD, ids=lambda recipe: recipe.id)
def test_the_claims_hold_for_another_seed(recipe: Computed) -> None:
    outcome = recipe.run("smoke", 1, SILENT)
    assert broken(outcome) == []
    assert all(chart.lines and chart.caption for chart in outcome.figures)


def test_the_theory_of_another_network_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated is the published network; theory is given a larger bias mean."""
    simulated, wrong = meanfield_fig1.simulate, 0.7

    def moved(bias_mean: float) -> MinimalField:
        return published(bias_mean + wrong)

    def unmoved(network: RandomNetwork, **settings: Any) -> Simulation:
        return simulated(dataclasses.replace(network, bias_mean=network.bias_mean - wrong), **settings)

    monkeypatch.setattr(meanfield_fig1, "published", moved)
    monkeypatch.setattr(meanfield_fig1, "simulate", unmoved)
    failed = broken(MEANFIELD_FIG1.run("smoke", 0, SILENT))
    assert {"Panel a", "Panel c"} <= {claim.split(":")[0] for claim in failed}


def test_the_printed_jacobian_variance_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata_07, "recursion", lambda *case: printed(*case) - 1)
    failed = broken(ERRATA_07.run("smoke", 0, SILENT))
    assert any("5 steps, gaussian" in claim for claim in failed)


def test_biases_of_their_own_do_not_pass_for_shared_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Slopes.correlation
    monkeypatch.setattr(
        errata_06.Slopes, "correlation", lambda self, *, shared: right(self, shared=0.0 * shared)
    )
    failed = broken(ERRATA_06.run("smoke", 0, SILENT))
    assert len(failed) == 1
    assert "not at that of sigma_b^2 I" in failed[0]


def test_a_branch_that_is_left_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = errata_10.simulate

    def from_zero(network, **settings):
        return simulated(network, **{**settings, "initial_variance": 0.0})

    monkeypatch.setattr(errata_10, "simulate", from_zero)
    assert len(broken(ERRATA_10.run("smoke", 0, SILENT))) == 2


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
