"""`predict_linear`: what a linear RNN's output tells about its past, exactly."""

from __future__ import annotations

import time

import numpy as np

from memspan.errors import InputError
from memspan.results import Chart, LinearPrediction, line
from memspan.theory.linear import LinearRNN, Start


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
