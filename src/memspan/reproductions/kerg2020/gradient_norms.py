"""Kerg 2020, Fig. 2 (left, right) and Fig. 3: gradient norms over the sequence after training.

Fig. 2 compares cells and the memory that a training step takes; Fig. 3 varies the size of the relevant set and of the
short-term buffer of RelLSTM.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart, points
from memspan.reproductions.claims import claim
from memspan.reproductions.kerg2020.published import NAMES
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, GradientNorms, TrainingRun, line

if TYPE_CHECKING:
    from memspan.diagnostics.gradients import Loss
    from memspan.training import Config

OURS = "rel-lstm"
# Last steps of a sequence, in which answers are requested or given; each adds its own gradient to its state.
ANSWER_STEPS = 20
# Largest accepted ratio of the largest to the smallest norm: gradients neither vanish nor explode.
EVEN = 30.0
# Ratio of two unevenness values that counts as a clear difference.
CLEAR_RATIO = 2.0
# Replaces a norm of 0 in charts and ratios.
SMALLEST_NORM = 1e-300


class DenoiseRun(NamedTuple):
    """One training of Fig. 2."""

    cell: str
    seed: int

    @property
    def folder(self) -> str:
        """Folder of the run, relative to the folder of all runs."""
        return f"{self.cell}-seed-{self.seed}"

    @property
    def first_folder(self) -> str:
        """Folder of the first training, at the shorter delay."""
        return f"{self.cell}-shorter-seed-{self.seed}"


Norms = dict[DenoiseRun, GradientNorms]
Runs = dict[DenoiseRun, TrainingRun]


def cells(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    delay: int,
    hidden: int,
    updates: dict[str, int],
    seeds: int,
    first_delay: int | None,
    first_updates: int,
    sequences: int,
    rel_sequences: int,
    rel_changed_sequences: int,
    workers: int | None,
) -> Outcome:
    """Fig. 2: train RelLSTM with several seeds and the other cells with one, and measure gradient norms.

    RelLSTM is first trained at `first_delay` if that is not None. Its norms are averaged over more sequences, in single
    precision, which suffices where nothing vanishes; `rel_changed_sequences` is their number with changed targets.
    """
    check_models("relevance-fig2")
    from memspan.reproductions.trainings import recall_config, train_all

    def config(key: DenoiseRun, delay: int, updates: int) -> Config:
        return recall_config("denoise", key.cell, key.seed, delay=delay, hidden=hidden, updates=updates)

    keys = [DenoiseRun(OURS, seed + number) for number in range(seeds)]
    if first_delay is not None:
        first = {key.first_folder: config(key, first_delay, first_updates) for key in keys}
        train_all(first, runs, progress, workers=workers)
    keys += [DenoiseRun(cell, seed) for cell in updates if cell != OURS]
    configs = {key.folder: config(key, delay, updates[key.cell]) for key in keys}
    if first_delay is not None:
        configs |= {
            key.folder: _continuation(configs[key.folder], runs / key.first_folder) for key in keys if key.cell == OURS
        }
    by_folder = train_all(configs, runs, progress, workers=workers)
    trained = {key: by_folder[key.folder] for key in keys}
    norms = _norms(keys, runs, (rel_sequences, sequences), seed, "recalled")
    changed = _norms(keys, runs, (rel_changed_sequences, sequences), seed, "changed")
    setting = f"Denoise, T = {delay}, {hidden} units"
    charts = (
        norms_chart(
            "gradient-reach",
            "Gradient norm over the sequence after training, changed targets",
            _labeled_norms(changed, trained),
            f"{setting}: norm of the total gradient at h_t of the loss of the ten answers when every target is "
            f"replaced by another symbol, for {sequences:,} test sequences (RelLSTM: {rel_changed_sequences:,}) as "
            "one batch (root mean square of their norms). Every answer is wrong, so the norm shows how far back "
            "gradients reach, and not how many errors remain. A line that falls by many orders of magnitude is a "
            "vanishing gradient.",
        ),
        norms_chart(
            "gradient-norms",
            "Gradient norm over the sequence after training, correct targets",
            _labeled_norms(norms, trained),
            "The same with the correct targets, as in training: norm of the total gradient at h_t of the loss of the "
            f"ten answers, for {sequences:,} test sequences (RelLSTM: {rel_sequences:,}) as one batch. A network with "
            "a high accuracy has a gradient in only a few sequences, those with errors.",
        ),
        _memory_chart(delay, hidden, norms),
    )
    return Outcome(cell_claims(norms, changed, trained), charts, (*_cell_notes(norms, changed), _CELL_NOTE))


def _continuation(config: Config, run: Path) -> Config:
    """Start from the weights of a run, with a learning rate low enough to preserve them."""
    return dataclasses.replace(
        config,
        init=dataclasses.replace(config.init, name="run", run=str(run)),
        training=dataclasses.replace(config.training, learning_rate=3e-4),
    )


def _norms(keys: list[DenoiseRun], runs: Path, sequences: tuple[int, int], seed: int, loss: Loss) -> Norms:
    """Norms over a number of sequences for RelLSTM, and another one for the other cells."""
    ours, others = ([key.folder for key in keys if (key.cell == OURS) == own] for own in (True, False))
    norms = {
        **run_norms(runs, ours, sequences=sequences[0], seed=seed, loss=loss, double=False),
        **run_norms(runs, others, sequences=sequences[1], seed=seed, loss=loss),
    }
    return {key: norms[key.folder] for key in keys}


def run_norms(
    runs: Path, names: Iterable[str], *, sequences: int, seed: int, loss: Loss = "recalled", double: bool = True
) -> dict[str, GradientNorms]:
    """Measure the gradient norms of the best weights of every run in `runs`, each on its own task."""
    from memspan.diagnostics.gradients import gradient_norms
    from memspan.training.supervised.trained_model import load_best

    norms = {}
    for name in names:
        best = load_best(runs / name)
        norms[name] = gradient_norms(
            best.around_cell(), best.task, sequences=sequences, loss=loss, seed=seed, double=double
        )
    return norms


def unevenness(norms: NDArray[np.float64]) -> float:
    """Ratio of the largest to the smallest norm, at most 1e300."""
    return min(float(norms.max()) / max(float(norms.min()), SMALLEST_NORM), 1 / SMALLEST_NORM)


def cell_claims(norms: Norms, changed: Norms, trained: Runs) -> tuple[Claim, ...]:
    ours, ours_changed = ([found[key] for key in found if key.cell == OURS] for found in (norms, changed))
    accuracies = ", ".join(_accuracy(trained[key]) for key in norms if key.cell == OURS)
    claims = [
        _even_claim(
            "After training, RelLSTM's gradients reach every step: for every seed their norm is within a factor of "
            f"{EVEN:g} over the whole sequence. (Measured: the largest over the smallest norm with changed targets, "
            f"for which every answer is wrong; the worst of {len(ours)} seeds, with accuracies {accuracies}.)",
            [each.rms for each in ours_changed],
        ),
        _even_claim(
            "The same holds for the gradient of the training loss itself. (Measured: the largest over the smallest "
            "norm, first seed.)",
            [ours[0].rms],
        ),
        _even_claim("The same holds for every seed. (Measured: the worst seed.)", [each.rms for each in ours]),
        _even_claim(
            "The same holds for the mean of the norms of individual sequences. (Measured: the largest over the "
            "smallest mean, the worst seed.)",
            [each.mean for each in ours],
        ),
        _even_claim(
            f"The same holds for these means over the steps before the answers, {ANSWER_STEPS} or more before the "
            "last. (Measured: the largest over the smallest mean, the worst seed.)",
            [each.mean[ANSWER_STEPS:] for each in ours],
        ),
    ]
    worst = max(unevenness(each.rms) for each in ours_changed)
    for key, other in changed.items():
        if key.cell != OURS:
            ratio = unevenness(other.rms)
            claims.append(
                claim(
                    f"{NAMES[key.cell]}'s gradient norm is less even than RelLSTM's with changed targets. (Measured: "
                    f"the largest over the smallest norm, at most 1e300. Its accuracy is {_accuracy(trained[key])}.)"
                ).holds_if(ratio, ratio > worst)
            )
    return tuple(claims)


def _accuracy(run: TrainingRun) -> str:
    return f"{run.accuracy or 0.0:.1%}"


def _even_claim(text: str, norms: list[NDArray[np.float64]]) -> Claim:
    """Claim about the worst of several networks."""
    ratio = max(map(unevenness, norms))
    return claim(text, ours=True).holds_if(ratio, ratio <= EVEN)


def _cell_notes(norms: Norms, changed: Norms) -> list[str]:
    return [
        f"{NAMES[key.cell]}, seed {key.seed}: the largest norm is {unevenness(changed[key].rms):.3g} times the "
        f"smallest with changed targets ({changed[key].sequences:,} sequences), and {unevenness(own.rms):.3g} times "
        f"with the correct targets ({own.sequences:,} sequences)."
        for key, own in norms.items()
    ]


def _label(norms: Norms, key: DenoiseRun) -> str:
    """The cell's name, with its seed if there are several."""
    several = sum(other.cell == key.cell for other in norms) > 1
    return f"{NAMES[key.cell]}{f', seed {key.seed}' if several else ''}"


