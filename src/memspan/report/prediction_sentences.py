"""The first line of what `predict` answers: what is needed, what the network gives, what to set."""

from __future__ import annotations

import math

from memspan.figures.prediction_words import (
    eigenvalue_words,
    given_words,
    half_life,
    left_words,
    needed_words,
    network_words,
    phase_words,
    setting_name,
    slope_words,
    steps_words,
    suffices,
)
from memspan.figures.wanted_words import advice
from memspan.report.numbers import number, trimmed, unit_of
from memspan.results import (
    AnyPrediction,
    AttentionPrediction,
    LinearPrediction,
    Prediction,
    TimescaleTarget,
)

_LEVEL = 1e-9
"""An exponent closer to zero than this is zero: eigenvalue 0.5 gives it only up to rounding."""


def prediction_sentence(prediction: AnyPrediction, *, bits: bool = False) -> str:
    """What was predicted, in one line; `bits` gives information in bits instead of nats.

    `minimal-rnn, bias mean 6: your data needs 340 steps (novel.txt), these weights give 139, set the bias mean to 7.1 (…)`
    """
    match prediction:
        case Prediction():
            wanted = prediction.wanted
            told = _predicted(prediction) if wanted is None else _advised(prediction, wanted)
            return f"{network_words(prediction)}: {told}"
        case LinearPrediction():
            return f"{_linear_network(prediction)}: {_linear(prediction, bits)}"
        case AttentionPrediction():
            return f"attention, eigenvalue {eigenvalue_words(prediction.settings)}: {_attention(prediction)}"


def _predicted(prediction: Prediction) -> str:
    if prediction.phase == "chaotic":
        return _chaotic(prediction)
    phase, timescale = phase_words(prediction), prediction.timescale
    if prediction.timescale_kind == "infinite":
        return f"signals neither fade nor grow; {phase}"
    if timescale is None or math.isnan(timescale):
        chi = slope_words(prediction.chi)
        return f"signals have no timescale, because chi = {chi} is not above 0; {phase}"
    return f"signals fade by half every {half_life(timescale)} (timescale {steps_words(timescale)}); {phase}"


def _chaotic(prediction: Prediction) -> str:
    """chi_1 is of squared distances, so distances grow by its root."""
    growth = slope_words(math.sqrt(max(prediction.chi1, 0.0)))
    apart = f"two nearby states drift apart by a factor {growth} every step"
    settled = f"the correlation settles at c = {trimmed(prediction.c)}"
    start = f"chaotic: {apart} (chi_1 = {slope_words(prediction.chi1)}), and {settled}"
    if prediction.timescale_kind == "finite":
        length = steps_words(prediction.timescale)
        return f"{start}; a difference of inputs is forgotten over a timescale of {length}"
    return start


def _advised(prediction: Prediction, wanted: TimescaleTarget) -> str:
    needed, given, name = needed_words(wanted), given_words(prediction), setting_name(wanted.parameter)
    if suffices(prediction, wanted):
        return f"{needed}, these weights already {given}: nothing to change"
    what = "the bias mean" if wanted.parameter == "bias_mean" else name
    found = advice(wanted)
    return f"{needed}, these weights {given}, set {what} to {found.value} ({found.region})"


def _linear_network(prediction: LinearPrediction) -> str:
    sizes = [
        f"{prediction.settings[name]:,.0f} {name}"
        for name in ("hidden", "visible")
        if name in prediction.settings
    ]
    return f"{prediction.cell}, {' and '.join(sizes)}" if sizes else prediction.cell


def _linear(prediction: LinearPrediction, bits: bool) -> str:
    if not prediction.stationary:
        radius = slope_words(prediction.spectral_radius)
        start = f"this network remembers only its initial condition (spectral radius {radius})"
        return f"{start}; {_transient(prediction, bits)}"
    length, rate = prediction.correlation_length, slope_words(prediction.rate)
    if not length or math.isnan(length):
        return f"information ends after a few steps (rate {rate})"
    tail = f"correlation length {steps_words(length)}, rate {rate}"
    return f"information halves every {half_life(length)} in the tail ({tail})"


def _transient(prediction: LinearPrediction, bits: bool) -> str:
    if not prediction.lags.size or not math.isfinite(prediction.information[-1]):
        return "it has no stationary information"
    unit, factor = unit_of(bits)
    left, lag = number(float(prediction.information[-1]) * factor), int(prediction.lags[-1])
    return f"started from h = 0, {left} {unit} are left after {steps_words(lag)}"


def _attention(prediction: AttentionPrediction) -> str:
    exponent, printed = trimmed(prediction.exponent), trimmed(prediction.printed_exponent)
    if abs(prediction.exponent) < _LEVEL:
        law = "gradients neither fade nor grow with the distance T"
    elif prediction.exponent > 0:
        law = f"gradients grow as T^{exponent}"
    else:
        law = f"gradients fall as T^{exponent}, not exponentially"
    source = f" (T^{printed} as printed in the source)" if printed != exponent else ""
    return f"{law}{source}{_left(prediction)}"


def _left(prediction: AttentionPrediction) -> str:
    """What the farthest distance shows, with attention and without it."""
    if not prediction.distances.size or math.isnan(prediction.gradient[-1]):
        return ""
    size, plain = float(prediction.gradient[-1]), float(prediction.without_attention[-1])
    with_it = f"{left_words(size)} is left" if size < 1 else f"the gradient is {left_words(size)}"
    without = "" if math.isnan(plain) else f", {left_words(plain)} without attention"
    return f"; after {steps_words(int(prediction.distances[-1]))} {with_it}{without}"
