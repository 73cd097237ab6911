"""A comparison: which sources differ, at which lags, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, final

from memspan.presentation.curve import reach_words, span_value, symbols_word
from memspan.presentation.measurement import excerpts, read_as
from memspan.presentation.numbers import count, duration, lag_list, note_in_unit, number, probability
from memspan.presentation.page.section import Listing, Row, TextTable
from memspan.presentation.presenter import Block, Presenter
from memspan.results import Comparison, PairVerdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

_VERDICTS = {
    "different": "The curves differ by more than chance explains, corrected for the number of lags.",
    "alike": "No difference beyond chance, with enough data to have seen one.",
    "undecided": "No clear difference, but too few data to call them alike.",
}


@final
class ComparisonPresenter(Presenter[Comparison]):
    """Several sources at equal size."""

    result_type = Comparison

    def page_title(self) -> str:
        return f"{', '.join(self.result.sources)}: do they remember alike?"

    def title(self) -> str:
        return f"Comparison of {', '.join(self.result.sources)}"

    def sentence(self) -> str:
        verdicts = "; ".join(pair_words(pair, self.result) for pair in self.result.pairs)
        return f"{verdicts or 'one source, nothing to compare'}; {count(self.result.size)} symbols of each"

    def explanation(self) -> tuple[str, ...]:
        return (
            f"All sources were measured at {self.result.size:,} symbols, because estimates of information depend on the "
            "amount of data: a longer source would show dependence at larger lags even if they were alike.",
            "Each verdict has a p-value: the probability that two sources of the same kind would look at least this "
            "different at some lag. Spans are detection limits at this amount of data; more data may show more.",
        )

    def rows(self) -> tuple[Row, ...]:
        pairs = [
            (f"{pair.a} and {pair.b}", f"{pair.verdict} ({probability(pair.p_value)})", self._meaning(pair))
            for pair in self.result.pairs
        ]
        return (
            *pairs,
            ("size", f"{count(self.result.size)} symbols", "The amount of each source that was used."),
            ("time", duration(self.result.seconds), "Time of the comparison."),
        )

    def _meaning(self, pair: PairVerdict) -> str:
        where = _lags(pair)
        parts = (
            _VERDICTS.get(pair.verdict, ""),
            f"At lags {where}." if where else "",
            note_in_unit(pair.explanation, bits=self.bits),
        )
        return " ".join(part for part in parts if part)

    def details(self) -> tuple[TextTable, ...]:
        rows = tuple(
            (
                name,
                span_value(source.curve, source.symbols),
                reach_words(source.curve, source.symbols, bits=self.bits),
                f"{number(source.curve.entropy * self.scale)} {self.unit}",
            )
            for name, source in self.result.sources.items()
        )
        return (TextTable("Each source at this size", ("source", "span", "reach", "entropy"), rows),)

    def listings(self) -> tuple[Listing, ...]:
        return excerpts({f"Beginning of {name}": source for name, source in self.result.sources.items()})

    def notes(self) -> tuple[str, ...]:
        """Notes of the sources; a shared one appears once, with their names."""
        owners: dict[str, list[str]] = {}
        for name, source in self.result.sources.items():
            for note in dict.fromkeys((*source.curve.notes, *source.notes)):
                owners.setdefault(note, []).append(name)
        notes = (f"{', '.join(names)}: {note}" for note, names in owners.items())
        return tuple(note_in_unit(note, bits=self.bits) for note in notes)

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.comparison import draw_curves

        draw_curves(ax, self.result.sources, bits=self.bits, style=self.style)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.comparison import comparison_figure

        return {"comparison": comparison_figure(self.result, bits=self.bits)}

    def panels(self) -> Mapping[str, Notebook]:
        return {"comparison": self.result}

    def captions(self) -> dict[str, str]:
        return {
            "comparison": "Top: corrected mutual information of each source; dotted, the noise floor that was subtracted. "
            "Below: the difference of each pair. A gray band that misses zero at a few lags can be chance; the marked lags "
            "are those where it is not."
        }

    def blocks(self) -> Iterator[Block]:
        pairs = tuple(
            (
                f"{pair.a} and {pair.b}",
                pair.verdict,
                probability(pair.p_value),
                _lags(pair),
                note_in_unit(pair.explanation, bits=self.bits),
            )
            for pair in self.result.pairs
        )
        yield TextTable("", ("pair", "verdict", "p-value", "lags that differ", "why"), pairs)
        rows = tuple(
            (
                name,
                span_value(source.curve, source.symbols),
                reach_words(source.curve, source.symbols, bits=self.bits),
                f"{number(self.scale * float(source.curve.corrected[0]))} {self.unit}",
                read_as(source),
            )
            for name, source in self.result.sources.items()
        )
        first = next(iter(self.result.sources.values())).curve.lags[0]
        yield TextTable("", ("source", "span", "reach", f"information at lag {first}", "read as"), rows)
        yield f"Spans are detection limits with {self.result.size:,} symbols of each source."


def pair_words(pair: PairVerdict, comparison: Comparison) -> str:
    """The verdict of one pair, with the lags that differ and the p-value."""
    names, chance = f"{pair.a} and {pair.b}", probability(pair.p_value)
    if pair.verdict == "different":
        where = _lags(pair)
        word = symbols_word(comparison.sources[pair.a].symbols) if pair.a in comparison.sources else "symbols"
        return f"{names} differ at lags of {where} {word} ({chance})" if where else f"{names} differ ({chance})"
    if pair.verdict == "alike":
        return f"{names} are alike ({chance})"
    return f"{names}: {pair.verdict} ({chance})"


def _lags(pair: PairVerdict) -> str:
    return lag_list(pair.different_lags, tuple(pair.lags.tolist()))
