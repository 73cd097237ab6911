"""A column of numbers in a CSV or TSV file, transformed and binned by quantiles."""

from __future__ import annotations

import csv
import itertools
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.encoding import TableEncoder
from memspan.sequences.readers.inputs import Input, Request, one_line
from memspan.sequences.readers.text import decoded
from memspan.sequences.sequence import Sequence

Values = NDArray[np.float64]
Row = tuple[int, list[str]]
"""The number of a row, counted from 1 with the header, and its cells."""

# A column counts as numeric if more than this share of its non-missing cells are numbers.
NUMERIC_SHARE = 0.8
# Cells without a value, in lower case.
MISSING_CELLS = ("", "-", ".", "?", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing")
# Names of columns that hold a position or a time; never chosen by default.
INDEX_NAMES = ("index", "id", "row", "date", "datetime", "time", "timestamp", "year", "month", "day")


def read_numbers(request: Request) -> Sequence:
    """Symbol k is the k-th of `--levels` quantile bins over all documents.

    A file is a document; with `--missing break`, missing values also end documents.
    """
    columns: list[Column] = []
    for item in request.inputs:
        # The column chosen in the first file is used in all of them.
        chosen = columns[0].name if columns else request.column
        columns.append(_read_column(request, item, chosen))
    documents = [
        document
        for column, item in zip(columns, request.inputs, strict=True)
        for document in _transformed(column, request.transform, item.name, request.missing)
    ]
    edges = _edges(np.concatenate([*documents, np.zeros(0)]), request.levels)
    encoder, builder = TableEncoder(max(request.levels, 1)), request.builder()
    for values in documents:
        builder.append(encoder.codes(np.searchsorted(edges, values)))
        builder.end_document()
    notes = (
        _column_note(columns[0], request),
        _bins_note(edges, request, len(encoder.values)),
        *_missing_note(columns, request),
    )
    sequence = builder.finish([*encoder.values], symbols="numbers", names=request.names, notes=notes)
    return replace(sequence, column=str(columns[0].name))


def _transformed(column: Column, transform: str, name: str, missing: str) -> list[Values]:
    """Documents of x, x_t - x_{t-1}, ln(x_t / x_{t-1}) or its magnitude.

    Without missing values there is one document. `drop` joins the values around a missing one, `break` separates them.
    """
    values = column.numbers

    def refuse(bad: NDArray[Any], problem: str, advice: str) -> None:
        if bad.any():
            index = int(np.argmax(bad))
            raise InputError(
                f"{name}, row {column.rows[index]}: {values[index]} in column {column.name} {problem}; {advice}"
            )

    if missing == "error":
        refuse(np.isnan(values), "is not finite", "remove or correct it, or use --missing drop or break")
    refuse(np.isinf(values), "is not finite", "remove or correct it")
    if transform.endswith("log-return"):
        refuse(values <= 0, f"is not positive, so it has no {transform}", "use --transform difference")
    known = ~np.isnan(values)
    if missing == "break":
        # A new stretch begins at every known value that follows a missing one.
        starts = np.flatnonzero(known & ~np.concatenate([[False], known[:-1]]))
        stretches = np.split(values[known], np.cumsum(known)[starts][1:] - 1)
    else:
        stretches = [values[known]]
    return [_changes(stretch, transform) for stretch in stretches]


def _changes(values: Values, transform: str) -> Values:
    if transform == "none":
        return values
    if transform == "difference":
        return np.diff(values)
    returns = np.diff(np.log(values))
    return np.abs(returns) if transform == "abs-log-return" else returns


def _edges(values: Values, levels: int) -> Values:
    """The inner bin edges: the distinct quantiles 1/K, …, (K-1)/K."""
    if len(values) == 0:
        return values
    # Tied values make quantiles equal; equal edges would give empty bins.
    return np.unique(np.quantile(values, np.arange(1, levels) / levels))


def _column_note(column: Column, request: Request) -> str:
    """The column that was read and, if it was chosen by default, the alternatives."""
    if request.column is not None:
        return f"column {column.name}"
    shown = ", ".join(map(str, column.others[:8])) + (", …" if len(column.others) > 8 else "")
    which = (
        f"first of {len(column.others) + 1} columns of numbers (others: {shown})" if shown else "only column of numbers"
    )
    left_out = f"; left out: {', '.join(column.left_out)}" if column.left_out else ""
    return f"column {column.name}, the {which}{left_out}; choose another with --column"


def _bins_note(edges: Values, request: Request, bins: int) -> str:
    of = "" if request.transform == "none" else f" of the {request.transform}"
    shown = ", ".join(f"up to {edge:.4g}" for edge in edges[:8]) + (", …" if len(edges) > 8 else "")
    fewer = f" ({request.levels} requested; many values are equal)" if bins < request.levels else ""
    return f"{bins} quantile bins{of}{fewer}: {shown}, above"


def _missing_note(columns: list[Column], request: Request) -> tuple[str, ...]:
    number = sum(int(np.isnan(column.numbers).sum()) for column in columns)
    if not number:
        return ()
    values = "1 missing value" if number == 1 else f"{number:,} missing values"
    if request.missing == "drop":
        return (f"{values} dropped: values before and after are treated as neighbors",)
    return (f"{values}: each ends a document",)


@final
@dataclass(frozen=True)
class Column:
    """The values of a column with their row numbers. Missing values are NaN."""

    name: str | int
    values: array[float]
    rows: array[int]
    others: tuple[str | int, ...] = ()
    """Other columns that could have been chosen by default."""
    left_out: tuple[str, ...] = ()
    """Numeric columns that are never chosen by default, with the reason."""

    @property
    def numbers(self) -> Values:
        """The values as an array."""
        return np.frombuffer(self.values, np.float64)


def _read_column(request: Request, item: Input, column: str | int | None) -> Column:
    """The column of that name or index; if None, the first numeric one that is not an index and not constant."""
    rows = _rows(request, item)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{item.name} is empty (0 symbols); expected a table with a column of numbers")
    has_header = not any(_is_number(cell) for cell in first[1])
    table = _NumberTable(item.name, first[1] if has_header else None, len(first[1]), request.missing)
    rows = rows if has_header else itertools.chain([first], rows)
    return table.default_column(rows) if column is None else table.column(rows, column)


def _rows(request: Request, item: Input) -> Iterator[Row]:
    lines = _text_lines(decoded(request, item))
    # A byte order mark is not part of the first column's name.
    first = next(lines, "").removeprefix("\ufeff")
    # The separator of other files than .tsv is the one that is most frequent in the first line.
    separator = "\t" if item.extension == ".tsv" else max(",;\t", key=first.count)
    reader = csv.reader(itertools.chain([first], lines), delimiter=separator)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"{item.name}, row {reader.line_num}: {one_line(error)}; "
            f"expected a table of cells separated by {separator!r}"
        ) from error


