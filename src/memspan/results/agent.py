"""What training and evaluating an agent in a grid world return: rewards, one episode, and learning curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import JsonResult, check_lengths


@final
@dataclass(frozen=True, eq=False, repr=False)
class AgentRun(JsonResult, Notebook):
    """A training run in a grid world: the agent, and a memoryless baseline if one was trained."""

    task: str
    world: str
    cell: str
    parameter_count: int
    updates: int
    frames: int
    seconds: float
    """Total of all agents."""
    reward: float
    """Of `found`."""
    run: str
    found: Rewards
    memoryless: Rewards | None
    """The memoryless baseline; None if none was trained."""
    learning: tuple[LearningCurve, ...]
    """One per seed: agents first, then memoryless baselines."""
    episode: Episode | None
    config: dict[str, Any]
    notes: tuple[str, ...] = ()

    def _summary(self) -> str:
        return (
            f"{self.cell} in {self.world}, reward {self.reward:.3g}, {self.frames:,} frames, run {in_brief(self.run)}"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class AgentEvaluation(JsonResult, Notebook):
    """A trained agent in one or more worlds, next to a memoryless baseline."""

    task: str
    trained_world: str
    cell: str
    parameter_count: int
    updates: int
    """Of the first network; `networks` holds those of all."""
    reward: float
    """Of the last entry of `transfer`."""
    transfer: tuple[Rewards, ...]
    """One per world."""
    memoryless: tuple[Rewards, ...]
    """The baseline in the same worlds; empty if none was trained."""
    episode: Episode | None
    """In the last world."""
    run: str
    seconds: float
    config: dict[str, Any]
    notes: tuple[str, ...] = ()
    networks: tuple[EvaluatedAgent, ...] = ()
    """Every evaluated network: agents first, then memoryless baselines."""

    def _summary(self) -> str:
        worlds = ", ".join(f"{one.world} {one.reward:.3g}" for one in self.transfer[:8])
        return f"{self.cell} trained in {self.trained_world}, rewards: {worlds}, run {in_brief(self.run)}"


@final
@dataclass(frozen=True, eq=False)
class Rewards:
    """Rewards of episodes in one world, each with a seed that was not used in training.

    Small worlds have few layouts, which occur in training as well; only larger worlds show generalization.
    """

    world: str
    cell: str
    reward: float
    """Mean over all episodes of all seeds; between 0 and 1 in the worlds of Kerg 2020, Table 4."""
    interval: tuple[float, float] | None
    """95 % interval of the mean, over episodes and, for several seeds, over networks; None for a single episode."""
    solved: float
    """Share of episodes with any reward."""
    length: float
    """Mean number of steps of an episode."""
    episodes: int
    seeds: tuple[float, ...]
    """Mean reward of each seed's network."""

    def above(self, other: Rewards) -> bool:
        """Whether the reward is higher and the intervals do not overlap; False if either has no interval.

        >>> one = Rewards("MemoryS7", "lstm", 0.9, (0.8, 1.0), 1.0, 20.0, 100, (0.9,))
        >>> two = Rewards("MemoryS7", "none", 0.5, (0.4, 0.6), 0.5, 20.0, 100, (0.5,))
        >>> one.above(two), two.above(one), one.above(one)
        (True, False, False)
        """
        return self.interval is not None and other.interval is not None and self.interval[0] > other.interval[1]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Episode(Displayed):
    """One episode as a film strip, with the attention of each step."""

    world: str
    cell: str
    seed: int
    """Of the episode."""
    reward: float
    steps: int
    shown: int
    """Number of leading steps with a picture."""
    pictures: str
    """A PNG in base64: the world before each shown step, side by side."""
    attention: NDArray[np.float64]
    """(shown, shown): row t holds the attention of step t on earlier steps; empty for cells without attention."""
    actions: tuple[str, ...] = ()
    """The action of each shown step."""
    last: str = ""
    """A PNG in base64: the world after the last step."""

    def __post_init__(self) -> None:
        if self.attention.size and self.attention.shape != (self.shown, self.shown):
            raise InputError(f"attention and steps differ in length; attention has shape {self.attention.shape}")


@final
@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Displayed):
    """Training history of one agent."""

    cell: str
    seed: int
    updates: int
    seconds: float
    stopped: str
    """Why training ended."""
    frames: NDArray[np.int64]
    """Frames seen at each line of metrics.jsonl."""
    rewards: NDArray[np.float64]
    """Mean reward of the episodes that ended since the previous line; NaN if none did."""

    def __post_init__(self) -> None:
        check_lengths(self, "frames", "rewards")


@final
@dataclass(frozen=True, eq=False)
class EvaluatedAgent:
    """An agent whose weights were evaluated."""

    cell: str
    seed: int
    updates: int
    """Updates so far."""
    over: bool
    """Whether its training is finished."""
