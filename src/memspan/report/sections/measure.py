"""The section of `measure`: how far dependence is visible, which law it follows, what every number means."""

from __future__ import annotations

from memspan.figures.words import (
    caution,
    law_name,
    law_sentence,
    period_words,
    reach_words,
    span_value,
    symbols_word,
)
from memspan.report.illustration import illustrations
from memspan.report.numbers import duration, number, remark_in, share, trimmed, unit_of, with_error
from memspan.report.section import MEANING, Listing, Row, Section, Table
from memspan.report.sentences import sentence
from memspan.report.tables import curve_tables, law_tables, local_tables
from memspan.results import Curve, Measurement, Period
from memspan.results.curve import ONE_DOCUMENT
from memspan.results.decay import LACK_OF_FIT, LARGEST_MISFIT

_NULLS = {
    "blocks": "permuted blocks of the data",
    "documents": "documents paired at random",
    "shifts": "the sequence laid against itself, shifted far",
    "independent": "shuffled symbols",
}
_LAWS = {
    "exponential": "The memory has one length: every step costs the same factor of information.",
    "power": "The memory has no length of its own: twice the distance always costs the same factor.",
    "exponential+constant": "A short memory, and something that never fades, such as a mix of documents.",
    "cutoff-power": "A power law that ends: beyond the length it falls much faster.",
    "exponential+power": "A short memory and, below it, one without a length of its own.",
    "stretched": "Between an exponential and a power law.",
}


def section(result: Measurement, *, bits: bool = False) -> Section:
    """One sequence measured."""
    return Section(
        title=result.name,
        answer=sentence(result, bits=bits),
        explanation=_explanation(result, bits),
        table=Table("What was found", MEANING, _rows(result, bits), stacked=True),
        figures=illustrations(
            result, {"information": _caption(result), "residuals": _residual_caption(result)}, bits=bits
        ),
        listings=excerpts({"How what was written begins": result}),
        details=(
            *local_tables(result),
            *law_tables(result.decay, result.symbols, bits=bits),
            *curve_tables(result.curve, bits=bits),
        ),
        notes=tuple(
            remark_in(note, bits=bits) for note in dict.fromkeys((*result.curve.notes, *result.notes))
        ),
    )


def excerpts(measured: dict[str, Measurement]) -> tuple[Listing, ...]:
    """How texts begin, under a heading each, so that a reader sees what the numbers are about."""
    return tuple(Listing(caption, part.excerpt) for caption, part in measured.items() if part.excerpt)


def _explanation(result: Measurement, bits: bool) -> tuple[str, ...]:
    word, unit = symbols_word(result.symbols), unit_of(bits)[0]
    return (
        "Mutual information says how much one symbol tells about another that stands a given number of "
        f"{word} later. It is 0 if they are independent, and it is given in {unit} (1 nat is 1.44 bits).",
        f"The span is how far such dependence is visible. It is {caution(result.curve, result.symbols)}. "
        "The reach is where the information falls below a fixed level; it does not depend on the amount of "
        "data, so use it to set sequences of different size side by side.",
        *_law_explanation(result),
        *_influence_explanation(result),
    )


def _law_explanation(result: Measurement) -> tuple[str, ...]:
    """Why there is a period or a table of local exponents where a reader expects a law."""
    if result.period is not None:
        return (
            "The sequence has a period: symbols that stand a multiple of "
            f"{result.period.length:,} apart share more, or repeat. A law of decay is a smooth curve and cannot describe "
            "that, so none is given as the answer. To see the period, measure every lag (--lags).",
        )
    if result.decay is None or result.decay.fits:
        return ()
    if not result.decay[result.decay.best].decays:
        return (
            "The information does not fall measurably over these lags, so there is no law of decay. A constant that no lag "
            "removes comes from documents or parts of different composition, or from noisy repetition.",
        )
    return (
        f"No simple law fits: if the best of the six laws held, residuals as large as these would be found less than "
        f"{100 * LACK_OF_FIT:.0f} times in 100, or in some range of lags they are more than {LARGEST_MISFIT:.0f} standard "
        "errors (root mean square). The curve has several scales, or another shape. "
        "The local exponent is the slope of the curve on logarithmic axes within a range of lags: constant for a power law, "
        "rising for an exponential, falling where a slow decay follows a fast one.",
    )


def _influence_explanation(result: Measurement) -> tuple[str, ...]:
    if result.influence is None:
        return ()
    return (
        "One stretch carries most of the information at some lags (see the table). The curve is then that of the stretch, "
        "such as a table of contents, a repeated licence or a sequencing artifact, and not of the sequence as a whole.",
    )


def _caption(result: Measurement) -> str:
    dots = (
        "Blue is the information left when the floor is taken off, hollow or thin where chance could give it."
    )
    drawn = result.decay is not None and result.period is None
    laws = " Fitted laws are drawn over the lags they were fitted to." if drawn else ""
    return (
        f"{dots}{laws} Both panels show the same numbers: left a power law is straight, right an exponential."
    )


def _residual_caption(result: Measurement) -> str:
    """Under the residuals of the best law."""
    verdict = (
        "They scatter within the band, so the law fits."
        if result.law_fits
        else "Runs on one side of zero, or points far outside the band, show where the law fails."
    )
    return (
        "What is left when the best law is subtracted, in standard errors. If the law holds, 19 of 20 points lie within the "
        f"grey band of ± 2; neighbors move together because lags share the data. {verdict}"
    )


