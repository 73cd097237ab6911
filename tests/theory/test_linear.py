"""Linear networks against sums written plainly, closed forms, high precision and simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from memspan.errors import EvidenceError, InputError
from memspan.theory.linear import LinearRNN, Start
from memspan.theory.linear.chain import Chain, covariance_corrected, covariance_printed, minimal

ROUNDING = 1e-12
"""Relative error that some hundred multiplications of small matrices may leave."""
SEEDS = range(6)


def networks(spectral_radius: float = 0.9) -> list[LinearRNN]:
    return [
        LinearRNN.random(hidden, visible, noise=0.7, spectral_radius=spectral_radius, seed=seed)
        for seed, (hidden, visible) in zip(SEEDS, [(1, 1), (4, 2), (2, 4), (8, 3), (12, 1), (5, 5)], strict=True)
    ]


def units(network: LinearRNN) -> str:
    return f"{network.hidden} hidden, {network.visible} visible"


def any_start(network: LinearRNN, seed: int = 0) -> Start:
    size = network.hidden + network.visible
    root = np.random.default_rng(seed).standard_normal((size, size))
    return Start(root @ root.T)


def rotated(network: LinearRNN, seed: int) -> LinearRNN:
    """The same law of x with other hidden units: h -> T h."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((network.hidden, network.hidden)))[0]
    return LinearRNN(turn @ network.W_h, turn @ network.U_h @ turn.T, network.U_o @ turn.T, network.noise)


def with_spare_units(network: LinearRNN, *, excited: bool, observed: bool, eigenvalue: float) -> LinearRNN:
    """One more hidden unit with the given eigenvalue, excited by x or observed in x or neither."""
    W_h = np.vstack([network.W_h, np.full((1, network.visible), float(excited))])
    U_o = np.hstack([network.U_o, np.full((network.visible, 1), float(observed))])
    U_h = np.zeros((network.hidden + 1, network.hidden + 1))
    U_h[:-1, :-1], U_h[-1, -1] = network.U_h, eigenvalue
    return LinearRNN(W_h, U_h, U_o, network.noise)


# Covariances


@pytest.mark.parametrize("network", networks(), ids=units)
def test_stationary_covariances_are_the_corrected_sums(network: LinearRNN) -> None:
    lags = np.arange(40)
    sums = covariance_corrected(network, Start(network.stationary_covariance()), lags)
    assert network.covariances(lags) == pytest.approx(sums, abs=ROUNDING * np.abs(sums).max())


def test_any_start_gives_the_block_of_powers_of_the_transition_that_the_corrected_sums_give() -> None:
    network = LinearRNN.random(4, 2, spectral_radius=1.1, seed=3)
    start, m = any_start(network), network.hidden
    powers = [np.linalg.matrix_power(network.transition, t) @ start.covariance for t in range(30)]
    sums = covariance_corrected(network, start, np.arange(30))
    assert sums == pytest.approx(np.array(powers)[:, m:, m:], rel=1e-10)


def test_the_printed_sums_have_one_factor_too_many() -> None:
    network = LinearRNN([[2.0]], [[0.5]], [[3.0]])
    start = Start([[1.0, 0.25], [0.25, 1.0]])
    # Eq. 6 by hand: U_o U_h S_h, then U_o U_h^2 S_h + U_o U_h W_h S_0; corrected: one U_h less in each term.
    assert covariance_printed(network, start, [1, 2]).ravel().tolist() == [0.375, 0.1875 + 3.0]
    assert covariance_corrected(network, start, [1, 2]).ravel().tolist() == [0.75, 0.375 + 6.0]


@pytest.mark.parametrize("network", networks(), ids=units)
def test_the_stationary_covariance_reproduces_itself(network: LinearRNN) -> None:
    P, A = network.stationary_covariance(), network.transition
    fresh = np.diag([0.0] * network.hidden + [network.noise**2] * network.visible)
    assert A @ P @ A.T + fresh == pytest.approx(P, abs=ROUNDING * np.abs(P).max() * 100)


