"""Singular values of ds_T/ds_{T-k} at trained weights, next to what mean-field theory says of random ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.cells.base.layer import Layer
from memspan.diagnostics.answers import at_rest, drawn, in_double
from memspan.errors import InputError
from memspan.init.mean_field import InputStatistics, MeanFieldLayer
from memspan.models.cell_model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import JacobianMoments, JacobianSpectrum
from memspan.tasks import Task
from memspan.theory import Field

CARRIED = {("h",): "h", ("h", "step"): "h", ("h", "c"): "(h, c)"}
"""The states of which a Jacobian is taken, by the names of what they hold; others hold a memory that grows or is chosen."""
ROWS = 4096
"""Rows of Jacobians that are computed at once."""
SAMPLED = 32
"""Steps, all along a sequence, whose own Jacobian is looked at."""
_SHOWN = (0.0, 0.1, 0.5, 0.9, 1.0)
_PERCENT = np.arange(101) / 100


def has_jacobian(network: CellModel) -> bool:
    """Whether what the last layer carries is h alone, or h and c."""
    return _fields(network.cell.stack[-1]) in CARRIED


def jacobian_spectrum(
    network: CellModel,
    task: Task,
    *,
    sequences: int = 4,
    weights: str = "gaussian",
    seed: int = 0,
    progress: Progress = SILENT,
) -> JacobianSpectrum:
    """Singular values of ds_T/ds_{T-k}, s what the last layer carries, along the states of test sequences.

    Theory (Chen 2018, Eq. 10-13, errata 7) says of random weights of the same variances that the mean squared singular
    value is chi_1^k; `weights` tells which kind of recurrent matrix its variance is for. In double precision.
    """
    exact = in_double(network)
    layer = exact.cell.stack[-1]
    if not has_jacobian(exact):
        raise InputError(
            f"{type(exact.cell).__name__} carries more than h, or h and c, from step to step; expected a cell without a "
            "memory of past states, such as rnn or lstm"
        )
    with at_rest(exact):
        inputs = _arriving(exact, task, sequences, seed)
        found = _measured(layer, inputs, progress)
        theory = _theory(layer, inputs, weights)
    return _spectrum(CARRIED[_fields(layer)], inputs.shape[1], found, theory)


class _Measured(NamedTuple):
    """Singular values of all sequences together: of products, by distance, and of single steps."""

    products: dict[int, NDArray[np.float64]]
    single: list[NDArray[np.float64]]


def step_jacobians(layer: Layer, inputs: Tensor, state: tuple[Tensor, ...]) -> Tensor:
    """ds'/ds of one step for a batch of states: (batch, state', state), rows and columns in the order h, then c.

    Every state is given to the layer once for each row, and one backward pass takes a different row from each copy.
    """
    moving = [tensor for tensor in state if tensor.is_floating_point()]
    rows = sum(tensor.shape[1] for tensor in moving)
    copied = [tensor.repeat_interleave(rows, 0) for tensor in state]
    for tensor in copied:
        tensor.requires_grad_(tensor.is_floating_point())
    _, after = layer(inputs.repeat_interleave(rows, 0).unsqueeze(0), layer.State(*copied))
    whole = torch.cat([tensor for tensor in after if tensor.is_floating_point()], 1)
    asked = torch.eye(rows, dtype=whole.dtype, device=whole.device).repeat(len(inputs), 1)
    sources = [tensor for tensor in copied if tensor.requires_grad]
    slopes = torch.autograd.grad((whole * asked).sum(), sources)
    return torch.cat(slopes, 1).unflatten(0, (len(inputs), rows))


def distances_of(steps: int) -> NDArray[np.int64]:
    """1, 2, 3, 5, 7, 10, … up to all the steps that there are.

    >>> distances_of(40).tolist()
    [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]
    """
    numbers = [leading * 10**power for power in range(6) for leading in (1, 1.5, 2, 3, 5, 7)]
    chosen = {int(number) for number in numbers if number == int(number) and number < steps}
    return np.array(sorted({*chosen, steps}), dtype=np.int64)


def _fields(layer: Layer) -> tuple[str, ...]:
    return tuple(layer.State._fields)  # type: ignore[attr-defined]


@torch.no_grad()
def _arriving(network: CellModel, task: Task, sequences: int, seed: int) -> Tensor:
    """What the last layer reads: (time, batch, features)."""
    inputs = network.encode(drawn(network, task, sequences, seed).inputs)
    for layer in network.cell.stack[:-1]:
        inputs, _ = layer(inputs, layer.start(inputs.shape[1]))
    return inputs


@torch.no_grad()
def _states(layer: Layer, inputs: Tensor) -> list[tuple[Tensor, ...]]:
    """What is carried into each step."""
    state = layer.start(inputs.shape[1])
    if len(state) == 1:
        outputs, _ = layer(inputs, state)
        return [layer.State(h) for h in (state[0], *outputs[:-1])]
    states = []
    for x in inputs:
        states.append(state)
        _, state = layer(x.unsqueeze(0), state)
    return states


def _measured(layer: Layer, inputs: Tensor, progress: Progress) -> _Measured:
    """The chain from the last step backwards: J_T, J_T J_{T-1}, … The first step leads from a state that is always zero."""
    steps, batch = inputs.shape[:2]
    states, found = _states(layer, inputs), _Measured({}, [])
    size = sum(tensor.shape[1] for tensor in states[0] if tensor.is_floating_point())
    # Steps of untied layers have weights of their own and cannot be computed side by side.
    group = 1 if "step" in _fields(layer) else max(1, ROWS // (batch * size))
    wanted = set(distances_of(max(steps - 1, 1)).tolist())
    sampled = set(np.linspace(0, steps - 1, min(SAMPLED, steps)).astype(int).tolist())
    product = torch.eye(size, dtype=inputs.dtype, device=inputs.device).expand(batch, size, size)
    with progress.stage("Jacobians", steps) as stage:
        for end in range(steps, 0, -group):
            times = range(max(end - group, 0), end)
            state = layer.State(
                *(torch.cat(parts) for parts in zip(*(states[t] for t in times), strict=True))
            )
            of_times = step_jacobians(layer, inputs[times.start : end].flatten(0, 1), state)
            for t, jacobians in zip(reversed(times), reversed(of_times.split(batch)), strict=True):
                if t in sampled:
                    found.single.append(_values(jacobians))
                product = product @ jacobians
                if steps - t in wanted:
                    found.products[steps - t] = _values(product)
            stage.advance(len(times))
    return found


def _values(matrices: Tensor) -> NDArray[np.float64]:
    return torch.linalg.svdvals(matrices.detach()).double().cpu().numpy().ravel()


def _theory(layer: Layer, inputs: Tensor, weights: str) -> list[JacobianMoments]:
    """Of each distance; NaN where chaos goes beyond every double. None at all where theory does not know the cell."""
    if not isinstance(layer, MeanFieldLayer):
        return []
    try:
        field = layer.field(InputStatistics.of(layer, None, inputs).second_moment(layer))
    except InputError:  # an activation of which theory does not know
        return []
    return [_moments(field, int(k), weights) for k in distances_of(max(len(inputs) - 1, 1))]


def _moments(field: Field, steps: int, weights: str) -> JacobianMoments:
    try:
        return field.jacobian_moments(steps, weights=weights)
    except InputError:
        return JacobianMoments(steps, weights, math.nan, math.nan)


def _spectrum(of: str, sequences: int, found: _Measured, theory: list[JacobianMoments]) -> JacobianSpectrum:
    products = [found.products[k] for k in sorted(found.products)]
    single = np.concatenate(found.single)
    return JacobianSpectrum(
        of=of,
        sequences=sequences,
        distances=np.array(sorted(found.products), dtype=np.int64),
        mean_square=np.array([float(np.mean(values**2)) for values in products]),
        variance=np.array([float(np.var(values**2)) for values in products]),
        quantiles=np.array([np.quantile(values, _SHOWN) for values in products]),
        one_step=np.quantile(single, _PERCENT),
        one_step_mean=float(np.mean(single**2)),
        one_step_variance=float(np.var(single**2)),
        theory=np.array([moments.mean for moments in theory]),
        theory_variance=theory[0].variance if theory else math.nan,
        theory_weights=theory[0].weights if theory else "",
    )
