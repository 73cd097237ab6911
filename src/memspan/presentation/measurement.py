"""A measurement: span, reach and law of one sequence, and what each number means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, final

from memspan.decay.laws import LAWS
from memspan.presentation.curve import (
    MOST_ROWS,
    caution,
    end_rows,
    law_name,
    law_sentence,
    law_table,
    law_words,
    memory_words,
    period_words,
    range_words,
    reach_words,
    span_value,
    span_words,
    symbols_word,
)
from memspan.presentation.numbers import (
    count,
    duration,
    note_in_unit,
    number,
    round_positions,
    share,
    trimmed,
    with_error,
    with_interval,
)
from memspan.presentation.page.section import Listing, Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.results import Curve, DecayFit, Measurement, Period
from memspan.results.curve import ONE_DOCUMENT
from memspan.results.decay import LACK_OF_FIT, LARGEST_MISFIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

_NULLS = {
    "blocks": "permuted blocks of the data",
    "documents": "documents paired at random",
    "shifts": "the sequence shifted far against itself",
    "independent": "shuffled symbols",
}


@final
class MeasurementPresenter(Presenter[Measurement]):
    """One measured sequence."""

    result_type = Measurement

    def page_title(self) -> str:
        return f"{self.result.name}: how far back does it remember?"

    def title(self) -> str:
        return self.result.name

    def sentence(self) -> str:
        curve = self.result.curve
        memory = memory_words(curve, self.result.symbols, bits=self.bits)
        found = f"{self.result.name}: {memory} ({count(curve.length)} symbols)"
        nothing = self.result.decay is None and not curve.significant.any()
        return found if nothing else f"{found}; {law_sentence(self.result, bits=self.bits)}"

    def notes(self) -> tuple[str, ...]:
        notes = dict.fromkeys((*self.result.curve.notes, *self.result.notes))
        return tuple(note_in_unit(note, bits=self.bits) for note in notes)

    def explanation(self) -> tuple[str, ...]:
        word = symbols_word(self.result.symbols)
        return (
            f"Mutual information I(τ) says how much one symbol tells about another one τ {word} later. It is 0 if they are "
            f"independent, and it is given in {self.unit} (1 nat is 1.44 bits).",
            f"The span is the largest lag with visible dependence. It is {caution(self.result.curve, self.result.symbols)}. "
            "The reach is the lag where the information falls below a fixed level; it does not depend on the amount of "
            "data, so use it to compare sequences of different size.",
            *self._law_explanation(),
            *self._influence_explanation(),
        )

    def _law_explanation(self) -> tuple[str, ...]:
        """Why there is a period or a table of local exponents instead of a law."""
        decay, period = self.result.decay, self.result.period
        if period is not None:
            return (
                "The sequence has a period: symbols that are a multiple of "
                f"{period.length:,} apart share more information, or repeat. A law of decay is a smooth curve and cannot "
                "describe that, so no law is given. To see the period, measure every lag (--lags).",
            )
        if decay is None or decay.fits:
            return ()
        if not decay[decay.best].decays:
            return (
                "The information does not fall measurably over these lags, so there is no law of decay. A constant part "
                "comes from documents or parts of different composition, or from noisy repetition.",
            )
        return (
            "No simple law fits: if the best of the six laws held, residuals as large as these would occur less than "
            f"{100 * LACK_OF_FIT:.0f} times in 100, or in some range of lags they exceed {LARGEST_MISFIT:.0f} standard "
            "errors (root mean square). The curve has several scales, or another shape. "
            "The local exponent is the slope of the curve on logarithmic axes within a range of lags: constant for a power "
            "law, rising for an exponential, falling where a slow decay follows a fast one.",
        )

    def _influence_explanation(self) -> tuple[str, ...]:
        if self.result.influence is None:
            return ()
        return (
            "One stretch carries most of the information at some lags (see the table). The curve then describes that "
            "stretch, such as a table of contents, a repeated license or a sequencing artifact, and not the whole sequence.",
        )

    def rows(self) -> tuple[Row, ...]:
        return (*self._memory_rows(), *self._floor_rows(), *self._data_rows())

    def _memory_rows(self) -> tuple[Row, ...]:
        curve, symbols = self.result.curve, self.result.symbols
        return (
            (
                "span",
                span_value(curve, symbols),
                f"The largest lag with visible dependence: {caution(curve, symbols)}.",
            ),
            ("reach", reach_words(curve, symbols, bits=self.bits), self._reach_meaning()),
            self._law_row(),
            *self._influence_rows(),
            (
                "significant lags",
                f"{int(curve.significant.sum()):,} of {curve.lags.size:,}",
                "Lags where chance alone would give as much information less than once in 1,000 times.",
            ),
        )

    def _reach_meaning(self) -> str:
        reach = self.result.curve.reach
        meaning = f"Where the corrected information falls below {trimmed(reach.level * self.scale)} {self.unit}"
        interval = "; in brackets its 95 % interval" if reach.interval and not reach.censored else ""
        return f"{meaning}{interval}. More data make it more exact, not longer."

    def _law_row(self) -> Row:
        result, decay = self.result, self.result.decay
        if result.period is not None:
            words = period_words(result.period, result.curve, bits=self.bits)
            return "period", words, self._period_meaning(result.period)
        if decay is None:
            return "law", "none", "Too few lags are significant to determine how the information falls."
        if not result.law_fits:
            if decay.fits and result.curve.one_document:
                return "law", law_sentence(result), ONE_DOCUMENT
            fit = decay[decay.best]
            chance = "" if fit.p_value is None else f", p = {number(fit.p_value, 1)}"
            residuals = f"has residuals of {number(fit.misfit, 2)} standard errors{chance}"
            return "law", law_sentence(result), f"The best of {len(decay.laws)}, {law_name(decay.best)}, {residuals}."
        weight = f"AICc weight {share(decay[decay.best].weight)} among the laws tried: a guide."
        description = LAWS[decay.best].description if decay.best in LAWS else ""
        return "best law", law_name(decay.best), f"{description} {weight}".strip()

    def _period_meaning(self, period: Period) -> str:
        if period.exact:
            return "The whole sequence repeats itself without an error."
        if not period.contrast:
            return "Symbols recur at multiples of the period, with noise; the information is the same at every lag."
        low, high = (self.scale * bound for bound in period.interval)
        return (
            f"Averaged over the multiples up to lag {period.last:,}, next to the lags on either side; 95 % interval "
            f"{number(low, 2)} to {number(high, 2)} {self.unit}, p = {number(period.p_value, 1)} corrected for all periods "
            "tried."
        )

    def _influence_rows(self) -> tuple[Row, ...]:
        found = self.result.influence
        if found is None:
            return ()
        document = "" if found.document is None else f" (document {found.document:,})"
        where = f"about {symbols_word(self.result.symbols)} {found.start:,} to {found.stop - 1:,}{document}"
        meaning = (
            f"Without this stretch, {found.blocks_words}, {share(found.share)} of the information at lags "
            f"{found.first_lag:,} to {found.last_lag:,} is gone."
        )
        return (("influential stretch", where, meaning),)

    def _floor_rows(self) -> tuple[Row, ...]:
        """The corrected information at both ends of the curve, and the noise floor."""
        curve = self.result.curve
        if not curve.lags.size:
            return ()
        return (
            *end_rows(curve, bits=self.bits),
            (
                f"floor at lag {int(curve.lags[-1]):,}",
                f"{with_error(curve.floor[-1] * self.scale, curve.floor_sd[-1] * self.scale)} {self.unit}",
                "The estimate in the absence of dependence (surrogate null), from "
                f"{_NULLS.get(curve.null, curve.null)}, ± its standard deviation.",
            ),
        )

    def _data_rows(self) -> tuple[Row, ...]:
        result, curve, more = self.result, self.result.curve, len(self.result.paths) - 5
        length = f"{curve.length:,} {symbols_word(result.symbols, curve.length)} in {_documents(result)}"
        paths = ", ".join(result.paths[:5]) + (f" and {more:,} more" if more > 0 else "")
        column = "" if result.column is None else f", column {result.column}"
        entropy = "The uncertainty of one symbol on its own, an upper bound of the information."
        return (
            ("entropy", f"{number(curve.entropy * self.scale)} {self.unit}", entropy),
            ("data", f"{length}, {curve.alphabet:,} different", f"Read from {paths}{column}." if paths else ""),
            ("estimator", curve.estimator, "The formula that turns pair counts into information."),
            ("time", duration(result.seconds), "Time of the measurement."),
        )

    def details(self) -> tuple[TextTable, ...]:
        tables = (self._local_table(), law_table(self.result.decay, self.result.symbols, bits=self.bits))
        return tuple(table for table in (*tables, self._curve_table()) if table.rows)

    def _local_table(self) -> TextTable:
        """The local exponent by range of lags, where no law gives it."""
        decay = self.result.decay
        local = () if decay is None or self.result.law_fits else decay.local_exponents
        caption = "Local exponent: a power law fitted to each range of lags alone, with 95 % intervals in brackets"
        rows = tuple((range_words(one), with_interval(one.exponent, one.interval)) for one in local)
        return TextTable(caption, ("lags", "exponent"), rows)

    def _curve_table(self) -> TextTable:
        """One row per lag."""
        curve, scale = self.result.curve, self.scale
        rows = tuple(
            (
                f"{curve.lags[i]:,}",
                number(curve.information[i] * scale),
                number(curve.floor[i] * scale),
                number(curve.corrected[i] * scale),
                number(curve.error[i] * scale, 2),
                count(int(curve.pairs[i])),
                "yes" if curve.significant[i] else "no",
            )
            for i in range(curve.lags.size if curve.lags.size <= MOST_ROWS else 0)
        )
        header = ("lag", "estimate", "floor", "corrected", "± error", "pairs", "significant")
        return TextTable(f"Values of the figure, in {self.unit}", header, rows, folded=True)

    def listings(self) -> tuple[Listing, ...]:
        return excerpts({"Beginning of the generated text": self.result})

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.curve import draw_measurement

        draw_measurement(ax, self.result, bits=self.bits, style=self.style)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.curve import has_residuals, information_figure, residual_figure

        residuals = {"residuals": residual_figure(self.result)} if has_residuals(self.result) else {}
        return {"information": information_figure(self.result, bits=self.bits), **residuals}

    def panels(self) -> Mapping[str, Notebook]:
        return {"information": self.result}

    def captions(self) -> dict[str, str]:
        laws = " Fitted laws are drawn over the lags they were fitted to."
        verdict = (
            "They scatter within the band, so the law fits."
            if self.result.law_fits
            else "Runs on one side of zero, or points far outside the band, show where the law fails."
        )
        return {
            "information": "Blue is the corrected information, without the noise floor; hollow or thin where chance could "
            f"give it.{laws if self.result.decay is not None and self.result.period is None else ''} Both panels show the "
            "same numbers: a power law is straight on the left, an exponential on the right.",
            "residuals": "Residuals of the best law, in standard errors. If the law holds, 19 of 20 points lie within the "
            f"gray band of ± 2; neighbors move together because lags share the data. {verdict}",
        }

    def blocks(self) -> Iterator[Block]:
        result, curve = self.result, self.result.curve
        yield facts(
            [
                ("span", f"{span_value(curve, result.symbols)} ({caution(curve, result.symbols)})"),
                ("reach", reach_words(curve, result.symbols, bits=self.bits)),
                *self._law_facts(),
                (
                    "read as",
                    f"{read_as(result)}: {curve.length:,} in {_documents(result)}, {curve.alphabet:,} different",
                ),
                ("estimator", f"{curve.estimator}, floor from {curve.null}; {duration(result.seconds)}"),
            ]
        )
        yield self._short_curve_table()
        yield from note_lines(self.notes())

    def _law_facts(self) -> list[Row]:
        result, decay = self.result, self.result.decay
        if result.period is not None:
            return [("period", period_words(result.period, result.curve, bits=self.bits))]
        if decay is None:
            return [("law", "none: too few lags are above the floor")]
        if not result.law_fits:
            # The sentence lists the local exponents; here each has a row with its interval.
            undecided = decay.fits or not decay[decay.best].decays
            exponents = (
                f"{with_interval(one.exponent, one.interval)} at lags {range_words(one)}"
                for one in decay.local_exponents
            )
            return [
                ("law", law_sentence(result) if undecided else "no simple law fits"),
                *(("local exponent", text) for text in exponents),
            ]
        best = decay[decay.best]
        ordered = sorted(decay.laws.items(), key=lambda item: -item[1].weight)
        others = [
            f"{law_name(name)} {share(fit.weight)}"
            for name, fit in ordered
            if name != decay.best and fit.weight >= 0.01
        ]
        law = ("law", f"{law_words(decay.best, best)}; weight {share(best.weight)}, a guide")
        return [law, ("also", ", ".join(others))] if others else [law]

    def _short_curve_table(self) -> TextTable:
        curve, scale, unit = self.result.curve, self.scale, self.unit
        rows = tuple(
            (
                f"{curve.lags[i]:,}",
                number(scale * float(curve.information[i])),
                number(scale * float(curve.floor[i])),
                with_error(scale * float(curve.corrected[i]), scale * float(curve.error[i])),
                "yes" if curve.significant[i] else "no",
            )
            for i in round_positions(curve.lags)
        )
        values = (f"information ({unit})", f"floor ({unit})", f"corrected ± error ({unit})")
        return TextTable("", ("lag", *values, "significant"), rows)


@final
class CurvePresenter(Presenter[Curve]):
    """A curve whose data are unknown."""

    result_type = Curve

    def sentence(self) -> str:
        return f"{span_words(self.result, 'symbols')} ({count(self.result.length)} symbols)"

    def rows(self) -> tuple[Row, ...]:
        curve = self.result
        return (
            ("span", span_value(curve, "symbols")),
            ("reach", reach_words(curve, "symbols", bits=self.bits)),
            *((name, value) for name, value, _ in end_rows(curve, bits=self.bits)),
            ("entropy", f"{number(curve.entropy * self.scale)} {self.unit}"),
            ("symbols", f"{curve.length:,} of {curve.alphabet:,} kinds in {curve.documents:,} documents"),
            ("estimator", f"{curve.estimator}, floor from {curve.null}"),
        )

    def table(self) -> TextTable:
        return TextTable("", ("quantity", "value"), self.rows())

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.curve import draw_plain_curve

        draw_plain_curve(ax, self.result, bits=self.bits, style=self.style)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.style import new_figure

        figure = new_figure(7.4, 5.0)
        self.draw(figure.subplots())
        return {"information": figure}

    def captions(self) -> dict[str, str]:
        return {"information": ""}


@final
class DecayPresenter(Presenter[DecayFit]):
    """Laws fitted to a curve whose data are unknown."""

    result_type = DecayFit

    def sentence(self) -> str:
        return law_words(self.result.best, self.result[self.result.best]) if self.result.laws else "no law was fitted"

    def table(self) -> TextTable:
        return law_table(self.result, "symbols", bits=self.bits)


def read_as(result: Measurement) -> str:
    """What one symbol is, with the column of a table."""
    word = symbols_word(result.symbols)
    return word if result.column is None else f"{word} of column {result.column}"


def excerpts(measured: dict[str, Measurement]) -> tuple[Listing, ...]:
    """The beginnings of texts, by caption."""
    return tuple(Listing(caption, part.excerpt) for caption, part in measured.items() if part.excerpt)


def _documents(result: Measurement) -> str:
    return "1 document" if result.curve.documents == 1 else f"{result.curve.documents:,} documents"
