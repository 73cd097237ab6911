"""Kerg 2020, Table 4: agents that learn in small grid worlds, tried in larger ones, with and without memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from memspan.errors import check_rl
from memspan.experiments.recipe import Outcome, Trained
from memspan.progress import Progress
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from memspan.results import AgentEvaluation

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "RedBlueDoors-6x6": {"lstm": (0.97, 0.95), "mem-lstm": (0.97, 0.95), "rel-lstm": (0.97, 0.95)},
    "GoToObject-6x6": {"lstm": (0.81, 0.66), "mem-lstm": (0.85, 0.66), "rel-lstm": (0.84, 0.74)},
    "MemoryS7": {"lstm": (0.96, 0.25), "mem-lstm": (0.4, 0.24), "rel-lstm": (0.94, 0.30)},
    "GoToDoor-5x5": {"lstm": (0.28, 0.13), "mem-lstm": (0.17, 0.11), "rel-lstm": (0.25, 0.15)},
    "Fetch-5x5": {"lstm": (0.48, 0.38), "mem-lstm": (0.42, 0.44), "rel-lstm": (0.5, 0.45)},
    "DoorKey-5x5": {"lstm": (0.94, 0.09), "mem-lstm": (0.94, 0.31), "rel-lstm": (0.93, 0.44)},
}
"""Mean rewards where an agent was trained, and in the larger world."""
CELLS = {"lstm": "LSTM", "mem-lstm": "MemLSTM", "rel-lstm": "RelLSTM", "none": "no memory"}
NEAR = 0.1
"""How far a measured reward may be from the printed one: 100 episodes of one network scatter by about half of it."""

Found = dict[tuple[str, str], "AgentEvaluation"]
"""By world and cell."""


@final
@dataclass(frozen=True)
class _Size:
    worlds: tuple[str, ...]
    cells: tuple[str, ...]
    episodes: int
    training: dict[str, Any]


_SMALL = {"updates": 2, "worlds": 2, "steps": 16, "batch": 16, "recurrence": 8, "epochs": 1}
_SIZES = {
    "smoke": _Size(("GoToDoor-5x5",), ("rel-lstm", "none"), 2, _SMALL),
    "laptop": _Size(tuple(PUBLISHED), tuple(CELLS), 100, {"updates": 120}),
    "paper": _Size(tuple(PUBLISHED), tuple(CELLS), 100, {"updates": 2_442}),
}


def _train(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_rl("relevance-table4")
    from memspan.experiments.agent_trainings import agent_job, try_agents
    from memspan.tasks.gridworld import LARGER

    size = _SIZES[scale]
    pairs = [(world, cell) for world in size.worlds for cell in size.cells]
    jobs = [
        agent_job(cell, world, LARGER[world], runs / f"{world}-{cell}", seed, size.episodes, size.training)
        for world, cell in pairs
    ]
    tried = try_agents(jobs, progress, workers=1 if scale == "smoke" else None)
    found = dict(zip(pairs, tried, strict=True))
    frames = jobs[0].config.training.frames * jobs[0].config.training.updates
    charts = tuple(_chart(found, place, frames, size) for place in (0, 1))
    return Outcome((*_about_memory(found), *_as_printed(found)), charts, (_NOTE,))


def _about_memory(found: Found) -> Iterator[Claim]:
    """What the table is said to show, and what it cannot show without an agent that remembers nothing."""
    worlds = list(dict.fromkeys(world for world, _ in found))
    both = [w for w in worlds if (w, "rel-lstm") in found and (w, "mem-lstm") in found]
    if both:
        better = sum(_reward(found, w, "rel-lstm", 1) > _reward(found, w, "mem-lstm", 1) for w in both)
        yield Claim(
            f"In larger worlds RelLSTM earns more than MemLSTM in most of {len(both)}. (Measured: in how many.)",
            5.0,  # in the sixth both are printed as 0.95
            None,
            float(better),
            None,
            2 * better > len(both),
        )
    for world in worlds:
        if (world, "none") in found and (world, "rel-lstm") in found:
            yield _needs_memory(found, world)


def _needs_memory(found: Found, world: str) -> Claim:
    ours, without = (found[world, cell].transfer[0] for cell in ("rel-lstm", "none"))
    return Claim(
        f"{world} asks for memory: RelLSTM earns more than an agent without ({without.reward:.2f}), intervals apart.",
        None,
        None,
        ours.reward,
        None,
        ours.interval[0] > without.interval[1],
    )


def _as_printed(found: Found) -> Iterator[Claim]:
    """One claim for each number that was printed and measured."""
    for (world, cell), evaluation in found.items():
        for place, printed in enumerate(PUBLISHED[world].get(cell, ())):
            measured = evaluation.transfer[place]
            yield Claim(
                f"{CELLS[cell]}, {measured.world}"
                f"{'' if place == 0 else f' after {world}'}: the reward is as printed, within {NEAR:g}.",
                printed,
                None,
                measured.reward,
                NEAR,
                abs(measured.reward - printed) <= NEAR,
            )


def _reward(found: Found, world: str, cell: str, place: int) -> float:
    return found[world, cell].transfer[place].reward


def _chart(found: Found, place: int, frames: int, size: _Size) -> Chart:
    """Rewards of every cell, world by world; the worlds are numbered, and named in the caption."""
    where = ("where it was learnt", "in the larger world")[place]
    numbers = list(range(1, len(size.worlds) + 1))
    names = [found[world, size.cells[0]].transfer[place].world for world in size.worlds]
    lines = []
    for cell in size.cells:
        rewards = [found[world, cell].transfer[place] for world in size.worlds]
        band = ([one.interval[0] for one in rewards], [one.interval[1] for one in rewards])
        lines.append(line(CELLS[cell], numbers, [one.reward for one in rewards], band=band))
    return Chart(
        name=("learnt", "larger")[place],
        title=f"Reward {where}, after {frames:,} frames",
        x_label="world",
        y_label="mean reward of an episode",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption=f"Mean of {size.episodes} episodes with 95 % intervals; lines only lead the eye. Worlds: "
        + ", ".join(f"{number} {name}" for number, name in zip(numbers, names, strict=True))
        + ".",
    )


_NOTE = (
    "The published program cleared the memory before every step while it acted (errata 14), so that the printed rewards are "
    "not those of the agents that are described. Here memory is carried through an episode, in acting and in learning "
    "alike, and an agent without memory is trained beside. Missions are not told: what GoToObject, GoToDoor and Fetch "
    "ask for can then only be guessed. The paper does not say whether they were."
)

RELEVANCE_TABLE4 = Trained(
    id="relevance-table4",
    title="Agents in small grid worlds, tried in larger ones",
    source="Kerg 2020, section 5.3, Table 4",
    scales={
        "smoke": "one world, one cell and no memory, 2 updates: some seconds",
        "laptop": "6 worlds, 3 cells and no memory, 120 updates (245,760 frames) each: about an hour",
        "paper": "6 worlds, 3 cells and no memory, 2,442 updates (5 million frames) each: most of a day",
    },
    train=_train,
)
