"""Singular values of ds_T/ds_{T-k} at trained weights, and the mean-field prediction for random weights."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.cells.base.layer import Layer
from memspan.diagnostics.batches import diagnostic_batch, double_precision
from memspan.errors import InputError
from memspan.init.mean_field import InputStatistics, MeanFieldLayer
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import JacobianMoments, JacobianSpectrum
from memspan.sampling.streams import evaluation_mode
from memspan.tasks import Task
from memspan.theory import Field

# The supported states, by their fields. Other cells store a memory that grows or is selected.
STATES = {("h",): "h", ("h", "step"): "h", ("h", "c"): "(h, c)"}
# Rows of Jacobians computed at once.
ROWS = 4096
# Steps, evenly spaced along a sequence, whose own Jacobian is recorded.
SINGLE_STEPS = 32
_QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
_PERCENTILES = np.arange(101) / 100


def has_jacobian(network: CellModel) -> bool:
    """Whether the state of the last layer is h alone, or h and c."""
    return _fields(network.cell.stack[-1]) in STATES


def jacobian_spectrum(
    network: CellModel,
    task: Task,
    *,
    sequences: int = 4,
    weights: str = "gaussian",
    seed: int = 0,
    progress: Progress = SILENT,
) -> JacobianSpectrum:
    """Singular values of ds_T/ds_{T-k}, s the state of the last layer, along test sequences, in double precision.

    For random weights of the same variances, theory (Chen 2018, Eq. 10-13, erratum 7) predicts the mean squared
    singular value chi_1^k; `weights` is the kind of recurrent matrix for which its variance is computed.
    """
    exact = double_precision(network)
    layer = exact.cell.stack[-1]
    if not has_jacobian(exact):
        raise InputError(
            f"{type(exact.cell).__name__} has a state other than h, or h and c; expected a cell without a memory of "
            "past states, such as rnn or lstm"
        )
    with evaluation_mode(exact, gradients=True):
        inputs = _layer_inputs(exact, task, sequences, seed)
        values = _singular_values(layer, inputs, progress)
        theory = _theory(layer, inputs, weights)
    products = [values.products[k] for k in sorted(values.products)]
    single = np.concatenate(values.single)
    return JacobianSpectrum(
        of=STATES[_fields(layer)],
        sequences=inputs.shape[1],
        distances=np.array(sorted(values.products), dtype=np.int64),
        mean_square=np.array([float(np.mean(each**2)) for each in products]),
        variance=np.array([float(np.var(each**2)) for each in products]),
        quantiles=np.array([np.quantile(each, _QUANTILES) for each in products]),
        one_step=np.quantile(single, _PERCENTILES),
        one_step_mean=float(np.mean(single**2)),
        one_step_variance=float(np.var(single**2)),
        theory=np.array([moments.mean for moments in theory]),
        theory_variance=theory[0].variance if theory else math.nan,
        theory_weights=theory[0].weights if theory else "",
    )


class _SingularValues(NamedTuple):
    """Singular values of all sequences together: of products, by number of steps, and of single steps."""

    products: dict[int, NDArray[np.float64]]
    single: list[NDArray[np.float64]]


def step_jacobians(layer: Layer, inputs: Tensor, state: tuple[Tensor, ...]) -> Tensor:
    """ds'/ds of one step for a batch of states: (batch, state', state), rows and columns in the order h, then c.

    Every state is passed to the layer once for each row, and one backward pass takes a different row from each copy.
    """
    moving = [tensor for tensor in state if tensor.is_floating_point()]
    rows = sum(tensor.shape[1] for tensor in moving)
    copied = [tensor.repeat_interleave(rows, 0) for tensor in state]
    for tensor in copied:
        # The state of untied layers includes an integer step counter, which has no gradient.
        tensor.requires_grad_(tensor.is_floating_point())
    _, after = layer(inputs.repeat_interleave(rows, 0).unsqueeze(0), layer.State(*copied))
    whole = torch.cat([tensor for tensor in after if tensor.is_floating_point()], 1)
    selected = torch.eye(rows, dtype=whole.dtype, device=whole.device).repeat(len(inputs), 1)
    sources = [tensor for tensor in copied if tensor.requires_grad]
    gradients = torch.autograd.grad((whole * selected).sum(), sources)
    return torch.cat(gradients, 1).unflatten(0, (len(inputs), rows))


def product_lengths(steps: int) -> NDArray[np.int64]:
    """1, 2, 3, 5, 7, 10, … up to `steps`.

    >>> product_lengths(40).tolist()
    [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]
    """
    numbers = [leading * 10**power for power in range(6) for leading in (1, 1.5, 2, 3, 5, 7)]
    chosen = {int(number) for number in numbers if number == int(number) and number < steps}
    return np.array(sorted({*chosen, steps}), dtype=np.int64)


def _fields(layer: Layer) -> tuple[str, ...]:
    return tuple(layer.State._fields)  # type: ignore[attr-defined]


@torch.no_grad()
def _layer_inputs(network: CellModel, task: Task, sequences: int, seed: int) -> Tensor:
    """The inputs of the last layer: (time, batch, features)."""
    inputs = network.encode(diagnostic_batch(network, task, sequences, seed).inputs)
    for layer in network.cell.stack[:-1]:
        inputs, _ = layer(inputs, layer.start(inputs.shape[1]))
    return inputs


@torch.no_grad()
def _states(layer: Layer, inputs: Tensor) -> list[tuple[Tensor, ...]]:
    """The state before each step."""
    state = layer.start(inputs.shape[1])
    if len(state) == 1:
        # The outputs of a layer whose state is h alone are its states, so one call gives all of them.
        outputs, _ = layer(inputs, state)
        return [layer.State(h) for h in (state[0], *outputs[:-1])]
    states = []
    for x in inputs:
        states.append(state)
        _, state = layer(x.unsqueeze(0), state)
    return states


def _singular_values(layer: Layer, inputs: Tensor, progress: Progress) -> _SingularValues:
    """Of J_T, J_T J_{T-1}, …, from the last step backwards, without the first step, whose state is zero."""
    steps, batch = inputs.shape[:2]
    states, values = _states(layer, inputs), _SingularValues({}, [])
    size = sum(tensor.shape[1] for tensor in states[0] if tensor.is_floating_point())
    # Each step of an untied layer has its own weights, so steps cannot be batched.
    group = 1 if "step" in _fields(layer) else max(1, ROWS // (batch * size))
    lengths = set(product_lengths(max(steps - 1, 1)).tolist())
    sampled = set(np.linspace(0, steps - 1, min(SINGLE_STEPS, steps)).astype(int).tolist())
    # Products are extended on the right, so each step costs one matrix product per sequence.
    product = torch.eye(size, dtype=inputs.dtype, device=inputs.device).expand(batch, size, size)
    with progress.stage("Jacobians", steps) as stage:
        for end in range(steps, 0, -group):
            times = range(max(end - group, 0), end)
            state = layer.State(*(torch.cat(parts) for parts in zip(*(states[t] for t in times), strict=True)))
            jacobians = step_jacobians(layer, inputs[times.start : end].flatten(0, 1), state)
            for t, jacobian in zip(reversed(times), reversed(jacobians.split(batch)), strict=True):
                if t in sampled:
                    values.single.append(_svd(jacobian))
                product = product @ jacobian
                if steps - t in lengths:
                    values.products[steps - t] = _svd(product)
            stage.advance(len(times))
    return values


def _svd(matrices: Tensor) -> NDArray[np.float64]:
    return torch.linalg.svdvals(matrices.detach()).double().cpu().numpy().ravel()


def _theory(layer: Layer, inputs: Tensor, weights: str) -> list[JacobianMoments]:
    """The prediction for each product length; NaN if it overflows. Empty if the theory does not cover the cell."""
    if not isinstance(layer, MeanFieldLayer):
        return []
    try:
        field = layer.field(InputStatistics.of(layer, None, inputs).second_moment(layer))
    except InputError:  # an activation outside the theory
        return []
    return [_moments(field, int(k), weights) for k in product_lengths(max(len(inputs) - 1, 1))]


def _moments(field: Field, steps: int, weights: str) -> JacobianMoments:
    try:
        return field.jacobian_moments(steps, weights=weights)
    except InputError:
        return JacobianMoments(steps, weights, math.nan, math.nan)
