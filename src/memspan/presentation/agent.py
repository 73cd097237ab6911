"""Agents in grid worlds: rewards, the memoryless baseline, and one episode as an animation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from memspan.presentation.numbers import duration
from memspan.presentation.page.section import Illustration, Row, TextTable
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.presentation.tasks import percent
from memspan.presentation.training import config_table
from memspan.results import (
    AgentEvaluation,
    AgentRun,
    Chart,
    Episode,
    EvaluatedAgent,
    HeatMap,
    LearningCurve,
    Line,
    Rewards,
    line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEMORYLESS = "without memory"
# Updates averaged for one point of the learning curve.
_SMOOTHED = 10
_WORLD = (
    "An agent moves on a grid and sees a small square in front of it. At the end of a successful episode its reward is 1 "
    "minus nine tenths of the share of the time limit that it used; without success the reward is 0."
)
_BASELINE = (
    "The reward of an agent without memory shows how much of the task needs memory at all: it sees the same and was trained "
    "in the same way, but knows nothing of earlier steps."
)
_TRANSFER = (
    "The weights were trained in one world and are not changed here. A larger world poses the same task over longer paths: "
    "the agent succeeds if it has learned the rule, and if its memory lasts long enough."
)
_INTERVALS = (
    "Intervals are at 95 %. For one network they are over episodes, and say nothing about networks of other seeds. For "
    "several they are over networks and episodes; agreement of a few does not exclude that the next one fails."
)
_LAYOUTS = (
    "Episodes are from seeds that training never used. Small worlds have few layouts (DoorKey-5x5 48, MemoryS7 16), so all "
    "of them occurred in training; only larger worlds show whether the agent generalizes."
)
_FILM = (
    "One episode. Left: the world before a step, with the agent's view highlighted, and its action. Right: the past step "
    "with the largest attention weight. Below: the weights of all past steps, the oldest at the left. It ends with the "
    "world after the last step, and the reward."
)
_FILM_WITHOUT_ATTENTION = (
    "One episode: the world before every step, with the agent's view highlighted, and its action; at the end the world "
    "after the last step, and the reward. This cell does not attend to past steps."
)

A = TypeVar("A", AgentRun, AgentEvaluation)


class _EpisodePresenter(Presenter[A]):
    """A result with an episode: its animation comes before the figures."""

    def drawings(self) -> Sequence[Chart | HeatMap]:
        episode = self.result.episode
        return () if episode is None or not episode.attention.size else (attention_map(episode),)

    def illustrations(self) -> tuple[Illustration, ...]:
        return (*_film(self.result.episode), *super().illustrations())

    def notes(self) -> tuple[str, ...]:
        return (*self.result.notes, _INTERVALS, _LAYOUTS)

    def write_extra_files(self, folder: Path) -> None:
        if self.result.episode is not None:
            from memspan.presentation.draw.training import episode_gif
            from memspan.results.files import write_bytes

            write_bytes(folder / "episode.gif", episode_gif(self.result.episode))


@final
class AgentRunPresenter(_EpisodePresenter[AgentRun]):
    """A training in a grid world, with one or more seeds."""

    result_type = AgentRun

    def page_title(self) -> str:
        return f"{self.result.cell} in {self.result.world}: what has it learned to remember?"

    def title(self) -> str:
        return f"Training {cell_words(self.result.cell)} in {self.result.world}"

    def sentence(self) -> str:
        run = self.result
        frames = sorted({int(one.frames[-1]) for one in run.learning if one.cell == run.cell and one.frames.size})
        after = f"after {f'{frames[0]:,} to {frames[-1]:,}' if len(frames) > 1 else f'{run.frames:,}'} frames"
        return f"{run.world}, {cell_words(run.cell)}: {_reward(run.found)} {after}{_baseline(run.memoryless)}"

    def explanation(self) -> tuple[str, ...]:
        return (_WORLD,) if self.result.memoryless is None else (_WORLD, _BASELINE)

    def rows(self) -> tuple[Row, ...]:
        run = self.result
        agents = [one for one in run.learning if one.cell == run.cell]
        stopped = sorted({one.stopped for one in agents})
        frames = [(int(one.frames[-1]), one.seed) for one in agents if one.frames.size]
        return (
            ("reward", interval_words(run.found), f"Mean of {tries_words(run.found)}, 95 % interval."),
            *_seed_rows(run.found, "of each seed"),
            ("solved", percent(run.found.solved), "Share of episodes with any reward."),
            ("episode length", f"{run.found.length:.1f} steps", "Mean; a shorter episode earns a larger reward."),
            *self._baseline_rows(),
            ("parameters", f"{run.parameter_count:,}", "Number of trained parameters."),
            ("updates", _updates(agents) or f"{run.updates:,}", "Rounds of acting and learning."),
            ("frames", _counts(frames) or f"{run.frames:,}", "Environment steps, over all worlds of one training."),
            ("stopped", "; ".join(stopped), "Why the training ended."),
            ("time", duration(run.seconds), "Training time, over all agents."),
            ("run", run.run, "The folder with configuration, metrics and checkpoints."),
        )

    def _baseline_rows(self) -> tuple[Row, ...]:
        run = self.result
        if run.memoryless is None:
            return ()
        updates = _updates([one for one in run.learning if one.cell != run.cell])
        what = f"Agents without memory on the same episodes, after {updates} updates."
        return (
            (_MEMORYLESS, interval_words(run.memoryless), what),
            *_seed_rows(run.memoryless, f"of each seed, {_MEMORYLESS}"),
        )

    def details(self) -> tuple[TextTable, ...]:
        memoryless = () if self.result.memoryless is None else (self.result.memoryless,)
        return (rewards_table((self.result.found,), memoryless), config_table(self.result.config))

    def drawings(self) -> Sequence[Chart | HeatMap]:
        learning = (learning_chart(self.result),) if has_episodes(self.result) else ()
        return (*learning, *super().drawings())

    def draw(self, ax: Axes) -> None:
        if not has_episodes(self.result):
            super().draw(ax)
        from memspan.presentation.draw.chart import draw_chart

        draw_chart(ax, learning_chart(self.result))

    def blocks(self) -> Iterator[Block]:
        yield facts(self.rows())
        yield from note_lines(self.result.notes)


@final
class AgentEvaluationPresenter(_EpisodePresenter[AgentEvaluation]):
    """A trained agent in one or more worlds."""

    result_type = AgentEvaluation
    table_caption = "Agent"

    def page_title(self) -> str:
        return f"{self.result.cell} in {self.result.transfer[-1].world}: how far does its memory carry?"

    def title(self) -> str:
        return f"The reward of {cell_words(self.result.cell)} in other worlds"

    def sentence(self) -> str:
        result, last = self.result, self.result.transfer[-1]
        other = f" trained in {result.trained_world}" if last.world != result.trained_world else ""
        memoryless = result.memoryless[-1] if result.memoryless else None
        return f"{last.world}, {cell_words(result.cell)}{other}: {_reward(last)}{_baseline(memoryless)}"

    def explanation(self) -> tuple[str, ...]:
        return (_WORLD, _TRANSFER)

    def rows(self) -> tuple[Row, ...]:
        result = self.result
        return (
            ("cell", cell_words(result.cell), f"{result.parameter_count:,} trained parameters."),
            ("trained in", result.trained_world, "The world in which the weights were trained."),
            ("weights", self._weights(), "The newest; they are not changed here."),
            ("time", duration(result.seconds), "Time of the episodes."),
            ("run", result.run, "The folder with configuration, metrics and checkpoints."),
        )

    def _weights(self) -> str:
        """The updates of the weights, of agents and memoryless agents apart where these differ."""
        own, others = (
            _updates([one for one in self.result.networks if (one.cell == self.result.cell) == same])
            for same in (True, False)
        )
        memoryless = f"; {_MEMORYLESS} of update {others}" if others and others != own else ""
        return f"of update {own or f'{self.result.updates:,}'}{memoryless}"

    def details(self) -> tuple[TextTable, ...]:
        return (rewards_table(self.result.transfer, self.result.memoryless),)

    def blocks(self) -> Iterator[Block]:
        yield from self.details()
        yield facts(self.rows())
        yield from note_lines(self.result.notes)


def cell_words(cell: str) -> str:
    """The name of an agent's cell.

    >>> cell_words("none"), cell_words("rel-lstm")
    ('without memory', 'rel-lstm')
    """
    return _MEMORYLESS if cell == "none" else cell


def interval_words(rewards: Rewards) -> str:
    """
    >>> many = Rewards("DoorKey-5x5", "lstm", 0.9, (0.85, 0.95), 1.0, 20.0, 100, (0.9,))
    >>> one = Rewards("DoorKey-5x5", "lstm", 0.9, None, 1.0, 20.0, 1, (0.9,))
    >>> interval_words(many), interval_words(one)
    ('0.90 [0.85, 0.95]', '0.90 (no interval)')
    """
    if rewards.interval is None:
        return f"{rewards.reward:.2f} (no interval)"
    low, high = rewards.interval
    return f"{rewards.reward:.2f} [{low:.2f}, {high:.2f}]"


def tries_words(rewards: Rewards) -> str:
    """The number of episodes and of networks.

    >>> tries_words(Rewards("DoorKey-5x5", "lstm", 0.9, (0.85, 0.95), 1.0, 20.0, 100, (0.9,)))
    '100 episodes of one network'
    """
    episodes = "one episode" if rewards.episodes == 1 else f"{rewards.episodes:,} episodes"
    networks = len(rewards.seeds)
    return f"{episodes} of {'one network' if networks == 1 else f'{networks} networks'}"


def _reward(rewards: Rewards) -> str:
    return f"reward {interval_words(rewards)} over {tries_words(rewards)}"


def _baseline(memoryless: Rewards | None) -> str:
    return "" if memoryless is None else f"; {_MEMORYLESS} {interval_words(memoryless)}"


def _seed_rows(rewards: Rewards, name: str) -> tuple[Row, ...]:
    """The networks of several seeds apart."""
    return ((name, _seeds(rewards), "Mean reward of each network."),) if len(rewards.seeds) > 1 else ()


def _seeds(rewards: Rewards) -> str:
    return " ".join(f"{reward:.2f}" for reward in rewards.seeds)


def _updates(networks: Sequence[LearningCurve | EvaluatedAgent]) -> str:
    return _counts([(one.updates, one.seed) for one in networks])


def _counts(counts: Sequence[tuple[int, int]]) -> str:
    """One count where all are equal, else each with its seed.

    >>> _counts([(300, 0), (300, 1)]), _counts([(1300, 0), (290, 1)])
    ('300', '1,300 (seed 0), 290 (seed 1)')
    """
    if len({count for count, _ in counts}) < 2:
        return "".join(f"{count:,}" for count, _ in counts[:1])
    return ", ".join(f"{count:,} (seed {seed})" for count, seed in counts)


def rewards_table(found: tuple[Rewards, ...], memoryless: tuple[Rewards, ...]) -> TextTable:
    """One row per world and agent."""
    rows = tuple(
        (
            one.world,
            cell_words(one.cell),
            interval_words(one),
            percent(one.solved),
            f"{one.length:.1f}",
            f"{one.episodes:,}",
            _seeds(one),
        )
        for one in (*found, *memoryless)
    )
    return TextTable("Rewards", ("world", "agent", "reward", "solved", "steps", "episodes", "seeds"), rows)


def has_episodes(run: AgentRun) -> bool:
    """Whether any episode ended during training, so that there is a learning curve."""
    return any(bool(np.isfinite(one.rewards).any()) for one in run.learning)


def learning_chart(run: AgentRun) -> Chart:
    """Reward against frames, for every agent."""
    return Chart(
        name="learning",
        title=f"{run.world}: reward during training",
        x_label="frames",
        y_label="mean reward of an episode",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(_learning_line(one, run) for one in run.learning),
        caption="Each point is the mean reward of the episodes that ended within ten updates, with actions sampled from the "
        "policy. Where the agent without memory does as well, memory was not needed.",
    )


def _learning_line(one: LearningCurve, run: AgentRun) -> Line:
    several = len({learning.seed for learning in run.learning}) > 1
    name = cell_words(one.cell) + (f", seed {one.seed}" if several else "")
    style = "dashed" if one.cell == "none" and run.cell != "none" else "line"
    ends = np.minimum(np.arange(_SMOOTHED, one.frames.size + _SMOOTHED, _SMOOTHED), one.frames.size) - 1
    return line(name, one.frames[ends], _group_means(one.rewards), style=style)


def _group_means(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each group of updates; NaN where no episode ended in it."""
    groups = [rewards[first : first + _SMOOTHED] for first in range(0, rewards.size, _SMOOTHED)]
    return np.array([np.nan if np.isnan(group).all() else np.nanmean(group) for group in groups])


