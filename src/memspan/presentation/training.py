"""A training run: what the network remembers after training, and how the training went."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.presentation.numbers import duration, number, trimmed
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.presentation.tasks import answers_word, chance_words, loss_words, percent, task_words
from memspan.results import AuxiliaryObjective, Chart, TrainingRun, line
from memspan.tasks.catalog import facts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.results.display import Notebook

# Share of the way from chance to perfect accuracy below which nothing was learned.
_HARDLY = 0.1
# What makes a task easier, by the name of its option.
_EASIER = {"delay": "a shorter delay", "length": "shorter sequences", "steps": "fewer steps (task.steps)"}
# Multiples of the trained delay to evaluate next.
_LONGER = (2, 10)
# Share of the logged values, at the end, that is averaged: one update has too few pairs.
_LAST = 0.25


@final
class TrainingPresenter(Presenter[TrainingRun]):
    """One training run."""

    result_type = TrainingRun

    def page_title(self) -> str:
        return f"{self.result.cell} on {self.result.task}: what has it learned to remember?"

    def title(self) -> str:
        return f"Training {self.result.cell} on {self.result.task}"

    def sentence(self) -> str:
        run = self.result
        start = f"{task_words(run.task, run.config)}, {run.cell}: "
        after = f"after {run.best_update:,} {'update' if run.best_update == 1 else 'updates'}"
        if run.accuracy is None:
            split = " on test" if facts_of(run.task).is_text else ""
            baseline = f"(without memory {loss_words(run.task, run.baseline)})"
            return f"{start}{loss_words(run.task, run.loss)}{split} {after} {baseline}"
        right = f"{percent(run.accuracy)} of {answers_word(run.task)} correct"
        return f"{start}{right} {after} ({chance_words(run.chance)})"

    def explanation(self) -> tuple[str, ...]:
        return (
            facts_of(self.result.task).explanation,
            "The weights were updated to reduce the loss. From time to time the network was evaluated on validation "
            "sequences; the weights with the lowest validation loss were saved and then evaluated on test sequences, which "
            "neither training nor validation had seen.",
        )

    def rows(self) -> tuple[Row, ...]:
        run = self.result
        return (
            *self._accuracy_rows(),
            *self._loss_rows(),
            ("without memory", loss_words(run.task, run.baseline), "The loss of the best memoryless baseline."),
            *(() if run.second_goal is None else goal_rows(run.second_goal)),
            ("parameters", f"{run.parameter_count:,}", "Number of trained parameters."),
            ("updates", f"{run.updates:,}", "Number of optimizer steps."),
            (
                "best update",
                f"{run.best_update:,}",
                "The update with the lowest validation loss, whose weights are used.",
            ),
            ("stopped", run.stopped, "Why the training ended."),
            ("time", duration(run.seconds), "Training time, over all sessions."),
            ("run", run.run, "The folder with configuration, metrics and checkpoints."),
        )

    def _loss_rows(self) -> tuple[Row, ...]:
        """The test loss; for texts, where both are customary, also the validation loss."""
        run, meaning = self.result, "On the test sequences, which played no part in training."
        if not facts_of(run.task).is_text:
            return (("loss", loss_words(run.task, run.loss), meaning),)
        rows: list[Row] = [("on test", loss_words(run.task, run.loss), meaning)]
        if run.validation_loss.size:
            lowest = loss_words(run.task, float(run.validation_loss.min()))
            rows.append(("on validation", lowest, "The lowest validation loss, by which the weights are chosen."))
        return tuple(rows)

    def _accuracy_rows(self) -> tuple[Row, ...]:
        run = self.result
        if run.accuracy is None:
            return ()
        return (
            (
                "accuracy",
                percent(run.accuracy),
                f"Share of {answers_word(run.task)} that are correct, on the test sequences.",
            ),
            ("chance", f"{trimmed(100 * run.chance)} %", "The accuracy of guessing."),
        )

    def details(self) -> tuple[TextTable, ...]:
        return (config_table(self.result.config),)

    def notes(self) -> tuple[str, ...]:
        run = self.result
        if run.accuracy is None or run.accuracy > run.chance + _HARDLY * (1 - run.chance):
            return run.notes
        easier = [words for name, words in _EASIER.items() if name in run.config.get("task", {})]
        advice = ", ".join([self._more(), *easier[:1]])
        return (
            *run.notes,
            f"the answers are hardly better than chance: it has not learned to remember; try more {advice} or another cell",
        )

    def _more(self) -> str:
        """The limit that ended the run, and the command that raises it."""
        run, training, path = self.result, self.result.config.get("training", {}), Path(self.result.run)
        folder = (
            path.parent if (path.parent / "seeds.json").is_file() else path
        )  # runs of several seeds resume together
        limit, minutes = training.get("updates", run.updates), training.get("max_minutes")
        if minutes is not None and run.updates < limit:
            return f"time (memspan resume {folder} --max-minutes {2 * minutes:g})"
        return f"updates (memspan resume {folder} --updates {max(2 * run.updates, limit, 1_000)})"

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.training import draw_training

        draw_training(ax, self.result)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.chart import chart_figure
        from memspan.presentation.draw.training import training_figure

        bound = None if self.result.second_goal is None else bound_chart(self.result.second_goal)
        bounds = {} if bound is None else {"bound": chart_figure(bound)}
        return {"training": training_figure(self.result), **bounds}

    def panels(self) -> Mapping[str, Notebook]:
        return {"training": self.result}

    def captions(self) -> dict[str, str]:
        from memspan.presentation.draw.training import has_accuracy

        loss = (
            "The loss on the training data (gray) and on validation sequences. To get below the dotted line, the best "
            "memoryless baseline, the network must remember."
        )
        accuracy = " Right: the accuracy at every validation." if has_accuracy(self.result) else ""
        left = f"Left: {loss[0].lower()}{loss[1:]}" if accuracy else loss
        return {"training": f"{left}{accuracy} The dashed line marks the saved weights.", "bound": _BOUND_CAPTION}

    def blocks(self) -> Iterator[Block]:
        yield facts((*self.rows(), *self._next_rows()))
        yield from note_lines(self.notes())

    def _next_rows(self) -> list[Row]:
        """Commands to try next."""
        run, task = self.result, self.result.config.get("task", {})
        delay = task.get("delay", task.get("length"))
        longer = "".join(f" --delay {times * delay}" for times in _LONGER) if isinstance(delay, int) else ""
        commands = [f"memspan evaluate {run.run}{longer}", f"memspan diagnose {run.run}"]
        if facts_of(run.task).is_text:
            commands += [f"memspan sample {run.run}", f"memspan measure run:{run.run}"]
        return [("" if position else "next", command) for position, command in enumerate(commands)]


def config_table(config: dict[str, Any]) -> TextTable:
    """The whole configuration."""
    nested = tuple(
        (f"{name}.{key}", json.dumps(value))
        for name, section in config.items()
        if isinstance(section, dict)
        for key, value in section.items()
    )
    plain = tuple((name, json.dumps(value)) for name, value in config.items() if not isinstance(value, dict))
    return TextTable("Configuration, with names as in --set", ("setting", "value"), (*nested, *plain), folded=True)


_BOUND_CAPTION = (
    "A lower bound on the mutual information of adjacent segments, from the discriminator of the BMI regularizer, on the "
    "pairs it is trained on; each point is a mean since the previous one. The dashed line is the switch after which nearby "
    "segments are used as well; without it there was none."
)


def bound_chart(goal: AuxiliaryObjective) -> Chart | None:
    """The bound of the BMI regularizer against updates; None where it was never finite."""
    if not np.isfinite(goal.bound).any():
        return None
    lines = [line("lower bound", goal.logged, goal.bound)]
    if goal.switched:
        ends = float(np.nanmin(goal.bound)), float(np.nanmax(goal.bound))
        lines.append(line("the switch", [goal.switched] * 2, ends, style="dashed"))
    return Chart(
        name="bound",
        title="Mutual information of adjacent segments",
        x_label="updates",
        y_label="information (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption=_BOUND_CAPTION,
    )


def goal_rows(goal: AuxiliaryObjective) -> tuple[Row, ...]:
    """The bound of the BMI regularizer and its discriminator, then what came after the switch."""
    rows: list[Row] = [
        (
            "segment information",
            f"{number(_late_mean(goal.bound))} nats",
            f"Lower bound on the mutual information of adjacent segments, by the discriminator of the BMI regularizer "
            f"({goal.name}) on its training pairs; the mean of the last quarter of the updates.",
        ),
        (
            "pairs classified",
            f"{percent(_late_mean(goal.accuracy))} correct",
            "Accuracy of the discriminator: adjacent segments against random pairs; chance is 50 %.",
        ),
    ]
    if goal.name == "full":
        rows.append(("switch", _switch(goal.switched), "The update after which nearby segments are used as well."))
    if np.isfinite(goal.effective).any():
        rows.append(
            (
                "effective weights",
                f"{number(_late_mean(goal.effective[np.isfinite(goal.effective)]), 2)} of {goal.pairs}",
                "The effective number of nearby segments at every update: 1 / the sum of squared weights.",
            )
        )
    return tuple(rows)


def _switch(update: int | None) -> str:
    if update is None:
        return "not reached"
    return f"after update {update:,}" if update else "before the first update"


def _late_mean(values: NDArray[np.float64]) -> float:
    return float(np.mean(values[-max(1, round(_LAST * values.size)) :]))
