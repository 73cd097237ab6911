"""The short tables that follow the sentence of `predict`."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Console

from memspan.cli.tables import SHOWN_LAGS, print_table, show_notes
from memspan.figures.prediction_words import (
    SIMULATED,
    eigenvalue_words,
    left_words,
    needed_words,
    phase_words,
    setting_name,
    settings_words,
    slope_words,
    steps_words,
    timescale_words,
)
from memspan.figures.wanted_words import advice, reached_words
from memspan.report.numbers import duration, number, trimmed, unit_of
from memspan.results import (
    AnyPrediction,
    AttentionPrediction,
    LinearPrediction,
    Prediction,
    TimescaleTarget,
)


def show_prediction(console: Console, result: AnyPrediction, *, bits: bool = False) -> None:
    """The quantities of whichever kind of network, then what a reader should know."""
    match result:
        case Prediction():
            print_table(console, (), _field(result))
            print_table(console, *_branches(result))
        case LinearPrediction():
            print_table(console, (), _linear(result))
            print_table(console, *_lags(result, bits))
        case AttentionPrediction():
            print_table(console, (), _attention(result))
            print_table(console, *_distances(result))
    show_notes(console, result.notes)


def _field(result: Prediction) -> list[tuple[str, str]]:
    kind = "standard error of chi" if result.cell in SIMULATED else "numerical error"
    return [
        ("timescale", timescale_words(result)),
        ("phase", phase_words(result)),
        ("fixed point", f"q {number(result.q, 4)}, Q {number(result.Q, 4)}, c {number(result.c, 4)}"),
        ("chi", f"{number(result.chi, 5)} ({kind} {number(result.error, 2)})"),
        ("variance settles", _settling(result)),
        ("Jacobian", _jacobian(result)),
        *(_wanted(result.wanted) if result.wanted is not None else []),
        ("settings", f"{settings_words(result.settings)}; {duration(result.seconds)}"),
    ]


def _settling(result: Prediction) -> str:
    if result.variance_timescale is None:
        return "without a timescale"
    return f"with a timescale of {steps_words(result.variance_timescale)}"


def _jacobian(result: Prediction) -> str:
    moments = result.jacobian
    variance = "no theory" if math.isnan(moments.variance) else number(moments.variance)
    over = f"over {steps_words(moments.steps)}, {moments.weights} weights"
    return f"squared singular values {over}: mean {number(moments.mean)}, variance {variance}"


def _wanted(wanted: TimescaleTarget) -> list[tuple[str, str]]:
    name = setting_name(wanted.parameter)
    needed = ("wanted", needed_words(wanted))
    found = advice(wanted)
    return [needed, (name, f"{found.value} gives {reached_words(wanted)}; {found.region}")]


def _branches(result: Prediction) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Where the variance can settle; told only where there is a choice."""
    rows = [
        (
            number(branch.q, 4),
            number(branch.Q, 4),
            slope_words(branch.chi1),
            "stable" if branch.stable else "unstable",
            "reached from h = 0" if branch.reached else "",
        )
        for branch in result.branches
    ]
    return ("q", "Q", "chi_1", "", ""), rows if len(rows) > 1 else []


def _linear(result: LinearPrediction) -> list[tuple[str, str]]:
    length = result.correlation_length
    return [
        ("correlation length", "none" if length is None else f"{steps_words(length)}, in the tail"),
        ("rate", f"{slope_words(result.rate)} (spectral radius {slope_words(result.spectral_radius)})"),
        ("process", "stationary" if result.stationary else "not stationary: started from h = 0"),
        ("settings", f"{settings_words(result.settings)}; {duration(result.seconds)}"),
    ]


def _lags(result: LinearPrediction, bits: bool) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    unit, factor = unit_of(bits)
    rows = [(f"{result.lags[i]:,}", number(float(result.information[i]) * factor)) for i in _few(result.lags)]
    return ("lag", f"information ({unit})"), rows


def _attention(result: AttentionPrediction) -> list[tuple[str, str]]:
    bound = result.sparse_bound
    return [
        ("eigenvalue", eigenvalue_words(result.settings)),
        ("exponent", f"{trimmed(result.exponent)} (printed {trimmed(result.printed_exponent)})"),
        *([("sparse attention", f"gradient at least {number(bound)}")] if bound is not None else []),
        ("time", duration(result.seconds)),
    ]


def _distances(result: AttentionPrediction) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    rows = [
        (
            f"{result.distances[i]:,}",
            left_words(float(result.gradient[i])),
            left_words(float(result.without_attention[i])),
        )
        for i in _few(result.distances)
    ]
    return ("distance", "gradient", "without attention"), rows


def _few(places: np.ndarray) -> list[int]:
    """The positions of a few round distances and of the last one."""
    shown = [int(np.flatnonzero(places == lag)[0]) for lag in SHOWN_LAGS if lag in places]
    last = places.size - 1
    return shown if not places.size or last in shown else [*shown, last]
