"""Fitted laws over the lags they were fitted to, the best one solid, the two plain ones dashed; and its residuals."""

from __future__ import annotations

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.decay.laws import LAWS
from memspan.figures.limits import lag_limits
from memspan.figures.style import BLUE, GREEN, MANY, PALE, PURPLE, VERMILION, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.words import law_name, law_words, symbols_word
from memspan.results import DecayFit, Measurement

_PLAIN = {"exponential": (GREEN, (0, (5, 2))), "power": (PURPLE, (0, (1.5, 1.5)))}
_POINTS = 300
_FARTHEST = 6.0
"""Residuals beyond this number of standard errors stand at the edge: one far outlier must not hide the others."""


def draw_laws(ax: Axes, decay: DecayFit, factor: float, x_scale: str) -> None:
    """The best law, then `exponential` and `power` for comparison, in nats times `factor`."""
    if not decay.lags.size:
        return
    ends = float(decay.lags.min()), float(decay.lags.max())
    lags = np.geomspace(*ends, _POINTS)
    if (
        x_scale != "log"
    ):  # near distances need the fine steps of a logarithmic grid, far ones those of a linear one
        lags = np.union1d(lags, np.linspace(*ends, _POINTS))
    for name in [decay.best, *(name for name in _PLAIN if name != decay.best)]:
        if name not in decay.laws or name not in LAWS:
            continue
        fit, best = decay[name], name == decay.best
        value = np.asarray(LAWS[name].value(lags, fit.parameters), dtype=np.float64) * factor
        color, dash = (VERMILION, "-") if best else _PLAIN[name]
        ax.plot(
            lags,
            np.where(value > 0, value, np.nan),
            color=color,
            linestyle=dash,
            linewidth=(1.125 if best else 0.75) * rcParams["lines.linewidth"],
            label=_label(name, decay),
            zorder=3,
        )


def _label(name: str, decay: DecayFit) -> str:
    if name != decay.best:
        return law_words(name, decay[name])
    if decay.fits:
        return f"{law_words(name, decay[name])}{' (best law)' if len(decay.laws) > 1 else ''}"
    return f"{law_name(name)} (best of the laws, but it does not fit)"


def has_residuals(measurement: Measurement) -> bool:
    """Whether there is a law of which residuals can be drawn."""
    decay = measurement.decay
    return decay is not None and decay.lags.size > 0 and decay.best in LAWS and measurement.period is None


def residual_figure(measurement: Measurement) -> Figure:
    """(corrected - best law) / error against lag, with a band of ± 2; lags that were not fitted are hollow."""
    decay, curve = measurement.decay, measurement.curve
    assert decay is not None, "has_residuals was checked"
    law = LAWS[decay.best].value(curve.lags, decay[decay.best].parameters)
    with np.errstate(all="ignore"):
        residuals = (curve.corrected - law) / curve.error
    within = (curve.lags >= decay.lags.min()) & (curve.lags <= decay.lags.max()) & np.isfinite(residuals)
    fitted = np.isin(curve.lags, decay.lags)
    figure = new_figure(10.0, 2.6)
    ax = figure.subplots()
    ax.set_xscale("log")
    ax.axhspan(-2, 2, color=PALE, linewidth=0, label="± 2 standard errors")
    ax.axhline(0, color=VERMILION, linewidth=1.2)
    size = 4.5 if curve.lags.size < MANY else 2.0
    for chosen, face, label in ((fitted, BLUE, "fitted"), (~fitted, "white", "not fitted")):
        inside = within & chosen & (np.abs(residuals) <= _FARTHEST)
        if inside.any():
            ax.plot(
                curve.lags[inside],
                residuals[inside],
                "o",
                color=BLUE,
                markerfacecolor=face,
                markersize=size,
                label=label,
            )
    _draw_outside(ax, curve.lags, residuals, within & (np.abs(residuals) > _FARTHEST))
    ax.set_xlim(*lag_limits([curve]))
    ax.set_ylim(-_FARTHEST - 1, _FARTHEST + 1)
    ax.set_yticks([-6, -4, -2, 0, 2, 4, 6])
    plain_ticks(ax)
    ax.set_xlabel(f"distance in {symbols_word(measurement.symbols)}")
    ax.set_ylabel("residual, standard errors")
    ax.set_title(f"Residuals of the best law: {law_name(decay.best)}")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


def _draw_outside(
    ax: Axes, lags: NDArray[np.int64], residuals: NDArray[np.float64], outside: NDArray[np.bool_]
) -> None:
    """Triangles at the edge that point to where residuals lie."""
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = outside & (sign * residuals > 0)
        if beyond.any():
            where = np.full(int(beyond.sum()), sign * (_FARTHEST + 0.4))
            label = f"{'above' if sign > 0 else 'below'} the axis"
            ax.plot(lags[beyond], where, marker, color=BLUE, markersize=5, linestyle="", label=label)
