"""One episode of a trained agent as a film: images of the world, and the attention of each step to earlier ones."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from memspan.cells.layer import Layer
from memspan.results import Episode
from memspan.tasks.gridworld.episodes import episode_seed, open_world
from memspan.training.agents.play import TRIALS
from memspan.training.agents.policy import CellPolicy
from memspan.training.run.machine import stream_seed, torch_seed

TILE = 12
"""Pixels per grid cell."""
FRAMES = 120
"""Maximum number of steps with an image."""


@final
@dataclass
class _Recording:
    """Observations and actions of every step, images of the first ones, and the total reward."""

    rows: list[NDArray[np.uint8]] = field(default_factory=list)
    images: list[NDArray[np.uint8]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    reward: float = 0.0


@torch.no_grad()
def film(policy: CellPolicy, world: str, cell: str, *, seed: int) -> Episode:
    """Play one episode and record its images and attention weights."""
    env = open_world(world, pictures=True)
    number = episode_seed(seed, TRIALS, 0)
    policy.set_training_mode(False)
    with torch_seed(stream_seed(seed, TRIALS + 1)):
        recording = _record(policy, env, number)
    last = _film_strip([_image(env)])
    env.close()
    shown = len(recording.images)
    return Episode(
        world=world,
        cell=cell,
        seed=number,
        reward=recording.reward,
        steps=len(recording.rows),
        shown=shown,
        pictures=_film_strip(recording.images),
        attention=_attention(policy, np.stack(recording.rows[:shown])),
        actions=tuple(recording.actions[:shown]),
        last=last,
    )


def _record(policy: CellPolicy, env: Any, seed: int) -> _Recording:
    recording, over = _Recording(), False
    observation, _ = env.reset(seed=seed)
    state, start = policy.cell.start(1), torch.ones(1, dtype=torch.bool, device=policy.device)
    while not over:
        recording.rows.append(policy.observing.row(observation))
        if len(recording.images) < FRAMES:
            recording.images.append(_image(env))
        row = torch.as_tensor(recording.rows[-1], device=policy.device).unsqueeze(0)
        action, _, _, state = policy(row, state, start)
        start = torch.zeros_like(start)
        recording.actions.append(str(env.unwrapped.actions(int(action)).name))
        observation, reward, ended, truncated, _ = env.step(int(action))
        recording.reward, over = recording.reward + float(reward), ended or truncated
    return recording


def _image(env: Any) -> NDArray[np.uint8]:
    """The whole world with the agent's view highlighted."""
    return env.unwrapped.get_frame(tile_size=TILE)


def _attention(policy: CellPolicy, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Attention weights (step, step); empty if the cell has no attention."""
    layer = policy.cell.stack[-1]
    if type(layer).attention is Layer.attention:
        return np.zeros((0, 0))
    features = policy.features(torch.as_tensor(rows, device=policy.device).unsqueeze(1))
    return policy.cell.attention(features)[:, 0].double().cpu().numpy()


def _film_strip(images: list[NDArray[np.uint8]]) -> str:
    """All images next to each other as one PNG in base64; grid worlds have few colors, so 64 suffice."""
    whole = Image.fromarray(np.concatenate(images, axis=1))
    buffer = io.BytesIO()
    whole.quantize(64).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()
