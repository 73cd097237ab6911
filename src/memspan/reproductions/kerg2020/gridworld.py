"""Kerg 2020, Table 4: agents that learn in small grid worlds, tried in larger ones, with and without memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from memspan.errors import check_rl
from memspan.progress import Progress
from memspan.reproductions.kerg2020.gridworld_claims import CELLS, PUBLISHED, Found, claims, undecided_notes
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Line, Rewards, line

if TYPE_CHECKING:
    from memspan.reproductions.kerg2020.agent_trainings import AgentGroup


@final
@dataclass(frozen=True)
class _Size:
    worlds: tuple[str, ...]
    cells: tuple[str, ...]
    episodes: int
    training: dict[str, Any]
    seeds: dict[str, int] = field(default_factory=dict)
    """Networks of each kind in a world; one where it is not named."""


_SMALL = {"updates": 2, "worlds": 2, "steps": 16, "batch": 16, "recurrence": 8, "epochs": 1}
_THRICE = {"DoorKey-5x5": 3, "MemoryS7": 3}
_SIZES = {
    "smoke": _Size(("GoToDoor-5x5",), ("rel-lstm", "none"), 2, _SMALL, {"GoToDoor-5x5": 2}),
    "laptop": _Size(tuple(PUBLISHED), tuple(CELLS), 100, {"updates": 120}, _THRICE),
    "paper": _Size(tuple(PUBLISHED), tuple(CELLS), 100, {"updates": 2_442}, dict.fromkeys(PUBLISHED, 3)),
}
_SUM = {"combine": "sum"}
_OPTIONS: dict[str, dict[str, Any]] = {"mem-lstm": _SUM, "rel-lstm": _SUM}
"""s = h + c, as the text has it, for both cells that look back; the published program takes half of it (errata 13)."""


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_rl("relevance-table4")
    from memspan.reproductions.kerg2020.agent_trainings import try_agents

    size = _SIZES[scale]
    pairs = [(world, cell) for world in size.worlds for cell in size.cells]
    groups = [_group(world, cell, seed, size, runs) for world, cell in pairs]
    tried = try_agents(groups, progress, workers=1 if scale == "smoke" else None)
    found: Found = dict(zip(pairs, tried, strict=True))
    frames = groups[0].config.training.frames * groups[0].config.training.updates
    charts = tuple(_chart(found, place, frames, size) for place in (0, 1))
    return Outcome(claims(found), charts, (*undecided_notes(found), _NOTE))


def _group(world: str, cell: str, seed: int, size: _Size, runs: Path) -> AgentGroup:
    from memspan.reproductions.kerg2020.agent_trainings import AgentGroup, agent_config
    from memspan.tasks.gridworld import LARGER

    config = agent_config(cell, world, seed, size.training, _OPTIONS.get(cell, {}))
    seeds = size.seeds.get(world, 1)
    return AgentGroup(config, runs / f"{world}-{cell}", seeds, (world, LARGER[world]), size.episodes)


def _chart(found: Found, place: int, frames: int, size: _Size) -> Chart:
    """Rewards of every cell, world by world, the cells of a world side by side."""
    where = ("where it was learnt", "in the larger world")[place]
    thrice = [world for world in size.worlds if size.seeds.get(world, 1) > 1]
    several = f" Of {', '.join(thrice)} several networks were trained, of the others one." if thrice else ""
    return Chart(
        name=("learnt", "larger")[place],
        title=f"Reward {where}, after {frames:,} frames",
        x_label="world",
        y_label="mean reward of an episode",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(
            _points(
                CELLS[cell],
                [found[world, cell].transfer[place] for world in size.worlds],
                0.12 * (number - (len(size.cells) - 1) / 2),
            )
            for number, cell in enumerate(size.cells)
        ),
        caption=f"Mean of {size.episodes} episodes of each network, with 95 % intervals.{several} An interval of one "
        "network says nothing of others.",
        x_names=tuple(found[world, size.cells[0]].transfer[place].world for world in size.worlds),
    )


def _points(label: str, rewards: list[Rewards], shift: float) -> Line:
    """Points with bars, a little beside the middle of each world."""
    ends = [one.interval or (np.nan, np.nan) for one in rewards]
    return line(
        label,
        np.arange(1, len(rewards) + 1) + shift,
        [one.reward for one in rewards],
        band=([low for low, _ in ends], [high for _, high in ends]),
        style="markers",
    )


_NOTE = (
    "The published program cleared the memory before every step while it acted (errata 14), so that the printed rewards are "
    "not those of the agents that are described. Here memory is carried through an episode, in acting and in learning "
    "alike, and an agent without memory is trained beside. MemLSTM and RelLSTM both add what they look up to the state, "
    "s = h + c, as the text has it. Missions are not told: what GoToObject, GoToDoor and Fetch ask for can then only be "
    "guessed. The paper does not say whether they were."
)
