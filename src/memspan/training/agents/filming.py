"""One episode of a trained agent as a film: pictures of the world, and the attention of each step on those before."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from memspan.cells.base.layer import Layer
from memspan.results import Episode
from memspan.tasks.gridworld.environment import episode_seed, open_world
from memspan.training.agents.playing import TRIALS, observing_of
from memspan.training.agents.policy import CellPolicy
from memspan.training.building import seeded, stream

TILE = 12
"""Pixels of a cell in a picture."""
SHOWN = 120
"""Steps of an episode that have a picture, at the most."""


@final
@dataclass
class _Reel:
    """What an episode leaves: what was seen and done at every step, pictures of the first ones, the reward."""

    rows: list[NDArray[np.uint8]] = field(default_factory=list)
    pictures: list[NDArray[np.uint8]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    reward: float = 0.0


@torch.no_grad()
def film(policy: CellPolicy, world: str, cell: str, *, seed: int) -> Episode:
    """One episode with pictures, and the attention of each step on those before."""
    env = open_world(world, pictures=True)
    number = episode_seed(seed, TRIALS, 0)
    policy.set_training_mode(False)
    with seeded(stream(seed, TRIALS + 1)):
        reel = _lived(policy, env, number)
    last = _strip([_picture(env)])
    env.close()
    shown = len(reel.pictures)
    return Episode(
        world=world,
        cell=cell,
        seed=number,
        reward=reel.reward,
        steps=len(reel.rows),
        shown=shown,
        pictures=_strip(reel.pictures),
        attention=_attention(policy, np.stack(reel.rows[:shown])),
        actions=tuple(reel.actions[:shown]),
        last=last,
    )


def _lived(policy: CellPolicy, env: Any, seed: int) -> _Reel:
    """One episode, its memory carried from its first step to its last."""
    reel, trained, over = _Reel(), observing_of(policy), False
    seen, _ = env.reset(seed=seed)
    state, start = policy.cell.start(1), torch.ones(1, dtype=torch.bool, device=policy.device)
    while not over:
        reel.rows.append(trained.row(seen))
        if len(reel.pictures) < SHOWN:
            reel.pictures.append(_picture(env))
        row = torch.as_tensor(reel.rows[-1], device=policy.device).unsqueeze(0)
        action, _, _, state = policy(row, state, start)
        start = torch.zeros_like(start)
        reel.actions.append(str(env.unwrapped.actions(int(action)).name))
        seen, gained, ended, cut, _ = env.step(int(action))
        reel.reward, over = reel.reward + float(gained), ended or cut
    return reel


def _picture(env: Any) -> NDArray[np.uint8]:
    """The whole world now, with what the agent sees in light."""
    return env.unwrapped.get_frame(tile_size=TILE)


def _attention(policy: CellPolicy, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(step, step); empty where the cell has none."""
    layer = policy.cell.stack[-1]
    if type(layer).attention is Layer.attention:
        return np.zeros((0, 0))
    features = policy.features(torch.as_tensor(rows, device=policy.device).unsqueeze(1))
    return policy.cell.attention(features)[:, 0].double().cpu().numpy()


def _strip(pictures: list[NDArray[np.uint8]]) -> str:
    """All pictures side by side as one PNG, in base64; few colours, so it is small."""
    whole = Image.fromarray(np.concatenate(pictures, axis=1))
    room = io.BytesIO()
    whole.quantize(64).save(room, "PNG", optimize=True)
    return base64.b64encode(room.getvalue()).decode()