def attention_map(episode: Episode) -> HeatMap:
    """Attention of each step of the episode on each earlier step."""
    steps = np.arange(1, episode.shown + 1, dtype=np.float64)
    return HeatMap(
        name="attention",
        title=f"{episode.world}, {episode.cell}: attention of each step",
        x_label="attended step",
        y_label="attending step",
        value_label="attention weight",
        value_scale="log",
        x=steps,
        y=steps,
        values=np.where(episode.attention > 0, episode.attention, np.nan),
        highest=1.0,
        edge=np.zeros(0),
        edge_label="",
        lines=(),
        caption="Each row is a step of the episode and shows how its attention is distributed over earlier steps; bright "
        "means much. Hatched: the future, and steps that are not stored. A bright column is a step that is remembered for "
        "long.",
    )


def _film(episode: Episode | None) -> tuple[Illustration, ...]:
    if episode is None:
        return ()
    from memspan.presentation.draw.training import episode_svg

    caption = _FILM if episode.attention.size else _FILM_WITHOUT_ATTENTION
    length = f" {episode.steps:,} steps, reward {episode.reward:.2f}."
    cut = "" if episode.shown == episode.steps else f" The first {episode.shown:,} are shown."
    return (Illustration("episode", episode_svg(episode), caption + length + cut),)
