"""Fitted laws over the lags they were fitted to: the best one solid, the two plain ones dashed beside it."""

from __future__ import annotations

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes

from memspan.decay.laws import LAWS
from memspan.figures.style import GREEN, PURPLE, VERMILION
from memspan.figures.words import law_words
from memspan.results import DecayFit

_PLAIN = {"exponential": (GREEN, (0, (5, 2))), "power": (PURPLE, (0, (1.5, 1.5)))}
_POINTS = 300


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
            label=f"{law_words(name, fit)}{' (best law)' if best and len(decay.laws) > 1 else ''}",
            zorder=3,
        )
