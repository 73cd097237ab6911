"""The tables behind a measurement: every law with its parameters, and every lag with its numbers."""

from __future__ import annotations

from memspan.figures.words import law_name, symbols_word
from memspan.report.numbers import count, number, share, with_interval
from memspan.report.section import Table
from memspan.results import Curve, DecayFit, LawFit

MOST_ROWS = 200
"""A curve with more lags than this is left to `result.json`."""


def law_tables(decay: DecayFit | None, symbols: str) -> tuple[Table, ...]:
    """Every law with its parameters, the heaviest first; none where no law was fitted."""
    if decay is None:
        return ()
    ordered = sorted(decay.laws.items(), key=lambda item: -item[1].weight)
    rows = tuple((law_name(name), _parameters(fit, symbols), share(fit.weight)) for name, fit in ordered)
    caption = (
        f"Laws fitted to {decay.lags.size:,} significant lags, with 95 % intervals in brackets. "
        "The weights say which law the data prefer; they are a guide, not a proof."
    )
    return (Table(caption, ("law", "parameters", "weight"), rows),)


def _parameters(fit: LawFit, symbols: str) -> str:
    units = {"length": f" {symbols_word(symbols)}", "exponent": "", "stretch": ""}
    return "; ".join(
        f"{name.replace('_', ' ')} {with_interval(value, fit.intervals.get(name))}{units.get(name, ' nats')}"
        for name, value in fit.parameters.items()
    )


def curve_tables(curve: Curve) -> tuple[Table, ...]:
    """One row per lag, to be opened by whoever wants it."""
    if not 0 < curve.lags.size <= MOST_ROWS:
        return ()
    rows = tuple(
        (
            f"{curve.lags[i]:,}",
            number(curve.information[i]),
            number(curve.floor[i]),
            number(curve.corrected[i]),
            number(curve.error[i], 2),
            count(int(curve.pairs[i])),
            "yes" if curve.significant[i] else "no",
        )
        for i in range(curve.lags.size)
    )
    header = ("lag", "estimate", "floor", "corrected", "± error", "pairs", "significant")
    return (Table("The numbers behind the figure, in nats", header, rows, folded=True),)
