"""Networks that learnt to write sequences: the best of several seeds, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.shen2019.decay import Laws
from memspan.results import Curve, TrainingRun

if TYPE_CHECKING:
    from memspan.training import Config


@final
@dataclass(frozen=True, order=True)
class Network:
    """A cell, its width and how many layers lie on top of each other."""

    cell: str
    width: int
    depth: int = 1

    @property
    def label(self) -> str:
        """The width, and the depth where there is more than one layer, as the paper's legends have it."""
        return f"{self.width}" if self.depth == 1 else f"{self.width}x{self.depth}"


@final
@dataclass(frozen=True, eq=False)
class Generated:
    """What the best of a network's seeds wrote."""

    network: Network
    run: TrainingRun
    curve: Curve
    laws: Laws
    excerpt: str
    """How the first of its texts begins"""

    def __str__(self) -> str:
        run = self.run
        return (
            f"{run.cell} {self.network.label}, {run.parameter_count:,} parameters: {run.loss:.4f} nats on test after "
            f"{run.updates:,} updates; {self.laws}"
        )


@final
@dataclass(frozen=True, kw_only=True)
class Writing:
    """How much a network writes, and how that is measured."""

    streams: int
    length: int
    """Symbols of each"""
    lags: NDArray[np.int64]
    above: float
    """Nats from which on values count for the correlation length"""

    def of(self, network: Network, run: TrainingRun, seed: int, progress: Progress) -> Generated:
        """Let the network of a run write, and measure that."""
        from memspan.training.sampled import sequence_of

        length = self.streams * self.length
        text = sequence_of(run.run, length, streams=self.streams, seed=seed, device="cpu", progress=progress)
        curve = mutual_information(text, self.lags, seed=seed, progress=progress)
        return Generated(network, run, curve, Laws.of(curve, self.above), text.beginning(300))


def generate_all(
    networks: Iterable[Network],
    seeds: Iterable[int],
    configured: Callable[[Network, int], Config],
    writing: Writing,
    runs: Path,
    progress: Progress,
    *,
    workers: int | None,
) -> dict[Network, Generated]:
    """Train every network from every seed, and let that with the least validation loss write."""
    from memspan.reproductions.trainings import try_all

    wanted, tries = list(networks), list(seeds)
    configs = {_folder(network, seed): configured(network, seed) for network in wanted for seed in tries}
    trained = try_all(configs, runs, progress, workers=workers)
    best = {
        network: _best(network, [trained.get(_folder(network, seed)) for seed in tries]) for network in wanted
    }
    return {network: writing.of(network, run, tries[0], progress) for network, run in best.items()}


def _best(network: Network, runs: list[TrainingRun | None]) -> TrainingRun:
    """By the validation loss, among those that did not diverge."""
    learnt = [run for run in runs if run is not None]
    if not learnt:
        raise InputError(f"{network.cell} {network.label} diverged from every seed; try another --seed")
    return min(learnt, key=lambda run: float(run.validation_loss.min()))


def _folder(network: Network, seed: int) -> str:
    return f"{network.cell}-{network.width}x{network.depth}-seed-{seed}"


def share(curve: Curve, expected: NDArray[np.float64], use: NDArray[np.bool_]) -> float:
    """How many times the expected information a curve has, in the geometric mean over the lags in `use`.

    Where it has none to see, it counts as having as much as its floor scatters. NaN without lags.
    """
    if not use.any():
        return float("nan")
    own = np.maximum(curve.corrected, curve.floor_sd)[use]
    return float(np.exp(np.mean(np.log(own / expected[use]))))
