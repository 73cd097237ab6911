"""The loop: updates, validations and checkpoints until the task is solved, the budget is spent, or a person stops it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import final

from memspan.errors import MemspanError
from memspan.progress import SILENT, Progress, Stage
from memspan.training.checkpoint import write_checkpoint
from memspan.training.interrupts import Asked
from memspan.training.journal import Journal
from memspan.training.position import Position
from memspan.training.rates import rate_factor, triggered
from memspan.training.run_folder import RunFolder
from memspan.training.scoring import score
from memspan.training.stopping import why_over
from memspan.training.trainer import Trainer


class DivergenceError(MemspanError):
    """The loss is no number any more; the last good state is kept."""


@final
class Loop:
    """Drives a trainer and writes down what comes of it. `position` is where the training stands."""

    def __init__(
        self,
        trainer: Trainer,
        folder: RunFolder,
        position: Position,
        journal: Journal,
        asked: Asked,
        seconds: float,
    ) -> None:
        """`seconds` were spent before."""
        self.trainer, self.folder, self.position = trainer, folder, position
        self.journal, self.asked = journal, asked
        self.config = trainer.config.training
        self._spent_before = seconds
        self._begun = self._saved = self._logged = time.monotonic()
        self._say: Callable[[str], None] = SILENT.say

    @property
    def seconds(self) -> float:
        """Spent in all sessions."""
        return self._spent_before + time.monotonic() - self._begun

    def run(self, progress: Progress) -> bool:
        """Until it is over, or somebody asks to stop; returns whether it is over. Either way everything is saved."""
        name = f"{self.trainer.config.word} by {self.trainer.config.network}"
        over, self._say = False, progress.say
        with progress.stage(name, self.config.updates, self.position.update) as stage:
            while True:
                over, asked, due = self._wanted()
                if over or asked:
                    break
                if due:
                    self.save()
                self._once(stage)
        if over:
            self._finish()
        else:
            self.save()
        return over

    def save(self) -> None:
        """A checkpoint of this very update, unless the weights are no numbers any more."""
        if not self.trainer.sound():
            self._diverged(self.position.update)
        tensors, position = self.trainer.tensors(), self.position
        if self.trainer.machine.main:
            self.journal.flush()
            self.journal.time(position.update, time.monotonic() - self._begun)
            path = self.folder.checkpoint(position.update)
            write_checkpoint(path, tensors, position, self.trainer.config.network)
            self.folder.forget({position.best, position.going_on().best})
        self._saved = time.monotonic()

    def _wanted(self) -> list[bool]:
        """Whether it is over, whether somebody asked to stop, whether a checkpoint is due: for all processes together."""
        since = time.monotonic() - self._saved
        return self.trainer.machine.any(
            why_over(self.config, self.position, self.seconds) is not None,
            self.asked.stop,
            since >= 60 * self.config.checkpoint_minutes,
        )

    def _once(self, stage: Stage) -> None:
        position, config = self.position, self.config
        rate = rate_factor(config, position.update, position.losses)
        told = self.trainer.step(position.update, rate)
        if not (math.isfinite(told["loss"]) and math.isfinite(told["norm"])):
            self._objective_diverged(told, position.update + 1)
            self._diverged(position.update + 1)
        position.update += 1
        self.trainer.switch_objectives(position.update)
        for key, value in told.items():
            position.pending[key] = position.pending.get(key, 0.0) + value
            position.counted[key] = position.counted.get(key, 0) + 1
        if position.update % config.log_every == 0:
            self._log(rate, stage)
        if position.update % config.validate_every == 0:
            self._validate()
            waiting = self.trainer.waiting and not position.averaging
            if waiting and triggered(position.losses, config.nonmonotone):
                self.trainer.switch()
                position.averaging = True
            self._warn()
            if why_over(config, position, 0.0) is None:  # else the last save follows
                self.save()
        stage.advance()

    def _warn(self) -> None:
        """Say what the objectives have to say, each thing once."""
        for objective in self.trainer.objectives.values():
            if objective.warning is not None and objective.warning not in self.position.notes:
                self.position.notes.append(objective.warning)
                self._say(objective.warning)

    def _finish(self) -> None:
        """A last look where the last update was not validated yet; saved with the reason."""
        position = self.position
        if position.stopped is not None:
            return
        if position.validated[-1:] != [position.update]:
            position.last_look = self._validate()
        # Another process may have been out of time first.
        position.stopped = why_over(self.config, position.going_on(), self.seconds) or "time is spent"
        self._warn()
        self.save()

    def _log(self, rate: float, stage: Stage) -> None:
        position = self.position
        # Sorted, since a checkpoint does not keep the order in which they were told.
        means = {name: position.pending[name] / position.counted[name] for name in sorted(position.pending)}
        position.pending, position.counted = {}, {}
        line = {"update": position.update, **means, "rate": self.config.learning_rate * rate}
        position.metrics_bytes += self.journal.metrics(line)
        accuracy = position.accuracies[-1] if position.accuracies else None
        seen = "" if accuracy is None else f", validation accuracy {accuracy:.1%}"
        now, before = time.monotonic(), self._logged
        speed = self.config.log_every / max(now - before, 1e-9)
        self._logged = now
        stage.tell(f"loss {means['loss']:.4f}{seen}, {speed:.3g} updates/s")

    def _validate(self) -> int:
        """Judge the weights, or their averages, on the validation split; returns the length of the line about it."""
        trainer, position = self.trainer, self.position
        trainer.swap_averages()
        try:
            found = score(
                trainer.network,
                trainer.config.task,
                split="valid",
                batches=self.config.validation_batches,
                size=self.config.validation_size,
                seed=trainer.config.seed,
            )
        finally:
            trainer.swap_averages()
        found = trainer.machine.means(found)
        if not math.isfinite(found["loss"]):
            self._diverged(position.update)
        position.validated.append(position.update)
        position.losses.append(found["loss"])
        position.accuracies.append(found.get("accuracy"))
        length = self.journal.metrics({"update": position.update, "validation": found})
        position.metrics_bytes += length
        return length

    def _objective_diverged(self, told: dict[str, float], update: int) -> None:
        """Where the task's loss is sound and that of an objective is not, say so."""
        for name, objective in self.trainer.objectives.items():
            if math.isfinite(told["loss"]) and not math.isfinite(told[f"{name}.loss"]):
                raise DivergenceError(
                    f"the loss of {name} was no finite number at update {update:,}, beside a sound one of the task "
                    f"({told['loss']:.4g}); {self._saved_words()} in {self.folder.path}; train again into another --out "
                    f"with {objective.remedy}"
                )

    def _saved_words(self) -> str:
        kept = self.folder.saved()
        return f"the state of update {kept[0]:,} is kept" if kept else "no state was saved yet"

    def _diverged(self, update: int) -> None:
        kept, path = self.folder.saved(), self.folder.path
        where = self._saved_words()
        going_on = f", from what is kept by --set init.name=run --set init.run={path}" if kept else ""
        raise DivergenceError(
            f"the loss, its gradient or a weight was no finite number at update {update:,}; {where} in {path}; train again "
            f"into another --out with a smaller rate (--set training.learning_rate={self.config.learning_rate / 3:.1g}) or "
            f"tighter clipping (--set training.clip_norm=…){going_on}"
        )
