"""Numbers become symbols: a column of a table, its changes, and which quantile each of them falls into."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.coding import Lookup
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.tables import Column, read_column

TRANSFORMS = ("none", "difference", "log-return", "abs-log-return")

Values = NDArray[np.float64]


def read_numbers(request: Request) -> Sequence:
    """Symbol k is the k-th of `--levels` quantile bins over all documents.

    A file is a document; with `--missing break` a missing value ends one, too.
    """
    columns: list[Column] = []
    for item in request.inputs:
        # What was chosen in the first file holds for all.
        chosen = columns[0].name if columns else request.column
        columns.append(read_column(request, item, chosen))
    documents = [
        document
        for column, item in zip(columns, request.inputs, strict=True)
        for document in transformed(column, request.transform, item.name, request.missing)
    ]
    edges = _edges(np.concatenate([*documents, np.zeros(0)]), request.levels)
    lookup, builder = Lookup(max(request.levels, 1)), request.builder()
    for values in documents:
        builder.append(lookup.codes(np.searchsorted(edges, values)))
        builder.end_document()
    notes = (
        _column_note(columns[0], request),
        _bins_note(edges, request, len(lookup.values)),
        *_missing_note(columns, request),
    )
    sequence = builder.finish([*lookup.values], symbols="numbers", names=request.names, notes=notes)
    return replace(sequence, column=str(columns[0].name))


def transformed(column: Column, transform: str, name: str, missing: str = "error") -> list[Values]:
    """Documents of x, x_t - x_{t-1}, ln(x_t / x_{t-1}) or its magnitude; a value that cannot be used is refused.

    Without missing values there is one document. `drop` joins what is before and after a missing value, `break` does not.
    """
    values = column.numbers
    advice = "remove or correct it"
    if missing == "error":
        _refuse(
            np.isnan(values),
            values,
            column,
            name,
            "is not finite",
            f"{advice}, or use --missing drop or break",
        )
    _refuse(np.isinf(values), values, column, name, "is not finite", advice)
    if transform.endswith("log-return"):
        advice = "use --transform difference"
        _refuse(values <= 0, values, column, name, f"is not positive, so it has no {transform}", advice)
    known = ~np.isnan(values)
    if missing == "break":
        # A new stretch begins at every known value that follows a missing one.
        starts = np.flatnonzero(known & ~np.concatenate([[False], known[:-1]]))
        stretches = np.split(values[known], np.cumsum(known)[starts][1:] - 1)
    else:
        stretches = [values[known]]
    return [_changed(stretch, transform) for stretch in stretches]


def _changed(values: Values, transform: str) -> Values:
    if transform == "none":
        return values
    if transform == "difference":
        return np.diff(values)
    returns = np.diff(np.log(values))
    return np.abs(returns) if transform == "abs-log-return" else returns


def _refuse(bad: NDArray[Any], values: Values, column: Column, name: str, why: str, advice: str) -> None:
    if bad.any():
        index = int(np.argmax(bad))
        raise InputError(
            f"{name}, row {column.rows[index]}: {values[index]} in column {column.name} {why}; {advice}"
        )


def _edges(values: Values, levels: int) -> Values:
    """The inner borders of the bins: the quantiles 1/K … (K-1)/K, equal ones once."""
    if len(values) == 0:
        return values
    return np.unique(np.quantile(values, np.arange(1, levels) / levels))


def _column_note(column: Column, request: Request) -> str:
    """Which column was read and, where none was named, which others could have been."""
    if request.column is not None:
        return f"column {column.name}"
    shown = ", ".join(map(str, column.others[:8])) + (", …" if len(column.others) > 8 else "")
    which = (
        f"first of {len(column.others) + 1} columns of numbers (others: {shown})"
        if shown
        else "only column of numbers"
    )
    left_out = f"; left out: {', '.join(column.left_out)}" if column.left_out else ""
    return f"column {column.name}, the {which}{left_out}; choose another with --column"


def _missing_note(columns: list[Column], request: Request) -> tuple[str, ...]:
    """What became of missing values, if there are any."""
    number = sum(int(np.isnan(column.numbers).sum()) for column in columns)
    if not number:
        return ()
    values = "1 missing value" if number == 1 else f"{number:,} missing values"
    if request.missing == "drop":
        return (f"{values} dropped: values before and after are treated as neighbors",)
    return (f"{values}: each ends a document",)


def _bins_note(edges: Values, request: Request, kinds: int) -> str:
    of = "" if request.transform == "none" else f" of the {request.transform}"
    shown = ", ".join(f"up to {edge:.4g}" for edge in edges[:8]) + (", …" if len(edges) > 8 else "")
    fewer = f" ({request.levels} were asked for; many values are equal)" if kinds < request.levels else ""
    return f"{kinds} quantile bins{of}{fewer}: {shown}, above"
