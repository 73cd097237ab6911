"""LSTM and GRU, which have no closed theory: simulated, and searched by simulation."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

from memspan.errors import InputError
from memspan.progress import Progress
from memspan.results import Branch, JacobianMoments, Prediction, Wanted
from memspan.theory.elementwise import GRUCell, LSTMCell, Network
from memspan.theory.gated import gated_point
from memspan.theory.inverse import check_wanted
from memspan.theory.jacobian import mean_over
from memspan.theory.predictions.dynamics import simulated_dynamics
from memspan.theory.predictions.question import Asked, finite
from memspan.theory.timescale import kind_of, phase_of, timescale_of

SAMPLED = {"lstm": LSTMCell(), "gru": GRUCell()}
"""The cells that are simulated."""
_SEARCHED = (-2.0, 9.0)
_CLOSE = 0.02
"""How well the bias mean is found: the timescale then is within 2 % of the wanted one, about as well as it is known."""


def predict_sampled(
    cell: str, settings: dict[str, float], asked: Asked, seed: int, progress: Progress
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
    start, network = time.perf_counter(), Network(cell=SAMPLED[cell], **settings)
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
    network: Network, present: float, asked: Asked, seed: int, progress: Progress
) -> Wanted | None:
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
    return Wanted(
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
