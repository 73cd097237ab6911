"""What is asked about a network, and what is assumed where nothing is said."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

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
from memspan.theory.meanfield.inverse import SEARCHED, Parameter, check_wanted, parameter_for
from memspan.theory.meanfield.jacobian import mean_over
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.parameters import check_correlation
from memspan.theory.meanfield.vanilla import VanillaField
from memspan.theory.sampled.cells import GRUCell, LSTMCell, RandomNetwork
from memspan.theory.sampled.gated import gated_point

DEFAULTS: dict[str, dict[str, float]] = {
    "rnn": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 0.0, "input_variance": 1.0},
    "minimal-rnn": {
        "sigma_w": 6.88,
        "sigma_v": 1.39,
        "sigma_b": 0.0,
        "bias_mean": 0.0,
        "input_variance": 0.46,
    },
    "lstm": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 1.0, "input_variance": 1.0},
    "gru": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 0.0, "input_variance": 1.0},
}
"""What a cell is predicted with unless told: common initialisations, and for the minimal RNN its source's."""


@final
@dataclass(frozen=True, kw_only=True)
class PredictionRequest:
    """What is wanted besides the fixed point."""

    input_correlation: float = 1.0
    weights: str = "gaussian"
    steps: int = 1
    """Steps of the Jacobian."""
    timescale: float | None = None
    """How long signals shall last."""
    timescale_source: str = "--timescale"
    parameter: Parameter | None = None
    """What may be changed for that; by default the bias mean of gated cells and sigma_w of the plain one."""
    axes: tuple[Axis, Axis] | None = None
    """The plane of a phase diagram."""
    dynamics: bool = False


def finite(value: float) -> float | None:
    """A timescale, or None where there is none."""
    return float(value) if 0 < value < math.inf else None


_BIASES = (2.0, 4.0, 6.0, 8.0)


def field_of(cell: str, settings: Mapping[str, float]) -> Field:
    """The mean field of `rnn` or `minimal-rnn`."""
    return {"rnn": VanillaField, "minimal-rnn": MinimalField}[cell](**settings)


