"""One column of numbers out of a CSV or TSV file."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from memspan.errors import InputError
from memspan.sequences.request import Request
from memspan.sequences.streams import Input, one_line
from memspan.sequences.text import decoded

Row = tuple[int, list[str]]
"""The number of a row, counted from 1 with the header, and its cells."""
MOSTLY = 0.8
"""A column of which so many cells are numbers is meant to be one of numbers."""


@final
@dataclass(frozen=True)
class Column:
    """The values of a column, each with the number of its row."""

    name: str | int
    values: array[float]
    rows: array[int]


def read_column(request: Request, item: Input, column: str | int | None) -> Column:
    """The column of that name or number (from 0); without one, the first in which every cell is a number."""
    rows = _rows(request, item)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{item.name} is empty (0 symbols); expected a table with a column of numbers")
    header = None if any(_is_number(cell) for cell in first[1]) else first[1]
    if column is not None:
        index = _index(header, len(first[1]), column, item.name)
        return _one_column(_from(first, header, rows), index, _label(header, index), item.name)
    return _first_numeric(_from(first, header, rows), header, len(first[1]), item.name)


def _rows(request: Request, item: Input) -> Iterator[Row]:
    lines = _text_lines(decoded(request, item))
    first = next(lines, "")
    # Everything but a .tsv file shows its separator by how often it comes in the first line.
    separator = "\t" if item.ending == ".tsv" else max(",;\t", key=first.count)
    reader = csv.reader(_chained(first, lines), delimiter=separator)
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


def _chained(first: str, lines: Iterator[str]) -> Iterator[str]:
    # A byte order mark is no part of the first column's name.
    yield first.removeprefix("\ufeff")
    yield from lines


def _from(first: Row, header: list[str] | None, rows: Iterator[Row]) -> Iterator[Row]:
    if header is None:
        yield first
    yield from rows


def _one_column(rows: Iterator[Row], index: int, label: str | int, name: str) -> Column:
    column = Column(label, array("d"), array("q"))
    for row, cells in rows:
        cell = cells[index] if index < len(cells) else ""
        try:
            column.values.append(float(cell))
        except ValueError as error:
            raise InputError(
                f"{name}, row {row}: {cell!r} in column {label} is not a number; "
                "correct or remove the row, or choose another column with --column"
            ) from error
        column.rows.append(row)
    return column


def _first_numeric(rows: Iterator[Row], header: list[str] | None, width: int, name: str) -> Column:
    """The first column that is meant to be numbers: most of its cells are. A cell that is not is told, not passed over."""
    candidates = [Column(index, array("d"), array("q")) for index in range(width)]
    bad: dict[int, list[tuple[int, str]]] = {index: [] for index in range(width)}
    for row, cells in rows:
        for index, column in enumerate(candidates):
            cell = cells[index] if index < len(cells) else ""
            try:
                column.values.append(float(cell))
                column.rows.append(row)
            except ValueError:
                bad[index].append((row, cell))
    if not any(len(column.values) + len(bad[index]) for index, column in enumerate(candidates)):
        return candidates[0]  # no rows: told by whoever needs symbols
    for index, column in enumerate(candidates):
        if len(column.values) > MOSTLY * (len(column.values) + len(bad[index])):
            if bad[index]:
                row, cell = bad[index][0]
                raise InputError(
                    f"{name}, row {row}: {cell!r} in column {_label(header, index)} is not a number; "
                    "correct or remove the row, or choose another column with --column"
                )
            return Column(_label(header, index), column.values, column.rows)
    raise InputError(
        f"no column of {name} holds numbers; {_columns(header, width)}; choose one with --column"
    )


def _index(header: list[str] | None, width: int, column: str | int, name: str) -> int:
    if header is not None and column in header:
        return header.index(str(column))
    if str(column).isdecimal() and int(column) < width:
        return int(column)
    raise InputError(f"{name} has no column {column!r}; {_columns(header, width)}; choose one with --column")


def _label(header: list[str] | None, index: int) -> str | int:
    return index if header is None or index >= len(header) or not header[index] else header[index]


def _columns(header: list[str] | None, width: int) -> str:
    if header is None:
        return f"its columns have no names and the numbers 0 to {width - 1}"
    return f"its columns are {', '.join(header)} (0 to {width - 1})"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
