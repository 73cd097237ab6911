"""One episode of a trained agent as a film: pictures of the world, and the attention of each step on those before."""

from __future__ import annotations

import base64
import io

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from memspan.cells.layer import Layer
from memspan.results import Episode
from memspan.tasks.gridworld.episodes import episode_seed, open_world
from memspan.training.agents.playing import TRIALS, observing_of
from memspan.training.agents.policy import CellPolicy
from memspan.training.building import seeded, stream

TILE = 12
"""Pixels of a cell in a picture."""
SHOWN = 120
"""Steps of an episode that have a picture, at the most."""


@torch.no_grad()
def film(policy: CellPolicy, world: str, cell: str, *, seed: int) -> Episode:
    """One episode with pictures, and the attention of each step on those before."""
    trained = observing_of(policy)
    env = open_world(world, pictures=True)
    number = episode_seed(seed, TRIALS, 0)
    policy.set_training_mode(False)
    rows, pictures, reward, over = [], [], 0.0, False
    with seeded(stream(seed, TRIALS + 1)):
        seen, _ = env.reset(seed=number)
        state, start = policy.cell.start(1), torch.ones(1, dtype=torch.bool, device=policy.device)
        while not over:
            rows.append(trained.row(seen))
            if len(pictures) < SHOWN:
                pictures.append(env.unwrapped.get_frame(tile_size=TILE))  # pyright: ignore[reportAttributeAccessIssue]
            row = torch.as_tensor(rows[-1], device=policy.device).unsqueeze(0)
            action, _, _, state = policy(row, state, start)
            start = torch.zeros_like(start)
            seen, gained, ended, cut, _ = env.step(int(action))
            reward, over = reward + float(gained), ended or cut
    env.close()
    return Episode(
        world=world,
        cell=cell,
        seed=number,
        reward=reward,
        steps=len(rows),
        shown=len(pictures),
        pictures=_strip(pictures),
        attention=_attention(policy, np.stack(rows[: len(pictures)])),
    )


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
