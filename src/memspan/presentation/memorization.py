"""A memorization: the smallest linear network that replays a string, and how it works."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.charts import caption_of, lead_caption, leads, orbits
from memspan.presentation.numbers import UNKNOWN, duration, number, trimmed
from memspan.presentation.page.section import MEANING, Listing, Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.results import FrequencySearch, LinearNetwork, Memorization, Orbit, TrainedLinearNetwork
from memspan.results.memorization import SHOWN_PERIODS, SHOWN_SYMBOLS
from memspan.results.text import one_line, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

_METHODS = {
    "rotation": "one rotation of the plane, cut by a line",
    "cyclic": "one hidden unit per position, passed around",
    "spectral": "the fewest rotations whose positions can be separated",
    "feedback": "a number whose digits are the string, driven by its own output",
}
_EXPLANATIONS = {
    "rotation": (
        "Here the state is a point that moves around a circle in as many equal steps as the period has symbols, and a "
        "straight line separates the positions of one symbol from those of the other."
    ),
    "spectral": (
        "Here W_h rotates the state in one or more planes at once, each by a whole number of turns per period, so that the "
        "state returns after every period, forever. The scores must separate the positions: the search looks for the fewest "
        "planes that allow it."
    ),
    "cyclic": (
        "Here there is one hidden unit per position of the period: one of them is 1, and each step passes the 1 on. This "
        "works for every string and is the largest network that is ever needed."
    ),
    "feedback": (
        "Here the network also reads its own output. Its one hidden unit is a number whose digits are the symbols to come: "
        "each step removes the symbol just generated and magnifies the rest. Floating-point precision limits the length of "
        "the string."
    ),
}
_MOST_SYMBOLS = 40
_MOST_FREQUENCIES = 24
_MOST_EIGENVALUES = 24
# Scores times hidden units of the largest network whose weights are shown; others are in `result.json`.
_MOST_WEIGHTS = 60
# Symbols of the longest listing; a longer period is in `result.json`.
_MOST_LISTED = 3_000
# Symbols of the replay on the terminal.
_REPLAYED = 60


@final
class MemorizationPresenter(Presenter[Memorization]):
    """One string and its network."""

    result_type = Memorization

    def page_title(self) -> str:
        return f"{one_line(self.result.name)}: how small can a network be that remembers it?"

    def title(self) -> str:
        return f"How small a network can remember {one_line(self.result.name)}"

    def sentence(self) -> str:
        return f"{one_line(self.result.name)}: {units(self.result)} {_replays(self.result)}{_smaller(self.result)}"

    def explanation(self) -> tuple[str, ...]:
        return (
            "A linear network needs no nonlinearity to memorize a string. At every step its hidden units h become "
            "W_h h + W_x x, where x is the previous symbol; every symbol has a score, a weighted sum of the hidden units "
            "plus a constant (W_y h + b_y), and the symbol with the highest score comes next.",
            _EXPLANATIONS.get(self.result.method, f"The weights were found by the method {self.result.method}."),
        )

    def rows(self) -> tuple[Row, ...]:
        return (*_network_rows(self.result), *_safety_rows(self.result), *_size_rows(self.result))

    def details(self) -> tuple[TextTable, ...]:
        return (*learnt_tables(self.result), *weight_tables(self.result.network))

    def listings(self) -> tuple[Listing, ...]:
        """The output of the network, generated again from its weights."""
        result = self.result
        length = max(result.period, min(SHOWN_PERIODS * result.period, SHOWN_SYMBOLS))
        shown = min(length, _MOST_LISTED)
        if result.terminated or not result.repeats:
            shown = min(shown, result.period)
        symbols = "symbol" if shown == 1 else f"{shown:,} symbols"
        part = f", the first {symbols}" if shown < result.period or result.repeats else ""
        # Line breaks stay; characters that no page can show are replaced.
        lines = [one_line(line) for line in result.replay(shown).split("\n")]
        return (Listing(f"Generated text{part}", "\n".join(lines)),)

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.orbit import draw_orbit

        draw_orbit(ax, orbits(self.result)[0])

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.chart import chart_figure
        from memspan.presentation.draw.eigenvalues import eigenvalue_figure
        from memspan.presentation.draw.orbit import memorization_figure

        scores = {"scores": chart_figure(leads(self.result))} if len(self.result.alphabet) > 1 else {}
        return {
            "orbit": memorization_figure(self.result, orbits(self.result)),
            **scores,
            "eigenvalues": eigenvalue_figure(self.result),
        }

    def panels(self) -> Mapping[str, Notebook]:
        scores = {"scores": leads(self.result)} if len(self.result.alphabet) > 1 else {}
        return {"orbit": self.result, **scores}

    def captions(self) -> dict[str, str]:
        from memspan.presentation.draw.eigenvalues import eigenvalue_caption

        return {
            "orbit": caption_of(self.result),
            "scores": lead_caption(self.result),
            "eigenvalues": eigenvalue_caption(self.result),
        }

    def blocks(self) -> Iterator[Block]:
        result = self.result
        more = "" if result.terminated or not result.repeats else " …"
        yield facts([("replay", one_line(result.replay(_REPLAYED)) + more), *self.rows()])
        picture = orbit_picture(result)
        if picture is not None:
            yield f"\n{picture}"
        for table in (*weight_tables(result.network), *learnt_tables(result)):
            yield f"\n{table.caption}"
            yield table
        yield from note_lines((result.statement, *result.notes))


def units(result: Memorization) -> str:
    """The hidden size in words."""
    return f"{result.hidden_size:,} hidden {'unit' if result.hidden_size == 1 else 'units'}"


def _replays(result: Memorization) -> str:
    s = "s" if result.hidden_size == 1 else ""
    checked = f"checked for {result.verified_symbols:,} symbol{'' if result.verified_symbols == 1 else 's'}"
    if not result.repeats:
        return f"generate{s} it once ({checked})"
    if result.terminated:
        return f"generate{s} it up to its end symbol ({checked})"
    return f"replay{s} it forever ({checked})"


def _smaller(result: Memorization) -> str:
    """What is known about smaller networks, in short; the full text is in the result's `statement`."""
    if result.hidden_size == 1:
        return ", and no network is smaller"
    if result.minimal:
        return ", and no smaller network of this form does"
    if result.search is None:
        return "; smaller networks were not searched for"
    refuted = result.search.refuted_size
    known = f", but {refuted:,} and fewer are" if refuted > 0 else ""
    return f", the smallest found; smaller ones are not ruled out{known}"


