"""Chen 2018, Fig. 2: how long a sequence can be learnt from which weights, next to the timescale of theory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, HeatMap, TrainingRun, line
from memspan.theory import MinimalField, VanillaField

if TYPE_CHECKING:
    from memspan.training import Config

Array = NDArray[np.float64]

LEARNT = 0.5
"""Accuracy that counts as learnt, between a guess (one tenth) and all."""
AGREE = {"untied": 0.8, "tied": 0.5}
"""Rank correlation of trainable length and timescale that counts as agreement: strong, or in its general shape."""
VANILLA_SIGMA_V = 0.025
MINIMAL_SIGMA_W, MINIMAL_SIGMA_V = 6.88, 1.39
POINTS = 121
"""Of the line that shows theory."""


@final
@dataclass(frozen=True)
class _Panel:
    """One sweep: a cell, the weight that is varied, and what is fixed."""

    name: str
    cell: str
    varied: str
    low: float
    high: float
    fixed: dict[str, float]

    def field(self, value: Array | float) -> MinimalField | VanillaField:
        """Theory of these weights, for inputs of variance one."""
        settings: dict[str, Any] = {**self.fixed, self.varied: value}
        if self.cell == "rnn":
            return VanillaField(**settings, input_variance=1.0)
        # z = tanh of a Gaussian of variance one is what the recurrence reads.
        return MinimalField(**settings, input_variance=VanillaField(sigma_w=0.0).fixed_point().Q)


_PANELS = (
    _Panel("vanilla", "rnn", "sigma_w", 0.5, 1.5, {"sigma_v": VANILLA_SIGMA_V}),
    _Panel(
        "minimal-bias",
        "minimal-rnn",
        "bias_mean",
        -4.0,
        8.0,
        {"sigma_w": MINIMAL_SIGMA_W, "sigma_v": MINIMAL_SIGMA_V},
    ),
    _Panel("minimal-4", "minimal-rnn", "sigma_w", 0.5, 10.0, {"sigma_v": MINIMAL_SIGMA_V, "bias_mean": 4.0}),
    _Panel("minimal-6", "minimal-rnn", "sigma_w", 0.5, 10.0, {"sigma_v": MINIMAL_SIGMA_V, "bias_mean": 6.0}),
)
NAMES = {"rnn": "Vanilla RNN", "minimal-rnn": "Minimal RNN"}
_WORDS = {"sigma_w": "sigma_w", "bias_mean": "mean of the bias"}


@final
@dataclass(frozen=True)
class _Size:
    panels: tuple[str, ...]
    data: str
    lengths: tuple[int, ...]
    values: int
    """Of the varied weight."""
    hidden: int
    updates: dict[str, int]


_ALL = tuple(panel.name for panel in _PANELS)
_SIZES = {
    "smoke": _Size(("vanilla", "minimal-bias"), "digits", (3,), 2, 8, {"rnn": 4, "minimal-rnn": 4}),
    "laptop": _Size(_ALL, "digits", (10, 25, 60, 150), 9, 128, {"rnn": 300, "minimal-rnn": 100}),
    "paper": _Size(
        _ALL, "mnist", (10, 30, 100, 200, 300, 500, 1_000), 21, 512, {"rnn": 1_000, "minimal-rnn": 100}
    ),
}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("meanfield-fig2")
    from memspan.reproductions.trainings import train_all

    size = _SIZES[scale]
    configs: dict[str, Config] = {}
    for panel in _chosen(size):
        for tying in AGREE:
            for length in sorted(size.lengths, reverse=True):
                for number, value in enumerate(_values(size, panel)):
                    configs[_name(panel, tying, length, number)] = _config(
                        size, panel, tying, length, value, seed
                    )
    found = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    grids = {
        (panel.name, tying): _grid(size, panel, tying, found) for panel in _chosen(size) for tying in AGREE
    }
    claims = [_follows(size, panel, tying, grids) for panel in _chosen(size) for tying in AGREE]
    maps = [_map(size, panel, tying, grids) for panel in _chosen(size) for tying in AGREE]
    return Outcome((*claims, _wider(size, grids)), (), (_NOTE,), maps=tuple(maps))


def _chosen(size: _Size) -> list[_Panel]:
    return [panel for panel in _PANELS if panel.name in size.panels]


def _values(size: _Size, panel: _Panel) -> Array:
    return np.linspace(panel.low, panel.high, size.values)


def _name(panel: _Panel, tying: str, length: int, number: int) -> str:
    return f"{panel.name}-{tying}-{length}-{number}"


def _config(size: _Size, panel: _Panel, tying: str, length: int, value: float, seed: int) -> Config:
    from memspan.reproductions.trainings import training_config

    cell: dict[str, Any] = {"hidden": size.hidden}
    if tying == "untied":
        cell |= {"tied": False, "steps": length + 1}
    updates = size.updates[panel.cell]
    training = {
        "batch": 100,
        "updates": updates,
        "optimizer": "rmsprop",
        "smoothing": 0.9,
        "learning_rate": 1e-3,
        "clip_norm": 1.0,
        "validate_every": updates,
        "validation_batches": 3,
        "stop_accuracy": None,
        "patience": None,
    }
    return training_config(
        "noisy-digits",
        panel.cell,
        seed,
        {
            "task": {"data": size.data, "delay": length},
            "cell": cell,
            "init": {"name": "field", **panel.fixed, panel.varied: float(value)},
            "training": training,
        },
    )


def _grid(size: _Size, panel: _Panel, tying: str, found: dict[str, TrainingRun]) -> Array:
    """Accuracy, (lengths, values)."""
    return np.array(
        [
            [found[_name(panel, tying, length, number)].accuracy or 0.0 for number in range(size.values)]
            for length in size.lengths
        ]
    )


def _trainable(size: _Size, accuracy: Array) -> Array:
    """Of each value, the longest sequence up to which every one was learnt; 0 if none."""
    learnt = np.cumprod(accuracy >= LEARNT, axis=0).astype(bool)
    lengths = np.array(size.lengths, dtype=float)[:, None]
    return np.where(learnt, lengths, 0.0).max(axis=0)


def _timescale(panel: _Panel, values: Array) -> Array:
    """-1 / log chi for inputs that are independent; infinite where signals never fade."""
    return np.asarray(panel.field(values).timescale(input_correlation=0.0), dtype=float)


def _up_to(size: _Size, timescale: Array) -> Array:
    """Numbers instead of what is longer by far than any sequence."""
    return np.minimum(timescale, 10.0 * max(size.lengths))


def _follows(size: _Size, panel: _Panel, tying: str, grids: dict[tuple[str, str], Array]) -> Claim:
    depth = _trainable(size, grids[panel.name, tying])
    expected = _up_to(size, _timescale(panel, _values(size, panel)))
    constant = np.ptp(depth) == 0 or np.ptp(expected) == 0
    agreement = 0.0 if constant else float(np.corrcoef(rankdata(expected), rankdata(depth))[0, 1])
    return Claim(
        f"{NAMES[panel.cell]}, {tying} weights, {_WORDS[panel.varied]} from {panel.low:g} to {panel.high:g}{_besides(panel)}"
        ": where the timescale of theory is longer, longer sequences are learnt. (Measured: the rank correlation of "
        f"timescale and longest sequence learnt, which is to be at least {AGREE[tying]:g}.)",
        None,
        None,
        agreement,
        None,
        agreement >= AGREE[tying],
    )


def _besides(panel: _Panel) -> str:
    mean = panel.fixed.get("bias_mean")
    return "" if mean is None else f" at a bias mean of {mean:g}"


def _wider(size: _Size, grids: dict[tuple[str, str], Array]) -> Claim:
    """The paper compares Fig. 2 (a, b) with (c, d)."""
    shares = {
        name: float(np.mean([_trainable(size, grids[name, tying]) == max(size.lengths) for tying in AGREE]))
        for name in ("vanilla", "minimal-bias")
    }
    return Claim(
        "Long sequences are learnt by the minimal RNN over a larger part of its range than by the vanilla RNN over its own. "
        f"(Measured: the difference of the shares that learn {max(size.lengths)} steps.)",
        None,
        None,
        shares["minimal-bias"] - shares["vanilla"],
        None,
        shares["minimal-bias"] > shares["vanilla"],
    )


def _map(size: _Size, panel: _Panel, tying: str, grids: dict[tuple[str, str], Array]) -> HeatMap:
    values = _values(size, panel)
    fine = np.linspace(panel.low, panel.high, POINTS)
    lengths = np.array(size.lengths, dtype=float)
    return HeatMap(
        name=f"{panel.name}-{tying}",
        title=f"{NAMES[panel.cell]}, {tying} weights{_besides(panel)}: what is learnt",
        x_label=_WORDS[panel.varied],
        y_label="steps of noise after the digit",
        value_label="accuracy after training",
        value_scale="linear",
        x=values,
        y=lengths,
        values=grids[panel.name, tying],
        highest=1.0,
        edge=np.empty((0, 0)),
        edge_label="",
        lines=(line("timescale of theory", fine, _up_to(size, _timescale(panel, fine))),),
        caption=f"Each field is one training of {size.updates[panel.cell]} updates with batches of 100, {size.hidden} "
        "units; the digit is shown at the first step, noise at all others. The line is the timescale -1 / log chi of "
        "theory for independent inputs; where it leaves the map, it is shorter or longer than all that was tried. A guess "
        "is right one time in ten.",
        colours=(0.0, 1.0),
    )


_NOTE = (
    "The paper tells neither width nor optimizer; RMSprop at a rate of 0.001 and a norm clipped at 1 were chosen before any "
    "run. Laptop scale uses the 8 by 8 digits that come with scikit-learn and sequences of up to 150 steps."
)