def test_exact_covariances_lie_within_four_standard_errors_of_simulated_ones() -> None:
    chains, lags = 50_000, np.array([1, 2, 5])
    worst = 0.0
    for seed in range(4):
        network = LinearRNN.random(4, 2, spectral_radius=0.9, seed=seed)
        samples = network.sample(chains, 6, seed=seed)
        exact, variance = network.covariances(lags), np.diag(network.covariances([0])[0])
        simulated = np.einsum("cti,cj->tij", samples[:, lags], samples[:, 0]) / chains
        error = np.sqrt((np.outer(variance, variance) + exact**2) / chains)
        worst = max(worst, float((np.abs(simulated - exact) / error).max()))
    assert worst < 4.0


def test_samples_from_a_start_have_its_transient_covariances() -> None:
    network, chains = LinearRNN.random(3, 2, spectral_radius=1.2, seed=5), 50_000
    start = any_start(network)
    samples = network.sample(chains, 5, seed=1, start=start)
    exact = covariance_corrected(network, start, [4])[0]
    products = samples[:, 4, :, None] * samples[:, 0, None, :]
    error = products.std(axis=0) / np.sqrt(chains)
    assert (np.abs(products.mean(axis=0) - exact) / error).max() < 4.0


# Information


def determinant(network: LinearRNN, lag: int) -> float:
    """Eq. 8 as it is written, which is good as long as the information is large."""
    S_00, S_t0 = network.covariances([0, lag])
    product = np.linalg.solve(S_00, S_t0.T) @ np.linalg.solve(S_00, S_t0)
    return float(-0.5 * np.linalg.slogdet(np.eye(network.visible) - product)[1])


@pytest.mark.parametrize("network", networks(), ids=units)
def test_information_is_the_determinant_of_equation_8(network: LinearRNN) -> None:
    lags = [1, 2, 3, 7]
    expected = [determinant(network, lag) for lag in lags]
    assert network.information(lags) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("network", networks(), ids=units)
def test_the_transient_from_the_stationary_law_is_the_stationary_answer(network: LinearRNN) -> None:
    lags = [1, 2, 10, 300]
    start = Start(network.stationary_covariance())
    assert network.information(lags, start=start) == pytest.approx(network.information(lags), rel=1e-8, abs=0)


@pytest.mark.parametrize("a", [0.9, -0.5, 0.999])
def test_a_chain_of_two_step_echoes_has_a_closed_form_down_to_the_smallest_numbers(a: float) -> None:
    # x_t = a^2 x_{t-2} + y_t, so that the correlation at an even lag tau is |a|^tau.
    network = LinearRNN([[1.0]], [[0.0]], [[a**2]], noise=3.0)
    lags = np.array([2, 4, 40, 200, 1_000])
    expected = -0.5 * np.log1p(-(a ** (2.0 * lags)))
    assert network.information(lags) == pytest.approx(expected, rel=1e-11, abs=0)
    assert network.information([1, 3, 401]).tolist() == [0.0, 0.0, 0.0]


def test_information_keeps_its_relative_precision_at_1e_30_nats() -> None:
    # At small information Eq. 8 is half the squared norm of the whitened covariance, which the sums give.
    network = LinearRNN.random(4, 2, spectral_radius=0.7, seed=1)
    lag = 95
    S_0, S_t = covariance_corrected(network, Start(network.stationary_covariance()), [0, lag])
    whiten = np.linalg.inv(np.linalg.cholesky(S_0))
    expected = 0.5 * np.sum((whiten @ S_t @ whiten.T) ** 2)
    assert 1e-33 < expected < 1e-27
    assert network.information([lag])[0] == pytest.approx(expected, rel=1e-9, abs=0)


def test_large_information_is_exact_too() -> None:
    # x_1 = h_0 + y_1 with h_0 = x_0 of variance 1e20: the signal-to-noise ratio is 1e20.
    network, start = LinearRNN([[0.0]], [[0.0]], [[1.0]]), Start(1e20 * np.ones((2, 2)))
    assert network.information([1], start=start)[0] == pytest.approx(0.5 * np.log(1 + 1e20), rel=1e-12)