def _labeled_norms(norms: Norms, trained: Runs) -> dict[str, NDArray[np.float64]]:
    return {f"{_label(norms, key)} (accuracy {_accuracy(trained[key])})": own.rms for key, own in norms.items()}


def norms_chart(name: str, title: str, norms: dict[str, NDArray[np.float64]], caption: str) -> Chart:
    """Norms against the number of steps before the last, one line per label."""
    return chart(
        name,
        title,
        "steps before the last",
        "norm of the loss gradient at h_t",
        [line(label, np.arange(len(own)), np.maximum(own, SMALLEST_NORM)) for label, own in norms.items()],
        caption,
        log="y",
    )


def _memory_chart(delay: int, hidden: int, norms: Norms) -> Chart:
    from memspan.reproductions.kerg2020.training_memory import training_costs

    steps = delay + 20
    memory = {
        cell: training_costs(cell, lengths=(steps,), batch=10, hidden=hidden)[steps].peak / 1e6
        for cell in dict.fromkeys(key.cell for key in norms)
    }
    return chart(
        "norm-against-memory",
        "Gradient norm and training memory",
        "peak memory of a training step (MB)",
        "geometric mean of the gradient norm",
        [
            points(
                _label(norms, key),
                [memory[key.cell]],
                [float(np.exp(np.log(np.maximum(own.rms, SMALLEST_NORM)).mean()))],
            )
            for key, own in norms.items()
        ],
        f"The same networks, T = {delay}, batch size 10: gradient norm against the main memory that a training step "
        "takes. The paper measures GPU memory.",
        log="y",
    )