def _rows(result: Measurement, bits: bool) -> tuple[Row, ...]:
    return (*_memory_rows(result, bits), *_floor_rows(result.curve, bits), *_data_rows(result, bits))


def _memory_rows(result: Measurement, bits: bool) -> tuple[Row, ...]:
    curve = result.curve
    span = f"The last distance with visible dependence: {caution(curve, result.symbols)}."
    return (
        ("span", span_value(curve, result.symbols), span),
        ("reach", reach_words(curve, result.symbols, bits=bits), _reach_meaning(curve, bits)),
        _law_row(result, bits),
        *_influence_rows(result),
        (
            "significant lags",
            f"{int(curve.significant.sum()):,} of {curve.lags.size:,}",
            "Distances where chance alone would give as much information less than once in 1,000 times.",
        ),
    )


def _reach_meaning(curve: Curve, bits: bool) -> str:
    unit, factor = unit_of(bits)
    meaning = f"Where the corrected information falls below {trimmed(curve.reach.level * factor)} {unit}"
    interval = "; in brackets its 95 % interval" if curve.reach.interval and not curve.reach.censored else ""
    return f"{meaning}{interval}. More data make it more exact, not longer."


def _law_row(result: Measurement, bits: bool) -> Row:
    if result.period is not None:
        return (
            "period",
            period_words(result.period, result.curve, bits=bits),
            _period_meaning(result.period, bits),
        )
    if result.decay is None:
        return "law", "none", "Too few lags are significant to tell how the information falls."
    best = result.decay.best
    if not result.law_fits:
        fit = result.decay[best]
        chance = "" if fit.p_value is None else f", p = {number(fit.p_value, 1)}"
        meaning = f"The best of six, {law_name(best)}, has residuals of {number(fit.misfit, 2)} standard errors{chance}."
        if result.decay.fits and result.curve.one_document:
            meaning = ONE_DOCUMENT
        return "law", law_sentence(result), meaning
    weight = f"Weight {share(result.decay[best].weight)} among the laws tried: a guide."
    return "best law", law_name(best), f"{_LAWS.get(best, '')} {weight}".strip()


def _period_meaning(period: Period, bits: bool) -> str:
    if period.exact:
        return "The whole sequence repeats itself without an error."
    if not period.contrast:
        return "Symbols recur at multiples of the period, with noise; the information itself is the same at every lag."
    unit, factor = unit_of(bits)
    low, high = (factor * bound for bound in period.interval)
    return (
        f"Averaged over the multiples up to lag {period.last:,}, next to the lags on either side; 95 % interval "
        f"{number(low, 2)} to {number(high, 2)} {unit}, p = {number(period.p_value, 1)} corrected for all periods tried."
    )


def _influence_rows(result: Measurement) -> tuple[Row, ...]:
    found = result.influence
    if found is None:
        return ()
    document = "" if found.document is None else f" (document {found.document:,})"
    where = f"about {symbols_word(result.symbols)} {found.start:,} to {found.stop - 1:,}{document}"
    meaning = (
        f"Without this stretch, {found.blocks_words}, {share(found.share)} of the information at lags "
        f"{found.first_lag:,} to {found.last_lag:,} is gone."
    )
    return (("influential stretch", where, meaning),)


def _floor_rows(curve: Curve, bits: bool) -> tuple[Row, ...]:
    """The floor, and the corrected information at both ends of the curve."""
    if not curve.lags.size:
        return ()
    first, last = int(curve.lags[0]), int(curve.lags[-1])
    unit, factor = unit_of(bits)
    ends = tuple(
        (
            f"information at lag {curve.lags[i]:,}",
            f"{with_error(curve.corrected[i] * factor, curve.error[i] * factor)} {unit}",
            "Corrected: the estimate with the floor taken off, ± its standard error.",
        )
        for i in ([0] if first == last else [0, -1])
    )
    null = _NULLS.get(curve.null, curve.null)
    meaning = (
        f"What the estimate shows where there is nothing to see, found with {null}, ± its standard deviation."
    )
    return (
        *ends,
        (
            f"floor at lag {last:,}",
            f"{with_error(curve.floor[-1] * factor, curve.floor_sd[-1] * factor)} {unit}",
            meaning,
        ),
    )


def _data_rows(result: Measurement, bits: bool) -> tuple[Row, ...]:
    curve, more = result.curve, len(result.paths) - 5
    documents = "1 document" if curve.documents == 1 else f"{curve.documents:,} documents"
    length = f"{curve.length:,} {symbols_word(result.symbols, curve.length)} in {documents}"
    paths = ", ".join(result.paths[:5]) + (f" and {more:,} more" if more > 0 else "")
    column = "" if result.column is None else f", column {result.column}"
    unit, factor = unit_of(bits)
    entropy = "How uncertain one symbol is on its own; the information cannot be more."
    return (
        ("entropy", f"{number(curve.entropy * factor)} {unit}", entropy),
        ("data", f"{length}, {curve.alphabet:,} different", f"Read from {paths}{column}." if paths else ""),
        ("estimator", curve.estimator, "The formula that turns counts of pairs into information."),
        ("time", duration(result.seconds), "How long the measurement took."),
    )
