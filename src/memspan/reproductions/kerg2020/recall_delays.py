"""Kerg 2020, Tables 2 and 5: ten symbols among noise, or at the start, learnt at every delay anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.copy_transfer import COPYING
from memspan.reproductions.kerg2020.published import COPY, DENOISE
from memspan.reproductions.recipe import Outcome


@final
@dataclass(frozen=True)
class _Size:
    delays: tuple[int, ...]
    hidden: int
    updates: dict[str, int]
    """Of each cell at a delay of 100; fewer at longer ones, so that all take as long."""


@final
@dataclass(frozen=True)
class _Table:
    """Which task, and what was printed."""

    id: str
    task: str
    published: dict[str, dict[int, float | None]]
    title: str
    sizes: dict[str, _Size]


DENOISING = {
    "rel-rnn": 20_000,
    "rel-lstm": 24_000,
    "lstm": 10_000,
    "orthogonal-rnn": 8_000,
    "exp-rnn": 6_000,
    "goru": 4_000,
    "mem-rnn": 2_500,
    "sab-lstm": 1_000,
}
"""Updates at laptop scale, at the most."""


def _sizes(published: dict[str, dict[int, float | None]], laptop: dict[str, int]) -> dict[str, _Size]:
    longest = sorted({delay for row in published.values() for delay in row})
    return {
        "smoke": _Size((100,), 8, dict.fromkeys(("rel-rnn", "lstm"), 5)),
        "laptop": _Size((100,), 128, {cell: laptop[cell] for cell in published}),
        "paper": _Size(tuple(longest), 128, dict.fromkeys(published, 200_000)),
    }


_DENOISE = _Table(
    "relevance-table2",
    "denoise",
    DENOISE,
    "Symbols among noise, learnt at each delay",
    _sizes(DENOISE, DENOISING),
)
_COPY = _Table(
    "relevance-table5", "copy", COPY, "Symbols at the start, learnt at each delay", _sizes(COPY, COPYING)
)


def _trained(table: _Table, scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models(table.id)
    from memspan.reproductions.kerg2020.recall_tables import learning_chart, row_chart, row_claims, updates_at
    from memspan.reproductions.trainings import recall_config, train_all

    size = table.sizes[scale]
    configs = {
        f"{cell}-{delay}": recall_config(
            table.task, cell, seed, delay=delay, hidden=size.hidden, updates=updates_at(delay, updates)
        )
        for cell, updates in size.updates.items()
        for delay in size.delays
    }
    trained = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    found = {
        cell: {delay: trained[f"{cell}-{delay}"].accuracy or 0.0 for delay in size.delays}
        for cell in size.updates
    }
    caption = (
        f"Networks of {size.hidden} units, each trained at the delay at which it is judged, with the default settings of "
        f"`memspan train {table.task}`. A guess among the eight symbols is right one time in eight. How many updates each "
        "had is in the claims."
    )
    if len(size.delays) > 1:
        chart = row_chart("accuracy", table.title, found, caption)
    else:  # one point for each cell would say less than how it came there
        of_cell = {cell: trained[f"{cell}-{delay}"] for cell in size.updates for delay in size.delays}
        title = f"{table.title}: T = {max(size.delays)}"
        chart = learning_chart("accuracy", title, of_cell, caption)
    return Outcome(tuple(row_claims(found, table.published, trained)), (chart,), (_NOTE,))


def table2(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    return _trained(_DENOISE, scale, seed, progress, runs)


def table5(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    return _trained(_COPY, scale, seed, progress, runs)


_NOTE = (
    "At laptop scale the delay is 100 and every cell has a few minutes; the sources train for 20,000 to 200,000 updates. A "
    "cell that falls short here may need more of them."
)
_SCALES = {
    "smoke": "2 cells of 8 units: some seconds",
    "laptop": "7 or 8 cells of 128 units at a delay of 100, a few minutes each: about half an hour",
    "paper": "cells of 128 units at all delays, 200,000 updates each: weeks",
}
