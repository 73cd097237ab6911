"""Chen et al. 2018, Fig. 2: how long a sequence each initialization can learn, next to the timescale of theory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.chen2018.critical_training import CELLS, DIGIT_TRAINING
from memspan.reproductions.chen2018.edge_of_chaos import SIGMA_V, SIGMA_W
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, HeatMap, line
from memspan.theory import MinimalField, VanillaField

if TYPE_CHECKING:
    from memspan.training import Config

Array = NDArray[np.float64]

# Accuracy that counts as learned, between chance (one tenth) and 1.
LEARNED = 0.5
# Rank correlation of trainable length and timescale that counts as agreement, by tying of the weights.
AGREEMENT = {"untied": 0.8, "tied": 0.5}
# Points of the line that shows theory.
LINE_POINTS = 121
_LABELS = {"sigma_w": "sigma_w", "bias_mean": "mean of the bias"}


@final
@dataclass(frozen=True)
class TrainabilityPanel:
    """One sweep: a cell, the parameter that is varied, and the fixed parameters."""

    cell: str
    varied: str
    low: float
    high: float
    fixed: dict[str, float]

    def timescale(self, values: Array) -> Array:
        """-1 / log chi for independent inputs; infinite where signals never decay."""
        settings: dict[str, Any] = {**self.fixed, self.varied: values}
        if self.cell == "rnn":
            field = VanillaField(**settings, input_variance=1.0)
        else:
            # The recurrence reads z = tanh of a Gaussian of variance one.
            field = MinimalField(**settings, input_variance=VanillaField(sigma_w=0.0).fixed_point().Q)
        return np.asarray(field.timescale(input_correlation=0.0), dtype=float)

    def grid(self, values: int) -> Array:
        """Values of the varied parameter."""
        return np.linspace(self.low, self.high, values)

    @property
    def suffix(self) -> str:
        """The fixed bias mean in words, if there is one."""
        mean = self.fixed.get("bias_mean")
        return "" if mean is None else f" at a bias mean of {mean:g}"


PANELS = {
    "vanilla": TrainabilityPanel("rnn", "sigma_w", 0.5, 1.5, {"sigma_v": 0.025}),
    "minimal-bias": TrainabilityPanel("minimal-rnn", "bias_mean", -4.0, 8.0, {"sigma_w": SIGMA_W, "sigma_v": SIGMA_V}),
    **{
        f"minimal-{mean}": TrainabilityPanel(
            "minimal-rnn", "sigma_w", 0.5, 10.0, {"sigma_v": SIGMA_V, "bias_mean": float(mean)}
        )
        for mean in (4, 6)
    },
}


def run(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    panels: tuple[str, ...],
    data: str,
    lengths: tuple[int, ...],
    values: int,
    hidden: int,
    updates: dict[str, int],
    workers: int | None,
) -> Outcome:
    """Train every panel at `values` values of its parameter and all `lengths`; `updates` are by cell."""
    check_models("meanfield-fig2")
    from memspan.reproductions.trainings import train_all

    sweeps = [(name, tying) for name in panels for tying in AGREEMENT]
    configs: dict[str, Config] = {}
    for name, tying in sweeps:
        panel = PANELS[name]
        for length in sorted(lengths, reverse=True):  # the longest first, so that processes finish together
            for number, value in enumerate(panel.grid(values).tolist()):
                configs[f"{name}-{tying}-{length}-{number}"] = _config(
                    panel, value, tying, length, seed, data=data, hidden=hidden, updates=updates[panel.cell]
                )
    trained = train_all(configs, runs, progress, workers=workers)
    accuracies = {
        (name, tying): np.array(
            [
                [trained[f"{name}-{tying}-{length}-{number}"].accuracy or 0.0 for number in range(values)]
                for length in lengths
            ]
        )
        for name, tying in sweeps
    }
    claims = [timescale_claim(PANELS[name], tying, lengths, accuracies[name, tying]) for name, tying in sweeps]
    maps = []
    for name, tying in sweeps:
        caption = f"Each cell is one training of {updates[PANELS[name].cell]} updates, batch size 100, {hidden} units"
        maps.append(_map(name, tying, lengths, accuracies[name, tying], caption))
    return Outcome((*claims, _range_claim(lengths, accuracies)), (), (_NOTE,), maps=tuple(maps))


def _config(
    panel: TrainabilityPanel, value: float, tying: str, length: int, seed: int, *, data: str, hidden: int, updates: int
) -> Config:
    from memspan.reproductions.trainings import training_config

    cell: dict[str, Any] = {"hidden": hidden}
    if tying == "untied":
        cell |= {"tied": False, "steps": length + 1}
    return training_config(
        "noisy-digits",
        panel.cell,
        seed,
        {
            "task": {"data": data, "delay": length},
            "cell": cell,
            "init": {"name": "field", **panel.fixed, panel.varied: value},
            "training": {**DIGIT_TRAINING, "updates": updates, "validate_every": updates, "validation_batches": 3},
        },
    )


def trainable_lengths(lengths: tuple[int, ...], accuracy: Array) -> Array:
    """For each value, the longest sequence up to which every length was learned; 0 if none."""
    learned = np.cumprod(accuracy >= LEARNED, axis=0).astype(bool)
    return np.where(learned, np.array(lengths, dtype=float)[:, None], 0.0).max(axis=0)


def _limit(lengths: tuple[int, ...], timescale: Array) -> Array:
    """Timescales, limited to ten times the longest sequence, so that infinite ones can be ranked and drawn."""
    return np.minimum(timescale, 10.0 * max(lengths))


def timescale_claim(panel: TrainabilityPanel, tying: str, lengths: tuple[int, ...], accuracy: Array) -> Claim:
    """Claim that longer sequences are learned where the timescale is longer; accuracy is (lengths, values)."""
    longest = trainable_lengths(lengths, accuracy)
    expected = _limit(lengths, panel.timescale(panel.grid(accuracy.shape[1])))
    if longest.min() == max(lengths):  # every length is learned at every value, so that no value can contradict theory
        agreement = 1.0
    elif np.ptp(longest) == 0 or np.ptp(expected) == 0:
        agreement = 0.0
    else:
        agreement = float(np.corrcoef(rankdata(expected), rankdata(longest))[0, 1])
    return claim(
        f"{CELLS[panel.cell]}, {tying} weights, {_LABELS[panel.varied]} from {panel.low:g} to "
        f"{panel.high:g}{panel.suffix}: where the timescale of theory is longer, longer sequences are learned.",
        measure="the rank correlation of timescale and longest learned sequence, 1 if every length is learned; it holds "
        f"from {AGREEMENT[tying]:g} on, a limit of ours",
    ).holds_if(agreement, agreement >= AGREEMENT[tying])


def _range_claim(lengths: tuple[int, ...], accuracies: dict[tuple[str, str], Array]) -> Claim:
    """The paper compares Fig. 2 (a, b) with (c, d)."""
    vanilla, minimal = (
        float(np.mean([trainable_lengths(lengths, accuracies[name, tying]) == max(lengths) for tying in AGREEMENT]))
        for name in ("vanilla", "minimal-bias")
    )
    return claim(
        "The minimal RNN learns long sequences over a larger part of its range than the vanilla RNN.",
        measure=f"the difference of the shares that learn {max(lengths)} steps",
    ).above(minimal - vanilla, 0.0)


def _map(name: str, tying: str, lengths: tuple[int, ...], accuracy: Array, caption: str) -> HeatMap:
    panel = PANELS[name]
    fine = panel.grid(LINE_POINTS)
    return HeatMap(
        name=f"{name}-{tying}",
        title=f"{CELLS[panel.cell]}, {tying} weights{panel.suffix}: trainable lengths",
        x_label=_LABELS[panel.varied],
        y_label="steps of noise after the digit",
        value_label="accuracy after training",
        value_scale="linear",
        x=panel.grid(accuracy.shape[1]),
        y=np.array(lengths, dtype=float),
        values=accuracy,
        highest=1.0,
        edge=np.empty((0, 0)),
        edge_label="",
        lines=(line("timescale of theory", fine, _limit(lengths, panel.timescale(fine))),),
        caption=f"{caption}. The digit is shown at the first step, noise at all others. The line is the timescale -1 "
        "/ log chi of theory for independent inputs; where it leaves the map, it is shorter or longer than all "
        "trained lengths. Chance is one tenth.",
        colours=(0.0, 1.0),
    )


_NOTE = (
    "The paper states neither the hidden size nor the optimizer. RMSprop with a learning rate of 0.001 and a gradient "
    "norm clipped at 1 were chosen before any run. Laptop scale uses the 8 by 8 digits of scikit-learn and sequences "
    "of up to 150 steps."
)
