"""A mean-field prediction: how long signals last, on which side of the edge of chaos, and what to change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from memspan.presentation.numbers import UNKNOWN, duration, number, trimmed
from memspan.presentation.page.section import MEANING, Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.results import Chart, HeatMap, Prediction, TimescaleTarget

# Cells without a closed theory, whose numbers come from a simulation.
SIMULATED = ("lstm", "gru")
_NAMES = {
    "bias_mean": "bias mean",
    "input_variance": "input variance",
    "input_correlation": "input correlation",
    "eigenvalue_real": "eigenvalue, real part",
    "eigenvalue_imaginary": "eigenvalue, imaginary part",
}
_SETTINGS = {
    "sigma_w": "Standard deviation of the recurrent weights times the square root of the hidden size.",
    "sigma_v": "Standard deviation of the input weights times the square root of the input size.",
    "sigma_b": "Standard deviation of the biases.",
    "bias_mean": "Mean of the biases; for a gate, how far it is open without input.",
    "input_variance": "Variance of the inputs as they enter the recurrence.",
    "input_correlation": "Correlation of the inputs of the two copies; 1 gives both the same.",
    "hidden": "Number of hidden units.",
    "visible": "Number of outputs, which are also the next inputs.",
    "noise": "Standard deviation of the noise on every output.",
    "eigenvalue_real": "Of the recurrent weights; its modulus must be below 1.",
    "eigenvalue_imaginary": "Of the recurrent weights.",
    "steps": "The largest distance.",
    "kappa": "Largest number of states attended to at each step.",
    "depth": "Recurrence steps on the shortest chain of attended states.",
}
_PHASES = {
    "ordered": "Two states that receive the same inputs become equal: small differences are forgotten.",
    "critical": "Two nearly equal states neither merge nor separate: signals last longest here.",
    "chaotic": "Two nearly equal states separate, whatever the inputs: small differences take over.",
}
_SIDES = {
    "ordered": "ordered, on the safe side of the edge of chaos",
    "critical": "at the edge of chaos",
    "chaotic": "chaotic, beyond the edge of chaos",
}


@final
class PredictionPresenter(Presenter[Prediction]):
    """A random network before training."""

    result_type = Prediction

    def page_title(self) -> str:
        return f"{self.result.cell}: how far back can it remember?"

    def title(self) -> str:
        return f"How long signals last in a random {self.result.cell}"

    def sentence(self) -> str:
        wanted = self.result.wanted
        found = _predicted(self.result) if wanted is None else _advised(self.result, wanted)
        return f"{network_words(self.result)}: {found}"

    def explanation(self) -> tuple[str, ...]:
        if self.result.cell in SIMULATED:
            origin = (
                "There is no closed theory of this cell, so its numbers are simulated: many wide networks with random "
                "weights, drawn anew at every step, are run before any training."
            )
        else:
            origin = (
                "This is a theory of wide networks with random weights before any training. It is exact in the limit of "
                "many units if the weights are drawn anew at every step; ordinary networks, whose weights stay fixed, are "
                "expected to be close. It does not describe what training changes."
            )
        return (
            origin,
            "It follows the correlation of two copies of the network and asks what becomes of a difference between them: "
            "that is how long an input stays in the state. chi is the factor by which the difference changes per step, and "
            "the timescale, -1 / log chi, is the number of steps in which it falls to 37 %.",
            "chi_1 is that factor for two nearly equal states under the same inputs. Below 1 they merge, and the network is "
            "ordered: it forgets. Above 1 they separate, and it is chaotic: its state is drowned by its own noise. In "
            "between, at the edge of chaos, signals and gradients last longest.",
        )

    def rows(self) -> tuple[Row, ...]:
        return (*self._memory_rows(), *self._fixed_point_rows(), *self._jacobian_rows(), *self._end_rows())

    def _memory_rows(self) -> tuple[Row, ...]:
        result = self.result
        simulated = "from the simulated distance of two copies"
        origin = simulated if result.cell in SIMULATED else "the slope of the correlation map at c"
        settling = "none" if result.variance_timescale is None else steps_words(result.variance_timescale)
        return (
            ("timescale", timescale_words(result), "Steps in which a difference falls to 37 %: -1 / log chi."),
            ("phase", phase_words(result), _PHASES.get(result.phase, "Determined by chi_1.")),
            ("chi", number(result.chi, 5), f"Factor by which a difference changes per step: {origin}."),
            (
                "chi_1",
                number(result.chi1, 5),
                "Growth per step of the squared distance of two nearly equal states under the same inputs.",
            ),
            (
                "variance timescale",
                settling,
                "Steps in which the variance of the states settles to 37 % of its deviation.",
            ),
        )

    def _fixed_point_rows(self) -> tuple[Row, ...]:
        result = self.result
        correlation = trimmed(result.settings.get("input_correlation", math.nan))
        inputs = "" if correlation == UNKNOWN else f", whose inputs have correlation {correlation}"
        return (
            ("q", number(result.q, 4), "Variance of the pre-activations around the bias mean at the fixed point."),
            ("Q", number(result.Q, 4), "Mean square of the hidden state at the fixed point."),
            (
                "c",
                number(result.c, 4),
                f"Correlation of the pre-activations of two copies{inputs}, at the fixed point.",
            ),
        )

    def _jacobian_rows(self) -> tuple[Row, ...]:
        moments = self.result.jacobian
        over = f"over {steps_words(moments.steps)}, {moments.weights} weights"
        variance = "no theory for this cell" if math.isnan(moments.variance) else number(moments.variance)
        return (
            (
                "Jacobian, mean",
                number(moments.mean),
                f"Mean of the squared singular values {over}: the factor of a squared gradient on its way back.",
            ),
            (
                "Jacobian, variance",
                variance,
                "Variance of the squared singular values; near 0 all directions are treated alike.",
            ),
        )

    def _end_rows(self) -> tuple[Row, ...]:
        error = number(self.result.error, 2)
        return (
            ("standard error", error, "Of chi, between simulated networks.")
            if self.result.cell in SIMULATED
            else ("numerical error", error, "Estimate for q, Q, c and chi, from the truncation of the integrals."),
            ("time", duration(self.result.seconds), "Time of the prediction."),
        )

    def details(self) -> tuple[TextTable, ...]:
        return (*self._target_tables(), *self._branch_tables(), settings_table(self.result.settings))

    def _target_tables(self) -> tuple[TextTable, ...]:
        """The required and the present timescale, and what to set; nothing where no timescale was requested."""
        result, wanted = self.result, self.result.wanted
        if wanted is None:
            return ()
        origin = "Requested." if wanted.source == "--timescale" else f"The reach of {wanted.source}."
        given = phase_words(result) if result.phase == "chaotic" else timescale_words(result)
        found = advice(wanted)
        searched = f"from {trimmed(wanted.searched[0])} to {trimmed(wanted.searched[1])}"
        rows = (
            ("needed", steps_words(wanted.timescale), origin),
            ("given", given, "With the present settings."),
            (
                f"set {setting_name(wanted.parameter)} to",
                found.value,
                f"Searched {searched}, with the other settings unchanged.",
            ),
            ("given then", reached_words(wanted), "The timescale at that value."),
            (
                "good region",
                found.region,
                "Where signals last at least as long. A broad region tolerates a rough setting, a narrow one does not.",
            ),
        )
        return (TextTable("For the target timescale", MEANING, rows, stacked=True),)

    def _branch_tables(self) -> tuple[TextTable, ...]:
        """Every fixed point of the variance, where there is more than one."""
        if len(self.result.branches) < 2:
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
            for branch in self.result.branches
        )
        caption = (
            f"The variance has {len(rows)} fixed points. A network that starts at h = 0 reaches the marked one, to which "
            "all numbers above refer. Every network moves away from an unstable one."
        )
        return (TextTable(caption, ("", "q", "Q", "stable", "slope of the variance", "chi_1"), rows),)

    def drawings(self) -> Sequence[Chart | HeatMap]:
        return (*self.result.figures, *self.result.maps)

    def blocks(self) -> Iterator[Block]:
        result, moments = self.result, self.result.jacobian
        kind = "standard error of chi" if result.cell in SIMULATED else "numerical error"
        variance = "no theory" if math.isnan(moments.variance) else number(moments.variance)
        over = f"over {steps_words(moments.steps)}, {moments.weights} weights"
        settling = (
            "without a timescale"
            if result.variance_timescale is None
            else f"with a timescale of {steps_words(result.variance_timescale)}"
        )
        yield facts(
            [
                ("timescale", timescale_words(result)),
                ("phase", phase_words(result)),
                ("fixed point", f"q {number(result.q, 4)}, Q {number(result.Q, 4)}, c {number(result.c, 4)}"),
                ("chi", f"{number(result.chi, 5)} ({kind} {number(result.error, 2)})"),
                ("variance converges", settling),
                ("Jacobian", f"squared singular values {over}: mean {number(moments.mean)}, variance {variance}"),
                *self._target_facts(),
                ("settings", f"{settings_words(result.settings)}; {duration(result.seconds)}"),
            ]
        )
        if len(result.branches) > 1:
            rows = tuple(
                (
                    number(branch.q, 4),
                    number(branch.Q, 4),
                    slope_words(branch.chi1),
                    "stable" if branch.stable else "unstable",
                    "reached from h = 0" if branch.reached else "",
                )
                for branch in result.branches
            )
            yield TextTable("", ("q", "Q", "chi_1", "", ""), rows)
        yield from note_lines(result.notes)

    def _target_facts(self) -> list[Row]:
        wanted = self.result.wanted
        if wanted is None:
            return []
        found = advice(wanted)
        return [
            ("target", needed_words(wanted)),
            (setting_name(wanted.parameter), f"{found.value} gives {reached_words(wanted)}; {found.region}"),
        ]


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
    # chi_1 refers to squared distances, so distances grow by its square root.
    growth = slope_words(math.sqrt(max(prediction.chi1, 0.0)))
    apart = f"two nearby states drift apart by a factor {growth} every step"
    settled = f"the correlation settles at c = {trimmed(prediction.c)}"
    start = f"chaotic: {apart} (chi_1 = {slope_words(prediction.chi1)}), and {settled}"
    if prediction.timescale_kind == "finite":
        length = steps_words(prediction.timescale)
        return f"{start}; a difference of inputs is forgotten over a timescale of {length}"
    return start


def _advised(prediction: Prediction, wanted: TimescaleTarget) -> str:
    needed, given = needed_words(wanted), given_words(prediction)
    if suffices(prediction, wanted):
        return f"{needed}, these weights already {given}: nothing to change"
    what = "the bias mean" if wanted.parameter == "bias_mean" else setting_name(wanted.parameter)
    found = advice(wanted)
    return f"{needed}, these weights {given}, set {what} to {found.value} ({found.region})"


def setting_name(name: str) -> str:
    """A setting in words; symbols such as sigma_w stay.

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


