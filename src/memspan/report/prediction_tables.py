"""The tables behind a prediction: what to set, every fixed point, the settings, the numbers of the curves."""

from __future__ import annotations

from memspan.figures.prediction_words import (
    left_words,
    phase_words,
    setting_name,
    slope_words,
    steps_words,
    timescale_words,
)
from memspan.figures.wanted_words import advice, reached_words
from memspan.report.numbers import number, trimmed, unit_of
from memspan.report.section import MEANING, Row, Table
from memspan.report.tables import MOST_ROWS
from memspan.results import AttentionPrediction, LinearPrediction, Prediction, TimescaleTarget

_SETTINGS = {
    "sigma_w": "Size of the recurrent weights: their standard deviation times the root of the width.",
    "sigma_v": "Size of the input weights, measured in the same way.",
    "sigma_b": "Standard deviation of the biases.",
    "bias_mean": "Mean of the biases; in a gate, how far it is open before anything is seen.",
    "input_variance": "Variance of the inputs as they enter the recurrence.",
    "input_correlation": "Correlation of the inputs of the two copies; 1 gives both the same.",
    "hidden": "Number of hidden units.",
    "visible": "Number of outputs, which are also the next inputs.",
    "noise": "Standard deviation of the noise on every output.",
    "eigenvalue_real": "Of the recurrent weights; its size must be below 1.",
    "eigenvalue_imaginary": "Of the recurrent weights.",
    "steps": "The farthest distance.",
    "kappa": "How many states are attended to at each step, at most.",
    "depth": "How many steps of the recurrence the shortest chain of attended states needs.",
}


def settings_table(settings: dict[str, float]) -> Table:
    """Every setting with its value and what it means."""
    rows = tuple(
        (setting_name(name), trimmed(value, 5), _SETTINGS.get(name, "")) for name, value in settings.items()
    )
    return Table("Settings", ("setting", "value", "what it means"), rows, stacked=True)


def wanted_tables(result: Prediction) -> tuple[Table, ...]:
    """What is needed, what is given and what to set; nothing where no timescale was asked for."""
    wanted = result.wanted
    if wanted is None:
        return ()
    origin = "Asked for." if wanted.source == "--timescale" else f"How far {wanted.source} reaches back."
    given = phase_words(result) if result.phase == "chaotic" else timescale_words(result)
    rows = (
        ("needed", steps_words(wanted.timescale), origin),
        ("given", given, "What these weights give as they are."),
        *_advice_rows(wanted),
    )
    return (Table("For the wanted timescale", MEANING, rows, stacked=True),)


def _advice_rows(wanted: TimescaleTarget) -> tuple[Row, ...]:
    name = setting_name(wanted.parameter)
    searched = f"from {trimmed(wanted.searched[0])} to {trimmed(wanted.searched[1])}"
    found = advice(wanted)
    return (
        (f"set {name} to", found.value, f"Found {searched}, the other settings as they are."),
        ("given then", reached_words(wanted), "The timescale at that value."),
        (
            "good region",
            found.region,
            "Where signals last at least as long. A broad one forgives a rough setting, a narrow one does not.",
        ),
    )


def branch_tables(result: Prediction) -> tuple[Table, ...]:
    """Every fixed point of the variance, where there is more than one."""
    if len(result.branches) < 2:
        return ()
    rows = tuple(
        (
            "✓ reached" if branch.reached else "",
            number(branch.q, 4),
            number(branch.Q, 4),
            "yes" if branch.stable else "no",
            slope_words(branch.variance_slope),
            slope_words(branch.chi1),
        )
        for branch in result.branches
    )
    caption = (
        f"The variance can settle at {len(rows)} places. The one marked is where a network that starts at h = 0 "
        "comes to; all numbers above are of that one. From an unstable one every network moves away."
    )
    return (Table(caption, ("", "q", "Q", "stable", "slope of the variance", "chi_1"), rows),)


def lag_tables(result: LinearPrediction, *, bits: bool = False) -> tuple[Table, ...]:
    """The information at every lag, to be opened by whoever wants it."""
    if not 0 < result.lags.size <= MOST_ROWS:
        return ()
    unit, factor = unit_of(bits)
    rows = tuple(
        (f"{lag:,}", number(float(value) * factor, 4))
        for lag, value in zip(result.lags, result.information, strict=True)
    )
    return (Table(f"The numbers behind the figure, in {unit}", ("lag", "information"), rows, folded=True),)


def distance_tables(result: AttentionPrediction) -> tuple[Table, ...]:
    """The gradient at every distance, to be opened by whoever wants it."""
    if not 0 < result.distances.size <= MOST_ROWS:
        return ()
    rows = tuple(
        (f"{distance:,}", left_words(float(size)), left_words(float(plain)))
        for distance, size, plain in zip(
            result.distances, result.gradient, result.without_attention, strict=True
        )
    )
    header = ("distance", "with attention", "without attention")
    return (Table("The numbers behind the figure", header, rows, folded=True),)
