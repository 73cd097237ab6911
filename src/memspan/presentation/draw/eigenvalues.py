"""The eigenvalues of W_h and the unit circle: on it a mode persists, inside it fades, outside it grows."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.presentation.draw.style import BLUE, GREY, INK, ORANGE, PALE, literal, new_figure
from memspan.presentation.numbers import trimmed
from memspan.results import Memorization
from memspan.results.text import one_line

_TITLE_WIDTH = 80
# Eigenvalues up to which each is labeled with its angle.
_NAMED = 8
# Hidden units of the largest W_h whose eigenvalues are computed; beyond, that takes seconds.
_COMPUTED = 300
# Modulus from which on an eigenvalue is only pointed at, so that the circle stays large.
_FARTHEST = 1.9


def eigenvalue_figure(result: Memorization) -> Figure:
    """The eigenvalues of the network and, where there is one, of the trained network."""
    figure = new_figure(7.4, 5.2)
    ax = figure.subplots()
    draw_eigenvalues(ax, result)
    ax.set_anchor("W")
    figure.legend(loc="outside right center")
    return figure


def draw_eigenvalues(ax: Axes, result: Memorization) -> None:
    """The eigenvalues on given axes, over the circle and the roots of unity of the period."""
    values = _eigenvalues(result)
    learnt = result.learnt.eigenvalues if result.learnt is not None else np.zeros(0, dtype=np.complex128)
    farthest = float(np.abs(np.concatenate([values, learnt])).max())
    radius = float(np.clip(farthest, 1.0, _FARTHEST))
    _draw_circle(ax, result.period)
    _draw_values(ax, values, radius, "o", BLUE, "this network")
    _draw_values(ax, learnt, radius, "X", ORANGE, "trained by\ngradient descent")
    if len(values) <= _NAMED:
        _label_values(ax, values, result.period)
    ax.set(xlim=(-1.3 * radius, 1.3 * radius), ylim=(-1.3 * radius, 1.3 * radius), aspect="equal")
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    ax.set_title(literal(textwrap.fill(_title(result, values), _TITLE_WIDTH)))


def eigenvalue_caption(result: Memorization) -> str:
    """The caption of the figure."""
    steps = f"{result.period:,} {'step' if result.period == 1 else 'steps'}"
    caption = (
        "Each step multiplies the modes of the state by the eigenvalues of W_h. On the circle a mode rotates and never "
        f"fades; at a light dot, a root of unity, it returns after {steps}; "
        "inside it fades, outside it grows"
    )
    if result.hidden_size <= _NAMED and result.method != "feedback":
        caption += ". The numbers next to the points are fractions of a turn"
    if result.method == "feedback":
        caption += (
            ". This network lies outside: each step magnifies the state, and its output is fed back and subtracted, so that "
            "the state stays small"
        )
    if result.learnt is not None:
        caption += (
            ". Crosses are those of a network of the same size, trained on the same string: the nearer to the dots, the "
            "longer it replays the string"
        )
    return caption + "."


def _eigenvalues(result: Memorization) -> NDArray[np.complex128]:
    """The eigenvalues of W_h; for a large one those of its construction."""
    p = result.period
    if result.hidden_size <= _COMPUTED:
        return np.linalg.eigvals(result.network.W_h).astype(np.complex128)
    turns = [*result.frequencies, *(-f for f in result.frequencies if 2 * f != p)] or list(range(p))
    return np.exp(2j * np.pi * np.array(turns) / p)


def _draw_circle(ax: Axes, period: int) -> None:
    angles = np.linspace(0, 2 * np.pi, 361)
    ax.axhline(0, color=PALE, linewidth=0.8)
    ax.axvline(0, color=PALE, linewidth=0.8)
    ax.plot(np.cos(angles), np.sin(angles), color=GREY, linewidth=0.9)
    roots = 2 * np.pi * np.arange(period) / period
    ax.plot(
        np.cos(roots),
        np.sin(roots),
        linestyle="",
        marker="o",
        markersize=7 if period <= 60 else 3,
        markerfacecolor=PALE,
        markeredgecolor=GREY,
        markeredgewidth=0.6,
        label="roots of unity\nof the period",
    )


def _draw_values(ax: Axes, values: NDArray[np.complex128], radius: float, marker: str, color: str, label: str) -> None:
    """Markers for eigenvalues inside the axes, arrows to those outside."""
    if not len(values):
        return
    ax.plot(
        values.real,
        values.imag,
        linestyle="",
        marker=marker,
        markersize=9,
        markerfacecolor=color,
        markeredgecolor=INK,
        label=label,
        zorder=3,
    )
    for value in values[np.abs(values) > 1.25 * radius]:
        direction = np.array([value.real, value.imag]) / abs(value)
        ax.annotate(
            f"eigenvalue {trimmed(abs(value))}",
            tuple(1.27 * radius * direction),
            xytext=tuple(0.9 * radius * direction),
            arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2},
            ha="center",
            va="center",
            fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": color},
            zorder=4,
        )


def _label_values(ax: Axes, values: NDArray[np.complex128], period: int) -> None:
    """The angle next to each eigenvalue on the circle, as a fraction of a turn."""
    for value in values[np.abs(np.abs(values) - 1) < 1e-6]:
        turns = round(float(np.angle(value)) / (2 * np.pi) * period) % period
        name = f"{turns}/{period}" if turns else "1"
        ax.annotate(
            name, (1.16 * value.real, 1.16 * value.imag), ha="center", va="center", fontsize=8.5, annotation_clip=False
        )


def _title(result: Memorization, values: NDArray[np.complex128]) -> str:
    name, d, p = one_line(result.name), result.hidden_size, result.period
    largest = float(np.abs(values).max())
    if largest > 1 + 1e-6:
        found = f"every step magnifies the state {trimmed(largest)} times, and feedback keeps it small"
    elif d == 1:
        found = "the state changes its sign at every step" if values[0].real < 0 else "the state never changes"
    elif p == 2:
        found = "the state returns after two steps"
    elif d == p:
        found = f"all {p:,} roots of unity are used, one for each hidden unit"
    else:
        found = f"{d:,} of the {p:,} roots of unity are enough"
    if result.learnt is None:
        return f"{name}: {found}"
    away = trimmed(float(result.learnt.distances.max()), 2)
    return f"{name}: {found}; training ends up to {away} away from roots of unity"
