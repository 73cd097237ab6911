"""Agents made by hand, for the tests of figures and reports."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from memspan.results import AgentEvaluation, AgentRun, Episode, EvaluatedAgent, LearningCurve, Rewards

COLOURS = ((250, 0, 0), (0, 250, 0), (0, 0, 250))
END = (250, 250, 0)
LOOKS = [[0, 0, 0], [1, 0, 0], [0.2, 0.8, 0]]
FRAMES = 2_048
CONFIG = {"task": {"name": "gridworld", "world": "MemoryS7"}, "cell": {"name": "rel-lstm"}, "seed": 0}


def picture(*colours: tuple[int, int, int], side: int = 60) -> str:
    """Worlds of one colour each, side by side."""
    strip = Image.new("RGB", (side * len(colours), side))
    for place, colour in enumerate(colours):
        strip.paste(colour, (side * place, 0, side * (place + 1), side))
    room = io.BytesIO()
    strip.save(room, "PNG")
    return base64.b64encode(room.getvalue()).decode()


def episode(attention: object = LOOKS) -> Episode:
    """Three steps, of which the third looks mostly at the second."""
    return Episode(
        world="MemoryS7",
        cell="rel-lstm",
        seed=0,
        reward=0.9,
        steps=3,
        shown=3,
        pictures=picture(*COLOURS),
        attention=np.array(attention, dtype=np.float64),
        actions=("left", "forward", "toggle"),
        last=picture(END),
    )


def learning(cell: str, seed: int, rewards: object, updates: int | None = None) -> LearningCurve:
    found = np.array(rewards, dtype=np.float64)
    count = found.size if updates is None else updates
    lived = FRAMES * np.arange(1, found.size + 1)
    return LearningCurve(cell, seed, count, 60.0, "all updates done", lived, found)


def rewards(world: str, cell: str, seeds: tuple[float, ...], half: float = 0.1) -> Rewards:
    mean = float(np.mean(seeds))
    interval = (max(mean - half, 0.0), min(mean + half, 1.0))
    return Rewards(world, cell, mean, interval, 0.9, 20.0, 100 * len(seeds), seeds)


def agent_run() -> AgentRun:
    """Two seeds that learn, and two that remember nothing."""
    rise = np.linspace(0.1, 0.9, 30)
    return AgentRun(
        task="gridworld",
        world="MemoryS7",
        cell="rel-lstm",
        parameter_count=62_840,
        updates=30,
        frames=30 * FRAMES,
        seconds=240.0,
        reward=0.9,
        run="runs/gridworld-rel-lstm-1",
        found=rewards("MemoryS7", "rel-lstm", (0.92, 0.88)),
        memoryless=rewards("MemoryS7", "none", (0.5, 0.46)),
        learning=(
            *(learning("rel-lstm", seed, rise) for seed in (0, 1)),
            *(learning("none", seed, rise / 2) for seed in (0, 1)),
        ),
        episode=episode(),
        config=CONFIG,
        notes=("a note of the training",),
    )


def agent_evaluation() -> AgentEvaluation:
    """One seed in two worlds, its baseline behind."""
    return AgentEvaluation(
        task="gridworld",
        trained_world="MemoryS7",
        cell="rel-lstm",
        parameter_count=62_840,
        updates=23,
        reward=0.3,
        transfer=(rewards("MemoryS7", "rel-lstm", (0.9,)), rewards("MemoryS13", "rel-lstm", (0.3,))),
        memoryless=(rewards("MemoryS7", "none", (0.5,)), rewards("MemoryS13", "none", (0.25,))),
        episode=episode(),
        run="runs/gridworld-rel-lstm-1",
        seconds=12.0,
        config=CONFIG,
        notes=("a note of the evaluation",),
        networks=(EvaluatedAgent("rel-lstm", 0, 23, False), EvaluatedAgent("none", 0, 21, False)),
    )
