"""Figures of agents: every line can be seen, and what is not looked at is not drawn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.figures.agent_examples import LOOKS, agent_evaluation, agent_run, episode, learning

from memspan.errors import InputError
from memspan.presentation import figures_of, plot
from memspan.presentation.agent import attention_map


def lines(run) -> dict[str, object]:
    return {str(line.get_label()): line for line in plot(run, Figure().subplots()).get_lines()}


def test_agents_without_memory_have_dashed_lines_of_their_own():
    found = lines(agent_run())
    assert set(found) == {
        *("rel-lstm, seed 0", "rel-lstm, seed 1", "without memory, seed 0", "without memory, seed 1")
    }
    dashed = found["without memory, seed 0"]
    assert (dashed.get_linestyle(), dashed.get_marker()) == ("--", "")  # type: ignore[attr-defined]
    assert dashed.get_xdata().tolist() == [10 * 2_048, 20 * 2_048, 30 * 2_048]  # type: ignore[attr-defined]


@pytest.mark.parametrize("rewards", [[0.2], [0.1, np.nan, 0.3], [np.nan] * 10 + [0.2] + [np.nan] * 10])
def test_a_line_of_single_points_has_markers(rewards):
    run = dataclasses.replace(
        agent_run(), learning=(learning("rel-lstm", 0, rewards), learning("none", 0, rewards))
    )
    for line in lines(run).values():
        assert line.get_marker() not in ("", "None")  # type: ignore[attr-defined]


def test_where_no_episode_ended_nothing_is_drawn_of_learning():
    run = dataclasses.replace(agent_run(), learning=(learning("rel-lstm", 0, [np.nan, np.nan]),))
    assert set(figures_of(run)) == {"attention"}
    with pytest.raises(InputError, match="AgentRun in which episodes ended"):
        plot(run, Figure().subplots())


def test_what_is_not_looked_at_has_no_colour():
    map = attention_map(episode())
    assert np.array_equal(np.isnan(map.values), np.array(LOOKS) == 0)
    assert "the past that is not remembered" in map.caption
    figures_of(dataclasses.replace(agent_evaluation(), episode=episode(np.zeros((3, 3)))))
