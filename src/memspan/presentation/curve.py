"""Curves and laws in words: span, reach, period and law, shared by sentences, tables and figure titles."""

from __future__ import annotations

import numpy as np

from memspan.presentation.numbers import count, number, share, trimmed, unit_of, with_error, with_interval
from memspan.presentation.page.section import Row, TextTable
from memspan.results import Curve, DecayFit, LawFit, LocalExponent, Measurement, Period, Span

# Lags in a table; a longer curve is in `result.json` only.
MOST_ROWS = 200
_SYMBOLS = {
    "chars": ("character", "characters"),
    "bytes": ("byte", "bytes"),
    "words": ("word", "words"),
    "lines": ("line", "lines"),
    "dna": ("base", "bases"),
    "numbers": ("value", "values"),
    "tokens": ("token", "tokens"),
    "bpe": ("token", "tokens"),
    "json": ("item", "items"),
}


def symbols_word(symbols: str, amount: float = 2) -> str:
    """The noun for symbols read in this way, singular where `amount` is 1.

    >>> symbols_word("chars"), symbols_word("bpe:wiki.json"), symbols_word("dna", 1), symbols_word("notes")
    ('characters', 'tokens', 'base', 'symbols')
    """
    one, many = _SYMBOLS.get(symbols.split(":", 1)[0], ("symbol", "symbols"))
    return one if amount == 1 else many


def law_name(name: str) -> str:
    """A law's name in words; an unknown name stays as it is.

    >>> law_name("cutoff-power")
    'power law with a cutoff'
    """
    from memspan.decay.laws import LAWS

    return LAWS[name].label if name in LAWS else name


def law_words(name: str, fit: LawFit) -> str:
    """A law with the parameters that give its shape.

    >>> fit = LawFit({"amplitude": 0.1, "exponent": 0.41}, {"exponent": (0.38, 0.44)}, aicc=1.0, weight=1.0, misfit=1.0)
    >>> law_words("power", fit)
    'power law, exponent 0.41 [0.38, 0.44]'
    """
    from memspan.decay.laws import LAWS

    shape = LAWS[name].shape if name in LAWS else ()
    values = [f"{key} {with_interval(fit.parameters[key], fit.intervals.get(key))}" for key in shape]
    return ", ".join([law_name(name), *values])


def span_words(curve: Curve, symbols: str) -> str:
    """The span as a clause; `symbols` is how they were read.

    The span is a detection limit, so a span that ends at the largest lag is only a lower bound.
    """
    lag = curve.span.lag
    if curve.span.censored:
        return f"dependence visible to at least {lag:,} {symbols_word(symbols, lag)}, the largest lag measured"
    if lag > 0:
        return f"dependence visible to {interval_words(curve.span)} {symbols_word(symbols, lag)}"
    apart = int(curve.significant.sum())
    if apart:
        lags = "one longer lag is" if apart == 1 else f"{apart:,} longer lags are"
        return f"no dependence visible at the shortest lags, but {lags} above the floor"
    return "no dependence visible"


def memory_words(curve: Curve, symbols: str, *, bits: bool = False) -> str:
    """The reach and the span; a reach at undersampled lags is a lower bound."""
    span, reach = span_words(curve, symbols), curve.reach
    if not curve.span.lag:
        return span
    level = _level(curve, bits)
    if reach.lag <= 0 and not reach.censored:
        return f"below {level} at every lag; {span}"
    nearest = int(np.argmin(np.abs(curve.lags - reach.lag)))
    lower_bound = reach.censored or bool(curve.undersampled[nearest])
    interval = None if lower_bound else reach.interval
    lag = with_interval(reach.lag, interval) if interval else trimmed(reach.lag)
    return f"reach {'at least ' if lower_bound else ''}{lag} {symbols_word(symbols, reach.lag)} at {level}; {span}"


def interval_words(span: Span) -> str:
    """The span's lag, with its 95 % interval where it has one.

    >>> interval_words(Span(464, False, (316, 681))), interval_words(Span(1464, False))
    ('464 [316, 681]', '1,464')
    """
    return f"{span.lag:,}" + (f" [{span.interval[0]:,}, {span.interval[1]:,}]" if span.interval else "")


def span_value(curve: Curve, symbols: str) -> str:
    """The span as a table shows it."""
    span = curve.span
    lag = f"{interval_words(span)} {symbols_word(symbols, span.lag)}"
    if span.censored:
        return f"at least {lag}, the largest lag measured"
    return lag if span.lag else "none visible"


def caution(curve: Curve, symbols: str) -> str:
    """The caveat of every span: it is a detection limit at this amount of data."""
    return f"a detection limit with {count(curve.length)} {symbols_word(symbols)}; more data may show more"


