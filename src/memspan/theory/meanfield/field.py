"""A mean field: how variance and correlation of a wide random recurrent network change from step to step.

Weights are N(0, sigma_w^2 / N) for the state and N(0, sigma_v^2 / M) for the input, biases N(bias_mean, sigma_b^2), all
redrawn at every step (untied). The input has second moment R. The pre-activations are then Gaussian with variance

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
from memspan.theory.meanfield.activations import Activation, Array
from memspan.theory.meanfield.fixed_points import CorrelationMap, all_roots, first_root, stable_gap
from memspan.theory.meanfield.gaussian import QUADRATURE_ERROR
from memspan.theory.meanfield.parameters import Parameters, check_correlation, check_parameters
from memspan.theory.sampled.cells import ElementwiseCell, RandomNetwork

Numbers: TypeAlias = Any
"""A float for a field of floats, an array of the field's shape for a field of arrays."""

# chi_1 within this distance of 1 is called critical.
CRITICAL_WIDTH = 0.005
# A slope within this distance of 1 is numerically indistinguishable from 1.
INFINITE_WIDTH = 1e-9
# Points that one thread solves at a time.
_BLOCK = 20_000
# Points whose Hermite series are in memory at a time.
_SERIES_BLOCK = 4096
# Up to this many points the correlation map is computed to 10 digits by default, else to 6.
_FEW_POINTS = 256
# Smaller correlations are rounding errors of zero.
_ROUNDING = 1e-14


