"""The recipes on gradients through attention: their claims hold for another seed than the usual one, and can fail."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.kerg2020 import attention_exponent, uniform_attention
from memspan.reproductions.kerg2020.gradient_paths import random_run
from memspan.reproductions.kerg2020.sparse_attention import counterexample
from memspan.reproductions.recipe import Computed, Outcome
from memspan.theory.attention import Additive, dependency_depth, sparsity

THEORY = (
    RECIPES["relevance-proposition1"],
    RECIPES["relevance-theorem1"],
    RECIPES["relevance-theorem2"],
    RECIPES["errata-11"],
)


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", THEORY, ids=lambda recipe: recipe.id)
def test_the_claims_hold_for_another_seed(recipe: Computed) -> None:
    assert broken(recipe.outcome("smoke", 1, SILENT)) == []


def test_the_exponents_as_printed_do_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_exponent, "uniform_attention_exponent", attention_exponent.printed_exponent)
    assert len(broken(RECIPES["errata-11"].outcome("smoke", 0, SILENT))) == len(attention_exponent.NAMED) + 1


def test_theorem_1_as_printed_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform_attention, "inverse_length_bound_holds", lambda V: True)
    assert len(broken(RECIPES["relevance-theorem1"].outcome("smoke", 0, SILENT))) == 2


def test_a_gradient_that_leaves_the_scores_out_does_not_pass_for_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Additive, "slopes", lambda self, summary, states: (0 * states, 0 * states))
    failed = broken(RECIPES["relevance-proposition1"].outcome("smoke", 0, SILENT))
    assert len(failed) == 2
    assert "central differences" in failed[0]


def test_the_counterexample_keeps_its_depth_at_every_length() -> None:
    for steps in (7, 40, 200):
        pattern = counterexample(steps)
        assert (sparsity(pattern), dependency_depth(pattern, 2, steps)) == (2, 1)


def test_random_runs_attend_unevenly() -> None:
    """The gradient through the scores is tested only where weights differ from 1/t."""
    run = random_run(4, 12, np.random.default_rng(0))
    assert run.weights[-1].max() > 3 / 12
