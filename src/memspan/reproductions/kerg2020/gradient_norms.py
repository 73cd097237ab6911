"""Kerg 2020, Fig. 2, left and right: gradients that reach back after training, and the memory they cost."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.gradient_charts import LEAST, norms_after, norms_chart, unevenness
from memspan.reproductions.kerg2020.published import NAMES
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, GradientNorms, TrainingRun, line

if TYPE_CHECKING:
    from memspan.diagnostics.gradients import Loss
    from memspan.training import Config

ANSWERING = 20
"""Steps before the last in which answers are written or called for; each adds a gradient of its own to its state."""
OURS = "rel-lstm"
EVEN = 30.0
"""How many times the largest norm may be the smallest: over the whole range gradients neither vanish nor explode."""


@final
@dataclass(frozen=True, kw_only=True)
class _Size:
    delay: int
    hidden: int
    updates: dict[str, int]
    sequences: int
    """Whose gradients are measured; of RelLSTM `many`."""
    many: int
    """In single precision, which is enough where nothing vanishes."""
    changed: int
    """As many where other answers are wanted; of RelLSTM, in single precision."""
    seeds: int = 1
    """Of RelLSTM; the others have one."""
    shorter: tuple[int, int] | None = None
    """The delay that RelLSTM learns first, and in how many updates; None: it learns the whole one at once."""


_SIZES = {
    "smoke": _Size(
        delay=5,
        hidden=8,
        updates={OURS: 5, "rnn": 5, "lstm": 5},
        sequences=2,
        many=3,
        changed=3,
        seeds=2,
        shorter=(3, 5),
    ),
    "laptop": _Size(
        delay=400,
        hidden=128,
        updates={OURS: 1_500, "rnn": 3_000, "lstm": 3_000},
        sequences=1_000,
        many=40_000,
        changed=4_000,
        seeds=3,
        shorter=(100, 24_000),
    ),
    "paper": _Size(
        delay=1_000,
        hidden=128,
        updates=dict.fromkeys((OURS, "mem-lstm", "orthogonal-rnn", "rnn", "lstm"), 200_000),
        sequences=100,
        many=40_000,
        changed=4_000,
    ),
}


class Network(NamedTuple):
    """One training."""

    cell: str
    seed: int

    @property
    def folder(self) -> str:
        """Below that of all runs."""
        return f"{self.cell}-seed-{self.seed}"

    @property
    def first_folder(self) -> str:
        """Of the run at the shorter delay."""
        return f"{self.cell}-shorter-seed-{self.seed}"


Norms = dict[Network, GradientNorms]
Runs = dict[Network, TrainingRun]


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-fig2")
    from memspan.reproductions.trainings import train_all

    size, workers = _SIZES[scale], 1 if scale == "smoke" else None
    networks = [Network(OURS, seed + number) for number in range(size.seeds)]
    if size.shorter is not None:
        first = {one.first_folder: _config(one, size, *size.shorter) for one in networks}
        train_all(first, runs, progress, workers=workers)
    networks += [Network(cell, seed) for cell in size.updates if cell != OURS]
    configs = {one: _config(one, size, size.delay, size.updates[one.cell]) for one in networks}
    if size.shorter is not None:
        configs |= {
            one: _further(config, runs / one.first_folder)
            for one, config in configs.items()
            if one.cell == OURS
        }
    by_folder = train_all(
        {one.folder: config for one, config in configs.items()}, runs, progress, workers=workers
    )
    trained = {one: by_folder[one.folder] for one in networks}
    norms = _norms(networks, runs, size, seed, "recalled")
    changed = _norms(networks, runs, size, seed, "changed")
    charts = (
        _changed_chart(size, changed, trained),
        _norm_chart(size, norms, trained),
        _memory_chart(size, norms),
    )
    return Outcome(_claims(norms, changed, trained), charts, (*_notes(norms, changed), _NOTE))


def _norms(networks: list[Network], runs: Path, size: _Size, seed: int, loss: Loss) -> Norms:
    mine, others = (
        [one.folder for one in networks if (one.cell == OURS) == wanted] for wanted in (True, False)
    )
    many = size.changed if loss == "changed" else size.many
    found = {
        **norms_after(runs, mine, sequences=many, seed=seed, loss=loss, double=False),
        **norms_after(runs, others, sequences=size.sequences, seed=seed, loss=loss),
    }
    return {one: found[one.folder] for one in networks}


def _config(network: Network, size: _Size, delay: int, updates: int) -> Config:
    from memspan.reproductions.trainings import recall_config

    return recall_config(
        "denoise", network.cell, network.seed, delay=delay, hidden=size.hidden, updates=updates
    )


def _further(config: Config, run: Path) -> Config:
    """Begun with what a run has learnt, at a rate that does not undo it."""
    return dataclasses.replace(
        config,
        init=dataclasses.replace(config.init, name="run", run=str(run)),
        training=dataclasses.replace(config.training, learning_rate=3e-4),
    )


def _claims(norms: Norms, changed: Norms, trained: Runs) -> tuple[Claim, ...]:
    ours, wrong = ({one: of for one, of in found.items() if one.cell == OURS} for found in (norms, changed))
    right = ", ".join(f"{trained[one].accuracy or 0.0:.1%}" for one in ours)
    first, *_ = ours.values()
    claims = [
        _even(
            f"After training RelLSTM's gradients reach every step: their norm is within a factor of {EVEN:g} over the whole "
            "sequence, for every seed. (Measured: the largest over the smallest, where other answers are wanted than it has "
            f"learnt, so that all are wrong; the worst of {len(ours)}, which recall {right}.)",
            [of.rms for of in wrong.values()],
        ),
        _even(
            "So is the norm of the gradient that training itself has left. (Measured: the largest over the smallest, of the "
            "first seed.)",
            [first.rms],
        ),
        _even(
            "So it is for every seed. (Measured: the worst seed.)",
            [of.rms for of in ours.values()],
        ),
        _even(
            "So it is if each sequence has a norm of its own and these are averaged. (Measured: the largest mean over the "
            "smallest, the worst seed, as in what follows.)",
            [of.mean for of in ours.values()],
        ),
        _even(
            f"So these means are over the steps before the answers, {ANSWERING} and more before the last. (Measured: the "
            "largest over the smallest of these.)",
            [of.mean[ANSWERING:] for of in ours.values()],
        ),
    ]
    worst = max(unevenness(of.rms) for of in wrong.values())
    for one, of in changed.items():
        if one not in wrong:
            other = unevenness(of.rms)
            claims.append(
                Claim(
                    f"{NAMES[one.cell]}'s gradient norm is less even than RelLSTM's, where other answers are wanted. "
                    f"(Measured: the largest over the smallest, cut off at 1e300; it recalls "
                    f"{trained[one].accuracy or 0.0:.1%}.)",
                    None,
                    None,
                    other,
                    None,
                    other > worst,
                )
            )
    return tuple(claims)


def _even(claim: str, norms: list[NDArray[np.float64]]) -> Claim:
    """The worst of several networks."""
    ratio = max(map(unevenness, norms))
    return Claim(claim, None, None, ratio, None, ratio <= EVEN)


def _notes(norms: Norms, changed: Norms) -> list[str]:
    return [
        f"{NAMES[one.cell]}, seed {one.seed}: the largest norm is {unevenness(changed[one].rms):.3g} times the smallest "
        f"where other answers are wanted, over {changed[one].sequences:,} sequences, and {unevenness(of.rms):.3g} times "
        f"where the right ones are, over {of.sequences:,}."
        for one, of in norms.items()
    ]


def _name(norms: Norms, network: Network) -> str:
    """With its seed where there are several."""
    several = sum(one.cell == network.cell for one in norms) > 1
    return f"{NAMES[network.cell]}{f', seed {network.seed}' if several else ''}"


def _changed_chart(size: _Size, norms: Norms, trained: Runs) -> Chart:
    return norms_chart(
        "gradient-reach",
        "How far gradients reach after training, from the last step back to the first",
        _labelled(norms, trained),
        f"Denoise, T = {size.delay}, {size.hidden} units: the norm of the total gradient at h_t of the loss of the ten "
        f"recalled answers if each ought to be another symbol, of {size.sequences:,} test sequences (RelLSTM: "
        f"{size.changed:,}) as one batch (the root of the mean square of their norms). All answers being wrong, this is how "
        "far a gradient comes, and not how many mistakes are left. A line that falls by many powers of ten is a gradient "
        "that vanishes: what stood there is not learnt from.",
    )


def _norm_chart(size: _Size, norms: Norms, trained: Runs) -> Chart:
    return norms_chart(
        "gradient-norms",
        "What gradient is left after training, from the last step back to the first",
        _labelled(norms, trained),
        "The same for the right answers, as in the training itself: the norm of the total gradient of the recall's loss at "
        f"h_t, of {size.sequences:,} test sequences (RelLSTM: {size.many:,}) as one batch. A network that recalls nearly "
        "all has a gradient in few sequences only, those that it gets wrong.",
    )


def _labelled(norms: Norms, trained: Runs) -> dict[str, NDArray[np.float64]]:
    return {
        f"{_name(norms, one)} ({trained[one].accuracy or 0.0:.1%} right)": of.rms for one, of in norms.items()
    }


def _memory_chart(size: _Size, norms: Norms) -> Chart:
    from memspan.reproductions.kerg2020.training_cost import training_costs

    steps = size.delay + 20
    memory = {
        cell: training_costs(cell, lengths=(steps,), batch=10, hidden=size.hidden)[steps].peak / 1e6
        for cell in size.updates
    }
    return Chart(
        name="norm-against-memory",
        title="What evenness costs",
        x_label="peak memory of a training step (MB)",
        y_label="geometric mean of the gradient norm",
        x_scale="linear",
        y_scale="log",
        lines=tuple(
            line(
                _name(norms, one),
                [memory[one.cell]],
                [float(np.exp(np.log(np.maximum(of.rms, LEAST)).mean()))],
                style="markers",
            )
            for one, of in norms.items()
        ),
        caption=f"The same networks, T = {size.delay}, batch 10: how much of the gradient is left on the way back, against "
        "the main memory that a training step takes. The paper measures a graphics card.",
    )


_NOTE = (
    "The norm of a batch, whose loss is the mean of its sequences' losses, is what a training step sees, and what the "
    "published program draws: the root of the mean square of the sequences' own norms. The mean of these is smaller where "
    "few sequences have a gradient. Where the right answers are wanted, a network that recalls 99.9 % has a gradient only "
    "in the few sequences that it gets wrong, and a step of denoise holds a symbol in one sequence of forty: over 4,000 "
    "instead of 40,000 sequences, chance alone made the largest norm 51, 53 and 164 times the smallest. Where other answers "
    "are wanted, all are wrong, and 4,000 are enough. A network that has not learnt the task has gradients all the same. At "
    "laptop scale RelLSTM learns a delay of 100 first, in up to 24,000 updates, and goes on from there at 400: begun at 400 "
    "it had 55 % right after 10,000 updates."
)
