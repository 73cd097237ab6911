"""Kerg 2020, Fig. 1: the attention of a fully attentive network when it recalls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import AttentionMap, Claim, HeatMap

if TYPE_CHECKING:
    from memspan.training.supervised.trained_model import TrainedModel

# Share of an answer's attention that counts as most of it.
MOST = 0.5
# Number of recalled symbols.
RECALLED = 10


def run(
    *, seed: int, progress: Progress, runs: Path, delay: int, hidden: int, updates: int, workers: int | None
) -> Outcome:
    """Train a MemRNN on each task and show its attention on one test sequence."""
    check_models("relevance-fig1")
    from memspan.diagnostics.attention import attention_map
    from memspan.reproductions.trainings import recall_config, train_all
    from memspan.training.supervised.trained_model import load_best

    configs = {
        task: recall_config(
            task, "mem-rnn", seed, delay=delay, hidden=hidden, updates=updates, options={"combine": "mean"}
        )
        for task in ("copy", "denoise")
    }
    trained = train_all(configs, runs, progress, workers=workers)
    claims, maps = [], []
    for task, run in trained.items():
        best, accuracy = load_best(runs / task), run.accuracy or 0.0
        attention, _ = attention_map(best.around_cell(), best.task, sequences=1, seed=seed)
        claims.append(_attention_claim(task, _share(attention, _symbol_steps(best, seed)), accuracy))
        maps.append(_map(task, hidden, attention, accuracy))
    return Outcome(tuple(claims), (), (_NOTE,), maps=tuple(maps))


def _symbol_steps(best: TrainedModel, seed: int) -> list[int]:
    """Steps of the displayed sequence at which a symbol is shown."""
    from memspan.diagnostics.batches import diagnostic_batch

    inputs = diagnostic_batch(best.around_cell(), best.task, 1, seed).inputs[: -RECALLED - 1, 0]
    return np.flatnonzero(inputs.cpu().numpy()).tolist()


def _share(attention: AttentionMap, symbols: list[int]) -> float:
    """Share of the ten answers' attention on the steps that show symbols and the steps right after them."""
    columns = sorted({step + later for step in symbols for later in (0, 1)})
    return float(attention.weights[-RECALLED:][:, columns].sum(1).mean()) if attention.block == 1 else float("nan")


def _attention_claim(task: str, share: float, accuracy: float) -> Claim:
    return claim(
        f"{task.capitalize()}: when a MemRNN recalls, most of its attention is on the few steps that show symbols, or "
        "on the steps right after them.",
        measure=f"the share of one sequence's attention; the network recalls {accuracy:.1%}",
    ).above(share, MOST)


def _map(task: str, hidden: int, attention: AttentionMap, accuracy: float) -> HeatMap:
    steps = np.arange(len(attention.weights), dtype=float) * attention.block
    where = {"copy": "in the first ten steps", "denoise": "at random steps"}[task]
    return HeatMap(
        name=f"{task}-attention",
        title=f"{task.capitalize()}: attention of a fully attentive network",
        x_label="attended step",
        y_label="attending step",
        value_label="attention",
        value_scale="linear",
        x=steps,
        y=steps,
        values=np.where(np.tri(len(steps), k=-1, dtype=bool), attention.weights, np.nan),
        highest=1.0,
        edge=np.empty((0, 0)),
        edge_label="",
        lines=(),
        caption=f"One test sequence of a MemRNN of {hidden} units that recalls {accuracy:.1%} of the symbols. Symbols "
        f"are shown {where}; the last ten rows are the answers. Each row sums to one. The area above the diagonal is "
        "the future.",
    )


_NOTE = (
    "One sequence is displayed and evaluated. Which states a network learns to attend to differs between trainings. "
    "State and context are combined by their mean (errata-13). With the printed sum, the accuracy after 5,000 updates "
    "was 43 % on copy and 98 % on denoise."
)
