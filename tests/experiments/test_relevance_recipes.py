"""The recipes on gradients through attention: their claims hold for another seed than the usual one, and can fail."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.experiments import errata_11, relevance_theorem1
from memspan.experiments.errata_11 import ERRATA_11
from memspan.experiments.recipe import Computed, Outcome
from memspan.experiments.relevance_proposition1 import RELEVANCE_PROPOSITION1, random_run
from memspan.experiments.relevance_theorem1 import RELEVANCE_THEOREM1
from memspan.experiments.relevance_theorem2 import RELEVANCE_THEOREM2, counterexample
from memspan.progress import SILENT
from memspan.theory.attention import Additive, dependency_depth, sparsity

THEORY = (RELEVANCE_PROPOSITION1, RELEVANCE_THEOREM1, RELEVANCE_THEOREM2, ERRATA_11)


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", THEORY, ids=lambda recipe: recipe.id)
def test_the_claims_hold_for_another_seed(recipe: Computed) -> None:
    assert broken(recipe.run("smoke", 1, SILENT)) == []


def test_the_exponents_as_printed_do_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata_11, "uniform_attention_exponent", errata_11.printed_exponent)
    assert len(broken(ERRATA_11.run("smoke", 0, SILENT))) == len(errata_11.NAMED) + 1


def test_theorem_1_as_printed_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance_theorem1, "inverse_length_bound_holds", lambda V: True)
    assert len(broken(RELEVANCE_THEOREM1.run("smoke", 0, SILENT))) == 2


def test_a_gradient_that_leaves_the_scores_out_does_not_pass_for_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Additive, "slopes", lambda self, summary, states: (0 * states, 0 * states))
    failed = broken(RELEVANCE_PROPOSITION1.run("smoke", 0, SILENT))
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
