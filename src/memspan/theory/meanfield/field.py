"""A mean field: how variance and correlation of a wide random recurrent network change from step to step.

Weights are N(0, sigma_w^2 / N) for the state and N(0, sigma_v^2 / M) for the input, biases N(bias_mean, sigma_b^2), all
redrawn at every step (untied); the input has second moment R. Then pre-activations are Gaussian, with variance

    q = sigma_w^2 Q + sigma_v^2 R + sigma_b^2            (meanfield Eq. 2 and 6; sigma_b^2 is in all entries, errata 6)

around the bias mean, where Q is the second moment of the state. Two copies whose inputs have correlation Sigma have
pre-activations of correlation c, with q c = sigma_w^2 p + sigma_v^2 R Sigma + sigma_b^2 and p = E[h h'].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from memspan.engines import Threads, available_cores
from memspan.errors import InputError
from memspan.results import Branch, JacobianMoments
from memspan.theory.meanfield.activations import Activation
from memspan.theory.meanfield.fixed_points import CorrelationMap, all_roots, first_root, stable_gap
from memspan.theory.meanfield.gaussian import QUADRATURE_ERROR
from memspan.theory.meanfield.parameters import Parameters, check_correlation, check_parameters
from memspan.theory.sampled.cells import ElementwiseCell, RandomNetwork

Array = NDArray[np.float64]
Numbers: TypeAlias = Any
"""A float for a field of floats, an array of the field's shape for a field of arrays."""

_BLOCK = 20_000
"""Points that one thread solves at a time."""
_ROUNDING = 1e-14
"""A correlation below it is zero but for rounding."""
_SERIES = 4096
"""Points whose series are held in memory at a time."""


@final
@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Where variance and correlation settle; every entry is a float or has the shape of the field's parameters."""

    q: Numbers
    """Variance of pre-activations around the bias mean."""
    Q: Numbers
    """Second moment of the state."""
    c: Numbers
    """Correlation of pre-activations of two copies (the stable one)."""
    chi: Numbers
    """By which factor a deviation from c changes per step."""
    chi1: Numbers
    """The same at correlation 1 under equal inputs."""
    variance_slope: Numbers
    """By which factor a deviation from Q changes per step."""
    branches: Numbers
    """How many fixed points of the variance are stable."""
    error: Numbers
    """Bound on the numerical error of chi: the tail of the series, and what the quadrature may be off."""


