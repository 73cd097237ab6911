"""An evaluation: what a trained network remembers at other delays, and how good its generated text is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, final

from memspan.presentation.numbers import duration, number, trimmed, with_interval
from memspan.presentation.page.section import MEANING, Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.presentation.tasks import answers_word, chance_words, loss_words, percent, percent_interval, task_words
from memspan.results import Evaluation, SegmentInformation, Transfer
from memspan.tasks.catalog import facts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

_TRANSFER = (
    "The weights were trained at one delay and are not changed here. A network that has learned to store what it was shown "
    "does as well at longer delays; one that has only learned to count steps, or whose memory fades, does not."
)
_INTERVALS = (
    "Intervals are Wilson's at 95 %, for the number of independent answers that would scatter between sequences as these "
    "do: answers to one sequence are correct or wrong together."
)
_SEGMENTS = (
    "The mutual information of two segments of text is estimated by a small critic, independent of the network: trained on "
    "eight tenths of the pairs, stopped by the next tenth, evaluated on the last, in every fold. It is a lower bound, found "
    "in the same way for the generated text and for the training text."
)
_REVERSE = (
    "A new language model, the same for all networks, is trained on generated text only and evaluated on the real text. "
    "Text that always repeats itself, or that nobody writes, trains a poor model, however confident the network is."
)


@final
class EvaluationPresenter(Presenter[Evaluation]):
    """One network at one or more delays."""

    result_type = Evaluation
    table_caption = "Network"

    def page_title(self) -> str:
        return f"{self.result.cell} on {self.result.task}: how far does its memory carry?"

    def title(self) -> str:
        return f"What {self.result.cell} remembers of {self.result.task}"

    def sentence(self) -> str:
        last = self.result.transfer[-1]
        return f"{self._subject(last)}: {self._accuracy(last)}{self._generated_words()}"

    def _subject(self, last: Transfer) -> str:
        result, name = self.result, self.result.distance
        if name is None or last.delay is None:
            return f"{task_words(result.task, result.config)}, {result.cell}"
        trained = result.trained_delay
        other = f" trained at {name} {trained:,}" if trained is not None and trained != last.delay else ""
        return f"{result.task}, {name} {last.delay:,}, {result.cell}{other}"

    def _accuracy(self, last: Transfer) -> str:
        task = self.result.task
        if last.accuracy is None:
            return f"{loss_words(task, last.loss)} (without memory {loss_words(task, last.baseline)})"
        right = f"{percent(last.accuracy)} {percent_interval(last.interval)} of {answers_word(task)} correct"
        return f"{right} ({chance_words(self.result.chance)})"

    def _generated_words(self) -> str:
        words = ""
        segments, reverse = self.result.segment_information, self.result.reverse_perplexity
        if segments is not None:
            words += (
                f"; information of its segments {_nats(segments.written)}, of those of the text {_nats(segments.real)}"
            )
        if reverse is not None:
            words += f"; reverse {loss_words(self.result.task, reverse.test_loss)}"
        return words

    def explanation(self) -> tuple[str, ...]:
        result = self.result
        parts = (
            (facts_of(result.task).explanation, True),
            (_TRANSFER, result.distance is not None),
            (_SEGMENTS, result.segment_information is not None),
            (_REVERSE, result.reverse_perplexity is not None),
        )
        return tuple(text for text, applies in parts if applies)

    def rows(self) -> tuple[Row, ...]:
        result, trained = self.result, self.result.trained_delay
        rows: list[Row] = [
            ("cell", result.cell, f"{result.parameter_count:,} trained parameters."),
            (
                "weights",
                f"update {result.best_update:,}",
                f"Those with the lowest validation loss, of {result.updates:,} updates so far.",
            ),
            ("split", result.split, "The sequences; those of test played no part in training."),
        ]
        if trained is not None:
            rows.append(
                (f"trained at {result.distance}", f"{trained:,}", "Steps over which it was trained to remember.")
            )
        if result.accuracy is not None:
            rows.append(("chance", f"{trimmed(100 * result.chance)} %", "The accuracy of guessing."))
        return (
            *rows,
            ("time", duration(result.seconds), "Time of the evaluation."),
            ("run", result.run, "The folder of the weights."),
        )

    def details(self) -> tuple[TextTable, ...]:
        generated = self._generated_rows()
        table = TextTable("Generated text", MEANING, generated, stacked=True)
        return (self._transfer_table(), *((table,) if generated else ()))

    def _transfer_table(self) -> TextTable:
        """One row per delay."""
        task, entries = self.result.task, self.result.transfer
        if facts_of(task).is_text:
            rows = tuple(
                (
                    "all" if one.delay is None else f"at most {one.delay:,}",
                    loss_words(task, one.loss),
                    loss_words(task, one.baseline),
                    f"{one.sequences:,}",
                )
                for one in entries
            )
            return TextTable("Loss by context length", ("context", "loss", "without memory", "pieces"), rows)
        rows = tuple(
            (
                *(() if one.delay is None else (f"{one.delay:,}",)),
                percent(one.accuracy),
                percent_interval(one.interval),
                number(one.loss),
                number(one.baseline),
                f"{one.sequences:,}",
            )
            for one in entries
        )
        first = () if self.result.distance is None else (self.result.distance,)
        header = (*first, "accuracy", "95 % interval", "loss", "memoryless loss", "sequences")
        return TextTable("Accuracy", header, rows)

    def _generated_rows(self) -> tuple[Row, ...]:
        """Measures of the generated text, where they were requested."""
        segments, reverse, task = (self.result.segment_information, self.result.reverse_perplexity, self.result.task)
        rows: list[Row] = []
        if segments is not None:
            what = f"Information of two segments of {segments.length:,} symbols, {segments.gap:,} symbols apart"
            rows += [
                ("segments, generated", _nats(segments.written), f"{what}, in {segments.symbols:,} generated symbols."),
                ("segments, training", _nats(segments.real), f"{what}, in as much of the training text."),
                ("folds", f"{len(segments.written.folds):,}", "Parts of each text; 95 % intervals are over them."),
            ]
        if reverse is not None:
            model = (
                f"A new {reverse.parameter_count:,}-parameter model, trained on {reverse.symbols:,} generated symbols"
            )
            updates = f"best after {reverse.best_update:,} of {reverse.updates:,} updates"
            held_out = f"The same on held-out generated text; {updates}."
            rows += [
                ("reverse, test", loss_words(task, reverse.test_loss), f"{model}, on the real test text."),
                ("reverse, valid", loss_words(task, reverse.valid_loss), "The same on the real validation text."),
                ("reverse, generated", loss_words(task, reverse.written_loss), held_out),
            ]
        return tuple(rows)

    def notes(self) -> tuple[str, ...]:
        return (*self.result.notes, _INTERVALS)

    def draw(self, ax: Axes) -> None:
        if not transfer_points(self.result):
            super().draw(ax)
        from memspan.presentation.draw.training import draw_transfer

        draw_transfer(ax, self.result, transfer_points(self.result))

    def new_figures(self) -> dict[str, Figure]:
        points = transfer_points(self.result)
        if not points:
            return {}
        from memspan.presentation.draw.style import new_figure
        from memspan.presentation.draw.training import draw_transfer

        figure = new_figure(7.4, 4.4)
        draw_transfer(figure.subplots(), self.result, points)
        return {"transfer": figure}

    def panels(self) -> Mapping[str, Notebook]:
        return {"transfer": self.result} if transfer_points(self.result) else {}

    def captions(self) -> dict[str, str]:
        return {
            "transfer": "The accuracy against the number of steps to remember, with 95 % intervals. The weights are the "
            "same everywhere: they were trained at the dashed line. The dotted line is chance."
        }

    def blocks(self) -> Iterator[Block]:
        yield self._transfer_table()
        yield facts((*self._generated_rows(), *self.rows()))
        yield from note_lines(self.result.notes)


def transfer_points(evaluation: Evaluation) -> tuple[Transfer, ...]:
    """The entries with a delay and an accuracy, by delay."""
    known = [one for one in evaluation.transfer if one.delay is not None and one.accuracy is not None]
    return tuple(sorted(known, key=lambda one: one.delay or 0))


def _nats(found: SegmentInformation) -> str:
    return f"{with_interval(found.nats, found.interval)} nats"