def _text_lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for text in pieces:
        *lines, rest = (rest + text).split("\n")
        yield from lines
    if rest:
        yield rest


@final
@dataclass(frozen=True)
class _NumberTable:
    """The header of a table and the policy for its missing values."""

    name: str
    header: list[str] | None
    width: int
    missing: str

    def column(self, rows: Iterator[Row], column: str | int) -> Column:
        """The column of that name or index."""
        index = self._index(column)
        found = self._empty(index)
        for row, cells in rows:
            cell = cells[index] if index < len(cells) else ""
            value = self._value(cell)
            if value is None:
                raise self._not_a_number(row, cell, found.name)
            found.values.append(value)
            found.rows.append(row)
        return found

    def default_column(self, rows: Iterator[Row]) -> Column:
        """The first numeric column that is neither an index nor constant.

        A non-numeric cell in that column is an error; it does not make another column the default.
        """
        columns = [self._empty(index) for index in range(self.width)]
        bad: list[list[tuple[int, str]]] = [[] for _ in columns]
        for row, cells in rows:
            for index, column in enumerate(columns):
                cell = cells[index] if index < len(cells) else ""
                value = self._value(cell)
                if value is None:
                    bad[index].append((row, cell))
                else:
                    column.values.append(value)
                    column.rows.append(row)
        if not any(len(column.values) + len(bad[index]) for index, column in enumerate(columns)):
            return columns[0]  # a table without rows is refused as an empty sequence
        numeric = [index for index, column in enumerate(columns) if _is_numeric(column, len(bad[index]))]
        if not numeric:
            raise InputError(f"no column of {self.name} holds numbers; {self._columns()}; choose one with --column")
        reasons = {index: _exclusion(columns[index]) for index in numeric}
        eligible = [index for index in numeric if not reasons[index]]
        left_out = tuple(f"{columns[index].name} ({reason})" for index, reason in reasons.items() if reason)
        if not eligible:
            raise InputError(
                f"no column of {self.name} is chosen by default, left out: {', '.join(left_out)}; name one with --column"
            )
        first = eligible[0]
        if bad[first]:
            raise self._not_a_number(*bad[first][0], columns[first].name)
        others = tuple(columns[index].name for index in eligible[1:])
        return replace(columns[first], others=others, left_out=left_out)

    def _empty(self, index: int) -> Column:
        named = self.header is not None and index < len(self.header) and self.header[index]
        return Column(named or index, array("d"), array("q"))

    def _index(self, column: str | int) -> int:
        if self.header is not None and column in self.header:
            return self.header.index(str(column))
        if str(column).isdecimal() and int(column) < self.width:
            return int(column)
        raise InputError(f"{self.name} has no column {column!r}; {self._columns()}; choose one with --column")

    def _columns(self) -> str:
        if self.header is None:
            return f"its columns have no names and the numbers 0 to {self.width - 1}"
        return f"its columns are {', '.join(self.header)} (0 to {self.width - 1})"

    def _value(self, cell: str) -> float | None:
        """The number in a cell, NaN if it is missing and may be, otherwise None."""
        try:
            return float(cell)
        except ValueError:
            return float("nan") if self.missing != "error" and _is_missing(cell) else None

    def _not_a_number(self, row: int, cell: str, label: str | int) -> InputError:
        missing = " use --missing drop or --missing break," if _is_missing(cell) else ""
        return InputError(
            f"{self.name}, row {row}: {cell!r} in column {label} is not a number; "
            f"correct or remove the row,{missing} or choose another column with --column"
        )


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING_CELLS


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_numeric(column: Column, bad: int) -> bool:
    known = int(np.count_nonzero(~np.isnan(column.numbers)))
    return known > NUMERIC_SHARE * (known + bad)


def _exclusion(column: Column) -> str:
    """Why a numeric column is not chosen by default; empty if it may be.

    Values that only increase or only decrease are taken as an index or a time.
    """
    if str(column.name).strip().lower() in INDEX_NAMES:
        return "index or time by its name"
    known = column.numbers[~np.isnan(column.numbers)]
    changes = np.diff(known)
    if len(changes) >= 1 and not changes.any():
        return "constant"
    if len(changes) >= 2 and (np.all(changes > 0) or np.all(changes < 0)):
        return "index or time: always increasing" if changes[0] > 0 else "index or time: always decreasing"
    return ""
