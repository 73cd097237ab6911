"""What the command `predict` finds, one type for each kind of network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.charts import Chart, HeatMap
from memspan.results.display import Notebook
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True)
class Branch:
    """One fixed point of the variance; `reached` marks the one that a network started at (or beside) h = 0 comes to."""

    q: float
    """Variance of the pre-activations around the bias mean."""
    Q: float
    """Second moment of the hidden state."""
    variance_slope: float
    """By which factor a small deviation of Q changes per step; the branch is stable below 1 in size."""
    stable: bool
    reached: bool
    chi1: float
    """Growth per step of the squared distance of two states that receive the same inputs."""


@final
@dataclass(frozen=True)
class JacobianMoments:
    """Mean and variance of the squared singular values of the Jacobian over `steps` steps."""

    steps: int
    weights: str
    """`gaussian` or `orthogonal`."""
    mean: float
    variance: float
    """NaN where there is no theory (LSTM, GRU)."""


@final
@dataclass(frozen=True)
class TimescaleTarget:
    """The answer to the inverse question: which value of `parameter` makes signals last `timescale` steps."""

    timescale: float
    parameter: str
    """`bias_mean` or `sigma_w`."""
    value: float
    """The present value where that is good."""
    reached: float | None
    """The timescale at `value`; None if it has no end."""
    low: float | None
    """From `low` to `high` every value lasts at least as long: how broad the good region is."""
    high: float | None
    """Either end is None if the region goes on to the end of what was searched."""
    searched: tuple[float, float]
    source: str
    """Where the wanted timescale comes from: an option, or the data that were measured."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Notebook):
    """Mean-field fixed point of a random network, and how long signals last in it."""

    cell: str
    """rnn, minimal-rnn, lstm or gru."""
    settings: dict[str, float]
    """sigma_w, sigma_v, sigma_b, bias_mean, input_variance, input_correlation."""
    q: float
    Q: float
    c: float
    """Correlation of pre-activations of two copies whose inputs have correlation `input_correlation`."""
    chi: float
    """Factor by which a deviation of the correlation from c changes per step."""
    chi1: float
    """The same at correlation 1 under equal inputs; it decides the phase."""
    timescale: float | None
    """-1 / log chi, in steps; None unless `timescale_kind` is finite."""
    timescale_kind: str
    """finite, infinite (chi is 1 within 1e-9 or more) or undefined (chi is 0 or below)."""
    variance_timescale: float | None
    """-1 / log |slope of the variance map|, in steps."""
    phase: str
    """ordered, critical (chi1 within 0.005 of 1) or chaotic."""
    branches: tuple[Branch, ...]
    jacobian: JacobianMoments
    error: float
    """Bound on the numerical error of chi; for lstm and gru the standard error of chi."""
    wanted: TimescaleTarget | None
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    maps: tuple[HeatMap, ...]
    seconds: float

    def _summary(self) -> str:
        lasts = self.timescale_kind if self.timescale is None else f"{self.timescale:.4g} steps"
        return f"{self.cell}, {self.phase}, timescale {lasts}, chi {self.chi:.5g}, chi1 {self.chi1:.5g}"

    def to_json(self) -> dict[str, Any]:
        """The object that `predict --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Prediction:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearPrediction(Notebook):
    """Exact information of what a linear RNN generates."""

    cell: str
    """Always `linear`."""
    settings: dict[str, float]
    """hidden, visible, noise."""
    spectral_radius: float
    rate: float
    """Largest modulus among the modes that the noise excites and the output shows."""
    correlation_length: float | None
    """-1 / (2 log rate), in steps; None where the rate is 1 or more."""
    lags: NDArray[np.int64]
    information: NDArray[np.float64]
    """Nats, one per lag; of the stationary process, or from h_0 = 0 where there is none."""
    stationary: bool
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    seconds: float

    def _summary(self) -> str:
        length = "none" if self.correlation_length is None else f"{self.correlation_length:.4g} steps"
        kind = "stationary" if self.stationary else "not stationary"
        return f"{kind}, correlation length {length}, rate {self.rate:.4g}, {self.lags.size:,} lags"

    def to_json(self) -> dict[str, Any]:
        """The object that `predict linear --json` prints, without `schema`, `command` and `version`."""
        return {**to_plain(self), "unit": "nats"}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> LinearPrediction:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)


@final
@dataclass(frozen=True, eq=False, repr=False)
class AttentionPrediction(Notebook):
    """How a gradient survives recurrence with uniform attention over all past states."""

    cell: str
    """Always `attention`."""
    settings: dict[str, float]
    """eigenvalue_real, eigenvalue_imaginary, steps, and kappa and depth where given."""
    exponent: float
    """Corrected: the gradient falls as T to this power."""
    printed_exponent: float
    """As the source prints it."""
    distances: NDArray[np.int64]
    gradient: NDArray[np.float64]
    """Size of ds_T / dh_1 along the eigen-direction, one per distance T - 1."""
    without_attention: NDArray[np.float64]
    """The same of the plain recurrence."""
    sparse_bound: float | None
    """Lower bound under sparse attention (Theorem 2, as a number)."""
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    seconds: float

    def _summary(self) -> str:
        return f"exponent {self.exponent:.4g} (printed: {self.printed_exponent:.4g}), {self.distances.size:,} distances"

    def to_json(self) -> dict[str, Any]:
        """The object that `predict attention --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> AttentionPrediction:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)


AnyPrediction = Prediction | LinearPrediction | AttentionPrediction
"""Whatever `predict` found; the field `cell` tells which."""


def read_prediction(plain: dict[str, Any]) -> AnyPrediction:
    """The prediction of the kind that the field `cell` names."""
    kinds: dict[str, type[AnyPrediction]] = {"linear": LinearPrediction, "attention": AttentionPrediction}
    return kinds.get(plain["cell"], Prediction).from_json(plain)