@final
@dataclass(frozen=True, eq=False)
class _Settled:
    """The fixed point of the variance, each entry (points,)."""

    q: Array
    Q: Array
    chi1: Array
    branches: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Field(ABC):
    """What vanilla and minimal networks share; a parameter is a float or an array, and arrays broadcast."""

    sigma_w: Numbers = 1.0
    sigma_v: Numbers = 1.0
    sigma_b: Numbers = 0.0
    bias_mean: Numbers = 0.0
    input_variance: Numbers = 1.0

    def __post_init__(self) -> None:
        check_parameters(self.sigma_w, self.sigma_v, self.sigma_b, self.bias_mean, self.input_variance)

    @property
    @abstractmethod
    def gate(self) -> Activation:
        """The function of the pre-activation that the theory integrates."""

    @abstractmethod
    def scale(self, parameters: Parameters) -> Array:
        """Q is this times `share`."""

    @abstractmethod
    def share(self, q: Array, mean: Array) -> tuple[Array, Array]:
        """Q / scale at which the state keeps its second moment if pre-activations have variance q; and its slope in q."""

    @abstractmethod
    def variance_slope_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """dQ_next / dQ."""

    @abstractmethod
    def variance_step(self, Q: Array, parameters: Parameters) -> Array:
        """Q_next, written as the equation stands."""

    @abstractmethod
    def chi1_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """Growth per step of the squared distance of two states under equal inputs."""

    @abstractmethod
    def correlation_map(self, q: Array, Q: Array, parameters: Parameters, *, digits: int) -> CorrelationMap:
        """The step of the covariance of two copies."""

    @abstractmethod
    def jacobian_moments(self, steps: int = 1, *, weights: str = "gaussian") -> JacobianMoments:
        """Mean and variance of the squared singular values of the Jacobian over so many steps."""

    @property
    @abstractmethod
    def cell(self) -> ElementwiseCell:
        """The cell as an element-wise map, for simulation."""

    def network(self) -> RandomNetwork:
        """The random network that this field describes, for simulation; its parameters must be floats."""
        self._one("a simulation")
        return RandomNetwork(
            cell=self.cell,
            sigma_w=float(self.sigma_w),
            sigma_v=float(self.sigma_v),
            sigma_b=float(self.sigma_b),
            bias_mean=float(self.bias_mean),
            input_variance=float(self.input_variance),
        )

    @property
    def parameters(self) -> Parameters:
        """The parameters as flat arrays of one length."""
        return Parameters.of(self.sigma_w, self.sigma_v, self.sigma_b, self.bias_mean, self.input_variance)

    def fixed_point(self, input_correlation: float = 1.0, *, digits: int | None = None) -> FixedPoint:
        """q, Q, c and the slopes there, for inputs of this correlation, on the branch that a state of zero leads to.

        `digits` (6 or 10) is how exact the correlation map is; by default 10 for a few points and 6 for a grid.
        """
        check_correlation(input_correlation)
        parameters = self.parameters
        exact = digits if digits is not None else (10 if parameters.size <= 256 else 6)
        blocks = parameters.blocks(_BLOCK)
        engine = Threads(available_cores() if len(blocks) > 1 else 1)
        found = engine.map(lambda block: self._solved(block, input_correlation, exact), blocks)
        columns = (np.concatenate(column) for column in zip(*found, strict=True))
        return FixedPoint(*(parameters.shaped(column) for column in columns))

    def _solved(
        self, parameters: Parameters, input_correlation: float, digits: int
    ) -> tuple[NDArray[Any], ...]:
        """The entries of `FixedPoint`, each (points,)."""
        at = self._settled(parameters)
        c, chi, error = self._correlation(at, parameters, input_correlation, digits)
        slope = self.variance_slope_at(at.q, at.Q, parameters)
        return at.q, at.Q, c, chi, at.chi1, slope, at.branches, error + QUADRATURE_ERROR * (1 + at.chi1)

    def _settled(self, parameters: Parameters) -> _Settled:
        """The fixed point of the variance, which is all that the phase depends on."""
        q, branches = first_root(self, parameters)
        Q = self._second_moment(q, parameters)
        return _Settled(q, Q, self.chi1_at(q, Q, parameters), branches)

    def _correlation(
        self, at: _Settled, parameters: Parameters, input_correlation: float, digits: int
    ) -> tuple[Array, Array, Array]:
        """c, chi and the error, by a series only where c is not exactly 1."""
        c, chi, error = np.ones_like(at.q), at.chi1.copy(), np.zeros_like(at.q)
        needed = np.flatnonzero((at.chi1 > 1) & (at.q > 0) if input_correlation == 1 else at.q > 0)
        needed = needed[np.argsort(at.q[needed], kind="stable")]
        for start in range(0, needed.size, _SERIES):
            points = needed[start : start + _SERIES]
            step = self.correlation_map(at.q[points], at.Q[points], parameters.select(points), digits=digits)
            gap = stable_gap(step, input_correlation)
            found = 1 - step.distance(gap, input_correlation)
            c[points] = np.where(np.abs(found) < _ROUNDING, 0.0, found)
            chi[points] = step.slope(gap, input_correlation)
            error[points] = step.error(gap, input_correlation)
        return c, chi, error

    def branches(self) -> tuple[Branch, ...]:
        """Every fixed point of the variance, stable or not, in ascending order of q."""
        parameters = self._one("branches")
        roots = all_roots(self, parameters)
        many = parameters.repeated(roots.size)
        Q = self._second_moment(roots, many)
        slopes, chi1 = self.variance_slope_at(roots, Q, many), self.chi1_at(roots, Q, many)
        reached = int(np.argmin(np.abs(roots - self._settled(parameters).q[0])))
        return tuple(
            Branch(
                float(q),
                float(Q[i]),
                float(slopes[i]),
                bool(abs(slopes[i]) < 1),
                i == reached,
                float(chi1[i]),
            )
            for i, q in enumerate(roots)
        )

    def _second_moment(self, q: Array, parameters: Parameters) -> Array:
        return self.scale(parameters) * self.share(q, parameters.mean)[0]

    def correlation_dynamics(
        self, input_correlations: Sequence[float] | Array, *, initial_correlation: float = 1.0
    ) -> Array:
        """c at every step for inputs whose correlation changes in time: (steps, *shape of the parameters).

        The second moment is that of the fixed point throughout (meanfield, section 3.2.1); the states of the two
        copies start with correlation `initial_correlation`. c[t] belongs to the pre-activation of step t, so it
        sees input t and the state before it. The series of all points are in memory at once: for hundreds of points,
        not for a plane.
        """
        for correlation in (*np.asarray(input_correlations, np.float64).ravel(), initial_correlation):
            check_correlation(float(correlation))
        parameters = self.parameters
        at = self._settled(parameters)
        q, Q = at.q, at.Q
        step = self.correlation_map(q, Q, parameters, digits=10 if q.size <= 256 else 6)
        gap = Q * (1 - initial_correlation)
        seen = []
        for correlation in input_correlations:
            seen.append(parameters.shaped(1 - step.distance(gap, float(correlation))))
            gap = step.next(gap, float(correlation))
        return np.array(seen)

    def chi(self, input_correlation: float = 1.0) -> Numbers:
        """The slope of the correlation map at its stable fixed point."""
        return self.fixed_point(input_correlation).chi

    @property
    def chi1(self) -> Numbers:
        """The slope at correlation 1 under equal inputs: above 1 the network is chaotic."""
        parameters = self.parameters
        return parameters.shaped(self._settled(parameters).chi1)

    def timescale(self, input_correlation: float = 1.0) -> Numbers:
        """-1 / log chi in steps; infinite where chi is 1."""
        return timescale_of(self.chi(input_correlation))

    @property
    def variance_timescale(self) -> Numbers:
        """xi_Q = -1 / log |slope of the variance map|, in steps (meanfield Eq. 36, with the z of Eq. 34; errata 8)."""
        parameters = self.parameters
        at = self._settled(parameters)
        return timescale_of(parameters.shaped(np.abs(self.variance_slope_at(at.q, at.Q, parameters))))

    @property
    def phase(self) -> Numbers:
        """`ordered`, `critical` (chi1 within 0.005 of 1) or `chaotic`."""
        return phase_of(self.chi1)

    def _one(self, what: str) -> Parameters:
        parameters = self.parameters
        if parameters.shape != ():
            raise InputError(
                f"{what} needs a field of single numbers, got shape {parameters.shape}; ask for one point at a time"
            )
        return parameters


