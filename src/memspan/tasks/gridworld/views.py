"""What an agent of MiniGrid sees, as MiniGrid computes it, faster: stepping a world is mostly looking.

The view is a square in front of the agent, turned so that it looks up. A cell is seen if light reaches it row by row from
the agent's place; walls and doors that are not open stop it.  `minigrid.core.grid.Grid.process_vis`, version 3.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]

EMPTY, WALL = (1, 0, 0), (2, 5, 0)
"""Kind, colour and state of a free cell, and of what is outside the grid."""


def quick_views(world: Any) -> None:
    """From now on this environment's observations are made here; the numbers are the same."""

    def observed() -> dict[str, Any]:
        return {"image": view(world), "direction": world.agent_dir, "mission": world.mission}

    world.gen_obs = observed


def view(world: Any) -> Codes:
    """The image (size, size, 3) of MiniGrid's own `gen_obs`: kind, colour and state of each cell that is seen."""
    size = world.agent_view_size
    left, top, _, _ = world.get_view_exts()
    carried = EMPTY if world.carrying is None else world.carrying.encode()
    square = np.array(_square(world.grid, left, top, size), dtype=np.uint8).reshape(size, size, 3)
    return seen(square, world.agent_dir, world.see_through_walls, carried[0], carried[1], carried[2])


def _square(grid: Any, left: int, top: int, size: int) -> list[tuple[int, int, int]]:
    """The codes of the cells around, row by row; those outside the grid are walls."""
    width, height, cells = grid.width, grid.height, grid.grid
    begin, end = max(left, 0), min(left + size, width)
    before, after = [WALL] * (begin - left), [WALL] * (left + size - end)
    codes: list[tuple[int, int, int]] = []
    for y in range(top, top + size):
        if not 0 <= y < height:
            codes += [WALL] * size
            continue
        inside = cells[y * width + begin : y * width + end]
        codes += before
        codes += [EMPTY if cell is None else cell.encode() for cell in inside]
        codes += after
    return codes


@numba.njit(cache=True)
def seen(square, direction, through, kind, colour, state):  # type: ignore[no-untyped-def]
    """The square (row, column, code) turned by the direction, without what no light reaches, the carried thing in hand."""
    size = len(square)
    image = np.zeros((size, size, 3), dtype=np.uint8)
    for i in range(size):
        for j in range(size):
            x, y = i, j
            for _ in range(direction + 1):
                x, y = size - 1 - y, x
            image[i, j] = square[y, x]
    if not through:
        lit = _light(image)
        for i in range(size):
            for j in range(size):
                if not lit[i, j]:
                    image[i, j] = 0
    image[size // 2, size - 1, 0] = kind
    image[size // 2, size - 1, 1] = colour
    image[size // 2, size - 1, 2] = state
    return image


@numba.njit(cache=True)
def _light(image):  # type: ignore[no-untyped-def]
    size = len(image)
    lit = np.zeros((size, size), dtype=np.bool_)
    lit[size // 2, size - 1] = True
    for j in range(size - 1, -1, -1):
        for turn in range(2):
            side = 1 if turn == 0 else -1
            for k in range(size - 1):
                i = k if turn == 0 else size - 1 - k
                kind, state = image[i, j, 0], image[i, j, 2]
                if not lit[i, j] or kind == 2 or (kind == 4 and state != 0):
                    continue
                lit[i + side, j] = True
                if j > 0:
                    lit[i + side, j - 1] = True
                    lit[i, j - 1] = True
    return lit