def _network_rows(result: Memorization) -> tuple[Row, ...]:
    given = f"{result.length:,} {'symbol was' if result.length == 1 else 'symbols were'} given"
    end = ", including the end symbol" if result.terminated else ""
    shown = " ".join(visible(symbol) for symbol in result.alphabet[:_MOST_SYMBOLS])
    more = " …" if len(result.alphabet) > _MOST_SYMBOLS else ""
    return (
        (
            "hidden units",
            f"{result.hidden_size:,}",
            "The size of the state that the network carries from step to step.",
        ),
        ("period", f"{result.period:,}", f"Symbols until the string repeats; {given}{end}."),
        ("alphabet", f"{len(result.alphabet):,}: {shown}{more}", f"The different symbols, read as {result.symbols}."),
        ("method", result.method, f"How the weights were found: {_METHODS.get(result.method, 'as named')}."),
        *_frequency_rows(result),
    )


def _frequency_rows(result: Memorization) -> tuple[Row, ...]:
    if not result.frequencies:
        return ()
    shown = ", ".join(f"{frequency}/{result.period}" for frequency in result.frequencies[:_MOST_FREQUENCIES])
    more = " …" if len(result.frequencies) > _MOST_FREQUENCIES else ""
    what = "The fraction of a turn that each plane of the state rotates per step"
    if any(2 * frequency == result.period for frequency in result.frequencies):
        what += "; half a turn is a change of sign, which takes one hidden unit instead of two"
    return (("frequencies", shown + more, f"{what}."),)


def _safety_rows(result: Memorization) -> tuple[Row, ...]:
    margin = number(result.margin) if math.isfinite(result.margin) else "no other symbol"
    noise = f"{trimmed(100 * result.noise, 2)} %" if math.isfinite(result.noise) else UNKNOWN
    survival = "ten periods" if result.repeats else "the string"
    return (
        (
            "margin",
            margin,
            "The smallest lead of the right symbol's score over any other, at any position of the period.",
        ),
        (
            "checked",
            f"{result.verified_symbols:,} {'symbol' if result.verified_symbols == 1 else 'symbols'}",
            "Generated by the recurrence itself, all of them correct.",
        ),
        ("drift", number(result.drift, 2), "The largest change of a state from the first period checked to the last."),
        (
            "noise tolerance",
            noise,
            "Random errors of all weights, relative to their mean size, at which nine in ten networks still replay "
            f"{survival}.",
        ),
    )


def _size_rows(result: Memorization) -> tuple[Row, ...]:
    statement = result.statement.strip() or "Nothing is known about smaller networks"
    statement = statement[0].upper() + statement[1:] + ("" if statement.endswith(".") else ".")
    return (
        ("smaller networks", "ruled out" if result.minimal else "not ruled out", statement),
        ("sufficient size", f"{result.size_bound:,}", "Hidden units that suffice by a theorem, before any search."),
        (
            "rational weights",
            f"{result.rational_size:,} or more",
            "If W_h is rational: with fewer hidden units no network returns after exactly this period.",
        ),
        *(_search_rows(result.search) if result.search is not None else ()),
        ("time", duration(result.seconds), "Time of the search and the checks."),
    )


def _search_rows(search: FrequencySearch) -> tuple[Row, ...]:
    budget = f"It stopped after its budget of {duration(search.budget)}"
    end = "It was exhaustive" if search.complete else budget
    refuted = f"; {search.refuted_size:,} or fewer hidden units were shown to be too few" if search.refuted_size else ""
    sets = "set" if search.sets == 1 else "sets"
    meaning = f"Sets of frequencies decided. {end}{refuted}."
    return (("search", f"{search.sets:,} {sets} in {duration(search.seconds)}", meaning),)


