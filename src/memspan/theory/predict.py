"""What the command `predict` answers: the theory of one network as a result, with its figures as plain data.

>>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 8.0}, PredictionRequest())
>>> found.phase, round(found.timescale)
('critical', 964)
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import (
    AttentionPrediction,
    Branch,
    Chart,
    HeatMap,
    JacobianMoments,
    LinearPrediction,
    Prediction,
    TimescaleTarget,
    line,
)
from memspan.theory.attention import attention_prediction
from memspan.theory.diagrams import Axis, dynamics_charts, phase_diagram, simulated_dynamics
from memspan.theory.linear import LinearRNN, Start
from memspan.theory.meanfield.field import Field, kind_of, phase_of, timescale_of
from memspan.theory.meanfield.inverse import SEARCHED, Parameter, check_timescale, parameter_for
from memspan.theory.meanfield.jacobian import mean_over
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.parameters import check_correlation
from memspan.theory.meanfield.vanilla import VanillaField
from memspan.theory.sampled.cells import GRUCell, LSTMCell, RandomNetwork
from memspan.theory.sampled.gated import gated_point

_COMMON = {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 0.0, "input_variance": 1.0}
# Default parameters of each cell: common initializations, and for the minimal RNN those of its source.
DEFAULTS: dict[str, dict[str, float]] = {
    "rnn": {**_COMMON},
    "minimal-rnn": {**_COMMON, "sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46},
    "lstm": {**_COMMON, "bias_mean": 1.0},
    "gru": {**_COMMON},
}
# The cells with a closed theory.
FIELDS: dict[str, type[Field]] = {"rnn": VanillaField, "minimal-rnn": MinimalField}
# The cells that are simulated.
SAMPLED = {"lstm": LSTMCell(), "gru": GRUCell()}
# Other bias means whose timescales are noted.
_BIAS_MEANS = (2.0, 4.0, 6.0, 8.0)
# Bias means in which `predict_cell` searches for a timescale of sampled cells.
_SAMPLED_RANGE = (-2.0, 9.0)
# Accuracy of that bias mean: the timescale is then within 2 % of the requested one, about as well as it is
# known.
_SAMPLED_TOLERANCE = 0.02
# Smaller gradients without attention are not drawn.
_SMALLEST_SHOWN = 1e-12


@final
@dataclass(frozen=True, kw_only=True)
class PredictionRequest:
    """What to predict in addition to the fixed point."""

    input_correlation: float = 1.0
    weights: str = "gaussian"
    steps: int = 1
    """Steps of the Jacobian."""
    timescale: float | None = None
    """Requested timescale, in steps."""
    timescale_source: str = "--timescale"
    parameter: Parameter | None = None
    """The parameter to vary for it; default the bias mean of gated cells and sigma_w of the vanilla RNN."""
    axes: tuple[Axis, Axis] | None = None
    """Axes of a phase diagram."""
    dynamics: bool = False


def predict_cell(
    cell: str, settings: Mapping[str, float], request: PredictionRequest, *, seed: int = 0, progress: Progress = SILENT
) -> Prediction:
    """The fixed point and the timescale of a random network of this cell.

    >>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 6.0}, PredictionRequest())
    >>> found.phase, round(found.timescale)
    ('ordered', 139)
    """
    if cell not in DEFAULTS:
        raise InputError(f"there is no theory of the cell {cell!r}; expected {', '.join(DEFAULTS)}")
    check_correlation(request.input_correlation)
    if cell in SAMPLED:
        return _predict_sampled(cell, dict(settings), request, seed, progress)
    return _predict_field(cell, dict(settings), request, seed, progress)


def _predict_field(
    cell: str, settings: dict[str, float], request: PredictionRequest, seed: int, progress: Progress
) -> Prediction:
    start, field = time.perf_counter(), FIELDS[cell](**settings)
    point, branches = field.fixed_point(request.input_correlation), field.branches()
    notes = [*_branch_notes(branches), *_bias_notes(cell, field, request)]
    target = _field_target(cell, field, request)
    charts: tuple[Chart, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    if request.axes is not None:
        progress.say("computing the phase diagram")
        maps = (phase_diagram(field, *request.axes, input_correlation=request.input_correlation),)
    if request.dynamics:
        charts = dynamics_charts(field, seed=seed, progress=progress)
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": request.input_correlation},
        q=point.q,
        Q=point.Q,
        c=point.c,
        chi=point.chi,
        chi1=point.chi1,
        timescale=_finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=_finite(timescale_of(abs(point.variance_slope))),
        phase=phase_of(point.chi1),
        branches=branches,
        jacobian=field.jacobian_moments(request.steps, weights=request.weights),
        error=point.error,
        wanted=target,
        notes=tuple(notes),
        figures=charts,
        maps=maps,
        seconds=time.perf_counter() - start,
    )


def _finite(timescale: float) -> float | None:
    """A timescale, or None if it is not finite and positive."""
    return float(timescale) if 0 < timescale < math.inf else None


def _branch_notes(branches: tuple[Branch, ...]) -> list[str]:
    stable = [branch for branch in branches if branch.stable]
    if len(stable) < 2:
        return []
    each = "; ".join(f"q = {b.q:.4g} with chi_1 = {b.chi1:.4g}{' (reached)' if b.reached else ''}" for b in stable)
    return [
        f"the variance has {len(stable)} stable fixed points ({each}); the prediction is for a network started at h = 0"
    ]


def _bias_notes(cell: str, field: Field, request: PredictionRequest) -> list[str]:
    """Timescales at other bias means, the parameter to tune in gated cells."""
    if cell != "minimal-rnn":
        return []
    over = dataclasses.replace(field, bias_mean=np.array(_BIAS_MEANS))
    point = over.fixed_point(request.input_correlation)
    each = zip(timescale_of(point.chi), _BIAS_MEANS, phase_of(point.chi1), strict=True)
    lasting = (
        f"{f'{t:,.0f}' if np.isfinite(t) else 'endless'} at {bias:g}{' (chaotic)' if phase == 'chaotic' else ''}"
        for t, bias, phase in each
    )
    return [f"timescale at other bias means, in steps: {', '.join(lasting)}"]


def _field_target(cell: str, field: Field, request: PredictionRequest) -> TimescaleTarget | None:
    if request.timescale is None:
        return None
    parameter: Parameter = request.parameter or ("sigma_w" if cell == "rnn" else "bias_mean")
    answer = parameter_for(field, request.timescale, parameter=parameter, input_correlation=request.input_correlation)
    low, high = SEARCHED[parameter]
    return TimescaleTarget(
        timescale=request.timescale,
        parameter=parameter,
        value=answer.value,
        reached=_finite(answer.timescale),
        low=answer.region.low if answer.region.low > low else None,
        high=None if answer.region.open else answer.region.high,
        searched=(low, high),
        source=request.timescale_source,
    )


def _predict_sampled(
    cell: str, settings: dict[str, float], request: PredictionRequest, seed: int, progress: Progress
) -> Prediction:
    """LSTM and GRU, which have no closed theory, by simulation."""
    if request.axes is not None:
        raise InputError(f"a phase diagram of {cell} would need thousands of simulations; use rnn or minimal-rnn")
    if request.weights != "gaussian":
        raise InputError(
            f"{cell} is simulated with Gaussian weights only, got {request.weights}; use rnn or minimal-rnn"
        )
    start, network = time.perf_counter(), RandomNetwork(cell=SAMPLED[cell], **settings)
    progress.say(f"simulating {cell} networks")
    point = gated_point(network, input_correlation=request.input_correlation, seed=seed, progress=progress)
    target = _sampled_target(network, point.timescale, request, seed, progress)
    charts = simulated_dynamics(network, seed=seed, progress=progress) if request.dynamics else ()
    notes = (
        f"{cell} has no closed theory: these numbers come from simulated networks with untied weights; timescale "
        f"{point.timescale:.4g} ± {point.timescale_error:.2g} steps (one standard error; also about 1 % too low, because "
        "the simulation misses the rare neurons with the longest memory)",
        "real networks use the same weights in all steps and then remember longer; an LSTM may even be chaotic where "
        "this prediction says it is not (memspan reproduce meanfield-gated)",
    )
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": request.input_correlation},
        q=point.q,
        Q=point.Q,
        c=point.c,
        chi=point.chi,
        chi1=point.chi1,
        timescale=_finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=None,
        phase=phase_of(point.chi1),
        branches=(Branch(point.q, point.Q, math.nan, True, True, point.chi1),),
        jacobian=JacobianMoments(request.steps, request.weights, mean_over(point.chi1, request.steps), math.nan),
        error=point.chi_error,
        wanted=target,
        notes=notes,
        figures=charts,
        maps=(),
        seconds=time.perf_counter() - start,
    )


def _sampled_target(
    network: RandomNetwork, present: float, request: PredictionRequest, seed: int, progress: Progress
) -> TimescaleTarget | None:
    """The smallest bias mean of an LSTM or GRU with the requested timescale, which grows about as exp(bias mean).

    `present` is the timescale at the network's own bias mean.
    """
    if request.timescale is None:
        return None
    if request.parameter == "sigma_w":
        raise InputError("a requested timescale of lstm and gru is reached by the bias mean only; omit --vary")
    target = request.timescale
    check_timescale(target)

    def timescale_at(bias: float) -> float:
        progress.say(f"simulating bias mean {bias:.3g}")
        moved = dataclasses.replace(network, bias_mean=bias)
        return gated_point(moved, input_correlation=request.input_correlation, seed=seed).timescale

    value, reached = network.bias_mean, present
    if present < target:
        value, reached = _smallest_bias(timescale_at, network.bias_mean, present, target)
    return TimescaleTarget(
        timescale=target,
        parameter="bias_mean",
        value=value,
        reached=_finite(reached),
        low=value,
        high=None,
        searched=(min(network.bias_mean, _SAMPLED_RANGE[0]), _SAMPLED_RANGE[1]),
        source=request.timescale_source,
    )


def _smallest_bias(
    timescale_at: Callable[[float], float], bias: float, reached: float, target: float
) -> tuple[float, float]:
    """The bias mean, within 0.02, from which on the timescale is at least `target`, and the timescale there."""
    low, below, highest = bias, reached, _SAMPLED_RANGE[1]
    high = above = math.inf
    while high - low > _SAMPLED_TOLERANCE:
        if math.isinf(high):
            # Extrapolate timescale ~ exp(bias mean), and a little further so as to bracket the target.
            bias = min(low + math.log(target / below) + 2 * _SAMPLED_TOLERANCE, highest)
        else:
            share = math.log(target / below) / math.log(above / below) if math.isfinite(above) else 0.5
            bias = low + min(max(share, 0.1), 0.9) * (high - low)
        reached = timescale_at(bias)
        low, below, high, above = (low, below, bias, reached) if reached >= target else (bias, reached, high, above)
        if low >= highest:
            raise InputError(
                f"no bias mean up to {highest:g} makes signals last {target:,.6g} steps; the longest is {below:,.4g} steps "
                f"at {highest:g}; request less"
            )
    return high, above


def predict_linear(network: LinearRNN, *, longest: int = 100) -> LinearPrediction:
    """Exact mutual information of the output of a linear RNN at lags 1 … `longest`.

    If the spectral radius is 1 or more there is no stationary law; then it is the information about x_0 of a network that
    starts from h_0 = 0.

    >>> found = predict_linear(LinearRNN(W_h=[[1.0]], U_h=[[0.0]], U_o=[[0.81]]))
    >>> round(found.correlation_length, 4)
    4.7456
    """
    if longest < 1:
        raise InputError(f"{longest} steps; expected at least 1")
    start, lags = time.perf_counter(), _lags(longest)
    stationary = network.spectral_radius < 1
    information = network.information(lags, start=None if stationary else Start.at_rest(network))
    length = network.correlation_length if stationary else None
    return LinearPrediction(
        cell="linear",
        settings={"hidden": float(network.hidden), "visible": float(network.visible), "noise": network.noise},
        spectral_radius=network.spectral_radius,
        rate=network.rate,
        correlation_length=length,
        lags=lags,
        information=information,
        stationary=stationary,
        notes=(),
        figures=(_information_chart(network, lags, information, length),),
        seconds=time.perf_counter() - start,
    )


def _lags(longest: int) -> NDArray[np.int64]:
    """Every lag up to 64, then about 24 per decade."""
    spaced = np.rint(np.geomspace(1, longest, 24 * len(str(longest)))).astype(np.int64)
    return np.union1d(spaced, np.arange(1, min(longest, 64) + 1))


def _information_chart(
    network: LinearRNN, lags: NDArray[np.int64], information: NDArray[np.float64], length: float | None
) -> Chart:
    lines = [line("exact information", lags, information)]
    if length:
        seen = np.flatnonzero(information > 0)
        # The dashed law passes through the last nonzero value, where the slowest mode dominates.
        anchor = int(seen[-1]) if seen.size else 0
        tail = information[anchor] * np.exp(-(lags - lags[anchor]) / length)
        lines.append(line(f"exp(-lag / {length:.3g}), the law of the tail", lags, tail, style="dashed"))
    return Chart(
        name="information",
        title=f"Memory of a linear RNN's output ({network.hidden} hidden, {network.visible} visible units)",
        x_label="lag (steps)",
        y_label="mutual information (nats)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption="A straight line is exponential decay. At short lags other modes add to the slowest one; the dashed line "
        "is the slowest mode alone, which dominates in the end.",
    )


def predict_attention(
    eigenvalue: complex, steps: int, *, kappa: int | None = None, depth: int | None = None
) -> AttentionPrediction:
    """Decay of a gradient with uniform attention over all past states, next to the plain recurrence.

    >>> round(predict_attention(0.3, 1000).exponent, 4)
    -0.5714
    """
    start = time.perf_counter()
    decay = attention_prediction(eigenvalue, steps, kappa=kappa, depth=depth)
    value, distances = decay.eigenvalue, decay.distances
    settings = {"eigenvalue_real": value.real, "eigenvalue_imaginary": value.imag, "steps": float(steps)}
    sparse = {name: float(given) for name, given in (("kappa", kappa), ("depth", depth)) if given is not None}
    plain = np.where(decay.without_attention >= _SMALLEST_SHOWN, decay.without_attention, np.nan)
    law = decay.gradient[-1] * (distances / distances[-1]) ** decay.exponent
    lines = [
        line("with uniform attention", distances, decay.gradient),
        line(f"distance to the power {decay.exponent:.3g}", distances, law, style="dashed"),
        line("without attention", distances, plain),
    ]
    if decay.sparse_bound is not None:
        bound = np.full(distances.size, decay.sparse_bound)
        lines.append(line("lower bound of sparse attention", distances, bound, style="dashed"))
    shown = f"{value.real:g}" if value.imag == 0 else f"{value.real:g}{value.imag:+g}i"
    chart = Chart(
        name="gradient",
        title=f"How much of a gradient survives, for an eigenvalue of {shown}",
        x_label="distance (steps)",
        y_label="size of the gradient",
        x_scale="log",
        y_scale="log",
        lines=tuple(lines),
        caption="A straight line is a power of the distance. Without attention the gradient falls exponentially; it is not "
        f"drawn below {_SMALLEST_SHOWN:g}.",
    )
    return AttentionPrediction(
        cell="attention",
        settings={**settings, **sparse},
        exponent=decay.exponent,
        printed_exponent=decay.printed_exponent,
        distances=distances,
        gradient=decay.gradient,
        without_attention=decay.without_attention,
        sparse_bound=decay.sparse_bound,
        notes=(),
        figures=(chart,),
        seconds=time.perf_counter() - start,
    )