def test_lags_may_come_in_any_order_twice_and_very_large() -> None:
    network = LinearRNN.random(6, 2, spectral_radius=0.99, seed=2)
    found = network.information([1_000_000, 3, 700, 3, 1])
    one_by_one = [float(network.information([lag])[0]) for lag in (1_000_000, 3, 700, 3, 1)]
    assert found == pytest.approx(one_by_one, rel=1e-9, abs=0)
    assert found[0] == 0.0
    assert found[2] > 0.0


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_neither_the_size_of_the_noise_nor_the_units_of_h_matter(scale: float) -> None:
    network = LinearRNN.random(4, 2, spectral_radius=0.9, seed=0)
    other = LinearRNN(scale * network.W_h, network.U_h, network.U_o / scale, noise=scale)
    assert other.information([1, 5, 50]) == pytest.approx(network.information([1, 5, 50]), rel=1e-9, abs=0)


def test_an_x_0_that_is_known_beforehand_tells_nothing() -> None:
    network = LinearRNN.random(2, 1, spectral_radius=0.9, seed=0)
    assert network.information([1, 5], start=Start(np.diag([1.0, 1.0, 0.0]))).tolist() == [0.0, 0.0]


# The rate


@pytest.mark.parametrize("network", networks(), ids=units)
def test_the_rate_of_a_random_network_is_its_spectral_radius(network: LinearRNN) -> None:
    assert network.rate == pytest.approx(network.spectral_radius, rel=1e-9)
    assert network.correlation_length == pytest.approx(-1 / (2 * np.log(network.rate)))


@pytest.mark.parametrize(("excited", "observed"), [(False, True), (True, False), (False, False)])
def test_a_slow_mode_that_is_not_excited_or_not_observed_does_not_count(excited: bool, observed: bool) -> None:
    base = LinearRNN.random(4, 2, spectral_radius=0.6, seed=8)
    network = rotated(with_spare_units(base, excited=excited, observed=observed, eigenvalue=0.99), seed=1)
    assert network.spectral_radius == pytest.approx(0.99)
    assert network.rate == pytest.approx(base.rate, rel=1e-9)
    lags = [1, 10, 70]  # 1e-32 nats at the last, less than rounding errors that decay with 0.99 would give
    assert network.information(lags) == pytest.approx(base.information(lags), rel=1e-8, abs=0)


def test_a_slow_mode_that_is_excited_and_observed_counts_however_weakly() -> None:
    network = LinearRNN([[1.0], [1e-4]], [[0.3, 0.0], [0.0, 0.95]], [[0.2, 1e-4]])
    assert network.rate == pytest.approx(network.spectral_radius, rel=1e-9)
    assert network.rate == pytest.approx(0.95, rel=1e-6)


def test_two_equal_modes_one_excited_and_one_observed_do_not_count() -> None:
    network = LinearRNN([[1.0], [0.0], [0.1]], np.diag([0.9, 0.9, 0.2]), [[0.0, 1.0, 0.1]])
    assert rotated(network, seed=0).rate < 0.5


def test_a_network_that_never_reads_its_output_has_no_memory() -> None:
    network = LinearRNN(np.zeros((3, 2)), 0.9 * np.eye(3), np.ones((2, 3)))
    assert (network.rate, network.correlation_length) == (0.0, 0.0)
    assert network.information([1, 2]).tolist() == [0.0, 0.0]


def test_the_minimal_chain_is_no_larger_than_it_must_be() -> None:
    A = np.diag([0.9, 0.5, 0.2])
    chain = Chain(A, np.array([[0.0], [1.0], [1.0]]), np.array([[1.0, 1.0, 0.0]]), np.zeros((3, 0)))
    found = minimal(chain).A
    assert found == pytest.approx(np.array([[0.5]]))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_poles_of_the_corrected_generating_function_are_the_inverse_eigenvalues(seed: int) -> None:
    network = LinearRNN.random(5, 3, spectral_radius=0.8, seed=seed)
    for value in np.linalg.eigvals(network.transition):
        z = 1 / value
        hidden = np.eye(5) - z * network.U_h
        visible = np.eye(3) - z**2 * network.U_o @ np.linalg.solve(hidden, network.W_h)
        assert np.linalg.svd(visible, compute_uv=False)[-1] < 1e-7 * np.linalg.norm(visible)


# Growth


