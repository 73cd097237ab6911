"""What the command `predict` returns, one type for each kind of network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.charts import Chart, HeatMap
from memspan.results.display import Notebook
from memspan.results.encoding import JsonResult, check_choice, check_lengths


@final
@dataclass(frozen=True, eq=False, repr=False)
class Prediction(JsonResult, Notebook):
    """Mean-field fixed point of a random network, and its timescale."""

    cell: str
    """rnn, minimal-rnn, lstm or gru."""
    settings: dict[str, float]
    """sigma_w, sigma_v, sigma_b, bias_mean, input_variance, input_correlation."""
    q: float
    Q: float
    c: float
    """Correlation of the pre-activations of two copies whose inputs have correlation `input_correlation`."""
    chi: float
    """Factor per step of a small deviation of the correlation from c."""
    chi1: float
    """The same at correlation 1 with equal inputs; it determines the phase."""
    timescale: float | None
    """-1 / log chi, in steps; None unless `timescale_kind` is finite."""
    timescale_kind: str
    """finite, infinite (chi is above 1 - 1e-9) or undefined (chi is 0 or negative)."""
    variance_timescale: float | None
    """-1 / log |slope of the variance map|, in steps."""
    phase: str
    """ordered, critical (chi1 within 0.005 of 1) or chaotic."""
    branches: tuple[Branch, ...]
    jacobian: JacobianMoments
    error: float
    """Bound on the numerical error of chi; the standard error of chi for lstm and gru."""
    # The field keeps its first name, because result files hold it.
    wanted: TimescaleTarget | None
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    maps: tuple[HeatMap, ...]
    seconds: float

    def __post_init__(self) -> None:
        check_choice(self, "timescale_kind", ("finite", "infinite", "undefined"))
        check_choice(self, "phase", ("ordered", "critical", "chaotic"))

    def _summary(self) -> str:
        lasts = self.timescale_kind if self.timescale is None else f"{self.timescale:.4g} steps"
        return f"{self.cell}, {self.phase}, timescale {lasts}, chi {self.chi:.5g}, chi1 {self.chi1:.5g}"


@final
@dataclass(frozen=True)
class Branch:
    """One fixed point of the variance; a network started at (or near) h = 0 converges to the `reached` one."""

    q: float
    """Variance of the pre-activations around the bias mean."""
    Q: float
    """Second moment of the hidden state."""
    variance_slope: float
    """Factor per step of a small deviation of Q; the branch is stable if its absolute value is below 1."""
    stable: bool
    reached: bool
    chi1: float
    """Factor per step of the squared distance of two states with the same inputs."""


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
    """The value of `parameter` that gives the network a timescale of `timescale` steps."""

    timescale: float
    parameter: str
    """`bias_mean` or `sigma_w`."""
    value: float
    """The present value if it is in the region."""
    reached: float | None
    """Timescale at `value`; None if infinite."""
    low: float | None
    """Every value from `low` to `high` gives at least the requested timescale."""
    high: float | None
    """`low` or `high` is None if the region extends to the end of the searched range."""
    searched: tuple[float, float]
    source: str
    """Where the requested timescale comes from: an option, or the measured data."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearPrediction(JsonResult, Notebook):
    """Exact mutual information of the output of a linear RNN."""

    cell: str
    """Always `linear`."""
    settings: dict[str, float]
    """hidden, visible, noise."""
    spectral_radius: float
    rate: float
    """Largest modulus of the modes that are excited by the noise and observed in the output."""
    correlation_length: float | None
    """-1 / (2 log rate), in steps; None if the rate is 1 or more."""
    lags: NDArray[np.int64]
    information: NDArray[np.float64]
    """Nats, one per lag; of the stationary process, or from h_0 = 0 if there is none."""
    stationary: bool
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    seconds: float

    def __post_init__(self) -> None:
        check_lengths(self, "lags", "information")

    def _summary(self) -> str:
        length = "none" if self.correlation_length is None else f"{self.correlation_length:.4g} steps"
        kind = "stationary" if self.stationary else "not stationary"
        return f"{kind}, correlation length {length}, rate {self.rate:.4g}, {self.lags.size:,} lags"

    def to_json(self) -> dict[str, Any]:
        """All fields, and the unit of the information."""
        return {**super().to_json(), "unit": "nats"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class AttentionPrediction(JsonResult, Notebook):
    """Decay of a gradient through a recurrence with uniform attention over all past states."""

    cell: str
    """Always `attention`."""
    settings: dict[str, float]
    """eigenvalue_real, eigenvalue_imaginary, steps; kappa and depth if given."""
    exponent: float
    """Corrected: the gradient falls as T to this power."""
    printed_exponent: float
    """As printed in the source."""
    distances: NDArray[np.int64]
    gradient: NDArray[np.float64]
    """|ds_T / dh_1| along the eigenvector, one per distance T - 1."""
    without_attention: NDArray[np.float64]
    """The same for the plain recurrence."""
    sparse_bound: float | None
    """Lower bound under sparse attention (Theorem 2, as a number)."""
    notes: tuple[str, ...]
    figures: tuple[Chart, ...]
    seconds: float

    def __post_init__(self) -> None:
        check_lengths(self, "distances", "gradient", "without_attention")

    def _summary(self) -> str:
        return f"exponent {self.exponent:.4g} (printed: {self.printed_exponent:.4g}), {self.distances.size:,} distances"


AnyPrediction = Prediction | LinearPrediction | AttentionPrediction
"""Any result of `predict`, distinguished by the field `cell`."""


def read_prediction(plain: dict[str, Any]) -> AnyPrediction:
    """The prediction of the kind that the field `cell` names."""
    kinds: dict[str, type[AnyPrediction]] = {"linear": LinearPrediction, "attention": AttentionPrediction}
    return kinds.get(plain["cell"], Prediction).from_json(plain)
