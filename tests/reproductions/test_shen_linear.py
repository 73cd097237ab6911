"""The recipes about linear networks: what their claims are checked against, and that the claims can fail."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.recipe import Computed
from memspan.reproductions.shen2019 import linear_networks
from memspan.reproductions.shen2019.linear_networks import SLOW, sampled_information, scaled
from memspan.theory.linear import LinearRNN

BOTH = [RECIPES["shen-linear"], RECIPES["errata-01"]]


def test_claims_fail_for_a_simulation_that_follows_the_printed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(network: LinearRNN) -> LinearRNN:
        return LinearRNN(network.U_h @ network.W_h, network.U_h, network.U_o @ network.U_h, network.noise)

    sample = LinearRNN.sample
    monkeypatch.setattr(LinearRNN, "sample", lambda self, n, length, seed: sample(printed(self), n, length, seed=seed))
    monkeypatch.setattr(LinearRNN, "stationary_covariance", lambda self: np.eye(self.hidden + self.visible))
    claims = RECIPES["errata-01"].outcome("smoke", 0, SILENT).claims
    assert not claims[0].holds


def test_the_slow_network_has_one_real_mode_of_ninety_five_and_others_below_a_half() -> None:
    modes = np.linalg.eigvals(scaled(SLOW).transition)
    modes = modes[np.argsort(-np.abs(modes))]
    assert modes[0] == pytest.approx(0.95, rel=1e-12)
    assert np.abs(modes[1:]).max() < 0.5
    assert scaled(SLOW).correlation_length == pytest.approx(9.748, abs=5e-4)


def test_information_of_samples_is_free_of_the_bias_of_correlated_neighbors() -> None:
    lags = np.array([1, 2, 5, 150])
    found, error = sampled_information(scaled(SLOW).sample(400, 500, seed=3), lags)
    exact = scaled(SLOW).information(lags)
    # Errors from 20 groups: a deviation of 4 has a chance below 1 in 1,000. The last lag shares nothing.
    assert np.abs((found - exact) / error).max() < 4.0
    assert exact[-1] < 1e-7


def test_independent_samples_share_nothing_within_their_error() -> None:
    network = LinearRNN(np.zeros((1, 3)), [[0.0]], np.zeros((3, 1)))
    samples = network.sample(100, 200, seed=0)
    found, error = sampled_information(samples, [1, 7])
    plain = 3**2 / (2 * samples.shape[0] * samples.shape[1])
    assert np.all(np.abs(found) < 4 * error)
    assert np.all(error < 2 * plain)


def test_a_tail_with_too_few_lags_or_two_alike_modes_is_not_called_plain() -> None:
    alike = LinearRNN(np.ones((2, 1)), np.diag([0.95, 0.93]), 0.01 * np.ones((1, 2)))
    fast = scaled(0.5)
    for network in (alike, fast):
        lags = np.arange(1, int(40 * network.correlation_length) + 20)
        assert not linear_networks.ExactInformation(network, lags, network.information(lags)).plain
    lags = np.arange(1, 400)
    exact = linear_networks.ExactInformation(scaled(SLOW), lags, scaled(SLOW).information(lags))
    assert exact.plain
    assert exact.tail == pytest.approx(1.0, abs=1e-6)


def test_the_printed_poles_are_those_of_the_printed_sums() -> None:
    case = linear_networks.covariance_case(100, np.random.default_rng(3))
    start = linear_networks.Start(case.network.stationary_covariance())
    sums = linear_networks.covariance_printed(case.network, start, np.arange(120, 241))
    size = np.linalg.norm(sums, axis=(1, 2))
    # A complex pair of poles oscillates, by less than a factor e^3 over these 120 lags.
    assert np.log(size[-1] / size[0]) / 120 == pytest.approx(np.log(case.printed_rate), abs=3 / 120)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", BOTH, ids=lambda recipe: recipe.id)
def test_every_claim_about_linear_networks_holds_at_laptop_scale(recipe: Computed) -> None:
    assert [claim.claim for claim in recipe.outcome("laptop", 0, SILENT).claims if not claim.holds] == []