def reach_words(curve: Curve, symbols: str, *, bits: bool = False) -> str:
    """The lag where the corrected information falls below the level, with its interval."""
    reach, level = curve.reach, _level(curve, bits)
    if reach.censored:
        why = "the largest lag measured" if reach.lag >= curve.lags[-1] else "as far as these data can tell"
        return f"at least {trimmed(reach.lag)} {symbols_word(symbols, reach.lag)} at {level}, {why}"
    if reach.lag <= 0:
        above = curve.significant & (curve.corrected >= reach.level)
        if above.any():
            return f"none from the shortest lags on; above {level} at lag {int(curve.lags[above][0]):,}"
        return f"none: the corrected information is never above {level}"
    return f"{with_interval(reach.lag, reach.interval)} {symbols_word(symbols)} at {level}"


def _level(curve: Curve, bits: bool) -> str:
    unit, scale = unit_of(bits)
    return f"{trimmed(curve.reach.level * scale)} {unit}"


def law_sentence(measurement: Measurement, *, bits: bool = False) -> str:
    """The period, the best law if it fits, the local exponents if none does, or why there is no law."""
    decay = measurement.decay
    if measurement.period is not None:
        return period_words(measurement.period, measurement.curve, bits=bits)
    if decay is not None and decay.laws:
        if decay.fits and measurement.curve.one_document:
            return "one document of this length cannot determine a law"
        if decay.fits:
            return law_words(decay.best, decay[decay.best])
        if not decay[decay.best].decays:
            return f"no decay between lags {decay.lags[0]:,} and {decay.lags[-1]:,}"
        local = ", ".join(f"{number(one.exponent, 2)} at lags {range_words(one)}" for one in decay.local_exponents)
        return f"no simple law fits; local exponent {local}" if local else "no simple law fits"
    above = int(measurement.curve.significant.sum())
    return f"no law: {above:,} {'lag' if above == 1 else 'lags'} above the floor"


def period_words(period: Period, curve: Curve, *, bits: bool = False) -> str:
    """A period and its effect on the information."""
    unit, scale = unit_of(bits)
    start = f"{'periodic with ' if period.exact else ''}period {period.length:,}"
    if not period.contrast:
        return f"{start}: I = {number(scale * float(curve.corrected.mean()))} {unit} at every lag"
    contrast = number(scale * period.contrast, 2)
    if period.exact:
        return f"{start}: I = {number(scale * curve.entropy)} {unit} at multiples, {contrast} less at other lags"
    return f"{start}: I is {contrast} {unit} higher at multiples"


def range_words(local: LocalExponent) -> str:
    """The lags of a local exponent.

    >>> range_words(LocalExponent(100, 1000, 0.4, (0.3, 0.5)))
    '100-1,000'
    """
    return f"{local.first:,}-{local.last:,}"


def end_rows(curve: Curve, *, bits: bool = False) -> tuple[Row, ...]:
    """The corrected information at the first and the last lag."""
    unit, scale = unit_of(bits)
    ends = [0, -1] if curve.lags.size > 1 else [0] if curve.lags.size else []
    return tuple(
        (
            f"information at lag {curve.lags[i]:,}",
            f"{with_error(curve.corrected[i] * scale, curve.error[i] * scale)} {unit}",
            "Corrected: the estimate minus the noise floor, ± its standard error.",
        )
        for i in ends
    )


def law_table(decay: DecayFit | None, symbols: str, *, bits: bool = False) -> TextTable:
    """Every law with its parameters, by decreasing weight; no rows where no law was fitted."""
    header = ("law", "parameters", "weight", "fits")
    if decay is None:
        return TextTable("", header, ())
    ordered = sorted(decay.laws.items(), key=lambda item: -item[1].weight)
    rows = tuple(
        (law_name(name), _parameters(name, fit, symbols, bits), share(fit.weight), "yes" if fit.fits else "no")
        for name, fit in ordered
    )
    caption = (
        f"Laws fitted to {decay.lags.size:,} significant lags, with 95 % intervals in brackets. AICc weights say which law "
        "the data prefer; they are a guide, not a proof. The intervals of a law that does not fit are widened by its misfit."
    )
    return TextTable(caption, header, rows)


def _parameters(law: str, fit: LawFit, symbols: str, bits: bool) -> str:
    """Every parameter with its interval and unit; no units for a law that this version does not know."""
    from memspan.decay.laws import INFORMATION, LAWS, SYMBOLS

    unit, scale = unit_of(bits)
    words = {INFORMATION: f" {unit}", SYMBOLS: f" {symbols_word(symbols)}"}
    parts = []
    for name, value in fit.parameters.items():
        kind = LAWS[law].units[name] if law in LAWS else ""
        interval, factor = fit.intervals.get(name), scale if kind == INFORMATION else 1.0
        if interval is not None:
            interval = interval[0] * factor, interval[1] * factor
        parts.append(f"{name.replace('_', ' ')} {with_interval(value * factor, interval)}{words.get(kind, '')}")
    return "; ".join(parts)


def short(name: str, width: int = 48) -> str:
    """A name that fits a heading, with its middle left out if necessary.

    >>> short("a-very-long-name-of-a-file.txt", 15)
    'a-very-…ile.txt'
    """
    if len(name) <= width:
        return name
    half = (width - 1) // 2
    return f"{name[: width - 1 - half]}…{name[-half:]}"