def settings_table(settings: dict[str, float]) -> TextTable:
    """Every setting with its value and its meaning."""
    rows = tuple((setting_name(name), trimmed(value, 5), _SETTINGS.get(name, "")) for name, value in settings.items())
    return TextTable("Settings", ("setting", "value", "what it means"), rows, stacked=True)


def network_words(prediction: Prediction) -> str:
    """The cell and its most important setting, or the one to change: `minimal-rnn, bias mean 6`."""
    usual = "sigma_w" if prediction.cell == "rnn" else "bias_mean"
    name = prediction.wanted.parameter if prediction.wanted is not None else usual
    if name not in prediction.settings:
        return prediction.cell
    return f"{prediction.cell}, {settings_words({name: prediction.settings[name]})}"


def steps_words(amount: float | None) -> str:
    """A number of steps; an integer is shown in full.

    >>> steps_words(138.9), steps_words(9.748), steps_words(1.0), steps_words(1_024), steps_words(None)
    ('139 steps', '9.75 steps', '1 step', '1,024 steps', 'unknown')
    """
    if amount is None or math.isnan(amount):
        return UNKNOWN
    value = f"{amount:,}" if isinstance(amount, int) else trimmed(amount)
    return f"{value} step" if value == "1" else f"{value} steps"


def half_life(timescale: float) -> str:
    """Steps in which a quantity that falls by the factor e in `timescale` steps is halved.

    >>> half_life(138.9), half_life(9.748), half_life(833.0)
    ('96 steps', '6.8 steps', '577 steps')
    """
    steps = math.log(2) * timescale
    return steps_words(float(f"{steps:.1e}") if steps < 100 else steps)


