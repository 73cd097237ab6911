"""Benchmarks and calibrations: speed and memory next to peers, estimates next to exact answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.presentation.curve import short
from memspan.presentation.numbers import count, duration, number, share
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.presenter import Block, Presenter, note_lines
from memspan.results import BenchReport, PeerEstimate, SourceCalibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

CALIBRATION_HEADER = (*("source", "N", "p<.05", ".001", "far", "±2se", "near", "width", "reach", "span", "under"),)
_CALIBRATION_LEGEND = (
    "N: symbols of a sample. Shares in %. p<.05, .001: far lags (exact I below 1e-8 nats) called significant. "
    "far: mean |corrected| there in floor_sd; 0.8 if the noise is normal. ±2se: lags with the truth within 2 errors, "
    "expected 95; near: the same where exact I is above 0.001. width: factor by which errors are too wide. reach: intervals "
    "that contain the true reach. span: intervals that contain the span of another sample. under: lags flagged "
    "undersampled. -: no such lags or intervals."
)
_ERROR_LEGEND = "Absolute errors in nats, all estimators on the same sample of each source."


@final
class BenchmarkPresenter(Presenter[BenchReport]):
    """All benchmarks of one run, or one calibration."""

    result_type = BenchReport
    table_caption = "Machine"

    @property
    def _calibrates(self) -> bool:
        return bool(self.result.calibration or self.result.estimates)

    def page_title(self) -> str:
        return "memspan next to its peers"

    def title(self) -> str:
        return "Calibration on sources of known information" if self._calibrates else "Speed and memory next to peers"

    def sentence(self) -> str:
        benchmarks = self.result.benchmarks
        if self.result.calibration:
            return _calibration_sentence(self.result)
        if not benchmarks:
            return "no benchmarks were run"
        better = [benchmark for benchmark in benchmarks if benchmark.ratio > 1]
        found = f"memspan is better than its peer in {len(better)} of {len(benchmarks)} benchmarks"
        if not better:
            return found
        best = max(better, key=lambda benchmark: benchmark.ratio)
        return f"{found}, most in {best.name}: {number(best.ratio, 2)} times {best.peer}"

    def explanation(self) -> tuple[str, ...]:
        if self._calibrates:
            return (
                "Each source is sampled several times and measured like any other data. Its information is known exactly at "
                "every lag, so false alarms and misses can be counted.",
                _CALIBRATION_LEGEND,
                _ERROR_LEGEND,
            )
        return (
            "Each benchmark does the same job with memspan and with what a user would use instead, one after the other on "
            "the same machine. Only the ratio carries over to other machines.",
        )

    def rows(self) -> tuple[Row, ...]:
        return (
            ("machine", self.result.machine, "All times below are from this machine."),
            ("time", duration(self.result.seconds), "Total time of the benchmarks."),
        )

    def details(self) -> tuple[TextTable, ...]:
        rows = tuple(calibration_row(one) for one in self.result.calibration)
        tables = (
            TextTable("Calibration", CALIBRATION_HEADER, rows),
            self._error_table(),
            self._benchmark_table("ratio (above 1: memspan is better)", ""),
        )
        return tuple(table for table in tables if table.rows)

    def _error_table(self) -> TextTable:
        header, rows = error_table(self.result.estimates)
        return TextTable("Errors of estimators", header, tuple(rows))

    def _benchmark_table(self, ratio: str, suffix: str) -> TextTable:
        rows = tuple(
            (one.name, one.peer, number(one.ours), number(one.theirs), one.unit, f"{number(one.ratio, 2)}{suffix}")
            for one in self.result.benchmarks
        )
        return TextTable("Benchmarks", ("benchmark", "peer", "memspan", "peer's", "unit", ratio), rows)

    def draw(self, ax: Axes) -> None:
        """Horizontal bars from 1 on a logarithmic axis, each with its ratio; failed benchmarks have no bar."""
        from memspan.presentation.draw.axes import plain_ticks
        from memspan.presentation.draw.style import BLUE, INK, ORANGE, label_size, literal

        benchmarks = self.result.benchmarks
        ratios = np.array([one.ratio if one.ratio > 0 else np.nan for one in benchmarks])
        places = np.arange(ratios.size)[::-1]
        ax.set_xscale("log")
        ax.barh(places, ratios - 1, left=1, height=0.6, color=[BLUE if r >= 1 else ORANGE for r in ratios])
        ax.axvline(1, color=INK, linewidth=1)
        _label_ratios(ax, places, ratios, label_size())
        names = [literal(f"{short(one.name, 36)}\nnext to {short(one.peer, 36)}") for one in benchmarks]
        ax.set_yticks(places, names, fontsize=label_size())
        ax.grid(visible=False, axis="y")
        _set_limits(ax, ratios[np.isfinite(ratios)])
        plain_ticks(ax)
        ax.set_xlabel("ratio (above 1: memspan is better)")
        ax.set_title(literal(f"memspan next to its peers, in one run ({short(self.result.machine, 60)})"))

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.style import new_figure

        if self.result.calibration and not self.result.benchmarks:
            return {}  # a calibration of chosen sources has no peers
        figure = new_figure(8.0, 1.5 + 0.42 * max(1, len(self.result.benchmarks)))
        self.draw(figure.subplots())
        return {"ratios": figure}

    def panels(self) -> Mapping[str, Notebook]:
        return {"ratios": self.result}

    def paper_height(self) -> float:
        return max(super().paper_height(), 0.7 + 0.3 * len(self.result.benchmarks))  # two lines of text per bar

    def captions(self) -> dict[str, str]:
        what = "the largest error of memspan is smaller" if self._calibrates else "memspan needs less"
        return {"ratios": f"Bars to the right of 1: {what} by this factor."}

    def blocks(self) -> Iterator[Block]:
        rows = tuple(calibration_row(one) for one in self.result.calibration)
        if rows:
            yield TextTable("", CALIBRATION_HEADER, rows)
            yield _CALIBRATION_LEGEND
        if self.result.estimates:
            yield self._error_table()
            yield _ERROR_LEGEND
        yield self._benchmark_table("ratio", "x")
        yield f"{self.result.machine}; {duration(self.result.seconds)}"
        yield from note_lines(self.result.notes)


def _calibration_sentence(report: BenchReport) -> str:
    """False alarms and coverage, every lag of every source counted once."""
    rows = report.calibration
    found = f"{len(rows)} {'source' if len(rows) == 1 else 'sources'} calibrated"
    far = [row for row in rows if row.far_lags]
    if far:
        n = sum(row.seeds * row.far_lags for row in far)
        at_05 = sum(row.seeds * row.far_lags * row.false_alarms_05 for row in far) / n
        at_001 = sum(row.seeds * row.far_lags * row.false_alarms_001 for row in far) / n
        found += f"; {share(at_05)} of far lags at p < 0.05, {share(at_001)} at p < 0.001"
    lags = sum(row.seeds * row.lags for row in rows)
    covered = sum(row.seeds * row.lags * row.coverage for row in rows) / lags
    return f"{found}; truth within 2 errors at {share(covered)} of lags"


def calibration_row(one: SourceCalibration) -> Row:
    """One source, in the order of `CALIBRATION_HEADER`."""
    return (
        one.name,
        count(one.length),
        _percent(one.false_alarms_05),
        _percent(one.false_alarms_001),
        _plain(one.far_deviation),
        _percent(one.coverage),
        _percent(one.coverage_above),
        _plain(one.width),
        _percent(one.reach_coverage),
        _percent(one.span_coverage),
        _percent(one.undersampled),
    )


def error_table(estimates: Sequence[PeerEstimate]) -> tuple[Row, list[Row]]:
    """A header and one row per estimator: its absolute error at every lag of every case."""
    cases = tuple(dict.fromkeys(one.case for one in estimates))
    lags = sorted({one.lag for one in estimates})
    errors = {(one.estimator, one.case, one.lag): one.error for one in estimates}
    rows = [
        (name, *(" ".join(_nats(errors.get((name, case, lag), math.nan)) for lag in lags) for case in cases))
        for name in dict.fromkeys(one.estimator for one in estimates)
    ]
    return (f"error at lags {', '.join(f'{lag:,}' for lag in lags)}", *cases), rows


def _percent(share: float) -> str:
    """
    >>> _percent(0.0512), _percent(0.0), _percent(1.0), _percent(math.nan)
    ('5.1', '0', '100', '-')
    """
    if math.isnan(share):
        return "-"
    return f"{100 * share:.1f}" if 0.0 < share < 0.0995 else f"{100 * share:.0f}"


def _plain(value: float) -> str:
    return "-" if math.isnan(value) else number(value, 2)


def _nats(error: float) -> str:
    """
    >>> _nats(0.01234), _nats(10.2), _nats(math.nan)
    ('0.012', '10.2', '-')
    """
    return "-" if math.isnan(error) else f"{error:.3f}" if error < 1.0 else f"{error:.1f}"


def _label_ratios(ax: Axes, places: NDArray[np.int64], ratios: NDArray[np.float64], size: float) -> None:
    for place, ratio in zip(places, ratios, strict=True):
        better = not ratio < 1
        ax.annotate(
            f"{number(ratio, 2)} times" if np.isfinite(ratio) else "no ratio",
            (ratio if np.isfinite(ratio) else 1, place),
            xytext=(4 if better else -4, 0),
            textcoords="offset points",
            ha="left" if better else "right",
            va="center",
            fontsize=size,
        )


def _set_limits(ax: Axes, ratios: NDArray[np.float64]) -> None:
    """Limits with space for the labels of the longest bars."""
    low, high = min(1.0, *ratios, 1.0), max(1.5, *ratios, 1.5)
    inches = ax.get_window_extent().width / ax.figure.dpi
    margin = (high / low) ** (0.22 if inches > 4 else 0.22 * 7 / inches)
    ax.set_xlim(low / margin if low < 1 else low / margin**0.2, high * margin)
