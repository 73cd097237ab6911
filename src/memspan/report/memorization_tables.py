"""The tables behind a memorized string: all weights of a small network, and what training made of the same size."""

from __future__ import annotations

from memspan.report.numbers import number, trimmed
from memspan.report.section import MEANING, Row, Table
from memspan.results import LinearNetwork, Memorization, TrainedLinearNetwork
from memspan.results.text import visible

MOST_WEIGHTS = 60
"""A network with more scores times hidden units than this is left to `result.json`."""
_MOST_EIGENVALUES = 24


def weight_tables(network: LinearNetwork) -> tuple[Table, ...]:
    """W_h and the start, then W_y, b_y (and W_x where it is not zero) symbol by symbol; none of a large network."""
    d = network.hidden_size
    if d * len(network.alphabet) > MOST_WEIGHTS or d * d > MOST_WEIGHTS:
        return ()
    step = tuple((f"h_{i + 1}", *map(_weight, network.W_h[i]), _weight(network.h_0[i])) for i in range(d))
    return (
        Table("One step: each hidden unit from those before", ("", *_units(d, "times "), "start"), step),
        _reading(network),
    )


def _reading(network: LinearNetwork) -> Table:
    d, fed_back = network.hidden_size, bool(network.W_x.any())
    rows = tuple(
        (
            visible(symbol),
            *map(_weight, network.W_y[k]),
            _weight(network.b_y[k]),
            *(map(_weight, network.W_x[:, k]) if fed_back else ()),
        )
        for k, symbol in enumerate(network.alphabet)
    )
    header = (
        "symbol",
        *_units(d, "times "),
        "plus",
        *(_units(d, "once written, adds to ") if fed_back else ()),
    )
    return Table("The score of each symbol; the greatest is written", header, rows)


def _units(d: int, before: str) -> tuple[str, ...]:
    return tuple(f"{before}h_{i + 1}" for i in range(d))


def _weight(value: float) -> str:
    # cos(pi / 2) is 6e-17 in floating point; to show it as such would only puzzle.
    return trimmed(float(value), 4) if abs(value) > 1e-12 else "0"


def learnt_tables(result: Memorization) -> tuple[Table, ...]:
    """The trained network next to the constructed one, and its eigenvalues next to the roots of unity."""
    learnt = result.learnt
    if learnt is None:
        return ()
    return (
        Table("The same size, trained by gradient descent", MEANING, _learnt_rows(learnt), stacked=True),
        _eigenvalue_table(learnt, result.period),
    )


def _learnt_rows(learnt: TrainedLinearNetwork) -> tuple[Row, ...]:
    replayed = f"{learnt.replayed_symbols:,} of {learnt.tested_symbols:,}"
    return (
        ("symbols replayed", replayed, "Written before the first wrong one, of those that were tried."),
        ("hidden units", f"{learnt.hidden_size:,}", "As many as the network above has."),
        (
            "trained on",
            f"{learnt.trained_symbols:,} symbols",
            "Steps of one pass, from the start of the string.",
        ),
        ("updates", f"{learnt.updates:,}", "Steps of gradient descent."),
        ("loss", f"{number(learnt.loss)} nats", "Mean cross-entropy per symbol at the end; 0 is certainty."),
    )


def _eigenvalue_table(learnt: TrainedLinearNetwork, period: int) -> Table:
    rows = tuple(
        (
            _complex(value),
            trimmed(abs(value), 5),
            f"{int(root)}/{period} of a turn",
            number(float(distance), 2),
        )
        for value, root, distance in zip(
            learnt.eigenvalues[:_MOST_EIGENVALUES], learnt.nearest_roots, learnt.distances, strict=False
        )
    )
    left = len(learnt.eigenvalues) - len(rows)
    caption = "Its eigenvalues next to the roots of unity" + (
        f" ({left:,} more are in result.json)" if left else ""
    )
    return Table(caption, ("eigenvalue", "modulus", "nearest root", "distance"), rows)


def _complex(value: complex) -> str:
    sign = "+" if value.imag >= 0 else "-"
    return f"{_weight(value.real)} {sign} {_weight(abs(value.imag))} i"
