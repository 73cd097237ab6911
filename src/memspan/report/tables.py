"""The tables behind a measurement: every law with its parameters, and every lag with its numbers."""

from __future__ import annotations

from memspan.figures.words import law_name, range_words, symbols_word
from memspan.report.numbers import count, number, share, unit_of, with_interval
from memspan.report.section import Table
from memspan.results import Curve, DecayFit, LawFit, Measurement

MOST_ROWS = 200
"""A curve with more lags than this is left to `result.json`."""


def law_tables(decay: DecayFit | None, symbols: str, *, bits: bool = False) -> tuple[Table, ...]:
    """Every law with its parameters, the heaviest first; none where no law was fitted."""
    if decay is None:
        return ()
    ordered = sorted(decay.laws.items(), key=lambda item: -item[1].weight)
    rows = tuple(
        (law_name(name), _parameters(fit, symbols, bits), share(fit.weight), "yes" if fit.fits else "no")
        for name, fit in ordered
    )
    caption = (
        f"Laws fitted to {decay.lags.size:,} significant lags, with 95 % intervals in brackets. "
        "The weights say which law the data prefer; they are a guide, not a proof. Where a law does not fit, its intervals "
        "are widened by its misfit."
    )
    return (Table(caption, ("law", "parameters", "weight", "fits"), rows),)


def local_tables(result: Measurement) -> tuple[Table, ...]:
    """The local exponent by range of lags, where there is no law to give it."""
    if result.decay is None or result.law_fits or not result.decay.local_exponents:
        return ()
    rows = tuple(
        (range_words(one), with_interval(one.exponent, one.interval)) for one in result.decay.local_exponents
    )
    caption = (
        "Local exponent: a power law fitted to each range of lags alone, with 95 % intervals in brackets"
    )
    return (Table(caption, ("lags", "exponent"), rows),)


def _parameters(fit: LawFit, symbols: str, bits: bool) -> str:
    """Every parameter with its interval and unit; those that are neither lengths nor exponents are information."""
    units = {"length": f" {symbols_word(symbols)}", "exponent": "", "stretch": ""}
    unit, factor = unit_of(bits)
    words = []
    for name, value in fit.parameters.items():
        interval, scale = fit.intervals.get(name), 1.0 if name in units else factor
        if interval is not None:
            interval = interval[0] * scale, interval[1] * scale
        shown = with_interval(value * scale, interval)
        words.append(f"{name.replace('_', ' ')} {shown}{units.get(name, f' {unit}')}")
    return "; ".join(words)


def curve_tables(curve: Curve, *, bits: bool = False) -> tuple[Table, ...]:
    """One row per lag, to be opened by whoever wants it."""
    if not 0 < curve.lags.size <= MOST_ROWS:
        return ()
    unit, factor = unit_of(bits)
    rows = tuple(
        (
            f"{curve.lags[i]:,}",
            number(curve.information[i] * factor),
            number(curve.floor[i] * factor),
            number(curve.corrected[i] * factor),
            number(curve.error[i] * factor, 2),
            count(int(curve.pairs[i])),
            "yes" if curve.significant[i] else "no",
        )
        for i in range(curve.lags.size)
    )
    header = ("lag", "estimate", "floor", "corrected", "± error", "pairs", "significant")
    return (Table(f"The numbers behind the figure, in {unit}", header, rows, folded=True),)
