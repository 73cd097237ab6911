"""The section of `bench`: speed and memory next to peers, measured in one run."""

from __future__ import annotations

from memspan.report.calibration_rows import (
    CALIBRATION_HEADER,
    CALIBRATION_LEGEND,
    ERROR_LEGEND,
    calibration_row,
    error_table,
)
from memspan.report.illustration import illustrations
from memspan.report.numbers import duration, number
from memspan.report.section import MEANING, Row, Section, Table
from memspan.report.sentences import sentence
from memspan.results import Benchmark, BenchReport


def section(result: BenchReport) -> Section:
    """All benchmarks of one run, or one calibration."""
    if result.calibration or result.estimates:
        return _calibration_section(result)
    return Section(
        title="Speed and memory next to peers",
        answer=sentence(result),
        explanation=(
            "Each benchmark does the same job with memspan and with what a user would pick instead, one "
            "after the other on the same machine. Only the ratio carries over to other machines.",
        ),
        table=Table("Where it ran", MEANING, _rows(result), stacked=True),
        figures=illustrations(
            result, {"ratios": "Bars to the right of 1: memspan needs that many times less."}
        ),
        details=(_benchmarks(result),),
    )


_HEADER = ("benchmark", "peer", "memspan", "peer's", "unit", "ratio (above 1: memspan is better)")


def _benchmark(benchmark: Benchmark) -> Row:
    numbers = (number(benchmark.ours), number(benchmark.theirs), benchmark.unit, number(benchmark.ratio, 2))
    return (benchmark.name, benchmark.peer, *numbers)


def _benchmarks(result: BenchReport) -> Table:
    return Table("Benchmarks", _HEADER, tuple(_benchmark(b) for b in result.benchmarks))


def _calibration_section(result: BenchReport) -> Section:
    rows = tuple(calibration_row(one) for one in result.calibration)
    header, errors = error_table(result.estimates)
    tables = (
        Table("Calibration", CALIBRATION_HEADER, rows),
        Table("Errors of estimators", header, tuple(errors)),
        _benchmarks(result),
    )
    return Section(
        title="Calibration on sources of known information",
        answer=sentence(result),
        explanation=(
            "Each source is sampled several times and measured as any other data. Its information is known exactly at "
            "every lag, so false alarms and misses can be counted.",
            CALIBRATION_LEGEND,
            ERROR_LEGEND,
        ),
        table=Table("Where it ran", MEANING, _rows(result), stacked=True),
        figures=illustrations(
            result,
            {"ratios": "Bars to the right of 1: the largest error of memspan is that many times smaller."},
        ),
        details=tuple(table for table in tables if table.rows),
        notes=result.notes,
    )


def _rows(result: BenchReport) -> tuple[Row, ...]:
    return (
        ("machine", result.machine, "What all the times below belong to."),
        ("time", duration(result.seconds), "How long all benchmarks took together."),
    )
