"""Shen 2019, appendices E to G: Keras defaults, generated samples and the Ising chain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from memspan.reproductions import RECIPES
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019 import ising, keras_defaults
from memspan.reproductions.shen2019.ising import boltzmann, conditionals, eq62, nearest, with_field

SAME = 1e-12
"""Two exact computations of a probability."""


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", ["errata-05", "shen-appendix-g"])
@pytest.mark.parametrize("seed", [1, 2])
def test_claims_hold_for_another_seed_and_preserve_the_random_state(recipe: str, seed: int) -> None:
    before = torch.get_rng_state()
    assert broken(RECIPES[recipe].outcome("smoke", seed)) == []
    assert torch.equal(torch.get_rng_state(), before)


def test_the_printed_numbers_of_parameters_need_one_bias() -> None:
    values = {claim.claim: claim.measured for claim in RECIPES["errata-05"].outcome("smoke").claims}
    assert [value for text, value in values.items() if "parameters" in text or "would have" in text] == [
        *(126, 142, 1_190, 1_222, 126)
    ]


def test_with_smooth_gates_the_claims_about_hard_ones_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras_defaults, "hard_sigmoid", torch.sigmoid)
    assert len(broken(RECIPES["errata-05"].outcome("smoke"))) == 2


def test_hard_gates_are_lines_between_zero_and_one() -> None:
    x = torch.tensor([-3.0, -2.5, 0.0, 1.0, 2.5, 3.0])
    assert keras_defaults.hard_sigmoid(x).tolist() == pytest.approx([0.0, 0.0, 0.5, 0.7, 1.0, 1.0])


def test_two_spins_have_the_boltzmann_distribution() -> None:
    p = boltzmann(nearest(2, 0.5))
    weights = np.exp([-0.5, 0.5, 0.5, -0.5])  # --, -+, +-, ++: a positive J favors unequal neighbors
    assert p == pytest.approx(weights / weights.sum())
    assert conditionals(p, 2) == pytest.approx(eq62(0.5, 2))


def test_transfer_matrices_without_a_field_give_eq_62() -> None:
    assert np.abs(with_field(9, 0.7, 0.0, 4) - eq62(0.7, 4)).max() < SAME


def test_eq_62_with_another_sign_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ising.eq62
    monkeypatch.setattr(ising, "eq62", lambda coupling, t: right(-coupling, t))
    (failed,) = broken(RECIPES["shen-appendix-g"].outcome("smoke"))
    assert failed.startswith("Eq. 62 is the exact conditional distribution")
