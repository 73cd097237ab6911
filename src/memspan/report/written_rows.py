"""What a network's own texts are worth, in rows and words."""

from __future__ import annotations

from memspan.figures.training_words import loss_words
from memspan.report.numbers import with_interval
from memspan.report.section import MEANING, Row, Table
from memspan.results import Evaluation, GeneratedSegments, ReversePerplexity, SegmentInformation

EXPLANATIONS = {
    "segment_information": "How much a stretch of text tells of one a little later is learnt by a small critic that has "
    "nothing to do with the network: from eight tenths of the pairs, stopped by the next tenth, judged on the last, in "
    "every fold. It is a lower bound, found in the same way for what the network writes and for what it learnt from.",
    "reverse_perplexity": "A fresh language model, the same for all networks, reads only what the network writes and is "
    "then asked for the real text. A network that always says the same, or what nobody says, is a poor teacher, however "
    "sure it is.",
}
"""By the field of the evaluation."""


def written_table(evaluation: Evaluation) -> Table | None:
    """Both measures, where they were asked for."""
    rows: list[Row] = []
    if evaluation.segment_information is not None:
        rows += _segment_rows(evaluation.segment_information)
    if evaluation.reverse_perplexity is not None:
        rows += _reverse_rows(evaluation.task, evaluation.reverse_perplexity)
    return Table("What it writes", MEANING, tuple(rows), stacked=True) if rows else None


def written_words(evaluation: Evaluation) -> str:
    """What the first line says of it, if it was asked for."""
    words = ""
    segments, reverse = evaluation.segment_information, evaluation.reverse_perplexity
    if segments is not None:
        words += f"; its segments tell {_nats(segments.written)} of each other, those of the text {_nats(segments.real)}"
    if reverse is not None:
        words += f"; reverse {loss_words(evaluation.task, reverse.test_loss)}"
    return words


def _segment_rows(found: GeneratedSegments) -> list[Row]:
    what = f"What a segment of {found.length:,} symbols tells of the one {found.gap:,} symbols later"
    return [
        ("segments it writes", _nats(found.written), f"{what}, in {found.symbols:,} symbols that it wrote."),
        ("segments of the text", _nats(found.real), f"{what}, in as much of the training text."),
        (
            "folds",
            f"{len(found.written.folds):,}",
            "Parts of each text; the intervals are of 95 % over them.",
        ),
    ]


def _reverse_rows(task: str, found: ReversePerplexity) -> list[Row]:
    teacher = f"A fresh model of {found.parameter_count:,} parameters that read {found.symbols:,} symbols that it wrote"
    return [
        ("reverse, test", loss_words(task, found.test_loss), f"{teacher}, on the real test text."),
        ("reverse, valid", loss_words(task, found.valid_loss), "The same on the real validation text."),
        (
            "its own kind",
            loss_words(task, found.written_loss),
            "The same on written text that was kept from it; best after "
            f"{found.best_update:,} of {found.updates:,} updates.",
        ),
    ]


def _nats(found: SegmentInformation) -> str:
    return f"{with_interval(found.nats, found.interval)} nats"
