"""What an agent in a grid world came to: rewards, one episode to look at, and how it was learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True, eq=False)
class Rewards:
    """Episodes in one world, each from a seed that training never had.

    Small worlds have few layouts, which occur in training all the same; only larger worlds show what carries over.
    """

    world: str
    cell: str
    reward: float
    """The mean over all episodes of all seeds; between 0 and 1 in the worlds of Kerg 2020, Table 4."""
    interval: tuple[float, float] | None
    """95 % interval of the mean: of one seed for this very network, of several over networks; None of a single episode."""
    solved: float
    """Share of episodes with any reward."""
    length: float
    """Steps of an episode, on average."""
    episodes: int
    seeds: tuple[float, ...]
    """The mean reward of each seed's network."""

    def above(self, other: Rewards) -> bool:
        """Whether more is earned than by another, intervals apart; not so where there is none.

        >>> one = Rewards("MemoryS7", "lstm", 0.9, (0.8, 1.0), 1.0, 20.0, 100, (0.9,))
        >>> two = Rewards("MemoryS7", "none", 0.5, (0.4, 0.6), 0.5, 20.0, 100, (0.5,))
        >>> one.above(two), two.above(one), one.above(one)
        (True, False, False)
        """
        return (
            self.interval is not None and other.interval is not None and self.interval[0] > other.interval[1]
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Episode(Displayed):
    """One episode as a film: pictures, and at each step the attention on the steps before."""

    world: str
    cell: str
    seed: int
    """Of the episode."""
    reward: float
    steps: int
    shown: int
    """How many of the steps have a picture: the first ones."""
    pictures: str
    """A PNG in base64: the world before each shown step, side by side."""
    attention: NDArray[np.float64]
    """(shown, shown): row t is how step t shares its attention among the steps before; empty where a cell has none."""
    actions: tuple[str, ...] = ()
    """What is done at each shown step."""
    last: str = ""
    """A PNG in base64: the world after the last step."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Displayed):
    """How one agent learnt."""

    cell: str
    seed: int
    updates: int
    seconds: float
    stopped: str
    """Why it is over."""
    frames: NDArray[np.int64]
    """Lived through until each line of metrics.jsonl."""
    rewards: NDArray[np.float64]
    """Mean reward of the episodes that ended since the line before; NaN where none did."""


@final
@dataclass(frozen=True, eq=False)
class EvaluatedAgent:
    """Whose weights were tried."""

    cell: str
    seed: int
    updates: int
    """That it has done."""
    over: bool
    """Whether its training is."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class AgentRun(Notebook):
    """A training in a grid world: the agent, and beside it one that remembers nothing."""

    task: str
    world: str
    cell: str
    parameter_count: int
    updates: int
    frames: int
    seconds: float
    """Of all agents together."""
    reward: float
    """Of `found`."""
    run: str
    found: Rewards
    memoryless: Rewards | None
    """The same for the agent without memory; None where none was trained."""
    learning: tuple[LearningCurve, ...]
    """Of every seed, the agent first, then the one without memory."""
    episode: Episode | None
    config: dict[str, Any]
    notes: tuple[str, ...] = ()

    def _summary(self) -> str:
        return f"{self.cell} in {self.world}, reward {self.reward:.3g}, {self.frames:,} frames, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """The object that `train gridworld --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> AgentRun:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)


@final
@dataclass(frozen=True, eq=False, repr=False)
class AgentEvaluation(Notebook):
    """A trained agent in one or more worlds, and the one without memory beside it."""

    task: str
    trained_world: str
    cell: str
    parameter_count: int
    updates: int
    """Of the first network; `networks` has those of all."""
    reward: float
    """Of the last entry of `transfer`."""
    transfer: tuple[Rewards, ...]
    """One for each world."""
    memoryless: tuple[Rewards, ...]
    """The same worlds; empty where no agent without memory was trained."""
    episode: Episode | None
    """In the last world."""
    run: str
    seconds: float
    config: dict[str, Any]
    notes: tuple[str, ...] = ()
    networks: tuple[EvaluatedAgent, ...] = ()
    """Every one that was tried, the agents first, then those without memory."""

    def _summary(self) -> str:
        worlds = ", ".join(f"{one.world} {one.reward:.3g}" for one in self.transfer[:8])
        return f"{self.cell} trained in {self.trained_world}, rewards: {worlds}, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """The object that `evaluate --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> AgentEvaluation:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)
