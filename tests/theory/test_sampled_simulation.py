"""Sampling without matrices has the law of fresh matrices; cells are their equations; wrong questions are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.theory.sampled.cells import (
    Array,
    DifferentiableCell,
    ElementwiseCell,
    GRUCell,
    LSTMCell,
    MinimalCell,
    RandomNetwork,
    VanillaCell,
)
from memspan.theory.sampled.ensemble import gram, random_matrix, square_root
from memspan.theory.sampled.simulation import Simulation, simulate

CELLS: list[ElementwiseCell] = [VanillaCell(), MinimalCell(), LSTMCell(), GRUCell()]
FIVE_ERRORS = 5.0
"""Standard errors that the worst of about fifty values may be off: by chance in 1 of 30,000 runs."""
ROUNDING = 1e-12


def sigmoid(e: Array) -> Array:
    return 1 / (1 + np.exp(-e))


def minimal(**settings: float) -> RandomNetwork:
    """The published critical network of Chen 2018, Fig. 1, by default."""
    return RandomNetwork(cell=MinimalCell(), **{"sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46, **settings})


def worst_deviation(one: Simulation, other: Simulation) -> float:
    found = []
    for name in ("c", "C", "q", "Q"):
        error = np.hypot(getattr(one, f"{name}_error"), getattr(other, f"{name}_error"))
        found.append(np.abs(getattr(one, name) - getattr(other, name)) / error)
    return float(np.max(found))


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: type(cell).__name__)
def test_sampling_without_matrices_has_the_law_of_matrices_drawn_afresh(cell: ElementwiseCell) -> None:
    """Even at width 20, where nothing is Gaussian by a limit theorem."""
    network = RandomNetwork(cell=cell, sigma_w=1.7, sigma_v=0.8, sigma_b=0.5, bias_mean=1.0, input_variance=0.6)
    settings: dict[str, Any] = {
        "width": 20,
        "steps": 4,
        "networks": 800,
        "input_correlation": [0.0, 0.6, 1.0, -0.5],
        "initial_variance": 0.8,
        "initial_correlation": 0.3,
    }
    sampled = simulate(network, seed=1, **settings)
    plain = simulate(network, seed=2, matrices=True, **settings)
    assert worst_deviation(sampled, plain) < FIVE_ERRORS


def test_the_critical_minimal_network_settles_where_theory_says() -> None:
    found = simulate(minimal(), width=4096, steps=60, networks=6, input_correlation=0.0, seed=3)
    assert found.Q[-1] == pytest.approx(0.318, rel=0.02)  # five standard errors of six networks
    assert found.q[-1] == pytest.approx(15.94, rel=0.02)
    assert abs(found.c[-1]) < FIVE_ERRORS * found.c_error[-1] + 1e-3


def test_linear_networks_follow_their_exact_recursion() -> None:
    network = RandomNetwork(cell=VanillaCell(lambda e: e), sigma_w=0.9, sigma_v=0.7, sigma_b=0.4, input_variance=2.0)
    correlations = [0.5, -0.2, 1.0]
    found = simulate(network, width=2000, steps=3, networks=50, input_correlation=correlations, seed=4)
    variance = covariance = 0.0
    for step, correlation in enumerate(correlations):
        variance = 0.81 * variance + 0.49 * 2.0 + 0.16
        covariance = 0.81 * covariance + 0.49 * 2.0 * correlation + 0.16
        assert abs(found.q[step] - variance) < FIVE_ERRORS * found.q_error[step]
        assert abs(found.Q[step] - variance) < FIVE_ERRORS * found.Q_error[step]
        assert found.c[step] == pytest.approx(covariance / variance, abs=0.005)


def test_the_first_sums_see_the_initial_state_and_the_first_input() -> None:
    bias_only = RandomNetwork(cell=VanillaCell(), sigma_v=0.0, sigma_b=1.0)
    assert simulate(bias_only, width=5, steps=1, networks=2).c[0] == pytest.approx(1.0, abs=ROUNDING)
    state_only = RandomNetwork(cell=VanillaCell(), sigma_v=0.0)
    found = simulate(state_only, width=100_000, steps=1, networks=2, initial_variance=0.5, initial_correlation=-0.4)
    assert found.c[0] == pytest.approx(-0.4, abs=0.02)
    assert found.q[0] == pytest.approx(0.5, rel=0.02)


def test_equal_copies_with_equal_inputs_stay_equal() -> None:
    found = simulate(minimal(bias_mean=2.0), width=200, steps=20, networks=3, initial_variance=0.3)
    assert np.abs(found.c - 1).max() < ROUNDING
    assert np.abs(found.C - 1).max() < ROUNDING


def test_tied_orthogonal_weights_keep_the_norm_of_a_linear_network() -> None:
    network = RandomNetwork(cell=VanillaCell(lambda e: e), sigma_w=0.8, sigma_v=0.0)
    found = simulate(
        network, width=30, steps=5, networks=2, tied=True, weights="orthogonal", initial_variance=1.0, seed=5
    )
    assert found.Q[1:] / found.Q[:-1] == pytest.approx(np.full(4, 0.64), rel=ROUNDING)


def test_tied_weights_are_one_draw_and_fresh_ones_are_not() -> None:
    """Without input and state only the bias is left: tied networks repeat themselves, fresh ones do not."""
    network = RandomNetwork(cell=VanillaCell(), sigma_w=0.0, sigma_v=0.0, sigma_b=1.0)
    tied = simulate(network, width=20, steps=3, networks=1, tied=True, seed=6)
    fresh = simulate(network, width=20, steps=3, networks=1, matrices=True, seed=6)
    assert np.ptp(tied.Q) == 0
    assert np.ptp(fresh.Q) > 0.01


def test_the_lstm_step_is_its_equations() -> None:
    rng = np.random.default_rng(7)
    (i, f, g, o), x, h, c = rng.normal(size=(4, 1, 2, 9)), rng.normal(size=9), *rng.normal(size=(2, 1, 2, 9))
    new_h, new_c = LSTMCell().step(np.stack([i, f, g, o]), x, (h, c))
    expected = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    assert new_c == pytest.approx(expected, abs=ROUNDING)
    assert new_h == pytest.approx(sigmoid(o) * np.tanh(expected), abs=ROUNDING)


def test_the_gru_step_is_its_equations() -> None:
    rng = np.random.default_rng(8)
    (r, z, recurrent, driven), x, h = (rng.normal(size=(4, 1, 2, 9)), rng.normal(size=9), rng.normal(size=(1, 2, 9)))
    (new,) = GRUCell().step(np.stack([r, z, recurrent, driven]), x, (h,))
    candidate = np.tanh(driven + sigmoid(r) * recurrent)
    assert new == pytest.approx((1 - sigmoid(z)) * candidate + sigmoid(z) * h, abs=ROUNDING)


@pytest.mark.parametrize("cell", [VanillaCell(), MinimalCell()], ids=lambda cell: type(cell).__name__)
def test_slopes_are_the_derivative_of_the_step(cell: DifferentiableCell) -> None:
    rng = np.random.default_rng(9)
    W, (h, x, rest, d) = rng.normal(size=(6, 6)), rng.normal(size=(4, 6))
    u, a = cell.slopes(W @ h + rest, x, h)
    small = 1e-6
    ahead, behind = ((cell.step((W @ y + rest)[None], x, (y,)))[0] for y in (h + small * d, h - small * d))
    assert (ahead - behind) / (2 * small) == pytest.approx(u * d + a * (W @ d), abs=1e-8)  # third order in 1e-6


@pytest.mark.parametrize("cell", [LSTMCell(), GRUCell()], ids=["LSTM", "GRU"])
def test_the_bias_mean_is_that_of_the_gate_that_keeps_the_state(cell: ElementwiseCell) -> None:
    """Without weights the memory shrinks by sigmoid(bias mean) per step, and the other gates are one half."""
    network = RandomNetwork(cell=cell, sigma_w=0.0, sigma_v=0.0, bias_mean=2.0)
    found = simulate(network, width=50, steps=2, networks=2, initial_variance=1e-8, seed=10)
    gate = 1 / (1 + np.exp(-2.0))
    assert found.Q[1] / found.Q[0] == pytest.approx(gate**2, rel=1e-6)  # tanh is linear at 1e-4


def test_the_number_of_workers_and_of_chunks_does_not_matter() -> None:
    settings: dict[str, Any] = {"width": 3000, "steps": 3, "networks": 13, "input_correlation": 0.5, "seed": 11}
    one, three = (simulate(minimal(), workers=workers, **settings) for workers in (1, 3))
    assert np.array_equal(one.c, three.c)
    assert np.array_equal(one.Q_error, three.Q_error)


def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    first, again, other = (simulate(minimal(), width=50, steps=3, networks=4, seed=seed).Q for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    drawn = simulate(minimal(), width=50, steps=3, networks=4, seed=np.random.default_rng(1))
    assert np.isfinite(drawn.Q).all()


def test_errors_need_two_networks() -> None:
    assert np.isnan(simulate(minimal(), width=10, steps=2, networks=1).c_error).all()


def test_standard_errors_are_those_of_repeated_simulations() -> None:
    runs = [simulate(minimal(), width=100, steps=5, networks=10, input_correlation=0.3, seed=k) for k in range(60)]
    spread = np.std([run.C[-1] for run in runs], ddof=1)
    claimed = np.mean([run.C_error[-1] for run in runs])
    assert claimed == pytest.approx(spread, rel=0.3)  # a spread of 60 values is known to 9 %


def test_inner_products_and_roots_are_those_of_linear_algebra() -> None:
    vectors = np.random.default_rng(12).normal(size=(3, 2, 9000))
    covariance = gram(vectors)
    for k in range(2):
        assert covariance[:, :, k] == pytest.approx(vectors[:, k] @ vectors[:, k].T / 9000, abs=ROUNDING)
        root = square_root(covariance)[:, :, k]
        assert root == pytest.approx(np.linalg.cholesky(covariance[:, :, k]), abs=ROUNDING)


def test_orthogonal_matrices_are_drawn_uniformly() -> None:
    """Their traces then have mean 0 and variance 1; the factor of a plain QR decomposition has not."""
    rng = np.random.default_rng(13)
    traces = np.array([np.trace(random_matrix(3, "orthogonal", rng)) for _ in range(2000)])
    assert abs(traces.mean()) < FIVE_ERRORS / np.sqrt(2000)
    assert traces.var() == pytest.approx(1.0, abs=0.2)


def ask(**changes: Any) -> Simulation:
    settings: dict[str, Any] = {"width": 4, "steps": 2, "networks": 1}
    return simulate(minimal(), **{**settings, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 0}, "width is 0; expected 1 or more"),
        ({"steps": 0}, "steps is 0; expected 1 or more"),
        ({"networks": 0}, "networks is 0; expected 1 or more"),
        ({"input_correlation": 1.5}, "input_correlation is 1.5; expected a correlation"),
        ({"input_correlation": float("nan")}, "input_correlation is nan"),
        ({"input_correlation": [0.1, 0.2, 0.3]}, r"shape \(3,\); expected one number, or one for each of 2 steps"),
        ({"initial_correlation": -1.1}, "initial_correlation is -1.1"),
        ({"initial_variance": -1.0}, "initial_variance is -1.0"),
        ({"weights": "sparse"}, "weights is 'sparse'; expected gaussian or orthogonal"),
        ({"weights": "orthogonal"}, "pass matrices=True or tied=True"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_questions_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ask(**changes)


@pytest.mark.parametrize("name", ["sigma_w", "sigma_v", "sigma_b", "input_variance"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_networks_with_impossible_parameters_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} is {value}; expected a finite number, 0 or more"):
        minimal(**{name: value})


def test_an_infinite_bias_mean_is_refused() -> None:
    with pytest.raises(InputError, match="bias_mean is inf"):
        minimal(bias_mean=float("inf"))