def weight_tables(network: LinearNetwork) -> tuple[TextTable, ...]:
    """W_h and the start, then W_y, b_y (and W_x where it is not zero) by symbol; none for a large network."""
    d, feedback = network.hidden_size, bool(network.W_x.any())
    if d * len(network.alphabet) > _MOST_WEIGHTS or d * d > _MOST_WEIGHTS:
        return ()
    step = tuple((f"h_{i + 1}", *map(_weight, network.W_h[i]), _weight(network.h_0[i])) for i in range(d))
    scores = tuple(
        (
            visible(symbol),
            *map(_weight, network.W_y[k]),
            _weight(network.b_y[k]),
            *(map(_weight, network.W_x[:, k]) if feedback else ()),
        )
        for k, symbol in enumerate(network.alphabet)
    )
    factors = tuple(f"h_{i + 1}" for i in range(d))
    added = tuple(f"as input, adds to h_{i + 1}" for i in range(d)) if feedback else ()
    return (
        TextTable("Recurrence: weights from the previous state to each hidden unit", ("", *factors, "initial"), step),
        TextTable(
            "Readout: the symbol with the highest score comes next", ("symbol", *factors, "bias", *added), scores
        ),
    )


def _weight(value: float) -> str:
    # cos(pi / 2) is 6e-17 in floating point, which would only confuse a reader.
    return trimmed(float(value), 4) if abs(value) > 1e-12 else "0"


def learnt_tables(result: Memorization) -> tuple[TextTable, ...]:
    """The trained network next to the constructed one, and its eigenvalues next to the roots of unity."""
    learnt = result.learnt
    if learnt is None:
        return ()
    rows = (
        (
            "symbols replayed",
            f"{learnt.replayed_symbols:,} of {learnt.tested_symbols:,}",
            "Generated before the first error, of those tested.",
        ),
        ("hidden units", f"{learnt.hidden_size:,}", "As many as the network above has."),
        ("trained on", f"{learnt.trained_symbols:,} symbols", "Steps of one pass, from the start of the string."),
        ("updates", f"{learnt.updates:,}", "Steps of gradient descent."),
        ("loss", f"{number(learnt.loss)} nats", "Mean cross-entropy per symbol at the end; 0 is certainty."),
    )
    trained = TextTable("The same size, trained by gradient descent", MEANING, rows, stacked=True)
    return (trained, _eigenvalue_table(learnt, result.period))


def _eigenvalue_table(learnt: TrainedLinearNetwork, period: int) -> TextTable:
    rows = tuple(
        (
            f"{_weight(value.real)} {'+' if value.imag >= 0 else '-'} {_weight(abs(value.imag))} i",
            trimmed(abs(value), 5),
            f"{int(root)}/{period} of a turn",
            number(float(distance), 2),
        )
        for value, root, distance in zip(
            learnt.eigenvalues[:_MOST_EIGENVALUES], learnt.nearest_roots, learnt.distances, strict=False
        )
    )
    left = len(learnt.eigenvalues) - len(rows)
    more = f" ({left:,} more are in result.json)" if left else ""
    header = ("eigenvalue", "modulus", "nearest root", "distance")
    return TextTable(f"Its eigenvalues next to the roots of unity{more}", header, rows)


_COLUMNS, _ROWS = 49, 21
# Half the side of the picture, in radii of the orbit.
_EXTENT = 1.3
# Positions of the longest period that can be distinguished in the picture.
_MOST_PLACES = 60


def orbit_picture(result: Memorization) -> str | None:
    """Two hidden units as text: the symbols at their positions, borders of their regions as dots; None for others."""
    if result.hidden_size != 2 or result.period > _MOST_PLACES:
        return None
    (orbit, *_) = orbits(result)
    if not len(orbit.weights) or not orbit.round:
        return None
    cells = [[" "] * _COLUMNS for _ in range(_ROWS)]
    for row, column in np.argwhere(_borders(orbit)):
        cells[row][column] = "·"
    for place, symbol in zip(orbit.points, orbit.symbols, strict=True):
        x, y = np.clip(place / (2 * _EXTENT) + 0.5, 0, 1)
        cells[round((1 - y) * (_ROWS - 1))][round(x * (_COLUMNS - 1))] = visible(orbit.alphabet[symbol])[0]
    return "\n".join("  " + "".join(row).rstrip() for row in cells)


def _borders(orbit: Orbit) -> NDArray[np.bool_]:
    """Cells whose right or lower neighbor belongs to another symbol."""
    x, y = np.linspace(-_EXTENT, _EXTENT, _COLUMNS), np.linspace(_EXTENT, -_EXTENT, _ROWS)
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    region = np.argmax(plane @ orbit.weights.T + orbit.bias, axis=-1)
    border = np.zeros(region.shape, dtype=np.bool_)
    border[:, :-1] |= region[:, :-1] != region[:, 1:]
    border[:-1] |= region[:-1] != region[1:]
    return border
