"""The benchmark `gridworld`: updates of an agent with a memspan cell, next to sb3-contrib's recurrent policy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from memspan.bench.timing import cost_benchmark, race, run_all
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.tasks.gridworld.environment import Episodes
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import AgentConfig, agent_defaults, agent_from_json
from memspan.training.agents.policy import GridEncoder
from memspan.training.run.config import merge
from memspan.training.run.machine import torch_seed, torch_threads


@final
@dataclass(frozen=True, kw_only=True)
class GridworldSizes:
    """Sizes of one update; it is repeated `rounds` times."""

    cells: tuple[str, ...] = ("rel-lstm", "mem-lstm", "lstm")
    world: str = "DoorKey-5x5"
    worlds: int = 16
    steps: int = 128
    hidden: int = 64
    rounds: int = 5


FULL = GridworldSizes()


def gridworld(progress: Progress = SILENT, sizes: GridworldSizes = FULL) -> tuple[Benchmark, ...]:
    """Microseconds per frame, one thread: collecting it and training on it for four epochs."""
    return run_all("timing agents", (partial(frame_cost, cell, sizes) for cell in sizes.cells), progress)


def frame_cost(cell: str, sizes: GridworldSizes) -> Benchmark:
    """The best update of each side, per frame."""
    config = _config(cell, sizes)
    frames = config.training.frames
    with torch_threads(1), torch_seed(0), _numpy_state_restored():
        agent, peer = Agent(config), _peer(config)
        ours, theirs = race(agent.step, lambda: peer.learn(frames, reset_num_timesteps=False), sizes.rounds)
        agent.close()
    return cost_benchmark(
        f"update in {sizes.world}, {sizes.worlds} worlds, {cell} of {sizes.hidden} units",
        "RecurrentPPO of sb3-contrib, its LSTM policy",
        1e6 * ours / frames,
        1e6 * theirs / frames,
        "µs per frame",
    )


def _config(cell: str, sizes: GridworldSizes) -> AgentConfig:
    settings = {
        "task": {"world": sizes.world},
        "cell": {"hidden": sizes.hidden},
        "training": {"worlds": sizes.worlds, "steps": sizes.steps},
    }
    return agent_from_json(merge(agent_defaults(cell), settings), "the benchmark")


def _peer(config: AgentConfig) -> RecurrentPPO:
    """The library's recurrent agent with the same encoder, sizes and hyperparameters, in worlds of the same kind."""
    training, task = config.training, config.task
    places = [Episodes(task.world, seed=1, place=place) for place in range(training.worlds)]
    peer = RecurrentPPO(
        "MlpLstmPolicy",
        # The default argument binds each environment; a plain closure would return the last one for all.
        DummyVecEnv([lambda place=place: place for place in places]),
        learning_rate=training.learning_rate,
        n_steps=training.steps,
        batch_size=training.batch,
        n_epochs=training.epochs,
        ent_coef=training.entropy,
        policy_kwargs={
            "lstm_hidden_size": config.cell.hidden,
            "net_arch": {"pi": [64], "vf": [64]},
            "features_extractor_class": GridEncoder,
            "features_extractor_kwargs": {"observing": places[0].observing},
        },
        device="cpu",
    )
    peer.set_logger(Logger(folder=None, output_formats=[]))
    return peer


@contextlib.contextmanager
def _numpy_state_restored() -> Iterator[None]:
    """Restore numpy's global random state, which the peer draws from."""
    before = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
