"""Several curves on one pair of axes, and the difference of each pair of sources below them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from memspan.presentation.curve import short, symbols_word
from memspan.presentation.draw.axes import information_limits, lag_limits, masked, place_legend, plain_ticks, positive
from memspan.presentation.draw.curve import SHORT_LABELS
from memspan.presentation.draw.style import (
    GREY,
    INK,
    MANY,
    PALE,
    VERMILION,
    LineLook,
    StyleName,
    literal,
    look,
    new_figure,
)
from memspan.presentation.numbers import count, probability, unit_of
from memspan.results import Comparison, Curve, Measurement, PairVerdict

# Relative size of the markers of undersampled lags: a triangle is also the marker of one of the curves.
_LARGER = 1.7
# Pairs drawn; of more pairs, those with the smallest p-values.
MOST_PAIRS = 6


def comparison_figure(comparison: Comparison, *, bits: bool) -> Figure:
    """Curves in the upper panel, one lower panel per pair."""
    pairs = _drawn_pairs(comparison)
    figure = new_figure(8.0, 4.4 + 1.9 * len(pairs))
    ratios = [3.4, *[1.5] * len(pairs)]
    panels = figure.subplots(1 + len(pairs), 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
    draw_curves(panels[0], comparison.sources, bits=bits)
    for panel, pair in zip(panels[1:], pairs, strict=True):
        _draw_difference(panel, pair, bits=bits)
    panels[-1].set_xlabel(panels[0].get_xlabel())
    if len(pairs):
        panels[0].set_xlabel("")
        figure.legend(handles=_difference_legend(), loc="outside lower center", ncols=2)
    figure.suptitle(_title(comparison, len(pairs)), x=0.01, ha="left")
    return figure


def _drawn_pairs(comparison: Comparison) -> list[PairVerdict]:
    if len(comparison.pairs) <= MOST_PAIRS:
        return list(comparison.pairs)
    return sorted(comparison.pairs, key=lambda pair: pair.p_value)[:MOST_PAIRS]


def draw_curves(
    ax: Axes, sources: Mapping[str, Curve | Measurement], *, bits: bool, style: StyleName = "report"
) -> None:
    """Several corrected curves and their noise floors, by name; in the style `paper` the legend explains the markers."""
    unit, factor = unit_of(bits)
    curves = {name: source.curve if isinstance(source, Measurement) else source for name, source in sources.items()}
    bottom, top = information_limits(list(curves.values()), factor) if curves else (1e-6, 1.0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for position, (name, curve) in enumerate(curves.items()):
        _draw_source(ax, name, curve, look(position), factor, bottom)
    if curves:
        ax.set_xlim(*lag_limits(list(curves.values())))
        plain_ticks(ax)
    ax.set_ylim(bottom, top)
    kinds = {source.symbols if isinstance(source, Measurement) else "symbols" for source in sources.values()}
    ax.set_xlabel(f"lag, {symbols_word(kinds.pop() if len(kinds) == 1 else 'symbols')}")
    ax.set_ylabel(f"corrected information, {unit}")
    if style == "report":
        ax.set_title("corrected, bands of ± 2 standard errors; hollow: not significant; dotted: noise floor")
    handles, names = ax.get_legend_handles_labels()
    marks = _marks(list(curves.values()), explained=style == "paper")
    place_legend(ax, [*handles, *marks], [*names, *(str(mark.get_label()) for mark in marks)])


def _marks(curves: list[Curve], *, explained: bool) -> list[Line2D]:
    """Legend entries of the markers that all curves share."""
    marks = []
    few = [curve for curve in curves if curve.lags.size < MANY]
    if explained and any((~curve.significant & ~curve.undersampled).any() for curve in few):
        marks.append(Line2D([], [], color=GREY, marker="o", markerfacecolor="white", linestyle=""))
        marks[-1].set_label(SHORT_LABELS.weak)
    if any(curve.undersampled.any() for curve in few):
        marks.append(Line2D([], [], color=GREY, marker="^", markerfacecolor="white", linestyle=""))
        marks[-1].set(label=SHORT_LABELS.undersampled, markersize=_LARGER * float(rcParams["lines.markersize"]))
    if explained and any((curve.floor > 0).any() for curve in curves):
        marks.append(Line2D([], [], color=GREY, linestyle=":", linewidth=1.1, label="noise floor"))
    return marks


def _draw_source(ax: Axes, name: str, curve: Curve, shape: LineLook, factor: float, bottom: float) -> None:
    value, error = curve.corrected * factor, 2 * curve.error * factor
    low, high = np.fmax(value - error, bottom / 10), np.fmax(value + error, bottom / 10)
    ax.fill_between(curve.lags, low, high, color=shape.color, alpha=0.18, linewidth=0)
    ax.plot(curve.lags, masked(curve.floor * factor), color=shape.color, linestyle=":", linewidth=1.1)
    few = curve.lags.size < MANY
    ax.plot(
        curve.lags,
        masked(value),
        color=shape.color,
        linestyle=shape.dash,
        linewidth=1.2,
        marker=shape.marker if few else "",
        label=literal(short(name, 32)),
    )
    if few:
        size = float(rcParams["lines.markersize"])
        for chosen, marker, scale in (
            (~curve.significant & ~curve.undersampled, shape.marker, 1.0),
            (curve.undersampled, "^", _LARGER),
        ):
            hollow = masked(np.where(chosen, value, np.nan))
            if np.isfinite(hollow).any():
                ax.plot(curve.lags, hollow, marker, color=shape.color, markerfacecolor="white", markersize=scale * size)


def _draw_difference(ax: Axes, pair: PairVerdict, *, bits: bool) -> None:
    unit, factor = unit_of(bits)
    value, error = pair.difference * factor, 2 * pair.error * factor
    differs = np.isin(pair.lags, pair.different_lags)
    ax.fill_between(pair.lags, value - error, value + error, color=PALE, linewidth=0)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.plot(pair.lags, value, color=INK, linewidth=0.9)
    if pair.lags.size < MANY:
        ax.plot(pair.lags[~differs], value[~differs], "o", color=INK, markerfacecolor="white", markersize=4)
    ax.plot(pair.lags[differs], value[differs], "s", color=VERMILION, markersize=5)
    _curved_scale(ax, value, error)
    ax.set_ylabel(f"difference,\n{unit}")
    names = f"{short(pair.a, 24)} minus {short(pair.b, 24)}"
    ax.set_title(literal(f"{names}: {pair.verdict} ({probability(pair.p_value)})"))


def _curved_scale(ax: Axes, value: np.ndarray, error: np.ndarray) -> None:
    """Linear within the typical error, logarithmic beyond: differences span several powers of ten."""
    errors, largest = positive(error), positive(np.abs(value) + error)
    threshold = float(np.median(errors)) if errors.size else 1.0
    if largest.size and largest.max() > 10 * threshold:
        ax.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(threshold)))
        ax.yaxis.set_minor_locator(NullLocator())


def _difference_legend() -> list[Line2D]:
    differs = Line2D([], [], marker="s", color=VERMILION, linestyle="", label="lag at which the two differ")
    alike = Line2D(
        [], [], marker="o", color=INK, markerfacecolor="white", label="difference; band: ± 2 standard errors"
    )
    return [alike, differs]


def _title(comparison: Comparison, shown: int) -> str:
    verdicts = [f"{short(pair.a, 20)} and {short(pair.b, 20)} are {pair.verdict}" for pair in comparison.pairs[:2]]
    rest = len(comparison.pairs) - len(verdicts)
    if rest > 0:
        verdicts.append(f"{rest} more {'pair' if rest == 1 else 'pairs'} below")
    size = f"{count(comparison.size)} symbols of each source"
    if shown < len(comparison.pairs):
        size += f"; the {shown} pairs with the smallest p of {len(comparison.pairs)}"
    return literal(f"{'; '.join(verdicts) or 'One source, nothing to compare'}\n{size}")
