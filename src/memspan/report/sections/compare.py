"""The section of `compare`: which sources differ, where, and how sure that is."""

from __future__ import annotations

from memspan.figures.words import reach_words, span_value
from memspan.report.illustration import illustrations
from memspan.report.numbers import count, duration, lag_list, number, probability, remark_in, unit_of
from memspan.report.section import MEANING, Row, Section, Table
from memspan.report.sections.measure import excerpts
from memspan.report.sentences import sentence
from memspan.results import Comparison, PairVerdict

_VERDICTS = {
    "different": "The curves differ by more than chance explains, the number of lags allowed for.",
    "alike": "No difference that chance would not explain, and enough data to have seen one.",
    "undecided": "No clear difference, but too few data to call them alike.",
}


def section(result: Comparison, *, bits: bool = False) -> Section:
    """Several sources at equal size."""
    names = ", ".join(result.sources)
    return Section(
        title=f"Comparison of {names}",
        answer=sentence(result),
        explanation=_explanation(result),
        table=Table("What was found", MEANING, _rows(result, bits), stacked=True),
        figures=illustrations(result, {"comparison": _CAPTION}, bits=bits),
        listings=excerpts({f"How {name} begins": source for name, source in result.sources.items()}),
        details=(_sources(result, bits),),
        notes=tuple(remark_in(note, bits=bits) for note in _notes(result)),
    )


_CAPTION = (
    "Above: what one symbol tells about a later one in each source, with the floor taken off, and dotted that floor: "
    "what the estimate shows where there is nothing to see. Below: the difference of each pair. A grey band that misses "
    "zero here and there can be chance; the marked distances are those where it is not."
)


def _explanation(result: Comparison) -> tuple[str, ...]:
    return (
        f"All sources were measured at {result.size:,} symbols, because estimates of information depend on "
        "the amount of data: a longer one would show dependence farther out even if they were alike.",
        "A verdict comes with p, the probability that two sources of the same kind would look at least this "
        "different at some lag. Spans are detection limits at this amount of data; more data may show more.",
    )


def _rows(result: Comparison, bits: bool) -> tuple[Row, ...]:
    pairs = [
        (f"{p.a} and {p.b}", f"{p.verdict} ({probability(p.p_value)})", _meaning(p, bits))
        for p in result.pairs
    ]
    size = ("size", f"{count(result.size)} symbols", "The amount of each source that was used.")
    return (*pairs, size, ("time", duration(result.seconds), "How long the comparison took."))


def _meaning(pair: PairVerdict, bits: bool) -> str:
    where = lag_list(pair.different_lags, tuple(pair.lags.tolist()))
    parts = (
        _VERDICTS.get(pair.verdict, ""),
        f"Where: at distance {where}." if where else "",
        remark_in(pair.explanation, bits=bits),
    )
    return " ".join(part for part in parts if part)


def _sources(result: Comparison, bits: bool) -> Table:
    unit, factor = unit_of(bits)
    rows = tuple(
        (
            name,
            span_value(source.curve, source.symbols),
            reach_words(source.curve, source.symbols, bits=bits),
            f"{number(source.curve.entropy * factor)} {unit}",
        )
        for name, source in result.sources.items()
    )
    return Table("Each source at this size", ("source", "span", "reach", "entropy"), rows)


def _notes(result: Comparison) -> tuple[str, ...]:
    """Notes of the sources; one that several share is told once, with their names."""
    owners: dict[str, list[str]] = {}
    for name, source in result.sources.items():
        for note in dict.fromkeys((*source.curve.notes, *source.notes)):
            owners.setdefault(note, []).append(name)
    return tuple(f"{', '.join(names)}: {note}" for note, names in owners.items())