def predict_cell(
    cell: str,
    settings: Mapping[str, float],
    asked: PredictionRequest,
    *,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Prediction:
    """The fixed point of a random network of this cell and how long signals last in it.

    >>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 6.0}, PredictionRequest())
    >>> found.phase, round(found.timescale)
    ('ordered', 139)
    """
    if cell not in DEFAULTS:
        raise InputError(f"there is no theory of the cell {cell!r}; expected {', '.join(DEFAULTS)}")
    check_correlation(asked.input_correlation)
    if cell in SAMPLED:
        return predict_sampled(cell, dict(settings), asked, seed, progress)
    return _solved(cell, dict(settings), asked, seed, progress)


def _solved(
    cell: str, settings: dict[str, float], asked: PredictionRequest, seed: int, progress: Progress
) -> Prediction:
    start, field = time.perf_counter(), field_of(cell, settings)
    point, branches = field.fixed_point(asked.input_correlation), field.branches()
    notes = [*_branch_notes(branches), *_bias_notes(cell, field, asked)]
    variance = timescale_of(abs(point.variance_slope))
    wanted = _wanted(cell, field, asked)
    charts: tuple[Chart, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    if asked.axes is not None:
        progress.say("computing the phase diagram")
        maps = (phase_diagram(field, *asked.axes, input_correlation=asked.input_correlation),)
    if asked.dynamics:
        charts = dynamics_charts(field, seed=seed, progress=progress)
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": asked.input_correlation},
        q=point.q,
        Q=point.Q,
        c=point.c,
        chi=point.chi,
        chi1=point.chi1,
        timescale=finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=finite(variance),
        phase=phase_of(point.chi1),
        branches=branches,
        jacobian=field.jacobian_moments(asked.steps, weights=asked.weights),
        error=point.error,
        wanted=wanted,
        notes=tuple(notes),
        figures=charts,
        maps=maps,
        seconds=time.perf_counter() - start,
    )


def _branch_notes(branches: tuple[Branch, ...]) -> list[str]:
    stable = [branch for branch in branches if branch.stable]
    if len(stable) < 2:
        return []
    each = "; ".join(
        f"q = {b.q:.4g} with chi_1 = {b.chi1:.4g}{' (reached)' if b.reached else ''}" for b in stable
    )
    return [
        f"the variance has {len(stable)} stable fixed points ({each}); the answer is for a network started at h = 0"
    ]


def _bias_notes(cell: str, field: Field, asked: PredictionRequest) -> list[str]:
    """What other bias means would give: gating makes the bias the handle to turn."""
    if cell != "minimal-rnn":
        return []
    point = dataclasses.replace(field, bias_mean=np.array(_BIASES)).fixed_point(asked.input_correlation)
    each = zip(timescale_of(point.chi), _BIASES, phase_of(point.chi1), strict=True)
    lasting = (
        f"{_count(t)} at {bias:g}{' (chaotic)' if phase == 'chaotic' else ''}" for t, bias, phase in each
    )
    return [f"timescale at other bias means, in steps: {', '.join(lasting)}"]


def _wanted(cell: str, field: Field, asked: PredictionRequest) -> TimescaleTarget | None:
    if asked.timescale is None:
        return None
    parameter: Parameter = asked.parameter or ("sigma_w" if cell == "rnn" else "bias_mean")
    answer = parameter_for(
        field, asked.timescale, parameter=parameter, input_correlation=asked.input_correlation
    )
    low, high = SEARCHED[parameter]
    return TimescaleTarget(
        timescale=asked.timescale,
        parameter=parameter,
        value=answer.value,
        reached=finite(answer.timescale),
        low=answer.region.low if answer.region.low > low else None,
        high=None if answer.region.open else answer.region.high,
        searched=(low, high),
        source=asked.timescale_source,
    )


def _count(timescale: float) -> str:
    return f"{timescale:,.0f}" if np.isfinite(timescale) else "endless"


SAMPLED = {"lstm": LSTMCell(), "gru": GRUCell()}
"""The cells that are simulated."""
_SEARCHED = (-2.0, 9.0)
_CLOSE = 0.02
"""How well the bias mean is found: the timescale then is within 2 % of the wanted one, about as well as it is known."""


def predict_sampled(
    cell: str, settings: dict[str, float], asked: PredictionRequest, seed: int, progress: Progress
) -> Prediction:
    """The prediction of `lstm` or `gru`."""
    if asked.axes is not None:
        raise InputError(
            f"a phase diagram of {cell} would need thousands of simulations; use rnn or minimal-rnn"
        )
    if asked.weights != "gaussian":
        raise InputError(
            f"{cell} is simulated with Gaussian weights only, got {asked.weights}; use rnn or minimal-rnn"
        )
    start, network = time.perf_counter(), RandomNetwork(cell=SAMPLED[cell], **settings)
    progress.say(f"simulating {cell} networks")
    point = gated_point(network, input_correlation=asked.input_correlation, seed=seed, progress=progress)
    wanted = _sampled_wanted(network, point.timescale, asked, seed, progress)
    charts = simulated_dynamics(network, seed=seed, progress=progress) if asked.dynamics else ()
    notes = (
        f"{cell} has no closed theory: these numbers come from simulated networks with untied weights; timescale "
        f"{point.timescale:.4g} ± {point.timescale_error:.2g} steps (one standard error; about 1 % low besides, because "
        "the rare neurons that remember longest are missed)",
        "networks in use keep their weights from step to step and then remember longer; an LSTM may even be chaotic where "
        "this says it is not (memspan reproduce meanfield-gated)",
    )
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": asked.input_correlation},
        q=point.q,
        Q=point.Q,
        c=point.c,
        chi=point.chi,
        chi1=point.chi1,
        timescale=finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=None,
        phase=phase_of(point.chi1),
        branches=(Branch(point.q, point.Q, math.nan, True, True, point.chi1),),
        jacobian=JacobianMoments(asked.steps, asked.weights, mean_over(point.chi1, asked.steps), math.nan),
        error=point.chi_error,
        wanted=wanted,
        notes=notes,
        figures=charts,
        maps=(),
        seconds=time.perf_counter() - start,
    )


def _sampled_wanted(
    network: RandomNetwork, present: float, asked: PredictionRequest, seed: int, progress: Progress
) -> TimescaleTarget | None:
    """The bias mean from which on an LSTM or GRU remembers so long: its timescale grows about as exp(bias mean).

    `present` is the timescale at the network's own bias mean.
    """
    if asked.timescale is None:
        return None
    if asked.parameter == "sigma_w":
        raise InputError(
            "the inverse question for lstm and gru is answered by the bias mean; leave --vary out"
        )
    wanted = asked.timescale
    check_wanted(wanted)

    def lasting(bias: float) -> float:
        progress.say(f"simulating bias mean {bias:.3g}")
        moved = dataclasses.replace(network, bias_mean=bias)
        return gated_point(moved, input_correlation=asked.input_correlation, seed=seed).timescale

    value, reached = network.bias_mean, present
    if present < wanted:
        value, reached = _climb(lasting, network.bias_mean, present, wanted)
    return TimescaleTarget(
        timescale=wanted,
        parameter="bias_mean",
        value=value,
        reached=finite(reached),
        low=value,
        high=None,
        searched=(min(network.bias_mean, _SEARCHED[0]), _SEARCHED[1]),
        source=asked.timescale_source,
    )


