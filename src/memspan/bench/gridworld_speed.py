"""Updates of an agent with a memspan cell and of sb3-contrib's with its LSTM, in turns, in the same worlds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

import numpy as np
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from memspan.bench.gridworld import GridworldSizes
from memspan.bench.timing import beside, race
from memspan.results import Benchmark
from memspan.tasks.gridworld.episodes import Episodes
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import AgentConfig, agent_defaults, agent_from_json
from memspan.training.agents.policy import GridEncoder
from memspan.training.run.config import merge
from memspan.training.run.machine import torch_seed, torch_threads


def frame_cost(cell: str, sizes: GridworldSizes) -> Benchmark:
    """The best update of each side, by frame."""
    config = _config(cell, sizes)
    frames = config.training.frames
    with torch_threads(1), torch_seed(0), _numpy_as_before():
        agent, peer = Agent(config), _peer(config)
        ours, theirs = race(agent.step, lambda: peer.learn(frames, reset_num_timesteps=False), sizes.rounds)
        agent.close()
    return beside(
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
    """The library's recurrent agent as it comes, with the same eyes, sizes and settings, in worlds of the same kind."""
    training, task = config.training, config.task
    places = [Episodes(task.world, seed=1, place=place) for place in range(training.worlds)]
    peer = RecurrentPPO(
        "MlpLstmPolicy",
        DummyVecEnv([partial(_itself, place) for place in places]),
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


def _itself(episodes: Episodes) -> Episodes:
    return episodes


@contextlib.contextmanager
def _numpy_as_before() -> Iterator[None]:
    """The peer draws numpy's global random numbers; afterwards they are what they would have been."""
    before = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