@pytest.mark.parametrize("ask", ["information", "covariances", "length", "sample", "covariance"])
def test_a_network_that_does_not_settle_refuses_stationary_questions(ask: str) -> None:
    network = LinearRNN.random(3, 2, spectral_radius=1.2, seed=0)
    questions = {
        "information": lambda: network.information([1]),
        "covariances": lambda: network.covariances([1]),
        "length": lambda: network.correlation_length,
        "sample": lambda: network.sample(1, 1, seed=0),
        "covariance": network.stationary_covariance,
    }
    with pytest.raises(InputError, match=r"radius is 1\.2, .* only its initial condition; .* start="):
        questions[ask]()


@pytest.mark.parametrize("growth", [1.02, 1.3])
def test_a_growing_network_keeps_the_logarithm_of_its_growth(growth: float) -> None:
    # x_t = growth^2 x_{t-2} + y_t: in the end y_0 is a share 1 - growth^-4 of all noise, each in units of its growth.
    network = LinearRNN([[1.0]], [[0.0]], [[growth**2]])
    found = network.information([1_000, 1_000_000], start=Start.at_rest(network))
    assert found == pytest.approx([-0.5 * np.log(growth**-4.0)] * 2, rel=1e-9)


def test_what_grows_without_noise_is_known_ever_better() -> None:
    # x_t = 1.5^(t-1) h_0 + y_t with h_0 = x_0 - or a billionth of it, which must not be lost next to x_0.
    network = LinearRNN([[0.0]], [[1.5]], [[1.0]])
    lags = np.array([10, 100, 500])
    for share in (1.0, 1e-9):
        start = Start([[share**2, share], [share, 1.0]])
        expected = 0.5 * np.log1p((share * 1.5 ** (lags - 1.0)) ** 2)
        assert network.information(lags, start=start) == pytest.approx(expected, rel=1e-9, abs=0)


def test_growth_beyond_double_precision_is_refused_and_not_guessed() -> None:
    network = LinearRNN(np.eye(2), np.diag([1.5, 0.5]), 0.1 * np.eye(2))
    start = Start.at_rest(network)
    assert network.information([20], start=start)[0] > 0
    with pytest.raises(EvidenceError, match=r"at lag 200 .* use smaller lags"):
        network.information([20, 200], start=start)


# Sampling, drawing, files


def test_the_same_seed_gives_the_same_samples_and_a_generator_is_taken_too() -> None:
    network = LinearRNN.random(3, 2, spectral_radius=0.8, seed=0)
    first, again = (network.sample(4, 5, seed=7) for _ in range(2))
    assert first.shape == (4, 5, 2)
    assert np.array_equal(first, again)
    assert np.array_equal(first, network.sample(4, 5, seed=np.random.default_rng(7)))
    assert not np.array_equal(first, network.sample(4, 5, seed=8))


def test_weights_are_of_unit_gain_unless_a_radius_is_asked_for() -> None:
    network = LinearRNN.random(400, 100, seed=0)
    # Standard errors of these spreads are 0.3 % and less.
    assert network.U_h.std() * 20 == pytest.approx(1, abs=0.02)
    assert network.W_h.std() * 10 == pytest.approx(1, abs=0.02)
    assert network.U_o.std() * 20 == pytest.approx(1, abs=0.02)


def test_a_saved_network_is_loaded_bit_by_bit(tmp_path: Path) -> None:
    network = LinearRNN.random(3, 2, noise=0.3, seed=0)
    network.save(tmp_path / "network.safetensors")
    again = LinearRNN.load(tmp_path / "network.safetensors")
    assert np.array_equal(again.transition, network.transition)
    assert again.noise == 0.3


def weights(**changed: np.ndarray) -> dict[str, np.ndarray]:
    return {"W_h": np.ones((3, 2)), "U_h": np.ones((3, 3)), "U_o": np.ones((2, 3)), **changed}


