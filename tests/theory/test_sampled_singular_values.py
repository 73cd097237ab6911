"""Singular values of real Jacobians against exact cases and the corrected Eq. 12."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.theory.meanfield.vanilla import VanillaField
from memspan.theory.sampled.cells import LSTMCell, MinimalCell, RandomNetwork, VanillaCell
from memspan.theory.sampled.singular_values import jacobian_singular_values, jacobian_statistics

LINEAR = VanillaCell(lambda e: e, slope=np.ones_like)
PUBLISHED = {"sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46}


def test_orthogonal_weights_make_a_linear_network_an_isometry() -> None:
    values = jacobian_singular_values(
        RandomNetwork(cell=LINEAR, sigma_w=0.9), width=25, steps=4, count=2, weights="orthogonal", burn_in=1
    )
    assert values == pytest.approx(np.full((2, 25), 0.9**4), rel=1e-12)


def test_gaussian_weights_give_a_linear_network_the_spectrum_of_marchenko_and_pastur() -> None:
    """Squared singular values of a Gaussian matrix have mean 1 and variance 1 (1 + 1/N at width N)."""
    found = jacobian_statistics(RandomNetwork(cell=LINEAR), width=100, steps=1, count=60, burn_in=1, seed=1)
    assert found.mean == pytest.approx(1.0, abs=5 * found.mean_error)
    assert found.variance == pytest.approx(1.01, abs=5 * found.variance_error + 0.01)


def test_moments_without_singular_values_are_those_of_the_singular_values() -> None:
    network = RandomNetwork(cell=MinimalCell(), **PUBLISHED)
    settings: dict[str, Any] = {"width": 40, "steps": 3, "count": 4, "burn_in": 20, "seed": 2}
    squared = jacobian_singular_values(network, **settings) ** 2
    found = jacobian_statistics(network, **settings)
    assert found.mean == pytest.approx(squared.mean(), rel=1e-10)
    assert found.variance == pytest.approx(squared.var(axis=1).mean(), rel=1e-10)
    relative = squared.var(axis=1) / squared.mean(axis=1) ** 2
    assert found.relative_variance == pytest.approx(relative.mean(), rel=1e-10)
    assert found.relative_variance_error == pytest.approx(relative.std(ddof=1) / 2, rel=1e-10)


@pytest.mark.parametrize("weights", ["gaussian", "orthogonal"])
def test_the_mean_square_of_a_vanilla_jacobian_is_chi1_per_step(weights: str) -> None:
    network = RandomNetwork(cell=VanillaCell(), sigma_w=1.5, sigma_v=0.5)
    found = jacobian_statistics(network, width=200, steps=2, count=20, weights=weights, burn_in=50, seed=3)
    chi1 = float(VanillaField(sigma_w=1.5, sigma_v=0.5).chi1)
    assert found.mean == pytest.approx(chi1**2, abs=5 * found.mean_error + 0.01)  # and 1 / width for the rest


def test_the_spread_of_a_minimal_jacobian_is_that_of_the_corrected_equation_12() -> None:
    """Errata 7: bias mean 6, ten steps; corrected 0.0191, printed 0.0327."""
    network = RandomNetwork(cell=MinimalCell(), bias_mean=6.0, **PUBLISHED)
    found = jacobian_statistics(network, width=250, steps=10, count=16, burn_in=500, initial_variance=0.0025, seed=4)
    assert found.relative_variance == pytest.approx(0.0191, abs=4 * found.relative_variance_error)
    assert found.relative_variance < 0.025
    assert found.mean == pytest.approx(0.9928**10, rel=0.01)


def test_one_seed_is_one_set_of_jacobians() -> None:
    network = RandomNetwork(cell=VanillaCell())
    first, again, other = (
        jacobian_singular_values(network, width=5, steps=1, burn_in=2, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("network", "changes", "words"),
    [
        (RandomNetwork(cell=LSTMCell()), {}, r"Jacobian of LSTMCell\(\) is not known .* use growth"),
        (RandomNetwork(cell=VanillaCell(np.sin)), {}, "pass its derivative as slope"),
        (RandomNetwork(cell=MinimalCell()), {"width": 0}, "width is 0"),
        (RandomNetwork(cell=MinimalCell()), {"steps": 0}, "steps is 0"),
        (RandomNetwork(cell=MinimalCell()), {"count": 0}, "count is 0"),
        (RandomNetwork(cell=MinimalCell()), {"weights": "sparse"}, "weights is 'sparse'"),
        (RandomNetwork(cell=MinimalCell()), {"burn_in": -1}, "burn_in is -1"),
        (RandomNetwork(cell=MinimalCell()), {"initial_variance": -0.5}, "initial_variance -0.5"),
    ],
)
def test_wrong_questions_about_jacobians_are_refused(
    network: RandomNetwork, changes: dict[str, Any], words: str
) -> None:
    settings: dict[str, Any] = {"width": 3, "steps": 1}
    with pytest.raises(InputError, match=words):
        jacobian_singular_values(network, **{**settings, **changes})


def test_statistics_need_two_jacobians() -> None:
    with pytest.raises(InputError, match="count is 1; expected 2 Jacobians or more"):
        jacobian_statistics(RandomNetwork(cell=MinimalCell()), width=3, steps=1, count=1)
