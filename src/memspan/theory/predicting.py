"""`predict_cell`, `predict_linear`, `predict_attention`: what the theory says of one network, as a result."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
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
    Wanted,
    line,
)
from memspan.theory.attention import attention_prediction
from memspan.theory.dynamics import dynamics_charts, simulated_dynamics
from memspan.theory.elementwise import GRUCell, LSTMCell, Network
from memspan.theory.field import Field
from memspan.theory.gated import gated_point
from memspan.theory.inverse import SEARCHED, Parameter, parameter_for
from memspan.theory.linear import LinearRNN, Start
from memspan.theory.minimal import MinimalField
from memspan.theory.parameters import check_correlation
from memspan.theory.phase_diagram import Axis, phase_diagram
from memspan.theory.timescale import kind_of, phase_of, timescale_of
from memspan.theory.vanilla import VanillaField

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
_GATED = {"lstm": LSTMCell(), "gru": GRUCell()}
_BIASES = (2.0, 4.0, 6.0, 8.0)


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
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


def field_of(cell: str, settings: Mapping[str, float]) -> Field:
    """The mean field of `rnn` or `minimal-rnn`."""
    return {"rnn": VanillaField, "minimal-rnn": MinimalField}[cell](**settings)


def predict_cell(
    cell: str, settings: Mapping[str, float], asked: Asked, *, seed: int = 0, progress: Progress = SILENT
) -> Prediction:
    """The fixed point of a random network of this cell and how long signals last in it.

    >>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 6.0}, Asked())
    >>> found.phase, round(found.timescale)
    ('ordered', 139)
    """
    if cell not in DEFAULTS:
        raise InputError(f"there is no theory of the cell {cell!r}; expected {', '.join(DEFAULTS)}")
    check_correlation(asked.input_correlation)
    if cell in _GATED:
        return _sampled(cell, dict(settings), asked, seed, progress)
    return _solved(cell, dict(settings), asked, seed, progress)


def _solved(cell: str, settings: dict[str, float], asked: Asked, seed: int, progress: Progress) -> Prediction:
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
        timescale=_finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=_finite(variance),
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


def _sampled(
    cell: str, settings: dict[str, float], asked: Asked, seed: int, progress: Progress
) -> Prediction:
    if asked.axes is not None:
        raise InputError(
            f"a phase diagram of {cell} would need thousands of simulations; use rnn or minimal-rnn"
        )
    if asked.weights != "gaussian":
        raise InputError(
            f"{cell} is simulated with Gaussian weights only, got {asked.weights}; use rnn or minimal-rnn"
        )
    start, network = time.perf_counter(), Network(cell=_GATED[cell], **settings)
    progress.say(f"simulating {cell} networks")
    point = gated_point(network, input_correlation=asked.input_correlation, seed=seed, progress=progress)
    wanted = _sampled_wanted(network, asked, seed, progress)
    charts = simulated_dynamics(network, seed=seed, progress=progress) if asked.dynamics else ()
    note = (
        f"{cell} has no closed theory: these numbers come from simulated networks with untied weights; timescale "
        f"{point.timescale:.4g} ± {point.timescale_error:.2g} steps (one standard error)"
    )
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": asked.input_correlation},
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
        jacobian=JacobianMoments(asked.steps, asked.weights, point.chi1**asked.steps, math.nan),
        error=point.chi_error,
        wanted=wanted,
        notes=(note,),
        figures=charts,
        maps=(),
        seconds=time.perf_counter() - start,
    )


def _finite(value: float) -> float | None:
    return float(value) if 0 < value < math.inf else None


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


def _bias_notes(cell: str, field: Field, asked: Asked) -> list[str]:
    """What other bias means would give: gating makes the bias the handle to turn."""
    if cell != "minimal-rnn":
        return []
    point = dataclasses.replace(field, bias_mean=np.array(_BIASES)).fixed_point(asked.input_correlation)
    each = zip(timescale_of(point.chi), _BIASES, phase_of(point.chi1), strict=True)
    lasting = (f"{t:,.0f} at {bias:g}{' (chaotic)' if phase == 'chaotic' else ''}" for t, bias, phase in each)
    return [f"timescale at other bias means, in steps: {', '.join(lasting)}"]


def _wanted(cell: str, field: Field, asked: Asked) -> Wanted | None:
    if asked.timescale is None:
        return None
    parameter: Parameter = asked.parameter or ("sigma_w" if cell == "rnn" else "bias_mean")
    answer = parameter_for(
        field, asked.timescale, parameter=parameter, input_correlation=asked.input_correlation
    )
    low, high = SEARCHED[parameter]
    return Wanted(
        timescale=asked.timescale,
        parameter=parameter,
        value=answer.value,
        reached=_finite(answer.timescale),
        low=answer.region.low if answer.region.low > low else None,
        high=None if answer.region.open else answer.region.high,
        searched=(low, high),
        source=asked.timescale_source,
    )


_SAMPLED_SEARCH = (-2.0, 9.0)
_HALVINGS = 12


def _sampled_wanted(network: Network, asked: Asked, seed: int, progress: Progress) -> Wanted | None:
    """By halving, because the timescale of an LSTM or GRU rises with the bias of the gate that keeps the state."""
    if asked.timescale is None:
        return None
    if asked.parameter == "sigma_w":
        raise InputError(
            "the inverse question for lstm and gru is answered by the bias mean; leave --vary out"
        )

    def lasting(bias: float) -> float:
        moved = dataclasses.replace(network, bias_mean=bias)
        return gated_point(moved, input_correlation=asked.input_correlation, seed=seed).timescale

    low, high = _SAMPLED_SEARCH
    longest = lasting(high)
    if longest < asked.timescale:
        raise InputError(
            f"no bias mean from {low:g} to {high:g} makes signals last {asked.timescale:,.6g} steps; the longest is "
            f"{longest:,.4g} steps at {high:g}; ask for less"
        )
    with progress.stage("searching the bias mean", _HALVINGS) as stage:
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if lasting(middle) >= asked.timescale else (middle, high)
            stage.advance()
    return Wanted(
        timescale=asked.timescale,
        parameter="bias_mean",
        value=high,
        reached=_finite(lasting(high)),
        low=high,
        high=None,
        searched=_SAMPLED_SEARCH,
        source=asked.timescale_source,
    )


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
        settings={"hidden": network.hidden, "visible": network.visible, "noise": network.noise},
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
        "steps": steps,
    }
    sparse = {name: value for name, value in (("kappa", kappa), ("depth", depth)) if value is not None}
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
