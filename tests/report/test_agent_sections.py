"""Agents on a page: what is earned, of how many networks, and what should be known before it is trusted."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.figures.agent_examples import agent_evaluation, agent_run, learning, rewards

from memspan.presentation import sentence
from memspan.presentation.agent import agent_evaluation_rows, agent_rows, rewards_table
from memspan.presentation.presenter import section_of
from memspan.results import AgentEvaluation, AgentRun


def told(rows) -> dict[str, str]:
    return {name: value for name, value, _ in rows}


def test_the_answer_tells_of_how_many_networks_it_is():
    assert sentence(agent_run()) == (
        "MemoryS7, rel-lstm: reward 0.90 [0.80, 1.00] over 200 episodes of 2 networks after 61,440 frames; without memory "
        "0.48 [0.38, 0.58]"
    )
    assert sentence(agent_evaluation()) == (
        "MemoryS13, rel-lstm trained in MemoryS7: reward 0.30 [0.20, 0.40] over 100 episodes of one network; without memory "
        "0.25 [0.15, 0.35]"
    )


def test_a_single_episode_has_no_interval():
    one = dataclasses.replace(rewards("MemoryS7", "lstm", (0.9,)), interval=None, episodes=1)
    run = dataclasses.replace(agent_run(), found=one, memoryless=None)
    assert sentence(run) == (
        "MemoryS7, rel-lstm: reward 0.90 (no interval) over one episode of one network after 61,440 frames"
    )


def test_several_networks_are_told_apart_in_the_table_of_facts():
    facts = told(agent_rows(agent_run()))
    assert (facts["of each seed"], facts["of each seed, without"]) == ("0.92 0.88", "0.50 0.46")
    alone = dataclasses.replace(agent_run(), found=rewards("MemoryS7", "rel-lstm", (0.9,)), memoryless=None)
    assert "of each seed" not in told(agent_rows(alone))


def test_updates_that_differ_are_told_for_each_network():
    assert told(agent_rows(agent_run()))["updates"] == "30"
    uneven = (
        learning("rel-lstm", 0, [0.1] * 23),
        learning("rel-lstm", 1, [0.1] * 25),
        learning("none", 0, [0.1] * 24),
    )
    run = dataclasses.replace(agent_run(), learning=uneven)
    facts = told(agent_rows(run))
    assert facts["updates"] == "23 (seed 0), 25 (seed 1)"
    assert facts["frames"] == "47,104 (seed 0), 51,200 (seed 1)"
    assert "after 47,104 to 51,200 frames" in sentence(run)
    (meaning,) = [what for name, _, what in agent_rows(run) if name == "without memory"]
    assert meaning.endswith("after 24 updates.")
    weights = told(agent_evaluation_rows(agent_evaluation()))["weights"]
    assert weights == "of update 23; without memory of update 21"
    alike = dataclasses.replace(agent_evaluation(), networks=agent_evaluation().networks[:1] * 3)
    assert told(agent_evaluation_rows(alike))["weights"] == "of update 23"


@pytest.mark.parametrize("result", [agent_run(), agent_evaluation()], ids=["train", "evaluate"])
def test_notes_of_the_result_and_on_layouts_are_on_the_page(result):
    notes = section_of(result).notes
    assert notes[0].startswith("a note of the ")
    assert any("Small worlds have few layouts" in note for note in notes)
    assert any("does not exclude that the next one fails" in note for note in notes)


def test_every_world_and_agent_has_a_row():
    evaluation = agent_evaluation()
    rows = rewards_table(evaluation.transfer, evaluation.memoryless).rows
    assert [row[:2] for row in rows] == [
        *(("MemoryS7", "rel-lstm"), ("MemoryS13", "rel-lstm")),
        *(("MemoryS7", "without memory"), ("MemoryS13", "without memory")),
    ]


def test_results_of_earlier_versions_are_read():
    plain = json.loads(json.dumps(agent_run().to_json()))
    del plain["notes"], plain["episode"]["actions"], plain["episode"]["last"]
    run = AgentRun.from_json(plain)
    assert run.notes == ()
    assert section_of(run).figures[0].name == "episode"
    plain = json.loads(json.dumps(agent_evaluation().to_json()))
    del plain["networks"]
    evaluation = AgentEvaluation.from_json(plain)
    assert told(agent_evaluation_rows(evaluation))["weights"] == "of update 23"


def test_a_run_in_which_no_episode_ended_has_a_page():
    run = dataclasses.replace(agent_run(), learning=(learning("rel-lstm", 0, [np.nan]),))
    assert [figure.name for figure in section_of(run).figures] == ["episode", "attention"]