@final
@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Fixed point of variance and correlation; every entry is a float or has the shape of the field's parameters."""

    q: Numbers
    """Variance of pre-activations around the bias mean."""
    Q: Numbers
    """Second moment of the state."""
    c: Numbers
    """Stable correlation of the pre-activations of two copies."""
    chi: Numbers
    """Factor per step of a small deviation from c."""
    chi1: Numbers
    """The same at correlation 1 with equal inputs."""
    variance_slope: Numbers
    """Factor per step of a small deviation from Q."""
    branches: Numbers
    """Number of stable fixed points of the variance."""
    error: Numbers
    """Bound on the numerical error of chi: the tail of the series and the quadrature."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Field(ABC):
    """What vanilla and minimal networks have in common; parameters are floats or arrays that broadcast."""

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
        """Q = scale * share."""

    @abstractmethod
    def share(self, q: Array, mean: Array) -> tuple[Array, Array]:
        """Q / scale at which the second moment is stationary for pre-activations of variance q; and its slope in q."""

    @abstractmethod
    def variance_slope_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """dQ_next / dQ."""

    @abstractmethod
    def variance_step(self, Q: Array, parameters: Parameters) -> Array:
        """Q_next, exactly as the equation stands in the source."""

    @abstractmethod
    def chi1_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """Factor per step of the squared distance of two states with equal inputs."""

    @abstractmethod
    def correlation_map(self, q: Array, Q: Array, parameters: Parameters, *, digits: int) -> CorrelationMap:
        """The map of the covariance of two copies."""

    @abstractmethod
    def jacobian_moments(self, steps: int = 1, *, weights: str = "gaussian") -> JacobianMoments:
        """Mean and variance of the squared singular values of the Jacobian over `steps` steps."""

    @property
    @abstractmethod
    def cell(self) -> ElementwiseCell:
        """The cell as an element-wise map, for simulation."""

    def network(self) -> RandomNetwork:
        """The random network that this field describes, for simulation; requires scalar parameters."""
        self._single_point("a simulation")
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

    def chi(self, input_correlation: float = 1.0) -> Numbers:
        """The slope of the correlation map at its stable fixed point."""
        return self.fixed_point(input_correlation).chi

    @property
    def chi1(self) -> Numbers:
        """The slope at correlation 1 with equal inputs: above 1 the network is chaotic."""
        parameters = self.parameters
        return parameters.shaped(self._variance_point(parameters).chi1)

    def timescale(self, input_correlation: float = 1.0) -> Numbers:
        """-1 / log chi, in steps; infinite if chi is 1."""
        return timescale_of(self.chi(input_correlation))

    @property
    def variance_timescale(self) -> Numbers:
        """xi_Q = -1 / log |slope of the variance map|, in steps (meanfield Eq. 36, with the z of Eq. 34; errata 8)."""
        parameters = self.parameters
        at = self._variance_point(parameters)
        return timescale_of(parameters.shaped(np.abs(self.variance_slope_at(at.q, at.Q, parameters))))

    @property
    def phase(self) -> Numbers:
        """`ordered`, `critical` (chi1 within 0.005 of 1) or `chaotic`."""
        return phase_of(self.chi1)

    def fixed_point(self, input_correlation: float = 1.0, *, digits: int | None = None) -> FixedPoint:
        """q, Q, c and the slopes there for this input correlation, on the branch that starts at h = 0.

        `digits` (6 or 10) is the accuracy of the correlation map; default 10 for up to 256 points and 6 for more.
        """
        check_correlation(input_correlation)
        parameters = self.parameters
        accuracy = digits if digits is not None else _default_digits(parameters.size)
        blocks = parameters.blocks(_BLOCK)
        # numpy releases the GIL in the kernels that dominate, so threads are enough.
        engine = Threads(available_cores() if len(blocks) > 1 else 1)
        found = engine.map(lambda block: self._solve(block, input_correlation, accuracy), blocks)
        columns = (np.concatenate(column) for column in zip(*found, strict=True))
        return FixedPoint(*(parameters.shaped(column) for column in columns))

    def _solve(self, parameters: Parameters, input_correlation: float, digits: int) -> tuple[NDArray[Any], ...]:
        """The entries of `FixedPoint`, each (points,)."""
        at = self._variance_point(parameters)
        c, chi, error = self._correlation_point(at, parameters, input_correlation, digits)
        slope = self.variance_slope_at(at.q, at.Q, parameters)
        return at.q, at.Q, c, chi, at.chi1, slope, at.branches, error + QUADRATURE_ERROR * (1 + at.chi1)

    def _variance_point(self, parameters: Parameters) -> _VariancePoint:
        """The fixed point of the variance, which alone determines the phase."""
        q, branches = first_root(self, parameters)
        Q = self._second_moment(q, parameters)
        return _VariancePoint(q, Q, self.chi1_at(q, Q, parameters), branches)

    def _correlation_point(
        self, at: _VariancePoint, parameters: Parameters, input_correlation: float, digits: int
    ) -> tuple[Array, Array, Array]:
        """c, chi and the error; the series is needed only where c is not exactly 1."""
        c, chi, error = np.ones_like(at.q), at.chi1.copy(), np.zeros_like(at.q)
        needed = np.flatnonzero((at.chi1 > 1) & (at.q > 0) if input_correlation == 1 else at.q > 0)
        # In order of q, so that the points of a block need series of similar length.
        needed = needed[np.argsort(at.q[needed], kind="stable")]
        for start in range(0, needed.size, _SERIES_BLOCK):
            points = needed[start : start + _SERIES_BLOCK]
            step = self.correlation_map(at.q[points], at.Q[points], parameters.select(points), digits=digits)
            gap = stable_gap(step, input_correlation)
            found = 1 - step.distance(gap, input_correlation)
            c[points] = np.where(np.abs(found) < _ROUNDING, 0.0, found)
            chi[points] = step.slope(gap, input_correlation)
            error[points] = step.error(gap, input_correlation)
        return c, chi, error

    def branches(self) -> tuple[Branch, ...]:
        """Every fixed point of the variance, stable or not, in ascending order of q."""
        parameters = self._single_point("branches")
        roots = all_roots(self, parameters)
        many = parameters.repeated(roots.size)
        Q = self._second_moment(roots, many)
        slopes, chi1 = self.variance_slope_at(roots, Q, many), self.chi1_at(roots, Q, many)
        # The reached branch is the root closest to the one found from h = 0.
        reached = int(np.argmin(np.abs(roots - self._variance_point(parameters).q[0])))
        rows = zip(roots.tolist(), Q.tolist(), slopes.tolist(), chi1.tolist(), strict=True)
        return tuple(
            Branch(q, second, slope, abs(slope) < 1, i == reached, growth)
            for i, (q, second, slope, growth) in enumerate(rows)
        )

    def _second_moment(self, q: Array, parameters: Parameters) -> Array:
        return self.scale(parameters) * self.share(q, parameters.mean)[0]

    def correlation_dynamics(
        self, input_correlations: Sequence[float] | Array, *, initial_correlation: float = 1.0
    ) -> Array:
        """c at every step for inputs whose correlation changes in time: (steps, *shape of the parameters).

        The second moment is that of the fixed point throughout (meanfield, section 3.2.1). The states of the two copies
        start with correlation `initial_correlation`. c[t] belongs to the pre-activation of step t, which depends on input
        t and the previous state. The series of all points are in memory at once: use it for hundreds of points, not for
        a plane.
        """
        for correlation in (*np.asarray(input_correlations, np.float64).ravel(), initial_correlation):
            check_correlation(float(correlation))
        parameters = self.parameters
        at = self._variance_point(parameters)
        step = self.correlation_map(at.q, at.Q, parameters, digits=_default_digits(parameters.size))
        gap = at.Q * (1 - initial_correlation)
        seen = []
        for correlation in input_correlations:
            seen.append(parameters.shaped(1 - step.distance(gap, float(correlation))))
            gap = step.next(gap, float(correlation))
        return np.array(seen)

    def _single_point(self, what: str) -> Parameters:
        parameters = self.parameters
        if parameters.shape != ():
            raise InputError(
                f"{what} needs a field of single numbers, got shape {parameters.shape}; ask for one point at a time"
            )
        return parameters


@final
@dataclass(frozen=True, eq=False)
class _VariancePoint:
    """The fixed point of the variance, each entry (points,)."""

    q: Array
    Q: Array
    chi1: Array
    branches: NDArray[np.int64]


def _default_digits(points: int) -> int:
    return 10 if points <= _FEW_POINTS else 6


def timescale_of(chi: Any) -> Any:
    """-1 / log chi: the number of steps in which a deviation falls to 1/e.

    Infinite if chi is above 1 - 1e-9, 0 if it is 0 or negative.

    >>> round(timescale_of(0.9), 3), timescale_of(1.0), timescale_of(0.0)
    (9.491, inf, 0.0)
    """
    values = np.asarray(chi, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = -1 / np.log(values)
    result = np.where(values >= 1 - INFINITE_WIDTH, np.inf, np.where(values <= 0, 0.0, finite))
    return result.item() if result.ndim == 0 else result


def kind_of(chi: float) -> str:
    """Kind of the timescale: `finite`, `infinite` (chi is 1 or more) or `undefined` (chi is 0, negative or NaN).

    >>> kind_of(0.9), kind_of(1.0), kind_of(-0.1)
    ('finite', 'infinite', 'undefined')
    """
    if not chi > 0:
        return "undefined"
    return "infinite" if chi >= 1 - INFINITE_WIDTH else "finite"


def phase_of(chi1: Any) -> Any:
    """`ordered`, `critical` or `chaotic`, from the factor per step of a small distance.

    >>> phase_of(0.9928), phase_of(0.9988), phase_of(1.12)
    ('ordered', 'critical', 'chaotic')
    """
    values = np.asarray(chi1, np.float64)
    words = np.where(values < 1 - CRITICAL_WIDTH, "ordered", "critical")
    words = np.where(values > 1 + CRITICAL_WIDTH, "chaotic", words)
    return words.item() if words.ndim == 0 else words
