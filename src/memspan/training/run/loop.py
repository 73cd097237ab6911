"""The loop that every training shares: updates, validations and checkpoints until a limit or a stop request.

A `Learner` knows how to do one update and how to store itself; the loop knows when to log, validate, save and stop.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn, Protocol, final

from memspan.errors import MemspanError
from memspan.progress import SILENT, Progress, Stage
from memspan.training.run.checkpoint import Position, Tensors, write_checkpoint
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import FileJournal, Journal, NullJournal, TensorBoardEvents


class DivergenceError(MemspanError):
    """The loss, a gradient or a weight is NaN or infinite; the last good checkpoint is saved."""


class TrainingInterrupted(KeyboardInterrupt):
    """The training was stopped on request and is saved. The message says where, and how to resume."""


class NonFiniteError(Exception):
    """Raised by a learner whose update gave NaN or infinity, before anything was updated."""

    def __init__(self, cause: str, remedy: str | None = None) -> None:
        """`remedy` replaces the learner's general advice."""
        super().__init__(cause)
        self.remedy = remedy


@final
@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """When the loop saves, validates and stops."""

    updates: int
    checkpoint_minutes: float
    max_minutes: float | None = None
    validate_every: int | None = None
    stop_accuracy: float | None = None
    patience: int | None = None


class Learner(Protocol):
    """Something trained by numbered updates. Its state is in `tensors`, a `Position` and its configuration."""

    @property
    def name(self) -> str:
        """The word for the network, stored in every checkpoint."""
        ...

    @property
    def title(self) -> str:
        """The heading of the progress bar."""
        ...

    @property
    def headline(self) -> str:
        """The metric to show while training."""
        ...

    @property
    def settings(self) -> LoopSettings: ...

    def update(self, position: Position) -> dict[str, Any] | None:
        """Do one update, advance `position.update`, and return the line for metrics.jsonl if one is due.

        Raises `NonFiniteError` with `position` unchanged.
        """
        ...

    def is_finite(self) -> bool:
        """Whether every weight is finite."""
        ...

    def advice(self, folder: RunFolder) -> str:
        """What to change after a divergence, as the end of "train again into another --out with …"."""
        ...

    def tensors(self) -> Tensors:
        """Everything a checkpoint needs."""
        ...

    # Learners without validation, warnings or several processes inherit what follows.

    def validate(self) -> dict[str, float]:
        """Measures on the validation split, `loss` among them; called only if `settings.validate_every` is set."""
        return {}

    def after_validation(self, position: Position) -> None:
        """React to the validation losses so far."""

    @property
    def warnings(self) -> list[str]:
        """Current warnings; the loop reports each of them once."""
        return []

    @property
    def main(self) -> bool:
        """Whether this process writes the run folder."""
        return True

    def any(self, *flags: bool) -> list[bool]:
        """For each flag, whether it is set in any process of this training."""
        return list(flags)


@final
class StopRequest:
    """Whether the user has asked the training to stop."""

    def __init__(self) -> None:
        self.stop = False


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Turn the first Ctrl-C into a request to stop after the current update; a second one interrupts at once.

    SIGTERM is a request, too, and never interrupts: launchers send it after an interrupt. Only the main thread receives
    signals; in other threads nothing changes.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if request.stop and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        request.stop = True

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def run_learner(
    learner: Learner,
    folder: RunFolder,
    start: Callable[[], tuple[Position, float]],
    *,
    progress: Progress = SILENT,
    tensorboard: bool = False,
    save_start: bool = False,
) -> Position:
    """Train until a limit is reached; after a stop request raise `TrainingInterrupted`. Either way all is saved.

    `start` restores the learner and returns its position and the seconds spent so far. It is called with signals already
    handled, so that a request during a long restore is honored. `save_start` writes a checkpoint of update 0.
    """
    with stop_requests() as request:
        position, seconds = start()
        with contextlib.closing(_journal(learner, folder, position, tensorboard)) as journal:
            loop = Loop(learner, folder, position, journal, request, seconds)
            if save_start and not position.update:
                loop.save()
            over = loop.run(progress)
        learner.any(False)  # waits for all processes
    if over and not request.stop:
        return position
    what = "all updates are" if over else f"update {position.update:,} is"
    raise TrainingInterrupted(f"{what} saved in {folder.path}; continue with memspan resume {folder.path}")


def _journal(learner: Learner, folder: RunFolder, position: Position, tensorboard: bool) -> Journal:
    if not learner.main:
        return NullJournal()
    events = TensorBoardEvents(folder.events, position.update) if tensorboard else None
    return FileJournal(folder, position.metrics_bytes, events)