_CELL_NOTE = (
    "The norm of a batch, whose loss is the mean over its sequences, is what a training step sees and what the "
    "published program draws: the root mean square of the sequences' norms. Their mean is smaller where few sequences "
    "have a gradient. With the correct targets, a network with an accuracy of 99.9 % has a gradient only in the few "
    "sequences with errors, and a step of denoise shows a symbol in one sequence of forty: with 4,000 instead of "
    "40,000 sequences, chance alone made the largest norm 51, 53 and 164 times the smallest. With changed targets "
    "every answer is wrong, and 4,000 sequences are enough. An untrained network also has gradients. At laptop scale "
    "RelLSTM is first trained at a delay of 100, for up to 24,000 updates, and then at 400: trained at 400 from the "
    "start, its accuracy was 55 % after 10,000 updates."
)


# The option that is varied, its symbol in the paper, and the symbol of the fixed one.
SWEEPS = {"relevant": ("rho", "nu"), "short_term": ("nu", "rho")}


def buffer_sizes(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    delay: int,
    hidden: int,
    updates: int,
    fixed: int,
    values: tuple[int, ...],
    sequences: int,
    workers: int | None,
) -> Outcome:
    """Fig. 3: train RelLSTM with `values` of rho and of nu, the other one `fixed`, and measure gradient norms."""
    check_models("relevance-fig3")
    from memspan.reproductions.trainings import recall_config, train_all

    configs = {
        f"{varied}-{value}": recall_config(
            "denoise",
            OURS,
            seed,
            delay=delay,
            hidden=hidden,
            updates=updates,
            options={"relevant": fixed, "short_term": fixed, varied: value},
        )
        for varied in SWEEPS
        for value in values
    }
    trained = train_all(configs, runs, progress, workers=workers)
    norms = run_norms(runs, trained, sequences=sequences, seed=seed, loss="changed")
    charts = []
    for varied, (symbol, other) in SWEEPS.items():
        labels = {
            f"{symbol} = {value} (accuracy {trained[f'{varied}-{value}'].accuracy or 0.0:.0%})": f"{varied}-{value}"
            for value in values
        }
        charts.append(
            norms_chart(
                f"{varied.replace('_', '-')}-swept",
                f"Gradient norm after training for several values of {symbol}",
                {label: norms[name].rms for label, name in labels.items()},
                f"RelLSTM of {hidden} units after {updates:,} updates of denoise, T = {delay}, {other} = {fixed}: "
                "norm of the total gradient at h_t of the loss of the ten answers when every target is replaced by "
                f"another symbol, for {sequences:,} test sequences as one batch.",
            )
        )
    return Outcome(sweep_claims(values, norms), tuple(charts), (_SWEEP_NOTE,))


def sweep_claims(values: tuple[int, ...], norms: dict[str, GradientNorms]) -> tuple[Claim, ...]:
    uneven = {varied: np.array([unevenness(norms[f"{varied}-{value}"].rms) for value in values]) for varied in SWEEPS}
    smallest, *larger = uneven["relevant"].tolist()
    ratio = smallest / max(larger)
    leverage = float(np.ptp(np.log(uneven["relevant"])) - np.ptp(np.log(uneven["short_term"])))
    return (
        claim(
            f"With rho = {values[0]} gradients are less even than with any larger relevant set. (Measured: the ratio "
            "of the unevenness to the largest of the others.)"
        ).holds_if(ratio, ratio > 1),
        claim(
            "The size nu of the short-term buffer has less effect on gradients than rho. (Measured: by how much the "
            "range of the log unevenness is larger when rho is varied.)"
        ).holds_if(leverage, leverage > 0),
    )


_SWEEP_NOTE = (
    "The paper's caption mentions MemLSTM, but only RelLSTM has rho and nu, so RelLSTM is trained here. Networks with "
    "a higher accuracy have a smaller loss and fewer sequences with a gradient. With changed targets, as here, every "
    "sequence has one, so the reach of gradients can be compared."
)
