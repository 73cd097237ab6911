"""The short tables that follow the sentence. Cells are plain text: a file name may hold brackets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memspan.figures.words import (
    caution,
    law_name,
    law_sentence,
    law_words,
    period_words,
    range_words,
    reach_words,
    span_value,
    symbols_word,
)
from memspan.report.calibration_rows import (
    CALIBRATION_HEADER,
    CALIBRATION_LEGEND,
    ERROR_LEGEND,
    calibration_row,
    error_table,
)
from memspan.report.measured_rows import header_of, rows_of
from memspan.report.numbers import (
    duration,
    lag_list,
    number,
    probability,
    remark_in,
    share,
    trimmed,
    unit_of,
    with_error,
    with_interval,
)
from memspan.results import BenchReport, Claim, Comparison, Curve, Measurement, PairVerdict, Reproduction

if TYPE_CHECKING:
    from memspan.data import DataSet
    from memspan.reproductions import Recipe

SHOWN_LAGS = (1, 2, 3, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)


def show_measurement(console: Console, result: Measurement, *, bits: bool) -> None:
    """Span, reach and law, then the information at a few lags, then what a reader should know."""
    curve, symbols = result.curve, result.symbols
    documents = "1 document" if curve.documents == 1 else f"{curve.documents:,} documents"
    rows = [
        ("span", f"{span_value(curve, symbols)} ({caution(curve, symbols)})"),
        ("reach", reach_words(curve, symbols, bits=bits)),
        *_law_rows(result, bits),
        (
            "read as",
            f"{_read_as(result)}: {curve.length:,} in {documents}, {curve.alphabet:,} different",
        ),
        ("estimator", f"{curve.estimator}, floor from {curve.null}; {duration(result.seconds)}"),
    ]
    print_table(console, (), rows)
    print_table(console, *_lag_table(curve, bits=bits))
    show_notes(console, (remark_in(note, bits=bits) for note in (*curve.notes, *result.notes)))


def show_comparison(console: Console, result: Comparison, *, bits: bool) -> None:
    """The verdict of each pair, then each source."""
    pairs = [
        (
            f"{pair.a} and {pair.b}",
            pair.verdict,
            probability(pair.p_value),
            _where(pair),
            remark_in(pair.explanation, bits=bits),
        )
        for pair in result.pairs
    ]
    print_table(console, ("pair", "verdict", "p-value", "lags that differ", "why"), pairs)
    unit, scale = unit_of(bits)
    rows = [
        (
            name,
            span_value(source.curve, source.symbols),
            reach_words(source.curve, source.symbols, bits=bits),
            f"{number(scale * float(source.curve.corrected[0]))} {unit}",
            _read_as(source),
        )
        for name, source in result.sources.items()
    ]
    first = next(iter(result.sources.values())).curve.lags[0]
    print_table(console, ("source", "span", "reach", f"information at lag {first}", "read as"), rows)
    console.print(f"Spans are detection limits with {result.size:,} symbols of each source.", soft_wrap=True)


def show_reproduction(console: Console, result: Reproduction) -> None:
    """Tables next to those of the source, then every claim, whichever way it fell."""
    for table in result.tables:
        console.print(table.title, soft_wrap=True)
        print_table(console, header_of(table), rows_of(table))
        console.print(table.caption, soft_wrap=True)
    header = ("", "claim", "paper", "corrected", "measured", "tolerance")
    print_table(console, header, [_claim(claim) for claim in result.claims])
    console.print(f"{result.source}; {duration(result.seconds)}", soft_wrap=True)
    show_notes(console, result.notes)


def show_bench(console: Console, result: BenchReport) -> None:
    """Ours next to theirs, a ratio above 1 says that we are better; then what a calibration found."""
    print_table(console, CALIBRATION_HEADER, [calibration_row(one) for one in result.calibration])
    if result.calibration:
        console.print(CALIBRATION_LEGEND, soft_wrap=True)
    print_table(console, *error_table(result.estimates))
    if result.estimates:
        console.print(ERROR_LEGEND, soft_wrap=True)
    rows = [
        (b.name, b.peer, number(b.ours), number(b.theirs), b.unit, f"{number(b.ratio, 2)}x")
        for b in result.benchmarks
    ]
    print_table(console, ("benchmark", "peer", "memspan", "peer's", "unit", "ratio"), rows)
    console.print(f"{result.machine}; {duration(result.seconds)}", soft_wrap=True)
    show_notes(console, result.notes)


def show_recipes(console: Console, recipes: Sequence[Recipe]) -> None:
    """What can be reproduced, and how long it takes."""
    rows = [
        (recipe.id, recipe.title, recipe.source, "\n".join(f"{s}: {t}" for s, t in recipe.scales.items()))
        for recipe in recipes
    ]
    print_table(console, ("id", "what it is", "source", "time"), rows)


def show_data(console: Console, found: Sequence[tuple[DataSet, Path | None]]) -> None:
    """Each data set and its place."""
    rows = [(data_set.name, data_set.description, _place(data_set, path)) for data_set, path in found]
    print_table(console, ("name", "what it is", "where"), rows)


def _place(data_set: DataSet, path: Path | None) -> str:
    if path is not None:
        return str(path)
    if not data_set.addresses:
        return "not here, and without a public address"
    return f"not here ({trimmed(data_set.megabytes)} MB)" if data_set.megabytes else "not here"


def _read_as(result: Measurement) -> str:
    """What one symbol is, with the column of a table."""
    word = symbols_word(result.symbols)
    return word if result.column is None else f"{word} of column {result.column}"


def _law_rows(result: Measurement, bits: bool) -> list[tuple[str, str]]:
    if result.decay is None:
        if result.period is not None:
            return [("period", period_words(result.period, result.curve, bits=bits))]
        return [("law", "none: too few lags stand above the floor")]
    if not result.law_fits:
        return _local_rows(result, bits)
    laws, name = result.decay.laws, result.decay.best
    best = [("law", f"{law_words(name, laws[name])}; weight {share(laws[name].weight)}, a guide")]
    ordered = sorted(laws.items(), key=lambda item: -item[1].weight)
    others = [
        f"{law_name(other)} {share(fit.weight)}"
        for other, fit in ordered
        if other != name and fit.weight >= 0.01
    ]
    return best + ([("also", ", ".join(others))] if others else [])


def _local_rows(result: Measurement, bits: bool) -> list[tuple[str, str]]:
    """Why there is no law, and the local exponents by range of lags."""
    assert result.decay is not None
    if result.period is not None:
        return [("period", period_words(result.period, result.curve, bits=bits))]
    if result.decay.fits or not result.decay[result.decay.best].decays:
        reason = law_sentence(result)
    else:
        reason = "no simple law fits"
    exponents = (
        f"{with_interval(one.exponent, one.interval)} at lags {range_words(one)}"
        for one in result.decay.local_exponents
    )
    return [("law", reason), *(("local exponent", text) for text in exponents)]


def _lag_table(curve: Curve, *, bits: bool) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    unit, scale = unit_of(bits)
    shown = [int(np.flatnonzero(curve.lags == lag)[0]) for lag in SHOWN_LAGS if lag in curve.lags]
    last = len(curve.lags) - 1
    rows = [
        (
            f"{curve.lags[i]:,}",
            number(scale * float(curve.information[i])),
            number(scale * float(curve.floor[i])),
            with_error(scale * float(curve.corrected[i]), scale * float(curve.error[i])),
            "yes" if curve.significant[i] else "no",
        )
        for i in (shown if last in shown else [*shown, last])
    ]
    return (
        "lag",
        f"information ({unit})",
        f"floor ({unit})",
        f"corrected ± error ({unit})",
        "significant",
    ), rows


def _where(pair: PairVerdict) -> str:
    return lag_list(pair.different_lags, tuple(pair.lags.tolist()))


def _claim(claim: Claim) -> tuple[str, ...]:
    values = (claim.paper, claim.corrected, claim.measured)
    numbers = ("" if value is None else trimmed(value, 4) for value in values)
    tolerance = "" if claim.tolerance is None else f"± {number(claim.tolerance, 2)}"
    return ("holds" if claim.holds else "does not hold", claim.claim, *numbers, tolerance)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """What a reader should know before trusting the numbers, each remark once."""
    for note in dict.fromkeys(notes):
        console.print(f"note: {note}", soft_wrap=True)


def print_table(console: Console, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table without a frame; without a header it is a list of names and values."""
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD if header else None, show_header=bool(header), pad_edge=False)
    for name in header or rows[0]:
        table.add_column(Text(name if header else ""))
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
