"""What the command line asks: the decay of a gradient with and without attention."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.theory.attention import AttentiveRNN, UniformAlignment, attention_prediction
from memspan.theory.meanfield.activations import Identity


def test_the_gradient_is_that_of_the_network_at_each_distance() -> None:
    decay = attention_prediction(0.6, 20)
    network = AttentiveRNN(np.array([[0.6]]), np.zeros((1, 1)), np.zeros(1), UniformAlignment(), Identity())
    run = network.run(np.zeros((20, 1)), np.ones(1))
    expected = [run.gradient(1, 1 + distance)[0, 0] for distance in decay.distances.tolist()]
    assert decay.gradient == pytest.approx(expected, rel=1e-11)


def test_without_attention_the_gradient_is_a_power_of_the_eigenvalue() -> None:
    decay = attention_prediction(-0.5j, 30)
    assert decay.without_attention == pytest.approx(0.5**decay.distances)


def test_the_gradient_ends_on_the_corrected_power_law() -> None:
    decay = attention_prediction(0.8 * np.exp(1j * np.pi / 3), 1_000_000)
    lengths = decay.distances[-2:] + 1.0
    slope = np.diff(np.log(decay.gradient[-2:]))[0] / np.diff(np.log(lengths))[0]
    assert decay.exponent == pytest.approx(slope, abs=1e-4)
    assert decay.printed_exponent == pytest.approx(-0.6)


@pytest.mark.parametrize("steps", [1, 2, 11, 12, 13, 100, 12_345])
def test_distances_run_from_one_to_the_steps_asked_for(steps: int) -> None:
    distances = attention_prediction(0.3, steps).distances
    assert (distances[0], distances[-1]) == (1, steps)
    assert (np.diff(distances) > 0).all()
    assert distances[:12].tolist() == list(range(1, min(steps, 12) + 1))


def test_without_recurrence_attention_alone_is_left() -> None:
    decay = attention_prediction(0.0, 1_000)
    assert decay.gradient == pytest.approx(1 / (decay.distances + 1))
    assert not decay.without_attention.any()
    assert decay.exponent == -1


def test_the_sparse_bound_is_given_if_asked_for() -> None:
    assert attention_prediction(0.5, 10).sparse_bound is None
    assert attention_prediction(0.5, 10, kappa=4, depth=2).sparse_bound == pytest.approx(0.25 / 64)


@pytest.mark.parametrize(
    ("eigenvalue", "steps", "kappa", "depth", "message"),
    [
        (1.0, 10, None, None, "modulus 1; expected all below 1"),
        (complex(np.inf, 0), 10, None, None, "expected finite"),
        (np.nan, 10, None, None, "expected finite"),
        (0.5, 0, None, None, "0 steps; expected at least 1"),
        (0.5, 10**9, None, None, "expected at most"),
        (0.5, 10, 2, None, "expected both or neither"),
        (-0.5, 10, 2, 1, "positive real"),
    ],
)
def test_questions_without_an_answer_are_refused_in_one_line(
    eigenvalue: complex, steps: int, kappa: int | None, depth: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        attention_prediction(eigenvalue, steps, kappa=kappa, depth=depth)
    assert "\n" not in str(refusal.value)
