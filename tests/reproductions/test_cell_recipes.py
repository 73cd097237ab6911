"""The recipes on cells: their claims hold for another seed than the usual one, and can fail."""

from __future__ import annotations

import pytest
import torch

from memspan import errors
from memspan.cells import MemLSTM
from memspan.errors import MemspanError, MissingExtraError
from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.kerg2020 import screening, training_memory
from memspan.reproductions.kerg2020.plain_mem_lstm import PlainMemLSTM
from memspan.reproductions.kerg2020.training_cost import TrainingCost, training_costs
from memspan.reproductions.recipe import Computed, Outcome

SAME = 1e-12
"""Double precision, twenty steps of states within 1."""
NEED_TORCH = (RECIPES["errata-12"], RECIPES["errata-13"], RECIPES["relevance-fig2-memory"])


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", [RECIPES["errata-12"], RECIPES["errata-13"]], ids=lambda recipe: recipe.id)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_claims_hold_for_another_seed_and_leave_torchs_random_numbers_alone(
    recipe: Computed, seed: int
) -> None:
    before = torch.get_rng_state()
    assert broken(recipe.outcome("smoke", seed, SILENT)) == []
    assert torch.equal(torch.get_rng_state(), before)


def test_promotion_as_printed_does_not_pass_for_right(monkeypatch: pytest.MonkeyPatch) -> None:
    right = screening.screened
    monkeypatch.setattr(screening, "screened", lambda cell, inputs, age: right(cell, inputs, 11 - age))
    assert (
        len(broken(RECIPES["errata-12"].outcome("smoke", 0, SILENT))) >= 3
    )  # 11 - age swaps 3 and 8, and spoils 3 and 3


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
def test_the_claims_on_memory_tell_linear_from_quadratic(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"lstm": 1.0, "mem-lstm": 1.0, "rel-lstm": 1.0, "plain-mem-lstm": 2.0}
    monkeypatch.setattr(training_memory, "training_costs", growing(right))
    assert broken(RECIPES["relevance-fig2-memory"].outcome(scale, 0, SILENT)) == []
    monkeypatch.setattr(training_memory, "training_costs", growing(right | {"rel-lstm": 2.0}))
    assert len(broken(RECIPES["relevance-fig2-memory"].outcome(scale, 0, SILENT))) == 2


def test_a_training_step_in_a_process_of_its_own_takes_time_and_memory() -> None:
    costs = training_costs("lstm", lengths=[100, 200], batch=4, hidden=64)
    assert list(costs) == [100, 200]
    for steps, cost in costs.items():
        assert cost.seconds > 0
        assert steps * 4 * 64 * 4 < cost.peak < 1e9  # at least the states, in bytes


def test_a_training_step_that_fails_is_told_in_one_line() -> None:
    with pytest.raises(MemspanError, match=r"training nothing over 5 steps failed: KeyError: 'nothing'"):
        training_costs("nothing", lengths=[5], batch=1, hidden=2)


@pytest.mark.parametrize("recipe", NEED_TORCH, ids=lambda recipe: recipe.id)
def test_without_torch_the_extra_is_named(recipe: Computed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=rf"{recipe.id} needs PyTorch; install memspan\[models\]"):
        recipe.outcome("smoke", 0, SILENT)
