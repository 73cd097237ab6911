"""How agents learnt, how far what they learnt carries, and what one of them looked at in an episode."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.agent_words import cell_words
from memspan.figures.chart import chart_figure
from memspan.figures.heat_map import heat_map_figure
from memspan.results import AgentEvaluation, AgentRun, Chart, Episode, HeatMap, LearningCurve, Line, line

_SMOOTHED = 10
"""Updates whose rewards are averaged for a point."""


def agent_figures(result: AgentRun | AgentEvaluation) -> dict[str, Figure]:
    """Every figure of a training or an evaluation by its name."""
    figures = {}
    if isinstance(result, AgentRun) and has_learnt(result):
        figures["learning"] = chart_figure(learning_drawing(result))
    if result.episode is not None and result.episode.attention.size:
        figures["attention"] = heat_map_figure(episode_drawing(result.episode))
    return figures


def has_learnt(run: AgentRun) -> bool:
    """Whether an episode ended while it learnt, so that there is something to draw."""
    return any(bool(np.isfinite(one.rewards).any()) for one in run.learning)


def learning_drawing(run: AgentRun) -> Chart:
    """Reward against frames, for every agent."""
    return Chart(
        name="learning",
        title=f"{run.world}: reward while learning",
        x_label="frames lived through",
        y_label="mean reward of an episode",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(_learning_line(one, run) for one in run.learning),
        caption="Each point is the mean reward of the episodes that ended within ten updates, with actions drawn by the "
        "policy's odds. Where the agent without memory does as well, memory was not needed.",
    )


def _learning_line(one: LearningCurve, run: AgentRun) -> Line:
    several = len({learning.seed for learning in run.learning}) > 1
    name = cell_words(one.cell) + (f", seed {one.seed}" if several else "")
    style = "dashed" if one.cell == "none" and run.cell != "none" else "line"
    return line(name, one.frames[_ends(one)], _means(one.rewards), style=style)


def _ends(one: LearningCurve) -> NDArray[np.int64]:
    """The last update of each group."""
    return np.minimum(np.arange(_SMOOTHED, one.frames.size + _SMOOTHED, _SMOOTHED), one.frames.size) - 1


def _means(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each group; NaN where no episode ended in it."""
    groups = [rewards[first : first + _SMOOTHED] for first in range(0, rewards.size, _SMOOTHED)]
    return np.array([np.nan if np.isnan(group).all() else np.nanmean(group) for group in groups])


def episode_drawing(episode: Episode) -> HeatMap:
    """Attention of each step of the episode on each step before it."""
    steps = np.arange(1, episode.shown + 1, dtype=np.float64)
    return HeatMap(
        name="attention",
        title=f"{episode.world}, {episode.cell}: what each step looks at",
        x_label="step that is looked at",
        y_label="step that looks",
        value_label="share of attention",
        value_scale="log",
        x=steps,
        y=steps,
        values=np.where(episode.attention > 0, episode.attention, np.nan),
        highest=1.0,
        edge=np.zeros(0),
        edge_label="",
        lines=(),
        caption="Each row is a step of the episode and shows how its attention is shared among the steps before; bright "
        "means much. Hatched is what is not looked at: the future, and the past that is not remembered. A bright column is "
        "a moment that is remembered for long.",
    )
