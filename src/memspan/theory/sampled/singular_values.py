"""Singular values of the Jacobian of a random network over T steps, with real weight matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.statistics import standard_error
from memspan.theory.sampled.cells import Array, DifferentiableCell, RandomNetwork
from memspan.theory.sampled.ensemble import Chunk, Population, at_least_one, check_kind, random_matrix, seed_number

_ONE = np.ones(1)


@final
@dataclass(frozen=True, kw_only=True)
class JacobianStatistics:
    """Moments of the squared singular values of J, averaged over independent Jacobians, with standard errors."""

    mean: float
    """tr(J J^T) / N, in expectation chi_1^T"""
    mean_error: float
    variance: float
    """tr((J J^T)^2) / N - mean^2"""
    variance_error: float
    relative_variance: float
    """variance / mean^2 of each Jacobian: the left side of Eq. 12 divided by chi_1^(2T)"""
    relative_variance_error: float


def jacobian_singular_values(
    network: RandomNetwork,
    *,
    width: int,
    steps: int,
    count: int = 1,
    weights: str = "gaussian",
    burn_in: int = 200,
    initial_variance: float = 0.0,
    seed: int | np.random.Generator = 0,
    progress: Progress = SILENT,
) -> Array:
    """Singular values of J = J_T ... J_1, J_t = dh_{t+1}/dh_t, of `count` networks: (count, width), descending.

    Chen 2018, Eq. 10, for untied weights: J_t = D_u + D_a W with a = sigma'(e) (h - x) for the
    minimal cell, D_phi'(e) W for the vanilla one. The states first run for `burn_in` steps without matrices, from
    h_0 of second moment `initial_variance`; in the following T = `steps` steps e is computed with the W of J_t.

    >>> from memspan.theory.sampled.cells import VanillaCell
    >>> linear = RandomNetwork(cell=VanillaCell(lambda e: e, slope=np.ones_like), sigma_w=0.5)
    >>> jacobian_singular_values(linear, width=3, steps=2, weights="orthogonal").round(12)
    array([[0.25, 0.25, 0.25]])
    """
    products = _products(network, width, steps, count, weights, burn_in, initial_variance, seed)
    with progress.stage("singular values of Jacobians", count) as stage:
        values = []
        for J in products:
            values.append(scipy.linalg.svdvals(J, overwrite_a=True, check_finite=False))
            stage.advance()
    return np.array(values)


def jacobian_statistics(
    network: RandomNetwork,
    *,
    width: int,
    steps: int,
    count: int,
    weights: str = "gaussian",
    burn_in: int = 200,
    initial_variance: float = 0.0,
    seed: int | np.random.Generator = 0,
    progress: Progress = SILENT,
) -> JacobianStatistics:
    """Mean and variance of the squared singular values of J from |J|^2 / N and |J J^T|^2 / N, without computing them.

    The arguments are those of `jacobian_singular_values`. Compare with Eq. 12 as corrected (errata 7).
    """
    if count < 2:
        raise InputError(f"count is {count}; expected 2 Jacobians or more, to estimate errors")
    products = _products(network, width, steps, count, weights, burn_in, initial_variance, seed)
    rows = []
    with progress.stage("moments of Jacobians", count) as stage:
        for J in products:
            mean = float(np.vdot(J, J)) / width
            square = J @ J.T
            variance = float(np.vdot(square, square)) / width - mean**2
            rows.append((mean, variance, variance / mean**2))
            stage.advance()
    table = np.array(rows)
    (mean, variance, relative), errors = table.mean(axis=0), standard_error(table)
    return JacobianStatistics(
        mean=float(mean),
        mean_error=float(errors[0]),
        variance=float(variance),
        variance_error=float(errors[1]),
        relative_variance=float(relative),
        relative_variance_error=float(errors[2]),
    )


def _products(
    network: RandomNetwork,
    width: int,
    steps: int,
    count: int,
    weights: str,
    burn_in: int,
    initial_variance: float,
    seed: int | np.random.Generator,
) -> Iterator[Array]:
    """The Jacobians, one at a time; arguments are checked immediately."""
    cell = network.cell
    if not isinstance(cell, DifferentiableCell):
        raise InputError(
            f"the Jacobian of {cell!r} is not known in closed form; expected a vanilla or minimal cell; "
            "use growth for chi_1 of other cells"
        )
    for name, value in (("width", width), ("steps", steps), ("count", count)):
        at_least_one(name, value)
    check_kind(weights)
    if burn_in < 0 or not (math.isfinite(initial_variance) and initial_variance >= 0):
        raise InputError(
            f"burn_in is {burn_in} and initial_variance {initial_variance}; expected both to be finite and 0 or more"
        )
    generator = np.random.Generator(np.random.SFC64(seed_number(seed)))
    chunk = Chunk(count, width, Population(network, generator), generator)
    states = _burn_in(network, cell, chunk, burn_in, initial_variance)
    return (_product(network, cell, h, steps, weights, generator) for h in states)


def _burn_in(network: RandomNetwork, cell: DifferentiableCell, chunk: Chunk, steps: int, variance: float) -> Array:
    state = cell.start(chunk.pair(variance, 1.0))
    for _ in range(steps):
        x = chunk.pair(network.input_variance, 1.0)
        state = cell.step(chunk.weights.sums(cell.hidden(state), x, _ONE), x, state)
    return cell.hidden(state)[0]


def _product(
    network: RandomNetwork, cell: DifferentiableCell, h: Array, steps: int, weights: str, generator: np.random.Generator
) -> Array:
    """J_T ... J_1 from the state `h` (width,); V x + b is drawn from its law, because J depends on W only."""
    J = np.eye(h.size)
    for _ in range(steps):
        W = network.sigma_w * random_matrix(h.size, weights, generator)
        x = math.sqrt(network.input_variance) * generator.standard_normal(h.size)
        spread = math.sqrt(network.sigma_v**2 * float(x @ x) / h.size + network.sigma_b**2)
        e = W @ h + spread * generator.standard_normal(h.size) + network.bias_mean
        u, a = cell.slopes(e, x, h)
        J = u[:, None] * J + a[:, None] * (W @ J)
        (h,) = cell.step(e[None], x, (h,))
    return J
