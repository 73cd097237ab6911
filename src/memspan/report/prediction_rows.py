"""Every quantity of a prediction with its value and what it means."""

from __future__ import annotations

import math

from memspan.figures.prediction_words import (
    SIMULATED,
    left_words,
    phase_words,
    slope_words,
    steps_words,
    timescale_words,
)
from memspan.report.numbers import UNKNOWN, duration, number, trimmed, unit_of
from memspan.report.section import Row
from memspan.results import AttentionPrediction, JacobianMoments, LinearPrediction, Prediction

_PHASES = {
    "ordered": "Two states that receive the same inputs become equal: small differences are forgotten.",
    "critical": "Two nearly equal states neither merge nor part: the place where signals last longest.",
    "chaotic": "Two nearly equal states part, whatever the inputs: small differences take over.",
}


def field_rows(result: Prediction) -> tuple[Row, ...]:
    """The quantities of a mean-field prediction."""
    return (*_memory_rows(result), *_fixed_point_rows(result), *_jacobian_rows(result), *_end_rows(result))


def _memory_rows(result: Prediction) -> tuple[Row, ...]:
    equal = "the slope of the correlation map at c"
    if result.cell in SIMULATED:
        equal = "read off the simulated distance of two copies"
    return (
        ("timescale", timescale_words(result), "In how many steps a difference falls to 37 %: -1 / log chi."),
        ("phase", phase_words(result), _PHASES.get(result.phase, "Decided by chi_1.")),
        ("chi", number(result.chi, 5), f"By which factor a difference changes per step: {equal}."),
        (
            "chi_1",
            number(result.chi1, 5),
            "Growth per step of the squared distance of two nearly equal states under the same inputs.",
        ),
        (
            "variance timescale",
            "none" if result.variance_timescale is None else steps_words(result.variance_timescale),
            "In how many steps the size of the states settles to 37 % of its first deviation.",
        ),
    )


def _fixed_point_rows(result: Prediction) -> tuple[Row, ...]:
    correlation = trimmed(result.settings.get("input_correlation", math.nan))
    inputs = "" if correlation == UNKNOWN else f", whose inputs have correlation {correlation}"
    return (
        ("q", number(result.q, 4), "Variance of the pre-activations around the bias mean, once settled."),
        ("Q", number(result.Q, 4), "Mean square of the hidden state, once settled."),
        (
            "c",
            number(result.c, 4),
            f"Correlation to which the pre-activations of two copies settle{inputs}.",
        ),
    )


def _jacobian_rows(result: Prediction) -> tuple[Row, ...]:
    moments: JacobianMoments = result.jacobian
    over = f"over {steps_words(moments.steps)}, {moments.weights} weights"
    variance = "no theory for this cell" if math.isnan(moments.variance) else number(moments.variance)
    return (
        (
            "Jacobian, mean",
            number(moments.mean),
            f"Mean of the squared singular values {over}: what is left of a squared gradient on its way back.",
        ),
        (
            "Jacobian, variance",
            variance,
            "Variance of the same: how unequally directions are treated; near 0 all alike.",
        ),
    )


def _end_rows(result: Prediction) -> tuple[Row, ...]:
    simulated = result.cell in SIMULATED
    name = "standard error" if simulated else "numerical error"
    meaning = (
        "Of chi, from one simulated network to the next."
        if simulated
        else "An estimate for q, Q, c and chi, from what the integrals leave out."
    )
    return (
        (name, number(result.error, 2), meaning),
        ("time", duration(result.seconds), "How long the prediction took."),
    )


def linear_rows(result: LinearPrediction, *, bits: bool = False) -> tuple[Row, ...]:
    """The quantities of a linear network."""
    length = result.correlation_length
    return (
        (
            "correlation length",
            "none: the rate is 1 or more" if length is None else steps_words(length),
            "In how many steps the information falls to 37 % in the tail: -1 / (2 log rate).",
        ),
        (
            "rate",
            slope_words(result.rate),
            "Largest modulus among the modes that the noise excites and the output shows.",
        ),
        (
            "spectral radius",
            slope_words(result.spectral_radius),
            "Largest modulus of all modes; from 1 on the network never settles.",
        ),
        *_information_rows(result, bits),
        ("time", duration(result.seconds), "How long the prediction took."),
    )


def _information_rows(result: LinearPrediction, bits: bool) -> tuple[Row, ...]:
    """The information at both ends of the curve."""
    unit, factor = unit_of(bits)
    process = "the stationary process" if result.stationary else "the process started from h = 0"
    ends = sorted({0, result.lags.size - 1}) if result.lags.size else []
    return tuple(
        (
            f"information at lag {result.lags[i]:,}",
            f"{number(float(result.information[i]) * factor)} {unit}",
            f"What one output tells about the one that many steps later, in {process}.",
        )
        for i in ends
    )


def attention_rows(result: AttentionPrediction) -> tuple[Row, ...]:
    """The quantities of a recurrence with attention."""
    bound = (
        (
            "bound under sparse attention",
            number(result.sparse_bound),
            "With few attended states the gradient stays above this: lambda^depth / kappa^(depth + 1).",
        ),
    )
    return (
        ("exponent", trimmed(result.exponent), "The gradient follows the distance T to this power."),
        (
            "exponent as printed",
            trimmed(result.printed_exponent),
            "What the source prints; the recursion itself gives the one above.",
        ),
        *_gradient_rows(result),
        *(bound if result.sparse_bound is not None else ()),
        ("time", duration(result.seconds), "How long the prediction took."),
    )


def _gradient_rows(result: AttentionPrediction) -> tuple[Row, ...]:
    if not result.distances.size:
        return ()
    far = steps_words(int(result.distances[-1]))
    return (
        (
            f"gradient over {far}",
            left_words(float(result.gradient[-1])),
            "Size of the derivative of the last state by the first, along the eigenvector.",
        ),
        (
            "without attention",
            left_words(float(result.without_attention[-1])),
            "The same for the plain recurrence: the eigenvalue to that power.",
        ),
    )
