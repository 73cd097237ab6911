"""What a prediction says, in words that titles, sentences and tables share."""

from __future__ import annotations

import math

from memspan.figures.numbers import UNKNOWN, trimmed
from memspan.results import Prediction, TimescaleTarget

SIMULATED = ("lstm", "gru")
"""Cells whose numbers come from a simulation, because there is no closed theory of them."""
_NAMES = {
    "bias_mean": "bias mean",
    "input_variance": "input variance",
    "input_correlation": "input correlation",
    "eigenvalue_real": "eigenvalue, real part",
    "eigenvalue_imaginary": "eigenvalue, imaginary part",
}
_SIDES = {
    "ordered": "ordered, on the safe side of the edge of chaos",
    "critical": "at the edge of chaos",
    "chaotic": "chaotic, beyond the edge of chaos",
}
_NOTHING = 1e-300
"""Smaller than this a double-precision number has lost digits, or is zero because it ran out of range."""


def setting_name(name: str) -> str:
    """A setting as people say it; sigma_w and its like are their own names.

    >>> setting_name("bias_mean"), setting_name("sigma_w")
    ('bias mean', 'sigma_w')
    """
    return _NAMES.get(name, name)


def settings_words(settings: dict[str, float]) -> str:
    """Every setting with its value, in one line.

    >>> settings_words({"sigma_w": 6.88, "bias_mean": 6.0})
    'sigma_w 6.88, bias mean 6'
    """
    return ", ".join(f"{setting_name(name)} {trimmed(value, 5)}" for name, value in settings.items())


def network_words(prediction: Prediction) -> str:
    """The cell and the setting that decides most, or the one that was asked about: `minimal-rnn, bias mean 6`."""
    usual = "sigma_w" if prediction.cell == "rnn" else "bias_mean"
    name = prediction.wanted.parameter if prediction.wanted is not None else usual
    if name not in prediction.settings:
        return prediction.cell
    return f"{prediction.cell}, {settings_words({name: prediction.settings[name]})}"


def steps_words(amount: float | None) -> str:
    """A number of steps; one that was counted is shown whole.

    >>> steps_words(138.9), steps_words(9.748), steps_words(1.0), steps_words(1_024), steps_words(None)
    ('139 steps', '9.75 steps', '1 step', '1,024 steps', 'unknown')
    """
    if amount is None or math.isnan(amount):
        return UNKNOWN
    value = f"{amount:,}" if isinstance(amount, int) else trimmed(amount)
    return f"{value} step" if value == "1" else f"{value} steps"


def half_life(timescale: float) -> str:
    """In how many steps half is left of what falls by the factor e in `timescale` steps.

    >>> half_life(138.9), half_life(9.748), half_life(833.0)
    ('96 steps', '6.8 steps', '577 steps')
    """
    steps = math.log(2) * timescale
    return steps_words(float(f"{steps:.1e}") if steps < 100 else steps)


def slope_words(slope: float) -> str:
    """A factor per step, with the digits that tell it from 1.

    >>> slope_words(0.99283), slope_words(1.1213), slope_words(1.0042), slope_words(0.999963), slope_words(1.0)
    ('0.993', '1.12', '1.004', '0.99996', '1')
    """
    if slope == 1 or not 0.9 < slope < 1.1:
        return trimmed(slope)
    decimals = min(9, max(3, -math.floor(math.log10(abs(slope - 1)))))
    return f"{slope:.{decimals}f}".rstrip("0").rstrip(".")


def timescale_words(prediction: Prediction) -> str:
    """How long signals last, as a table shows it."""
    if prediction.timescale_kind == "infinite":
        return "without end: signals neither fade nor grow"
    if prediction.timescale is None or math.isnan(prediction.timescale):
        return f"none: chi = {slope_words(prediction.chi)} is not above 0"
    return f"{steps_words(prediction.timescale)} (half is left after {half_life(prediction.timescale)})"


def phase_words(prediction: Prediction) -> str:
    """On which side of the edge of chaos the network is, and the slope that decides it."""
    side = _SIDES.get(prediction.phase, prediction.phase)
    near = ", within 0.005 of 1" if prediction.phase == "critical" else ""
    return f"{side} (chi_1 = {slope_words(prediction.chi1)}{near})"


def needed_words(wanted: TimescaleTarget) -> str:
    """Who wants how many steps: `your data needs at least 340 steps (novel.txt)`."""
    if wanted.source == "--timescale":
        chosen = round(wanted.timescale) if float(wanted.timescale).is_integer() else wanted.timescale
        return f"you want {steps_words(chosen)}"
    name, comma, bound = wanted.source.rpartition(", ")
    if comma and bound == "at least":
        return f"your data needs at least {steps_words(wanted.timescale)} ({name})"
    return f"your data needs {steps_words(wanted.timescale)} ({wanted.source})"


def given_words(prediction: Prediction) -> str:
    """What these weights give, to follow the word `weights`."""
    if prediction.phase == "chaotic":
        return f"are chaotic (chi_1 = {slope_words(prediction.chi1)})"
    if prediction.timescale_kind == "infinite":
        return "let nothing fade"
    if prediction.timescale is None or math.isnan(prediction.timescale):
        return "give no timescale"
    return f"give {trimmed(prediction.timescale)}"


def suffices(prediction: Prediction, wanted: TimescaleTarget) -> bool:
    """Whether the network as it is lasts long enough; a chaotic one does not, however slowly it forgets."""
    if prediction.phase == "chaotic":
        return False
    return prediction.timescale_kind == "infinite" or (prediction.timescale or 0.0) >= wanted.timescale


def eigenvalue_words(settings: dict[str, float]) -> str:
    """A real or complex number.

    >>> eigenvalue_words({"eigenvalue_real": 0.4, "eigenvalue_imaginary": -0.693})
    '0.4 - 0.693i'
    """
    real, imaginary = settings.get("eigenvalue_real", math.nan), settings.get("eigenvalue_imaginary", 0.0)
    if not imaginary or math.isnan(imaginary):
        return trimmed(real)
    return f"{trimmed(real)} {'+' if imaginary > 0 else '-'} {trimmed(abs(imaginary))}i"


def left_words(size: float) -> str:
    """What is left of a gradient.

    >>> left_words(0.01934), left_words(3e-12), left_words(0.0)
    ('0.0193', '3e-12', 'nothing')
    """
    return "nothing" if abs(size) < _NOTHING else trimmed(size)
