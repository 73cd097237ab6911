"""Kerg 2020, attention and relevancy screening: claims hold for other seeds and fail for wrong formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from memspan import errors
from memspan.cells import MemLSTM
from memspan.errors import MemspanError, MissingExtraError
from memspan.reproductions import RECIPES
from memspan.reproductions.kerg2020 import memory_resets, screening, training_memory, uniform_attention
from memspan.reproductions.kerg2020.accuracy_definitions import accuracies, example_answers
from memspan.reproductions.kerg2020.gradient_paths import random_run
from memspan.reproductions.kerg2020.sparse_attention import counterexample
from memspan.reproductions.kerg2020.training_memory import TrainingCost, training_costs
from memspan.reproductions.kerg2020.training_step import PlainMemLSTM
from memspan.reproductions.recipe import Outcome
from memspan.tasks.synthetic import Copy
from memspan.theory.attention import Additive, dependency_depth, sparsity

THEORY = ("relevance-proposition1", "relevance-theorem1", "relevance-theorem2", "errata-11")
SAME = 1e-12
"""Double precision, twenty steps of states within 1."""


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", THEORY)
def test_claims_hold_for_another_seed(recipe: str) -> None:
    assert broken(RECIPES[recipe].outcome("smoke", seed=1)) == []


def test_the_printed_exponents_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform_attention, "uniform_attention_exponent", uniform_attention.printed_exponent)
    assert len(broken(RECIPES["errata-11"].outcome("smoke"))) == len(uniform_attention.NAMED) + 1


def test_theorem_1_as_printed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform_attention, "inverse_length_bound_holds", lambda V: True)
    assert len(broken(RECIPES["relevance-theorem1"].outcome("smoke"))) == 2


def test_a_gradient_without_the_scores_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Additive, "slopes", lambda self, summary, states: (0 * states, 0 * states))
    failed = broken(RECIPES["relevance-proposition1"].outcome("smoke"))
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


@pytest.mark.parametrize("recipe", ["errata-12", "errata-13", "errata-14", "errata-15"])
@pytest.mark.parametrize("seed", [1, 2])
def test_cell_claims_hold_for_another_seed_and_preserve_the_random_state(recipe: str, seed: int) -> None:
    before = torch.get_rng_state()
    assert broken(RECIPES[recipe].outcome("smoke", seed)) == []
    assert torch.equal(torch.get_rng_state(), before)


def test_promotion_as_printed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = screening.run_screening
    monkeypatch.setattr(screening, "run_screening", lambda cell, inputs, age: right(cell, inputs, 11 - age))
    # 11 - age swaps 3 and 8, and is wrong for 3 and 3.
    assert len(broken(RECIPES["errata-12"].outcome("smoke"))) >= 3


def test_memory_is_cleared_at_every_step_by_the_published_rule_and_not_by_the_described_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = RECIPES["errata-14"].outcome("smoke")
    assert outcome.claims[0].measured == 1.0
    monkeypatch.setattr(memory_resets, "cleared_by_program", any)
    assert len(broken(RECIPES["errata-14"].outcome("smoke"))) == 1


def test_an_agent_that_keeps_its_memory_is_not_a_plain_lstm(monkeypatch: pytest.MonkeyPatch) -> None:
    right = memory_resets.act
    monkeypatch.setattr(memory_resets, "act", lambda agent, inputs, clear: right(agent, inputs, clear=False))
    # Neither an LSTM nor independent of attention, no difference from the described agent, and a ratio of 1.
    assert len(broken(RECIPES["errata-14"].outcome("smoke"))) == 4


def test_a_network_that_answers_blanks_has_a_high_accuracy_only_if_all_steps_count() -> None:
    task = Copy(delay=100)
    batch = task.batch(0, 50, seed=0, split="test")
    answers = example_answers(batch, 0)
    assert accuracies(task, batch, answers["blank"]) == {"recalled": 0.0, "all": 110 / 120, "whole": 0.0}
    spilled = accuracies(task, batch, answers["spilled"])
    assert (spilled["recalled"], spilled["whole"]) == (1.0, 1.0)
    assert spilled["all"] == pytest.approx(109 / 120)  # 11 of 110 blanks are wrong
    assert set(accuracies(task, batch, answers["right"]).values()) == {1.0}


def test_the_plain_loop_is_the_same_network_as_the_cell() -> None:
    cell, plain = MemLSTM(3, 6, dtype=torch.float64), PlainMemLSTM(3, 6).double()
    names = {"U": "cell.weight_ih", "V": "cell.weight_hh", "b": "cell.bias_ih"}
    names |= {"W_a": "attention.W_a.weight", "U_a": "attention.U_a.weight", "v": "attention.v.weight"}
    with torch.no_grad():
        plain.cell.bias_hh.zero_()
        for ours, theirs in names.items():
            weights = plain.get_parameter(theirs)
            weights.copy_(cell.first.get_parameter(ours).view_as(weights))
    inputs = torch.randn(20, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(plain(inputs), cell(inputs)[0], atol=SAME)


def growing(powers: dict[str, float]):
    """Costs whose memory grows with a power of time."""

    def costs(network: str, *, lengths: tuple[int, ...], batch: int, hidden: int) -> dict[int, TrainingCost]:
        power = powers[network]
        return {steps: TrainingCost(0.001 * steps, 1e3 * batch * hidden * steps**power) for steps in lengths}

    return costs


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_memory_claims_distinguish_linear_from_quadratic(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = RECIPES["relevance-fig2-memory"]
    right = {"lstm": 1.0, "mem-lstm": 1.0, "rel-lstm": 1.0, "plain-mem-lstm": 2.0}
    monkeypatch.setattr(training_memory, "training_costs", growing(right))
    assert broken(recipe.outcome(scale)) == []
    monkeypatch.setattr(training_memory, "training_costs", growing(right | {"rel-lstm": 2.0}))
    assert len(broken(recipe.outcome(scale))) == 2


def test_a_training_step_in_its_own_process_takes_time_and_memory() -> None:
    costs = training_costs("lstm", lengths=[100, 200], batch=4, hidden=64)
    assert list(costs) == [100, 200]
    for steps, cost in costs.items():
        assert cost.seconds > 0
        assert steps * 4 * 64 * 4 < cost.peak < 1e9  # at least the states, in bytes


def test_a_failed_training_step_is_reported_in_one_line() -> None:
    with pytest.raises(MemspanError, match=r"training nothing over 5 steps failed: KeyError: 'nothing'"):
        training_costs("nothing", lengths=[5], batch=1, hidden=2)


@pytest.mark.parametrize("recipe", ["errata-12", "errata-13", "errata-14", "errata-15", "relevance-fig2-memory"])
def test_without_torch_the_extra_is_named(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=rf"{recipe} needs PyTorch; install memspan\[models\]"):
        RECIPES[recipe].outcome("smoke")