def slope_words(slope: float) -> str:
    """A factor per step, with enough digits to distinguish it from 1.

    >>> slope_words(0.99283), slope_words(1.1213), slope_words(1.0042), slope_words(0.999963), slope_words(1.0)
    ('0.993', '1.12', '1.004', '0.99996', '1')
    """
    if slope == 1 or not 0.9 < slope < 1.1:
        return trimmed(slope)
    decimals = min(9, max(3, -math.floor(math.log10(abs(slope - 1)))))
    return f"{slope:.{decimals}f}".rstrip("0").rstrip(".")


def timescale_words(prediction: Prediction) -> str:
    """The timescale as a table shows it."""
    if prediction.timescale_kind == "infinite":
        return "infinite: signals neither fade nor grow"
    if prediction.timescale is None or math.isnan(prediction.timescale):
        return f"none: chi = {slope_words(prediction.chi)} is not above 0"
    return f"{steps_words(prediction.timescale)} (half-life {half_life(prediction.timescale)})"


def phase_words(prediction: Prediction) -> str:
    """The side of the edge of chaos, and chi_1, which determines it."""
    side = _SIDES.get(prediction.phase, prediction.phase)
    near = ", within 0.005 of 1" if prediction.phase == "critical" else ""
    return f"{side} (chi_1 = {slope_words(prediction.chi1)}{near})"


