"""Kerg 2020, Fig. 2, left and right: gradients that reach back after training, and the memory they cost."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.experiments.gradients_after import LEAST, norms_after, norms_chart, unevenness
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.relevance_published import NAMES
from memspan.progress import Progress
from memspan.results import Chart, Claim, GradientNorms, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config

ANSWERING = 20
"""Steps before the last in which answers are written or called for; each adds a gradient of its own to its state."""
SHORTER = "rel-lstm-shorter"
"""The folder of the run at the shorter delay."""
BLOCK = 10
"""Steps whose norms are taken together; the ten answers are one block."""
EVEN = 30.0
"""How many times the largest norm may be the smallest: over the whole range gradients neither vanish nor explode."""


@final
@dataclass(frozen=True)
class _Size:
    delay: int
    hidden: int
    updates: dict[str, int]
    sequences: int
    shorter: tuple[int, int] | None = None
    """The delay that RelLSTM learns first, and in how many updates; None: it learns the whole one at once."""


_SIZES = {
    "smoke": _Size(5, 8, {"rel-lstm": 5, "rnn": 5, "lstm": 5}, 2, (3, 5)),
    "laptop": _Size(400, 128, {"rel-lstm": 1_500, "rnn": 3_000, "lstm": 3_000}, 2_000, (100, 24_000)),
    "paper": _Size(
        1_000, 128, dict.fromkeys(("rel-lstm", "mem-lstm", "orthogonal-rnn", "rnn", "lstm"), 200_000), 100
    ),
}


def _train(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-fig2")
    from memspan.experiments.training_cost import training_costs
    from memspan.experiments.trainings import recalling, train_all

    size = _SIZES[scale]
    configs = {
        cell: recalling("denoise", cell, seed, delay=size.delay, hidden=size.hidden, updates=updates)
        for cell, updates in size.updates.items()
    }
    workers = 1 if scale == "smoke" else None
    if size.shorter is not None:
        delay, updates = size.shorter
        first = recalling("denoise", "rel-lstm", seed, delay=delay, hidden=size.hidden, updates=updates)
        train_all({SHORTER: first}, runs, progress, workers=workers)
        configs["rel-lstm"] = _further(configs["rel-lstm"], runs / SHORTER)
    trained = train_all(configs, runs, progress, workers=workers)
    norms = norms_after(runs, trained, sequences=size.sequences, seed=seed)
    steps = size.delay + 20
    memory = {
        cell: training_costs(cell, lengths=(steps,), batch=10, hidden=size.hidden)[steps].peak / 1e6
        for cell in trained
    }
    charts = (_norm_chart(size, norms, trained), _memory_chart(size, norms, memory))
    return Outcome(_claims(norms, trained), charts, (_NOTE,))


def _further(config: Config, run: Path) -> Config:
    """Begun with what a run has learnt, at a rate that does not undo it."""
    return dataclasses.replace(
        config,
        init=dataclasses.replace(config.init, name="run", run=str(run)),
        training=dataclasses.replace(config.training, learning_rate=3e-4),
    )


def _claims(norms: dict[str, GradientNorms], trained: dict[str, TrainingRun]) -> tuple[Claim, ...]:
    ours = norms["rel-lstm"]
    ratio = unevenness(ours.rms)
    recalls = f"it recalls {trained['rel-lstm'].accuracy or 0.0:.1%}"
    claims = [
        _even(
            f"After training RelLSTM's gradient norm is within a factor of {EVEN:g} over the whole sequence, by the norm of "
            f"the batch's gradient in blocks of {BLOCK} steps. (Measured: the largest over the smallest; {recalls}.)",
            in_blocks(ours.rms),
        ),
        _even("So it is at single steps. (Measured: the largest over the smallest.)", ours.rms),
        _even(
            "So it is at single steps if each sequence has a norm of its own and these are averaged. (Measured: the largest "
            "mean over the smallest.)",
            ours.mean,
        ),
        _even(
            f"So these means are over the steps before the answers, {ANSWERING} and more before the last. (Measured: the "
            "largest over the smallest of these.)",
            ours.mean[ANSWERING:],
        ),
    ]
    for cell in norms:
        if cell != "rel-lstm":
            other = unevenness(norms[cell].rms)
            claims.append(
                Claim(
                    f"{NAMES[cell]}'s gradient norm is less even than RelLSTM's. (Measured: the largest over the smallest, "
                    f"cut off at 1e300; it recalls {trained[cell].accuracy or 0.0:.1%}.)",
                    None,
                    None,
                    other,
                    None,
                    other > ratio,
                )
            )
    return tuple(claims)


def in_blocks(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The root of the mean square of every `BLOCK` steps, from the last step back; an incomplete block at the end is one."""
    starts = np.arange(0, len(norms), BLOCK)
    sizes = np.diff(np.append(starts, len(norms)))
    return np.sqrt(np.add.reduceat(np.square(norms), starts) / sizes)


def _even(claim: str, norms: NDArray[np.float64]) -> Claim:
    ratio = unevenness(norms)
    return Claim(claim, None, None, ratio, None, ratio <= EVEN)


def _norm_chart(size: _Size, norms: dict[str, GradientNorms], trained: dict[str, TrainingRun]) -> Chart:
    return norms_chart(
        "gradient-norms",
        "Gradients after training, from the last step back to the first",
        {f"{NAMES[cell]} ({trained[cell].accuracy or 0.0:.0%} right)": of.rms for cell, of in norms.items()},
        f"Denoise, T = {size.delay}, {size.hidden} units: the norm of the total gradient of the recall's loss at h_t, of "
        f"{size.sequences:,} test sequences as one batch (the root of the mean square of their norms). A line that falls by "
        "many powers of ten is a gradient that vanishes: what stood there is not learnt from.",
    )


def _memory_chart(size: _Size, norms: dict[str, GradientNorms], memory: dict[str, float]) -> Chart:
    return Chart(
        name="norm-against-memory",
        title="What evenness costs",
        x_label="peak memory of a training step (MB)",
        y_label="geometric mean of the gradient norm",
        x_scale="linear",
        y_scale="log",
        lines=tuple(
            line(
                NAMES[cell],
                [memory[cell]],
                [float(np.exp(np.log(np.maximum(of.rms, LEAST)).mean()))],
                style="markers",
            )
            for cell, of in norms.items()
        ),
        caption=f"The same networks, T = {size.delay}, batch 10: how much of the gradient is left on the way back, against "
        "the main memory that a training step takes. The paper measures a graphics card.",
    )


_NOTE = (
    "Two norms are told. That of a batch, whose loss is the mean of its sequences' losses, is what a training step sees: "
    "the root of the mean square of the sequences' own norms. The mean of these is smaller where few sequences have a "
    "gradient: a step of denoise holds a symbol in one sequence of forty, so that norms of single steps scatter; blocks of "
    "ten steps hold ten times as many symbols. A network that has not learnt the task has "
    "gradients all the same. At laptop scale RelLSTM learns a delay of 100 first, in up to 24,000 updates, and goes on from "
    "there at 400: begun at 400 it had 55 % right after 10,000 updates."
)

RELEVANCE_FIG2 = Trained(
    id="relevance-fig2",
    title="Gradients that reach back after training, and the memory they cost",
    source="Kerg 2020, section 5, Fig. 2, left and right",
    scales={
        "smoke": "3 cells of 8 units, 5 updates: some seconds",
        "laptop": "3 cells of 128 units, denoise over 400 steps, RelLSTM after 100 steps: about 25 minutes",
        "paper": "5 cells of 128 units, denoise over 1,000 steps, 200,000 updates: weeks",
    },
    train=_train,
)
