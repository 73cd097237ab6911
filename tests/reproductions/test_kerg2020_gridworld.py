"""Kerg 2020, agents: claims on hand-made rewards hold for one outcome and fail for another."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from memspan.presentation.draw.chart import chart_figure
from memspan.reproductions import RECIPES
from memspan.reproductions.kerg2020 import agent_trainings, gridworld
from memspan.reproductions.kerg2020.gridworld import CELLS, PUBLISHED, AgentResults, undecided_notes
from memspan.reproductions.kerg2020.gridworld import reward_claims as claims
from memspan.results import AgentEvaluation, Claim, Rewards
from memspan.tasks.gridworld import LARGER

HALF = 0.02
"""Default half-width of intervals."""
LAPTOP = RECIPES["relevance-table4"].sizes["laptop"].size


def earned(world: str, cell: str, reward: float, half: float = HALF, networks: int = 3) -> Rewards:
    interval = (max(reward - half, 0.0), min(reward + half, 1.0))
    return Rewards(world, cell, reward, interval, 1.0, 20.0, 100 * networks, (reward,) * networks)


def evaluation(world: str, cell: str, rewards: tuple[Rewards, ...]) -> AgentEvaluation:
    return AgentEvaluation(
        task="gridworld",
        trained_world=world,
        cell=cell,
        parameter_count=1,
        updates=120,
        reward=rewards[-1].reward,
        transfer=rewards,
        memoryless=(),
        episode=None,
        run="",
        seconds=1.0,
        config={},
    )


def table(
    rewards: dict[str, dict[str, tuple[float, float]]] = PUBLISHED, *, half: float = HALF, networks: int = 3
) -> AgentResults:
    """Evaluations with these rewards in the training world and in the larger one."""
    return {
        (world, cell): evaluation(
            world,
            cell,
            (earned(world, cell, pair[0], half, networks), earned(LARGER[world], cell, pair[1], half, networks)),
        )
        for world, row in rewards.items()
        for cell, pair in row.items()
    }


def replaced(found: AgentResults, world: str, cell: str, trained: float, larger: float) -> AgentResults:
    return {**found, **table({world: {cell: (trained, larger)}})}


def about(found: AgentResults, words: str) -> Claim:
    (claim,) = [claim for claim in claims(found) if words in claim.claim]
    return claim


def test_of_the_printed_table_every_printed_number_holds():
    printed = [claim for claim in claims(table()) if "as printed" in claim.claim]
    assert len(printed) == 36
    assert all(claim.holds for claim in printed)
    other = replaced(table(), "DoorKey-5x5", "rel-lstm", 0.93, 0.44 - 0.11)
    assert [c.claim for c in claims(other) if "as printed" in c.claim and not c.holds] == [
        "RelLSTM, DoorKey-16x16 after DoorKey-5x5: the reward is as printed, within 0.1."
    ]


@pytest.mark.parametrize("other", ["mem-lstm", "lstm"])
def test_rel_lstm_earns_more_in_most_larger_worlds_only_where_intervals_are_apart(other):
    words = f"RelLSTM earns more than {CELLS[other]} in most of 6"
    apart = about(table(half=0.001), words)
    assert (apart.paper, apart.measured, apart.holds) == (5.0, 5.0, True)
    assert f"{CELLS[other]} earns more in 0, in 1 neither does" in apart.claim
    wide = about(table(half=0.2), words)
    assert (wide.measured, wide.holds) == (0.0, False)
    assert "in 6 neither does" in wide.claim
    turned = {world: {**row, "rel-lstm": row[other], other: row["rel-lstm"]} for world, row in PUBLISHED.items()}
    worse = about(table(turned, half=0.001), words)
    assert (worse.measured, worse.holds) == (0.0, False)
    assert f"{CELLS[other]} earns more in 5, in 1 neither does" in worse.claim


def test_the_order_in_the_largest_world_holds_as_printed_and_fails_where_one_is_as_good():
    words = ("MemLSTM earns more than LSTM (", "RelLSTM earns more than MemLSTM (", "RelLSTM earns more than LSTM (")
    printed = [about(table(), word) for word in words]
    assert [claim.holds for claim in printed] == [True, True, True]
    assert [(claim.paper, claim.measured) for claim in printed] == [(0.31, 0.31), (0.44, 0.44), (0.44, 0.44)]
    assert printed[0].claim.startswith("DoorKey-16x16 after DoorKey-5x5: ")
    alike = replaced(table(), "DoorKey-5x5", "mem-lstm", 0.94, 0.44)
    assert [about(alike, word).holds for word in words] == [True, False, True]


@pytest.mark.parametrize(
    ("none", "plain", "rel", "holds"),
    [
        (0.5, 0.95, 0.5, True),  # another cell than RelLSTM is enough
        (0.5, 0.6, 0.7, True),  # more than without, though not all there is
        (0.95, 0.95, 0.95, False),
        (0.95, 0.5, 0.5, False),
    ],
)
def test_a_world_requires_memory_where_memory_earns_more(none, plain, rel, holds):
    found = table({"MemoryS7": {"none": (none, 0), "lstm": (plain, 0), "rel-lstm": (rel, 0)}})
    claim = about(found, "MemoryS7 requires memory")
    assert claim.holds == holds
    assert claim.measured == max(plain, rel)
    assert f"without ({none:.2f})" in claim.claim
    assert undecided_notes(found) == ()


def test_whether_a_world_requires_memory_is_undecided_if_no_agent_has_learned_it():
    found = table({"MemoryS7": {"none": (0.5, 0), "lstm": (0.5, 0), "rel-lstm": (0.51, 0)}})
    assert [claim for claim in claims(found) if "requires memory" in claim.claim] == []
    (note,) = undecided_notes(found)
    assert note == (
        "Whether MemoryS7 requires memory is undecided, because no agent has learned it. The best reward is 0.51 with "
        "memory and 0.50 without."
    )


def test_results_of_one_network_say_so():
    row = {"none": (0.5, 0.1), **PUBLISHED["DoorKey-5x5"]}
    texts = [claim.claim for claim in claims(table({"DoorKey-5x5": row}, networks=1)) if "most of" not in claim.claim]
    assert all(claim.endswith(" One network.") for claim in texts)
    assert not any("One network" in claim.claim for claim in claims(table({"DoorKey-5x5": row})))


def test_both_cells_with_attention_combine_alike():
    groups = [
        gridworld.agent_group("MemoryS7", cell, 0, LAPTOP["training"], 3, LAPTOP["episodes"], Path())
        for cell in ("mem-lstm", "rel-lstm")
    ]
    assert [group.config.cell.options["combine"] for group in groups] == ["sum", "sum"]
    assert "s = h + c, as in the text" in gridworld.NOTE


def test_points_are_labeled_with_the_names_of_worlds():
    full = {world: {**row, "none": (0.5, 0.1)} for world, row in PUBLISHED.items()}
    chart = gridworld.reward_chart(table(full), 1, 245_760, LAPTOP["episodes"], list(LAPTOP["seeds"]))
    assert chart.x_names == tuple(LARGER[world] for world in PUBLISHED)
    assert {one.style for one in chart.lines} == {"markers"}
    (axes,) = chart_figure(chart).axes
    assert [tick.get_text().replace("\n", "") for tick in axes.get_xticklabels()] == list(chart.x_names)
    none = dataclasses.replace(earned("MemoryS13", "none", 0.4), interval=None)
    assert gridworld.reward_points("", [none], 0.0).low.tolist() == pytest.approx([float("nan")], nan_ok=True)


def test_finished_agents_are_loaded_and_not_trained_again(tmp_path, monkeypatch):
    first = RECIPES["relevance-table4"].outcome("smoke", runs=tmp_path)
    assert {path.parent.name for path in tmp_path.rglob("seed-*/config.json")} == {"seed-0", "seed-1"}
    assert first.notes[-1].startswith("4 trainings of ")
    monkeypatch.setattr(agent_trainings, "train_agent", None)
    monkeypatch.setattr(agent_trainings, "evaluate_agents", None)
    assert RECIPES["relevance-table4"].outcome("smoke", runs=tmp_path).claims == first.claims
