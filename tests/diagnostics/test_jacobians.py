"""Jacobians against autograd of the plain step, against closed forms and against mean-field theory."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from memspan import init
from memspan.cells import CELLS, VanillaRNN
from memspan.diagnostics import jacobian_spectrum
from memspan.diagnostics.jacobians import has_jacobian, step_jacobians
from memspan.errors import InputError
from memspan.models.model import ReadoutModel
from memspan.tasks.digits import NoisyDigits
from memspan.tasks.synthetic import Copy
from oracles import ORACLES

FEATURES, HIDDEN = 3, 4
TASK = Copy(delay=5)


def cell(word: str, **options):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return CELLS[word](FEATURES, HIDDEN, dtype=torch.float64, **options).eval()


@pytest.mark.parametrize("word", ["rnn", "orthogonal-rnn", "exp-rnn", "goru", "minimal-rnn", "gru"])
def test_one_step_is_that_of_the_plain_equation(word):
    layer = cell(word).first
    x, h = torch.randn(2, FEATURES, dtype=torch.float64), torch.randn(2, HIDDEN, dtype=torch.float64)
    found = step_jacobians(layer, x, layer.State(h))
    step = ORACLES[word].step
    for b in range(2):
        expected = torch.autograd.functional.jacobian(lambda s, b=b: step(layer, x[b], s)[0], h[b])
        assert isinstance(expected, Tensor)
        torch.testing.assert_close(found[b], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("word", ["lstm", "detach-lstm"])
def test_an_lstm_is_differentiated_by_h_and_c(word):
    layer: Any = cell(word).first
    x, s = torch.randn(2, FEATURES, dtype=torch.float64), torch.randn(2, 2 * HIDDEN, dtype=torch.float64)
    found = step_jacobians(layer, x, layer.State(s[:, :HIDDEN], s[:, HIDDEN:]))

    def plain(both: Tensor, b: int) -> Tensor:
        _, after = ORACLES["lstm" if word == "lstm" else word].step(layer, x[b], tuple(both.chunk(2)))
        return torch.cat(list(after)[:2])

    for b in range(2):
        expected = torch.autograd.functional.jacobian(lambda both, b=b: plain(both, b), s[b])
        assert isinstance(expected, Tensor)
        torch.testing.assert_close(found[b], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 4096])
def test_a_linear_network_of_scaled_rotations_has_powers_of_the_scale(rows, monkeypatch):
    monkeypatch.setattr("memspan.diagnostics.jacobians.ROWS", rows)
    linear = VanillaRNN(TASK.features, 6, nonlinearity="identity")
    with torch.no_grad():
        init.orthogonal_(cast(Any, linear.first).V, 0.8)
    found = jacobian_spectrum(ReadoutModel(linear, TASK.classes, symbols=TASK.symbols), TASK, weights="orthogonal")
    powers = 0.8 ** found.distances.astype(float)
    np.testing.assert_allclose(found.quantiles, np.repeat(powers[:, None], 5, 1), rtol=1e-5)  # weights are float32
    np.testing.assert_allclose(found.mean_square, powers**2, rtol=1e-5)
    np.testing.assert_allclose(found.theory, powers**2, rtol=1e-5)
    np.testing.assert_allclose(found.variance, 0.0, atol=1e-6)
    assert found.theory_variance == pytest.approx(0.0, abs=1e-6)
    assert found.distances[-1] == TASK.length - 1


@pytest.mark.parametrize("word", ["rnn", "minimal-rnn"])
def test_wide_random_networks_have_the_moments_of_theory(word):
    """Inputs are noise of variance one in 64 features, so that theory applies. The single steps are many and their means
    near; what is left of the ends of 8 sequences is chance: the inputs' own variance scatters by sqrt(2 / 64) in each.
    """
    task = NoisyDigits(delay=25, data="digits")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        wide = CELLS[word](task.features, 120)
        init.mean_field_(wide, sigma_w=1.5, sigma_v=1.0, bias_mean=0.0, weights="gaussian")
    found = jacobian_spectrum(ReadoutModel(wide, task.classes), task, sequences=8)
    assert found.one_step_mean == pytest.approx(found.theory[0], rel=0.03)
    assert found.one_step_variance == pytest.approx(found.theory_variance, rel=0.1)
    np.testing.assert_allclose(found.mean_square[:3], found.theory[:3], rtol=0.2)


def test_untied_networks_take_the_weights_of_each_step():
    untied = VanillaRNN(TASK.features, 3, tied=False, steps=TASK.length, nonlinearity="identity")
    with torch.no_grad():
        cast(Any, untied.first).V.copy_(torch.eye(3) * torch.arange(1.0, TASK.length + 1).view(-1, 1, 1) / 10)
    found = jacobian_spectrum(ReadoutModel(untied, TASK.classes, symbols=TASK.symbols), TASK, sequences=2)
    last = TASK.length / 10
    assert found.quantiles[0, 2] == pytest.approx(last, rel=1e-6)
    assert found.quantiles[1, 2] == pytest.approx(last * (last - 0.1), rel=1e-6)


def test_which_cells_have_one_and_of_what():
    nets = {
        word: ReadoutModel(make(TASK.features, 4), TASK.classes, symbols=TASK.symbols) for word, make in CELLS.items()
    }
    without = {"mem-rnn", "mem-lstm", "sab-lstm", "rel-rnn", "rel-lstm", "transformer"}
    assert {word for word, net in nets.items() if not has_jacobian(net)} == without
    assert jacobian_spectrum(nets["lstm"], TASK, sequences=1).of == "(h, c)"
    gru = jacobian_spectrum(nets["gru"], TASK, sequences=1)
    assert gru.of == "h"
    assert (gru.theory.size, gru.theory_weights) == (0, "")
    assert math.isnan(gru.theory_variance)
    with pytest.raises(InputError, match="RelRNN has a state other than h"):
        jacobian_spectrum(nets["rel-rnn"], TASK)


def test_the_same_seed_gives_the_same_numbers():
    net = ReadoutModel(CELLS["minimal-rnn"](TASK.features, 4), TASK.classes, symbols=TASK.symbols)
    first, again = (dataclasses.asdict(jacobian_spectrum(net, TASK, seed=5)) for _ in range(2))
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