def _climb(
    lasting: Callable[[float], float], bias: float, reached: float, wanted: float
) -> tuple[float, float]:
    """The bias mean, within 0.02, from which on `lasting` is at least `wanted`, and what it is there."""
    low, below, highest = bias, reached, _SEARCHED[1]
    high = above = math.inf
    while high - low > _CLOSE:
        if math.isinf(high):
            bias = min(low + math.log(wanted / below) + 2 * _CLOSE, highest)
        else:
            share = math.log(wanted / below) / math.log(above / below) if math.isfinite(above) else 0.5
            bias = low + min(max(share, 0.1), 0.9) * (high - low)
        reached = lasting(bias)
        low, below, high, above = (
            (low, below, bias, reached) if reached >= wanted else (bias, reached, high, above)
        )
        if low >= highest:
            raise InputError(
                f"no bias mean up to {highest:g} makes signals last {wanted:,.6g} steps; the longest is {below:,.4g} steps "
                f"at {highest:g}; ask for less"
            )
    return high, above


def predict_linear(network: LinearRNN, *, longest: int = 100) -> LinearPrediction:
    """Exact information of what a linear RNN generates, at lags 1 … `longest`.

    Where the spectral radius is 1 or more nothing is stationary: then it is the information about x_0 of a network
    that starts from h_0 = 0.

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
        settings={
            "hidden": float(network.hidden),
            "visible": float(network.visible),
            "noise": network.noise,
        },
        spectral_radius=network.spectral_radius,
        rate=network.rate,
        correlation_length=length,
        lags=lags,
        information=information,
        stationary=stationary,
        notes=(),
        figures=(_linear_chart(network, lags, information, length),),
        seconds=time.perf_counter() - start,
    )


def _lags(longest: int) -> np.ndarray:
    """Every lag up to 64, then about 24 per decade."""
    spaced = np.rint(np.geomspace(1, longest, 24 * len(str(longest)))).astype(np.int64)
    return np.union1d(spaced, np.arange(1, min(longest, 64) + 1))


def _linear_chart(
    network: LinearRNN, lags: np.ndarray, information: np.ndarray, length: float | None
) -> Chart:
    lines = [line("exact information", lags, information)]
    if length:
        seen = np.flatnonzero(information > 0)
        anchor = int(seen[-1]) if seen.size else 0
        tail = information[anchor] * np.exp(-(lags - lags[anchor]) / length)
        lines.append(line(f"exp(-lag / {length:.3g}), the law of the tail", lags, tail, style="dashed"))
    return Chart(
        name="information",
        title=f"What a linear RNN's output tells about its past ({network.hidden} hidden, {network.visible} visible units)",
        x_label="lag (steps)",
        y_label="mutual information (nats)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption="A straight line is exponential decay. Near the start other modes add to the slowest one; the dashed line "
        "is the slowest alone, which rules in the end.",
    )


_SMALLEST_SHOWN = 1e-12


def predict_attention(
    eigenvalue: complex, steps: int, *, kappa: int | None = None, depth: int | None = None
) -> AttentionPrediction:
    """How a gradient survives uniform attention over all past states, next to the plain recurrence.

    >>> round(predict_attention(0.3, 1000).exponent, 4)
    -0.5714
    """
    start = time.perf_counter()
    decay = attention_prediction(eigenvalue, steps, kappa=kappa, depth=depth)
    settings = {
        "eigenvalue_real": decay.eigenvalue.real,
        "eigenvalue_imaginary": decay.eigenvalue.imag,
        "steps": float(steps),
    }
    sparse = {name: float(value) for name, value in (("kappa", kappa), ("depth", depth)) if value is not None}
    plain = np.where(decay.without_attention >= _SMALLEST_SHOWN, decay.without_attention, np.nan)
    law = decay.gradient[-1] * (decay.distances / decay.distances[-1]) ** decay.exponent
    lines = [
        line("with uniform attention", decay.distances, decay.gradient),
        line(f"distance to the power {decay.exponent:.3g}", decay.distances, law, style="dashed"),
        line("without attention", decay.distances, plain),
    ]
    if decay.sparse_bound is not None:
        bound = np.full(decay.distances.size, decay.sparse_bound)
        lines.append(line("sparse attention passes on at least this", decay.distances, bound, style="dashed"))
    chart = Chart(
        name="gradient",
        title=f"How much of a gradient survives, for an eigenvalue of {_eigenvalue_text(decay.eigenvalue)}",
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
        distances=decay.distances,
        gradient=decay.gradient,
        without_attention=decay.without_attention,
        sparse_bound=decay.sparse_bound,
        notes=(),
        figures=(chart,),
        seconds=time.perf_counter() - start,
    )


def _eigenvalue_text(value: complex) -> str:
    return f"{value.real:g}" if value.imag == 0 else f"{value.real:g}{value.imag:+g}i"
