"""Numbers become symbols: a column of a table, its changes, and which quantile each of them falls into."""

from __future__ import annotations

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
    """Symbol k is the k-th of `--levels` quantile bins over all documents; a file is a document."""
    columns: list[Column] = []
    for item in request.inputs:
        # What was chosen in the first file holds for all.
        chosen = columns[0].name if columns else request.column
        columns.append(read_column(request, item, chosen))
    documents = [
        transformed(column, request.transform, item.name)
        for column, item in zip(columns, request.inputs, strict=True)
    ]
    edges = _edges(np.concatenate(documents), request.levels)
    lookup, builder = Lookup(max(request.levels, 1)), request.builder()
    for values in documents:
        builder.append(lookup.codes(np.searchsorted(edges, values)))
        builder.end_document()
    notes = (_column_note(columns[0], request), _bins_note(edges, request, len(lookup.values)))
    return builder.finish([*lookup.values], symbols="numbers", names=request.names, notes=notes)


def transformed(column: Column, transform: str, name: str) -> Values:
    """x, x_t - x_{t-1}, ln(x_t / x_{t-1}) or its magnitude; a value that cannot be used is refused."""
    values = np.frombuffer(column.values, np.float64)
    _refuse(~np.isfinite(values), values, column, name, "is not finite", "remove or correct it")
    if transform == "none":
        return values
    if transform == "difference":
        return np.diff(values)
    advice = "use --transform difference"
    _refuse(values <= 0, values, column, name, f"is not positive, so it has no {transform}", advice)
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
    chosen = "" if request.column is not None else ", the first that holds numbers"
    return f"column {column.name}{chosen}"


def _bins_note(edges: Values, request: Request, kinds: int) -> str:
    of = "" if request.transform == "none" else f" of the {request.transform}"
    shown = ", ".join(f"up to {edge:.4g}" for edge in edges[:8]) + (", …" if len(edges) > 8 else "")
    fewer = f" ({request.levels} were asked for; many values are equal)" if kinds < request.levels else ""
    return f"{kinds} quantile bins{of}{fewer}: {shown}, above"
