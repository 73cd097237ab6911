"""The loop: updates, validations and checkpoints until the task is solved, the budget is spent, or a person stops it."""

from __future__ import annotations

import time
from typing import final

from memspan.errors import MemspanError
from memspan.progress import Progress, Stage
from memspan.training.checkpoint import Position, write_checkpoint
from memspan.training.config import TrainingConfig
from memspan.training.evaluation import evaluate
from memspan.training.interrupts import Asked
from memspan.training.journal import Journal
from memspan.training.rates import rate_factor, since_best, triggered
from memspan.training.run_folder import RunFolder
from memspan.training.trainer import Trainer


class DivergenceError(MemspanError):
    """The loss is no number any more; the last good state is kept."""


@final
class Loop:
    """Drives a trainer and writes down what comes of it. `position` is where the training stands."""

    def __init__(
        self, trainer: Trainer, folder: RunFolder, position: Position, journal: Journal, asked: Asked
    ) -> None:
        self.trainer, self.folder, self.journal, self.asked = trainer, folder, journal, asked
        self.config: TrainingConfig = trainer.config.training
        self.update, self.best, self.stopped = position.update, position.best, position.stopped
        self.losses, self.accuracies = list(position.losses), list(position.accuracies)
        self.pending = dict(position.pending)
        self.spent_before = folder.seconds()
        self._saved_at = time.monotonic()

    @property
    def position(self) -> Position:
        return Position(
            self.update,
            self.losses,
            self.accuracies,
            self.best,
            self.journal.bytes,
            self.pending,
            self.trainer.averaging,
            self.stopped,
        )

    def run(self, progress: Progress) -> None:
        """Until `stopped` says why it is over, or somebody asked to stop."""
        name = f"{self.trainer.config.word} by {self.trainer.config.cell.name}"
        with progress.stage(name, self.config.updates) as stage:
            stage.advance(self.update)
            while self.stopped is None and not self._asked_to_stop():
                self._once(stage)
                self._save_when_due()

    def save(self) -> None:
        """A checkpoint of this very update."""
        tensors = self.trainer.tensors()
        if self.trainer.machine.main:
            self.journal.flush()
            self.journal.time(self.update)
            path = self.folder.checkpoint(self.update)
            write_checkpoint(path, tensors, self.position, self.trainer.config.cell.name)
            self.folder.forget(self.best)
        self._saved_at = time.monotonic()

    def _once(self, stage: Stage) -> None:
        rate = rate_factor(self.config, self.update, self.losses)
        told = self.trainer.step(self.update, rate)
        if told["loss"] != told["loss"] or abs(told["loss"]) == float("inf"):
            self._diverged()
        self.update += 1
        for key, value in told.items():
            self.pending[key] = self.pending.get(key, 0.0) + value
        if self.update % self.config.log_every == 0:
            self._log(rate, stage)
        if self.update % self.config.validate_every == 0 or self.update == self.config.updates:
            self._validate()
            self._decide()
            self.save()
        stage.advance()

    def _log(self, rate: float, stage: Stage) -> None:
        means = {
            name: self.trainer.machine.mean(total / self.config.log_every)
            for name, total in self.pending.items()
        }
        self.pending = {}
        self.journal.metric({"update": self.update, **means, "rate": self.config.learning_rate * rate})
        accuracy = f", validation accuracy {self.accuracies[-1]:.1%}" if self.accuracies else ""
        stage.tell(f"loss {means['loss']:.4f}{accuracy}")

    def _validate(self) -> None:
        trainer, config = self.trainer, self.config
        trainer.swap_averages()
        try:
            found = evaluate(
                trainer.network,
                trainer.config.task,
                split="valid",
                batches=config.validation_batches,
                size=config.validation_size,
                seed=trainer.config.seed,
            )
        finally:
            trainer.swap_averages()
        self.losses.append(found["loss"])
        self.accuracies.append(found.get("accuracy", 0.0))
        if found["loss"] <= min(self.losses):
            self.best = self.update
        self.journal.metric({"update": self.update, "validation": found})

    def _decide(self) -> None:
        """Whether to average from now on, and whether to stop."""
        config = self.config
        waiting = config.optimizer == "nt-asgd" and not self.trainer.averaging
        if waiting and triggered(self.losses, config.nonmonotone):
            self.trainer.switch()
        if config.stop_accuracy is not None and self.accuracies[-1] >= config.stop_accuracy:
            self.stopped = f"validation accuracy {self.accuracies[-1]:.2%} reached"
        elif config.patience is not None and since_best(self.losses) >= config.patience:
            self.stopped = f"no better validation in {config.patience}"
        elif self.update >= config.updates:
            self.stopped = "all updates done"

    def _save_when_due(self) -> None:
        minutes = (time.monotonic() - self._saved_at) / 60
        if self.trainer.machine.any(minutes >= self.config.checkpoint_minutes):
            self.save()
        limit = self.config.max_minutes
        spent = (self.spent_before + self.journal.seconds) / 60
        if limit is not None and self.stopped is None and self.trainer.machine.any(spent >= limit):
            self._validate()
            self.stopped = f"{limit:g} minutes spent"
            self.save()

    def _asked_to_stop(self) -> bool:
        return self.trainer.machine.any(self.asked.stop)

    def _diverged(self) -> None:
        kept = self.folder.saved()
        where = f"the state of update {kept[0]:,} is kept" if kept else "no state was saved yet"
        rate = self.config.learning_rate
        raise DivergenceError(
            f"the loss was no finite number at update {self.update + 1:,}; {where} in {self.folder.path}; "
            f"train again with a smaller rate (--set training.learning_rate={rate / 3:.1g}) or tighter clipping"
        )