def needed_words(wanted: TimescaleTarget) -> str:
    """The target timescale and its origin: `your data needs at least 340 steps (novel.txt)`."""
    if wanted.source == "--timescale":
        chosen = round(wanted.timescale) if float(wanted.timescale).is_integer() else wanted.timescale
        return f"you want {steps_words(chosen)}"
    name, comma, bound = wanted.source.rpartition(", ")
    if comma and bound == "at least":
        return f"your data needs at least {steps_words(wanted.timescale)} ({name})"
    return f"your data needs {steps_words(wanted.timescale)} ({wanted.source})"


def given_words(prediction: Prediction) -> str:
    """The present timescale, to follow the word `weights`."""
    if prediction.phase == "chaotic":
        return f"are chaotic (chi_1 = {slope_words(prediction.chi1)})"
    if prediction.timescale_kind == "infinite":
        return "let nothing fade"
    if prediction.timescale is None or math.isnan(prediction.timescale):
        return "give no timescale"
    return f"give {trimmed(prediction.timescale)}"


def suffices(prediction: Prediction, wanted: TimescaleTarget) -> bool:
    """Whether the network lasts long enough as it is; a chaotic one does not, however slowly it forgets."""
    if prediction.phase == "chaotic":
        return False
    return prediction.timescale_kind == "infinite" or (prediction.timescale or 0.0) >= wanted.timescale


@final
@dataclass(frozen=True)
class Advice:
    """`value` to set and its good region in words, both rounded towards the inside of the region."""

    value: str
    region: str


def advice(wanted: TimescaleTarget) -> Advice:
    """What to set, rounded so that the printed value still lies in the good region.

    >>> broad = TimescaleTarget(340.0, "bias_mean", 7.0934, 340.0, 7.0934, None, (-10.0, 20.0), "novel.txt")
    >>> advice(broad)
    Advice(value='7.1', region='every value above it will do')
    >>> narrow = TimescaleTarget(20.0, "sigma_w", 0.98, 24.0, 0.97, 0.99, (0.0, 20.0), "--timescale")
    >>> advice(narrow)
    Advice(value='0.98', region='good from 0.97 to 0.99')
    """
    if wanted.low is not None and wanted.high is not None and wanted.high <= wanted.low:
        return Advice(trimmed(wanted.value, 6), "no other value will do")
    decimals = _decimals(wanted)
    low = None if wanted.low is None else _rounded(wanted.low, decimals, up=True)
    high = None if wanted.high is None else _rounded(wanted.high, decimals, up=False)
    value = round(wanted.value, decimals)
    value = value if low is None else max(value, low)
    value = value if high is None else min(value, high)
    return Advice(_text(value, decimals), _region(value, low, high, decimals, wanted))


def _region(value: float, low: float | None, high: float | None, decimals: int, wanted: TimescaleTarget) -> str:
    if low is not None and high is not None:
        return f"good from {_text(low, decimals)} to {_text(high, decimals)}"
    if low is not None:
        return "every value above it will do" if low == value else f"good from {_text(low, decimals)} on"
    if high is not None:
        return "every value below it will do" if high == value else f"good up to {_text(high, decimals)}"
    return f"every value from {trimmed(wanted.searched[0])} to {trimmed(wanted.searched[1])} will do"


def _decimals(wanted: TimescaleTarget) -> int:
    """Decimals that resolve half the region's width, or two digits of the value if the region is unbounded."""
    if wanted.low is not None and wanted.high is not None:
        width = (wanted.high - wanted.low) / 2
        return min(9, max(1, -math.floor(math.log10(width) + 1e-9)))
    size = abs(wanted.value)
    return 2 if size == 0 else min(9, max(2, 1 - math.floor(math.log10(size))))


def _rounded(value: float, decimals: int, *, up: bool) -> float:
    # The tolerance of 1e-6 leaves a value unchanged that is already round.
    scaled = value * 10**decimals
    whole = math.ceil(scaled - 1e-6) if up else math.floor(scaled + 1e-6)
    return round(whole / 10**decimals, decimals)


def _text(value: float, decimals: int) -> str:
    text = f"{value + 0.0:,.{decimals}f}"  # adding zero removes the sign of a negative zero
    return text.rstrip("0").rstrip(".") if "." in text else text


def reached_words(wanted: TimescaleTarget) -> str:
    """The timescale at the value to set.

    >>> reached_words(TimescaleTarget(340.0, "bias_mean", 40.0, None, 7.0934, None, (-10.0, 40.0), "novel.txt"))
    'an infinite timescale'
    """
    return "an infinite timescale" if wanted.reached is None else steps_words(wanted.reached)