@pytest.mark.parametrize("noise", [np.array(0.5), np.array([0.5], dtype=np.float32)])
def test_noise_may_be_a_scalar_or_one_element_and_is_one_by_default(tmp_path: Path, noise: np.ndarray) -> None:
    save_file(weights(noise=noise), tmp_path / "a.safetensors")
    save_file(weights(), tmp_path / "b.safetensors")
    assert LinearRNN.load(tmp_path / "a.safetensors").noise == 0.5
    assert LinearRNN.load(tmp_path / "b.safetensors").noise == 1.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"U_h": np.ones((2, 3))}, r"U_h has shape \(2, 3\); expected \(3, 3\), because W_h of shape \(3, 2\)"),
        ({"U_o": np.ones((3, 2))}, r"U_o has shape \(3, 2\); expected \(2, 3\)"),
        ({"W_h": np.ones(3)}, r"W_h has shape \(3,\); expected two dimensions"),
        ({"W_h": np.full((3, 2), np.nan)}, r"W_h holds nan at \(0, 0\); expected finite numbers"),
        ({"U_h": np.ones((3, 3), dtype=np.int64)}, r"U_h has type I64; expected F32 or F64; save it as float32"),
        ({"noise": np.ones(2)}, r"noise has shape \(2,\); expected one number"),
        ({"noise": np.array([-1.0])}, r"noise is -1.0; expected a standard deviation above 0"),
    ],
    ids=str,
)
def test_a_wrong_tensor_is_told_in_one_line(tmp_path: Path, changed: dict[str, np.ndarray], message: str) -> None:
    path = tmp_path / "network.safetensors"
    save_file(weights(**changed), path)
    with pytest.raises(InputError, match=message) as caught:
        LinearRNN.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    save_file({"W_h": np.ones((3, 2))}, tmp_path / "network.safetensors")
    with pytest.raises(InputError, match=r"has no tensor U_h and no U_o; expected W_h, U_h and U_o"):
        LinearRNN.load(tmp_path / "network.safetensors")


def test_a_file_that_is_absent_a_folder_or_something_else_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        LinearRNN.load(tmp_path / "absent.safetensors")
    (tmp_path / "text.safetensors").write_text("not tensors at all")
    for path in (tmp_path / "text.safetensors", tmp_path):
        with pytest.raises(InputError, match=r"cannot be read as a \.safetensors file"):
            LinearRNN.load(path)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LinearRNN([[1j]], [[0.0]], [[1.0]]), "W_h holds complex128 values; expected real numbers"),
        (lambda: LinearRNN([[1.0]], [[0.0]], [[1.0]], noise=0.0), "noise is 0.0; expected a standard deviation"),
        (lambda: LinearRNN.random(0, 1, seed=0), "0 hidden and 1 visible units"),
        (lambda: LinearRNN.random(1, 1, spectral_radius=-1.0, seed=0), "spectral radius -1.0; expected"),
        (lambda: Start([[1.0, 2.0], [2.0, 1.0]]), "not symmetric and positive semidefinite"),
        (lambda: Start([[1.0, 0.5], [0.2, 1.0]]), "not symmetric and positive semidefinite"),
        (lambda: Start([[1.0, 0.5]]), r"shape \(1, 2\); expected a square"),
    ],
)
def test_bad_arguments_are_refused(build, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("lags", [[0], [1.5], [[1, 2]], [-1]])
def test_lags_are_whole_numbers_from_one_on(lags: list) -> None:
    network = LinearRNN([[1.0]], [[0.0]], [[0.5]])
    with pytest.raises(InputError, match="expected a list of whole numbers from 1 on"):
        network.information(lags)


def test_a_start_of_another_size_and_empty_samples_are_refused() -> None:
    network = LinearRNN([[1.0]], [[0.0]], [[0.5]])
    with pytest.raises(InputError, match="3 rows; expected 2, for 1 hidden and 1 visible units"):
        network.information([1], start=Start(np.eye(3)))
    with pytest.raises(InputError, match="3 rows; expected 2"):
        network.sample(1, 1, seed=0, start=Start(np.eye(3)))
    with pytest.raises(InputError, match="0 documents of 5 steps"):
        network.sample(0, 5, seed=0)


def test_weights_cannot_be_changed_afterwards() -> None:
    given = np.ones((1, 1))
    network = LinearRNN(given, [[0.0]], [[0.5]])
    given[0, 0] = 7.0
    assert network.W_h[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        network.W_h[0, 0] = 2.0
