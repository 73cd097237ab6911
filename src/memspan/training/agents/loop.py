"""The loop of one agent: updates and checkpoints until the budget is spent or a person stops it."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, final

from memspan.errors import CorruptError
from memspan.progress import SILENT, Progress, Stage
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import AgentConfig, check_agent
from memspan.training.agents.folder import begin, go_on
from memspan.training.building import seeded, stream
from memspan.training.checkpoint import read_checkpoint, write_checkpoint
from memspan.training.interrupts import Asked, asking
from memspan.training.journal import FileJournal, Journal
from memspan.training.loop import DivergenceError
from memspan.training.machine import with_threads
from memspan.training.position import Position
from memspan.training.run_folder import RunFolder
from memspan.training.training import TrainingInterrupted


def train_one(config: AgentConfig, out: Path, *, progress: Progress = SILENT) -> Position:
    """Train from the first update, or go on where the folder stands, until it is over; then every file is written.

    The caller's random numbers and number of threads stay as they are.
    """
    check_agent(config)
    folder = RunFolder(out)
    with with_threads(config.training.threads), seeded(stream(config.seed, 0)):
        agent = Agent(config)  # a world or a cell that cannot be made is told before there is a folder
        with contextlib.closing(agent), folder.lock(), asking() as asked:
            there = folder.config_file.exists()
            go_on(folder, config) if there else begin(folder, config)
            position = _load_newest(agent, folder, progress)
            with contextlib.closing(FileJournal(folder, position.metrics_bytes)) as journal:
                over = AgentLoop(agent, folder, position, journal, asked).run(progress)
    if over and not asked.stop:
        return position
    what = "all updates are" if over else f"update {position.update:,} is"
    raise TrainingInterrupted(f"{what} saved in {out}; go on by memspan resume {out}")


def with_limits(config: AgentConfig, updates: int | None, max_minutes: float | None) -> AgentConfig:
    """The same agent with limits replaced where new ones are given."""
    training = config.training
    new = replace(
        training,
        updates=training.updates if updates is None else updates,
        max_minutes=training.max_minutes if max_minutes is None else max_minutes,
    )
    return replace(config, training=new)


@final
class AgentLoop:
    """Drives an agent and writes down what comes of it. `position` is where the training stands."""

    def __init__(
        self, agent: Agent, folder: RunFolder, position: Position, journal: Journal, asked: Asked
    ) -> None:
        self.agent, self.folder, self.position = agent, folder, position
        self.journal, self.asked, self.config = journal, asked, agent.config.training
        self._spent_before = folder.seconds()
        self._begun = self._saved = time.monotonic()

    def run(self, progress: Progress) -> bool:
        """Until it is over, or somebody asks to stop; returns whether it is over. Either way everything is saved."""
        config, position = self.agent.config, self.position
        name = f"{config.task.world} by {config.cell.name}"
        with progress.stage(name, self.config.updates, position.update) as stage:
            while (why := self._why_over()) is None and not self.asked.stop:
                self._once(stage)
                if time.monotonic() - self._saved >= 60 * self.config.checkpoint_minutes:
                    self.save()
        position.stopped = why
        self.save()
        return why is not None

    def save(self) -> None:
        """A checkpoint of this very update."""
        position = self.position
        self.journal.flush()
        self.journal.time(position.update, time.monotonic() - self._begun)
        path = self.folder.checkpoint(position.update)
        write_checkpoint(path, self.agent.tensors(), position, self.agent.config.cell.name)
        self.folder.forget(set())
        self._saved = time.monotonic()

    def _once(self, stage: Stage) -> None:
        try:
            told = self.agent.step()
        except DivergenceError as error:
            self._diverged(str(error))
        if not self.agent.sound():
            self._diverged("a weight is no finite number")
        position = self.position
        position.update += 1
        frames = position.update * self.config.frames
        line = {"update": position.update, "frames": frames, **told}
        position.metrics_bytes += self.journal.metrics(line)
        if told["reward"] is not None:
            stage.tell(f"reward {told['reward']:.3f}")
        stage.advance()

    def _why_over(self) -> str | None:
        spent = self._spent_before + time.monotonic() - self._begun
        if self.position.update >= self.config.updates:
            return "all updates done"
        if self.config.max_minutes is not None and spent >= 60 * self.config.max_minutes:
            return f"{self.config.max_minutes:g} minutes spent"
        return None

    def _diverged(self, what: str) -> NoReturn:
        kept = self.folder.saved()
        where = f"the state of update {kept[0]:,} is kept" if kept else "no state was saved yet"
        raise DivergenceError(
            f"{what}, in update {self.position.update + 1:,}; {where} in {self.folder.path}; "
            f"train again with a smaller rate (--set training.learning_rate={self.config.learning_rate / 3:.1g})"
        )


def _load_newest(agent: Agent, folder: RunFolder, progress: Progress) -> Position:
    """Put the agent where the newest sound checkpoint is; damaged ones are told and passed over."""
    for update in folder.saved():
        path = folder.checkpoint(update)
        try:
            tensors, position = read_checkpoint(path, agent.config.cell.name)
            if folder.metrics_length() < position.metrics_bytes:
                raise CorruptError(f"{folder.metrics_file} is shorter than {path.name} says")
        except CorruptError as error:
            progress.say(f"passed over: {error}")
            continue
        agent.load(tensors, path)
        position.stopped = None
        return position
    return Position()