@final
class Loop:
    """Drives a learner and writes its run folder. `position` is where the training stands."""

    def __init__(
        self,
        learner: Learner,
        folder: RunFolder,
        position: Position,
        journal: Journal,
        request: StopRequest,
        seconds: float,
    ) -> None:
        """`seconds` were spent in earlier sessions."""
        self.learner, self.folder, self.position = learner, folder, position
        self.journal, self.request, self.settings = journal, request, learner.settings
        self._earlier_seconds = seconds
        self._begun = self._saved = self._logged = time.monotonic()
        self._logged_update = position.update
        self._say: Callable[[str], None] = SILENT.say

    @property
    def seconds(self) -> float:
        """Training time of all sessions."""
        return self._earlier_seconds + time.monotonic() - self._begun

    def run(self, progress: Progress) -> bool:
        """Train until a limit or a stop request, and save. Returns whether a limit was reached."""
        over, self._say = False, progress.say
        with progress.stage(self.learner.title, self.settings.updates, self.position.update) as stage:
            while True:
                over, stop, save = self._conditions()
                if over or stop:
                    break
                if save:
                    self.save()
                self._update(stage)
        if over:
            self._finish()
        else:
            self.save()
        return over

    def save(self) -> None:
        """Write a checkpoint of this update unless a weight is NaN or infinite."""
        if not self.learner.is_finite():
            self._diverged(NonFiniteError("a weight is NaN or infinite"), self.position.update)
        tensors, position = self.learner.tensors(), self.position
        if self.learner.main:
            self.journal.flush()
            self.journal.time(position.update, time.monotonic() - self._begun)
            path = self.folder.checkpoint(position.update)
            write_checkpoint(path, tensors, position, self.learner.name)
            # If training resumes, the final validation is discarded and another update may be the best one.
            self.folder.prune({position.best, position.reopened().best})
        self._saved = time.monotonic()

    def _conditions(self) -> list[bool]:
        """Whether a limit is reached, a stop was requested, a checkpoint is due; all processes agree on each."""
        # One exchange for all three: a process that alone saw a limit or a signal would leave the others waiting.
        since = time.monotonic() - self._saved
        return self.learner.any(
            stop_reason(self.settings, self.position, self.seconds) is not None,
            self.request.stop,
            since >= 60 * self.settings.checkpoint_minutes,
        )

    def _update(self, stage: Stage) -> None:
        position, settings = self.position, self.settings
        try:
            line = self.learner.update(position)
        except NonFiniteError as error:
            self._diverged(error, position.update + 1)
        if line is not None:
            self._log(line, stage)
        if settings.validate_every is not None and position.update % settings.validate_every == 0:
            self._validate()
            self.learner.after_validation(position)
            self._warn()
            if stop_reason(settings, position, 0.0) is None:  # otherwise `_finish` saves
                self.save()
        stage.advance()

    def _log(self, line: dict[str, Any], stage: Stage) -> None:
        position, headline = self.position, self.learner.headline
        position.metrics_bytes += self.journal.metrics(line)
        now = time.monotonic()
        speed = (position.update - self._logged_update) / max(now - self._logged, 1e-9)
        self._logged, self._logged_update = now, position.update
        value = line.get(headline)
        accuracy = position.accuracies[-1] if position.accuracies else None
        parts = [] if value is None else [f"{headline} {value:.4f}"]
        parts += [] if accuracy is None else [f"validation accuracy {accuracy:.1%}"]
        stage.tell(", ".join([*parts, f"{speed:.3g} updates/s"]))

    def _validate(self) -> int:
        """Validate and record the measures; returns the length of their line in metrics.jsonl."""
        position, found = self.position, self.learner.validate()
        if not math.isfinite(found["loss"]):
            self._diverged(NonFiniteError("the validation loss is NaN or infinite"), position.update)
        position.validated.append(position.update)
        position.losses.append(found["loss"])
        position.accuracies.append(found.get("accuracy"))
        length = self.journal.metrics({"update": position.update, "validation": found})
        position.metrics_bytes += length
        return length

    def _warn(self) -> None:
        for warning in self.learner.warnings:
            if warning not in self.position.notes:
                self.position.notes.append(warning)
                self._say(warning)

    def _finish(self) -> None:
        """Validate the last update if that has not happened, and save with the reason for stopping."""
        position = self.position
        if position.stopped is not None:
            return
        if self.settings.validate_every is not None and position.validated[-1:] != [position.update]:
            position.last_look = self._validate()
        # Without a reason here, another process was the one that ran out of time.
        position.stopped = stop_reason(self.settings, position.reopened(), self.seconds) or "time is spent"
        self._warn()
        self.save()

    def _diverged(self, error: NonFiniteError, update: int) -> NoReturn:
        saved = self.folder.saved()
        state = f"the checkpoint of update {saved[0]:,} is saved" if saved else "no checkpoint was saved"
        raise DivergenceError(
            f"{error} at update {update:,}; {state} in {self.folder.path}; train again into another --out with "
            f"{error.remedy or self.learner.advice(self.folder)}"
        )


def stop_reason(settings: LoopSettings, position: Position, seconds: float) -> str | None:
    """Why training ends here, or None; `seconds` were spent in all sessions.

    It depends on the position alone, so that a run whose limits are raised continues as if they had always been higher.
    """
    accuracy = position.accuracies[-1] if position.accuracies else None
    if settings.stop_accuracy is not None and accuracy is not None and accuracy >= settings.stop_accuracy:
        return f"validation accuracy {accuracy:.2%} reached"
    if settings.patience is not None and since_best(position.losses) >= settings.patience:
        return f"no better validation in {settings.patience}"
    if position.update >= settings.updates:
        return "all updates done"
    if settings.max_minutes is not None and seconds >= 60 * settings.max_minutes:
        return f"{settings.max_minutes:g} minutes spent"
    return None


def since_best(losses: list[float]) -> int:
    """How many losses came after the best one.

    >>> since_best([3.0, 1.0, 2.0, 2.0])
    2
    """
    return len(losses) - 1 - losses.index(min(losses)) if losses else 0
