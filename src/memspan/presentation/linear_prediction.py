"""The prediction of a linear network: exact mutual information of the sequences it generates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import final

from memspan.presentation.curve import MOST_ROWS
from memspan.presentation.numbers import BITS_PER_NAT, duration, number, round_positions
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.prediction import half_life, settings_table, settings_words, slope_words, steps_words
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.results import Chart, LinearPrediction


@final
class LinearPredictionPresenter(Presenter[LinearPrediction]):
    """One linear network."""

    result_type = LinearPrediction

    def page_title(self) -> str:
        return f"{self.result.cell}: how far back can it remember?"

    def title(self) -> str:
        return "The memory of a linear network"

    def sentence(self) -> str:
        settings = self.result.settings
        sizes = [f"{settings[name]:,.0f} {name}" for name in ("hidden", "visible") if name in settings]
        network = f"{self.result.cell}, {' and '.join(sizes)}" if sizes else self.result.cell
        return f"{network}: {self._memory()}"

    def _memory(self) -> str:
        result = self.result
        if not result.stationary:
            radius = slope_words(result.spectral_radius)
            return f"this network remembers only its initial condition (spectral radius {radius}); {self._transient()}"
        length, rate = result.correlation_length, slope_words(result.rate)
        if not length or math.isnan(length):
            return f"information ends after a few steps (rate {rate})"
        tail = f"correlation length {steps_words(length)}, rate {rate}"
        return f"information halves every {half_life(length)} in the tail ({tail})"

    def _transient(self) -> str:
        result = self.result
        if not result.lags.size or not math.isfinite(result.information[-1]):
            return "it has no stationary information"
        left = number(float(result.information[-1]) * self.scale)
        return f"started from h = 0, {left} {self.unit} are left after {steps_words(int(result.lags[-1]))}"

    def explanation(self) -> tuple[str, ...]:
        start = (
            "A linear network that generates its own inputs produces Gaussian sequences, so the mutual information of two "
            "of its outputs is known exactly: no data, no estimate."
        )
        tail = (
            "At large lags it falls exponentially, by the factor e in every correlation length. At smaller lags, where data "
            "can show it, it may fall faster or more slowly."
        )
        transient = (
            "A network whose spectral radius is 1 or more never becomes stationary: there is no stationary information, and "
            "the curve starts from h = 0."
        )
        return (start, tail if self.result.stationary else transient)

    def rows(self) -> tuple[Row, ...]:
        result, length = self.result, self.result.correlation_length
        return (
            (
                "correlation length",
                "none: the rate is 1 or more" if length is None else steps_words(length),
                "Steps in which the information falls to 37 % in the tail: -1 / (2 log rate).",
            ),
            (
                "rate",
                slope_words(result.rate),
                "Largest modulus among the modes that the noise excites and the output shows.",
            ),
            (
                "spectral radius",
                slope_words(result.spectral_radius),
                "Largest modulus of all modes; from 1 on the network never becomes stationary.",
            ),
            *self._information_rows(),
            ("time", duration(result.seconds), "Time of the prediction."),
        )

    def _information_rows(self) -> tuple[Row, ...]:
        result = self.result
        process = "the stationary process" if result.stationary else "the process started from h = 0"
        ends = sorted({0, result.lags.size - 1}) if result.lags.size else []
        return tuple(
            (
                f"information at lag {result.lags[i]:,}",
                f"{number(float(result.information[i]) * self.scale)} {self.unit}",
                f"Mutual information of two outputs at this lag, in {process}.",
            )
            for i in ends
        )

    def details(self) -> tuple[TextTable, ...]:
        shown = self.result.lags.size if self.result.lags.size <= MOST_ROWS else 0
        rows = tuple(
            (f"{self.result.lags[i]:,}", number(float(self.result.information[i]) * self.scale, 4))
            for i in range(shown)
        )
        table = TextTable(f"Values of the figure, in {self.unit}", ("lag", "information"), rows, folded=True)
        return (settings_table(self.result.settings), *((table,) if rows else ()))

    def drawings(self) -> Sequence[Chart]:
        return tuple(map(chart_in_bits, self.result.figures)) if self.bits else self.result.figures

    def blocks(self) -> Iterator[Block]:
        result, length = self.result, self.result.correlation_length
        yield facts(
            [
                ("correlation length", "none" if length is None else f"{steps_words(length)}, in the tail"),
                ("rate", f"{slope_words(result.rate)} (spectral radius {slope_words(result.spectral_radius)})"),
                ("process", "stationary" if result.stationary else "not stationary: started from h = 0"),
                ("settings", f"{settings_words(result.settings)}; {duration(result.seconds)}"),
            ]
        )
        rows = tuple(
            (f"{result.lags[i]:,}", number(float(result.information[i]) * self.scale))
            for i in round_positions(result.lags)
        )
        yield TextTable("", ("lag", f"information ({self.unit})"), rows)
        yield from note_lines(result.notes)


def chart_in_bits(chart: Chart) -> Chart:
    """A chart whose vertical axis is in nats, converted to bits; any other chart unchanged."""
    if "nats" not in chart.y_label:
        return chart
    lines = tuple(
        dataclasses.replace(line, y=line.y * BITS_PER_NAT, low=line.low * BITS_PER_NAT, high=line.high * BITS_PER_NAT)
        for line in chart.lines
    )
    return dataclasses.replace(chart, y_label=chart.y_label.replace("nats", "bits"), lines=lines)
