"""The network before its first update is a function of the configuration; every start draws what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.cells import CELLS
from memspan.errors import InputError
from memspan.init import mean_field_
from memspan.tasks.catalog import TASKS
from memspan.training.run.config import merge
from memspan.training.run.machine import stream_seed
from memspan.training.supervised.build import build, build_model
from memspan.training.supervised.config import InitConfig, from_json
from memspan.training.supervised.defaults import defaults


def test_the_same_configuration_gives_the_same_weights_and_leaves_random_numbers_alone(tiny):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, two = build(tiny()), build(tiny())
    assert torch.equal(torch.get_rng_state(), before)
    assert all(map(torch.equal, one.parameters(), two.parameters()))
    assert not all(map(torch.equal, one.parameters(), build(tiny(seed=1)).parameters()))


def test_processes_and_seeds_draw_from_streams_of_their_own():
    assert len({stream_seed(seed, rank) for seed in range(30) for rank in range(30)} | set(range(30))) == 930


@pytest.mark.parametrize("name", ["orthogonal", "henaff", "cayley"])
@pytest.mark.parametrize("cell", ["rnn", "minimal-rnn", "rel-rnn"])
def test_what_multiplies_the_state_becomes_orthogonal(name, cell, tiny):
    layer = build(tiny(cell, init=InitConfig(name=name))).cell.first
    matrix = layer.get_parameter("W" if cell == "minimal-rnn" else "V").detach()
    assert torch.allclose(matrix @ matrix.T, torch.eye(8), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "cell", "words"),
    [
        ("orthogonal", "gru", "init.name is orthogonal, but GRU has no recurrent matrix"),
        ("henaff", "exp-rnn", "init.name is henaff, but ExpRNN has no recurrent matrix"),
        ("critical", "lstm", "mean-field theory does not describe LSTM"),
        ("chrono", "rnn", "has no gates with biases"),
    ],
)
def test_a_start_that_the_cell_cannot_have_is_told(name, cell, words, tiny):
    with pytest.raises(InputError, match=words):
        build(tiny(cell, init=InitConfig(name=name)))


def test_chrono_gates_remember_for_as_long_as_the_delay(tiny):
    biases = build(tiny("detach-lstm", init=InitConfig(name="chrono"))).cell.first.get_parameter("b").detach()
    forget = biases[8:16].exp()
    assert ((forget >= 1) & (forget <= 2)).all()  # U(1, delay - 1), with a delay of 3
    assert torch.allclose(biases[:8], -biases[8:16])


@pytest.mark.parametrize("cell", ["rnn", "minimal-rnn"])
def test_critical_weights_are_critical_for_the_inputs_of_the_task(cell, tiny):
    config = tiny(cell, hidden=64, init=InitConfig(name="critical"))
    network = build(config)
    inputs = network.encode(config.task.batch(0, 100, seed=0).inputs)
    layer = network.cell.first
    read = inputs if cell == "rnn" else torch.tanh(inputs @ layer.get_parameter("W_x").T)
    field = layer.field(float(read.detach().double().square().mean()))  # type: ignore[operator]
    assert field.fixed_point().chi1 == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("weights", ["gaussian", "orthogonal"])
@pytest.mark.parametrize("cell", ["rnn", "minimal-rnn"])
def test_field_weights_have_the_wanted_variances(cell, weights, tiny):
    wanted = InitConfig(name="field", sigma_w=2.0, sigma_v=0.5, bias_mean=1.5, weights=weights)
    layer = build(tiny(cell, hidden=64, init=wanted)).cell.first
    recurrent, driven = ("V", "U") if cell == "rnn" else ("W", "V")
    W, V = (layer.get_parameter(name).detach().numpy() for name in (recurrent, driven))
    assert W.var() == pytest.approx(4 / W.shape[1], rel=1e-2)
    assert V.var() == pytest.approx(0.25 / V.shape[1], rel=1e-4)
    assert (layer.get_parameter("b") == 1.5).all()
    spread = np.linalg.svd(W, compute_uv=False)
    assert (np.ptp(spread) < 1e-4) == (weights == "orthogonal")


@pytest.mark.parametrize("sigma", [-1.0, math.nan])
def test_deviations_that_cannot_be_are_refused(sigma, tiny):
    with pytest.raises(InputError, match="expected both to be 0 or more"):
        mean_field_(build(tiny("rnn")).cell, sigma_w=sigma, sigma_v=1.0)
    with pytest.raises(InputError, match="expected gaussian or orthogonal"):
        mean_field_(build(tiny("rnn")).cell, sigma_w=1.0, sigma_v=1.0, weights="uniform")


@pytest.mark.parametrize("task", list(TASKS))
def test_every_cell_can_be_built_for_every_task_with_its_default_settings(task):
    data = {"characters": "python", "words": "python", "noisy-digits": "digits"}
    data |= {"digits": "digits", "permuted-digits": "digits"}
    for cell in CELLS:
        settings = merge(defaults(task, cell), {"task": {"data": data[task]}} if task in data else {})
        if "digits" in task and task != "noisy-digits":
            settings = merge(settings, {"task": {"steps": 16}})
        assert build_model(from_json(settings, "the defaults")).parameter_count() > 0