CRITICAL_WIDTH = 0.005
"""Within this of 1, chi_1 is called critical."""
INFINITE_WIDTH = 1e-9
"""Within this of 1, a slope is 1 as far as the numbers can tell."""


def timescale_of(chi: Any) -> Any:
    """-1 / log chi, in steps: a deviation falls by 1/e in so many steps.

    Infinite where chi is 1 (within 1e-9) or more, 0 where it is 0 or below.

    >>> round(timescale_of(0.9), 3), timescale_of(1.0), timescale_of(0.0)
    (9.491, inf, 0.0)
    """
    values = np.asarray(chi, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = -1 / np.log(values)
    result = np.where(values >= 1 - INFINITE_WIDTH, np.inf, np.where(values <= 0, 0.0, finite))
    return result.item() if result.ndim == 0 else result


def kind_of(chi: float) -> str:
    """`finite`, `infinite` (chi is 1 or more) or `undefined` (chi is 0 or below, or no number).

    >>> kind_of(0.9), kind_of(1.0), kind_of(-0.1)
    ('finite', 'infinite', 'undefined')
    """
    if not chi > 0:
        return "undefined"
    return "infinite" if chi >= 1 - INFINITE_WIDTH else "finite"


def phase_of(chi1: Any) -> Any:
    """`ordered`, `critical` or `chaotic`, from the growth of a small distance per step.

    >>> phase_of(0.9928), phase_of(0.9988), phase_of(1.12)
    ('ordered', 'critical', 'chaotic')
    """
    values = np.asarray(chi1, np.float64)
    words = np.where(values < 1 - CRITICAL_WIDTH, "ordered", "critical")
    words = np.where(values > 1 + CRITICAL_WIDTH, "chaotic", words)
    return words.item() if words.ndim == 0 else words
