"""Cells of mean-field theory and of orthogonal recurrences, beyond the contract of all cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from oracle_gated import GORU_ORACLE
from torch import Tensor, nn
from torch.nn.utils import parametrize

from memspan.cells.base.cell import Cell
from memspan.cells.gated.goru import GORU, GORULayer
from memspan.cells.gated.minimal import MinimalLayer, MinimalRNN
from memspan.cells.plain.exp import ExpRNN, skew_exponential
from memspan.cells.plain.orthogonal import OrthogonalRNN
from memspan.cells.plain.vanilla import VanillaRNN
from memspan.errors import InputError

FEATURES, HIDDEN, BATCH, STEPS = 3, 4, 2, 6


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision, few steps: nothing but the order of sums differs."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def assert_orthogonal(matrix: Tensor, tolerance: float = 1e-12) -> None:
    """Double precision; some products of matrices lose a few digits of sixteen."""
    one = torch.eye(len(matrix), dtype=matrix.dtype)
    torch.testing.assert_close(matrix.T @ matrix, one, rtol=0, atol=tolerance)


def some(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def check_against(cell: Cell, plain: Callable[[Tensor], Tensor]) -> None:
    """Outputs and all gradients of a weighted sum of outputs."""
    inputs, weights = some(STEPS, BATCH, FEATURES).requires_grad_(), some(STEPS, BATCH, HIDDEN, seed=1)
    leaves = [inputs, *cell.parameters()]
    ours, theirs = cell(inputs)[0], plain(inputs)
    assert_equal(ours, theirs)
    for one, other in zip(
        torch.autograd.grad((weights * ours).sum(), leaves),
        torch.autograd.grad((weights * theirs).sum(), leaves),
        strict=True,
    ):
        assert_equal(one, other)


def untied(kind: type[MinimalRNN | VanillaRNN], steps: int = STEPS) -> MinimalRNN | VanillaRNN:
    torch.manual_seed(2)
    return kind(FEATURES, HIDDEN, tied=False, steps=steps, dtype=torch.float64)


every_untied_cell = pytest.mark.parametrize("kind", [MinimalRNN, VanillaRNN])


def test_every_step_of_an_untied_minimal_network_has_its_own_gate_weights():
    cell = untied(MinimalRNN)
    layer = cast(MinimalLayer, cell.first)
    assert layer.W.shape == layer.V.shape == (STEPS, HIDDEN, HIDDEN)

    def plain(inputs: Tensor) -> Tensor:
        h, states = torch.zeros(BATCH, HIDDEN, dtype=torch.float64), []
        for x, W, V, b in zip(inputs, layer.W, layer.V, layer.b, strict=True):
            z = torch.tanh(x @ layer.W_x.T)
            u = torch.sigmoid(h @ W.T + z @ V.T + b)
            h = u * h + (1 - u) * z
            states.append(h)
        return torch.stack(states)

    check_against(cell, plain)


def test_every_step_of_an_untied_vanilla_network_has_its_own_weights():
    cell = untied(VanillaRNN)
    layer = cell.first

    def plain(inputs: Tensor) -> Tensor:
        h, states = torch.zeros(BATCH, HIDDEN, dtype=torch.float64), []
        for x, U, V, b in zip(inputs, *map(layer.get_parameter, "UVb"), strict=True):
            h = torch.tanh(x @ U.T + h @ V.T + b)
            states.append(h)
        return torch.stack(states)

    check_against(cell, plain)


@every_untied_cell
def test_an_untied_network_continues_with_the_next_step_s_weights(kind):
    cell, inputs = untied(kind), some(STEPS, BATCH, FEATURES)
    whole, end = cell(inputs)
    state, parts = None, []
    for x in inputs.split([1, 2, 1, 2]):
        part, state = cell(x, state)
        parts.append(part)
    assert_equal(torch.cat(parts), whole)
    assert state is not None
    assert state[1].tolist() == end[1].tolist() == [[STEPS] * BATCH]


@every_untied_cell
def test_a_reset_of_an_untied_network_clears_the_state_and_keeps_the_count_of_steps(kind):
    cell, inputs = untied(kind), some(STEPS, BATCH, FEATURES)
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[4] = True
    _, before = cell(inputs[:4])
    from_zero, _ = cell(inputs[4:], (torch.zeros_like(before[0]), before[1]))
    assert_equal(cell(inputs, resets=resets)[0][4:], from_zero)


@every_untied_cell
def test_more_steps_than_weights_are_rejected(kind):
    cell = untied(kind)
    with pytest.raises(InputError, match=r"step 7 of a network with weights for 6 steps.*steps=7"):
        cell(some(7, BATCH, FEATURES))
    _, state = cell(some(5, BATCH, FEATURES))
    with pytest.raises(InputError, match="step 8 of a network"):
        cell(some(3, BATCH, FEATURES), state)


@every_untied_cell
@pytest.mark.parametrize(
    ("tied", "steps", "message"), [(True, 5, "add tied=False"), (False, None, "pass steps=T"), (False, 0, "got 0")]
)
def test_a_number_of_steps_belongs_to_untied_weights(kind, tied, steps, message):
    with pytest.raises(InputError, match=message):
        kind(FEATURES, HIDDEN, tied=tied, steps=steps)


@pytest.mark.parametrize("nonlinearity", ["relu", "identity", "modrelu"])
def test_a_vanilla_network_takes_other_nonlinearities(nonlinearity):
    torch.manual_seed(2)
    cell = VanillaRNN(FEATURES, HIDDEN, nonlinearity=nonlinearity, dtype=torch.float64)
    layer = cell.first
    U, V, b = map(layer.get_parameter, "UVb")
    if nonlinearity == "modrelu":
        # Silences some units and lifts others; the start, within 0.01, does nearly nothing.
        nn.init.uniform_(layer.get_parameter("m"), -0.3, 0.3)

    def phi(z: Tensor) -> Tensor:
        if nonlinearity == "modrelu":
            size = z.abs() + layer.get_parameter("m")
            return torch.where(size > 0, size, torch.zeros_like(size)) * z.sign()
        return torch.where(z > 0, z, torch.zeros_like(z)) if nonlinearity == "relu" else z

    def plain(inputs: Tensor) -> Tensor:
        h, states = torch.zeros(BATCH, HIDDEN, dtype=torch.float64), []
        for x in inputs:
            h = phi(x @ U.T + h @ V.T + b)
            states.append(h)
        return torch.stack(states)

    check_against(cell, plain)


@pytest.mark.parametrize("steps", [None, 3])
def test_the_mean_field_of_a_minimal_layer_has_the_moments_of_its_weights(steps):
    layer = MinimalLayer(FEATURES, 300, tied=steps is None, steps=steps)
    torch.manual_seed(0)
    for weights, sigma in ((layer.W, 6.88), (layer.V, 1.39)):
        nn.init.normal_(weights, std=sigma / math.sqrt(300))
    nn.init.normal_(layer.b, mean=6.0, std=0.5)
    field = layer.field(input_variance=0.46)
    # 90,000 draws or more determine a standard deviation to 0.25 %, 300 to 4 %.
    assert field.sigma_w == pytest.approx(6.88, rel=0.01)
    assert field.sigma_v == pytest.approx(1.39, rel=0.01)
    assert field.sigma_b == pytest.approx(0.5, rel=0.15)
    assert field.bias_mean == pytest.approx(6.0, abs=0.1)
    assert field.input_variance == 0.46


def test_states_of_an_untied_minimal_network_have_the_variance_that_its_mean_field_says():
    torch.manual_seed(1)
    cell = MinimalRNN(20, 256, tied=False, steps=30)
    layer = cast(MinimalLayer, cell.first)
    nn.init.normal_(layer.W, std=6.88 / 16)
    nn.init.normal_(layer.V, std=1.39 / 16)
    inputs = torch.randn(30, 50, 20)
    with torch.no_grad():
        R = float(torch.tanh(inputs @ layer.W_x.T).square().mean())
        Q = float(cell(inputs)[0][-10:].square().mean())
    # 256 units and 50 sequences leave about 2 %.
    assert pytest.approx(cell.field(R).fixed_point(0.0).Q, rel=0.06) == Q


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.3, 3.0, 30.0])
@pytest.mark.parametrize("size", [1, 2, 17])
def test_the_exponential_of_a_skew_matrix_is_torch_s_with_its_gradient(size, scale):
    X, weights = scale * some(size, size), some(size, size, seed=1)
    A = (X - X.T).requires_grad_()
    ours, theirs = skew_exponential(A), torch.matrix_exp(A)
    # Squaring s times doubles rounding errors s times.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    (one,) = torch.autograd.grad((weights * ours).sum(), A)
    (other,) = torch.autograd.grad((weights * theirs).sum(), A)
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


def test_a_nan_in_a_skew_matrix_comes_out():
    A = torch.full((3, 3), torch.nan)
    assert skew_exponential(A).isnan().all()


def trained(cell: Cell, updates: int = 20) -> Cell:
    """A few long steps towards anything."""
    optimizer = torch.optim.RMSprop(cell.parameter_groups(0.1))
    inputs, targets = some(12, 5, FEATURES), some(12, 5, cell.hidden_size, seed=1)
    for _ in range(updates):
        optimizer.zero_grad()
        (cell(inputs)[0] - targets).square().sum().backward()
        optimizer.step()
    return cell


def test_the_matrix_of_an_exp_network_stays_orthogonal_while_it_learns():
    cell = ExpRNN(FEATURES, 9, dtype=torch.float64)
    layer = cast(Any, cell.first)
    before = layer.V.detach()
    assert_orthogonal(before)
    trained(cell)
    assert (layer.V - before).abs().max() > 0.01
    assert_orthogonal(layer.V)


def test_the_skew_matrix_of_an_exp_network_learns_ten_times_slower():
    cell = ExpRNN(FEATURES, HIDDEN, num_layers=2)
    skew = {id(p) for name, p in cell.named_parameters() if "parametrizations.V.original" in name}
    rates = {id(p): group["lr"] for group in cell.parameter_groups(0.5) for p in group["params"]}
    assert len(skew) == 2
    assert all(rate == pytest.approx(0.05 if p in skew else 0.5) for p, rate in rates.items())


def test_an_exp_network_computes_its_matrix_once_in_a_call():
    cell = ExpRNN(FEATURES, HIDDEN)
    calls = []
    map_of_V = cell.first.get_submodule("parametrizations.V.0")
    map_of_V.register_forward_hook(lambda *_: calls.append(1))
    cell(torch.randn(STEPS, BATCH, FEATURES))
    assert len(calls) == 1
    with torch.no_grad(), parametrize.cached():
        state = None
        for x in torch.randn(STEPS, 1, BATCH, FEATURES):
            _, state = cell(x, state)
    assert len(calls) == 2


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("orthogonal_start", ["henaff", "haar"])
def test_the_matrix_of_an_orthogonal_network_is_orthogonal_at_the_start_only(orthogonal_start, size):
    torch.manual_seed(0)
    cell = OrthogonalRNN(FEATURES, size, orthogonal_start=orthogonal_start, dtype=torch.float64)
    V = cell.first.get_parameter("V")
    assert_orthogonal(V)
    trained(cell, updates=3)
    with pytest.raises(AssertionError):
        assert_orthogonal(V, tolerance=1e-3)


def test_an_unknown_start_is_rejected_with_those_there_are():
    with pytest.raises(InputError, match="unknown orthogonal_start 'henaf'; did you mean henaff"):
        OrthogonalRNN(FEATURES, HIDDEN, orthogonal_start="henaf")


@pytest.mark.parametrize(("rotation", "size"), [("layers", 16), ("dense", 16), ("dense", 7), ("layers", 1)])
def test_the_matrix_of_a_goru_stays_orthogonal_and_turns_every_coordinate_into_every_other(rotation, size):
    torch.manual_seed(0)
    cell = trained(GORU(FEATURES, size, rotation=rotation, dtype=torch.float64))
    layer = cast(GORULayer, cell.first)
    assert_orthogonal(layer.orthogonal_matrix())
    assert (layer.orthogonal_matrix().abs() > 1e-12).all()


def test_a_goru_with_a_dense_rotation_is_the_equation_too():
    torch.manual_seed(0)
    cell = GORU_ORACLE.make(FEATURES, HIDDEN, rotation="dense", dtype=torch.float64)
    layer = cell.first

    def plain(inputs: Tensor) -> Tensor:
        columns = []
        for sequence in inputs.unbind(1):
            state, states = GORU_ORACLE.start(layer), []
            for x in sequence:
                h, state = GORU_ORACLE.step(layer, x, state)
                states.append(h)
            columns.append(torch.stack(states))
        return torch.stack(columns, dim=1)

    check_against(cell, plain)


def test_layers_of_rotations_refuse_a_size_that_is_no_power_of_two():
    with pytest.raises(InputError, match=r'hidden_size is 12; .*power of two; .*rotation="dense"'):
        GORU(FEATURES, 12)
    with pytest.raises(InputError, match="hidden_size is 0; expected an integer"):
        GORU(FEATURES, 0)
    with pytest.raises(InputError, match="unknown rotation 'layer'; did you mean layers"):
        GORU(FEATURES, 8, rotation="layer")


@pytest.mark.parametrize("kind", [MinimalRNN, OrthogonalRNN, ExpRNN, GORU])
def test_training_runs_under_automatic_mixed_precision(kind):
    torch.manual_seed(0)
    cell, inputs = kind(FEATURES, 8), torch.randn(STEPS, BATCH, FEATURES)
    expected, _ = cell(inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, _ = cell(inputs)
    output.square().sum().backward()
    # bfloat16 has eight bits.
    torch.testing.assert_close(output, expected, rtol=0.05, atol=0.05)
    assert all(p.grad is not None and p.grad.isfinite().all() for p in cell.parameters())
