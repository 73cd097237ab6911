"""Train networks from several seeds, let the best generate, measure what it generates; and charts of the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, information_chart, points
from memspan.reproductions.shen2019.decay import CurveDecay, thinned
from memspan.reproductions.shen2019.sizes import Architecture
from memspan.results import Chart, Curve, Line, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config


@final
@dataclass(frozen=True, eq=False)
class Generated:
    """What the best seed of a network generated."""

    network: Architecture
    run: TrainingRun
    curve: Curve
    decay: CurveDecay
    excerpt: str
    """The beginning of the first generated text."""

    def __str__(self) -> str:
        run = self.run
        return (
            f"{run.cell} {self.network.label}, {run.parameter_count:,} parameters: {run.loss:.4f} nats on test after "
            f"{run.updates:,} updates; {self.decay}"
        )


@final
@dataclass(frozen=True, kw_only=True)
class Generation:
    """How much a network generates, and how that is measured."""

    streams: int
    length: int
    """Symbols of each stream."""
    lags: NDArray[np.int64]
    above: float
    """Values above this level, in nats, count for the correlation length."""

    def of(self, network: Architecture, run: TrainingRun, seed: int, progress: Progress) -> Generated:
        """Let the network of a run generate, and measure the result."""
        from memspan.training.supervised.generation import sampled_sequence

        length = self.streams * self.length
        text = sampled_sequence(run.run, length, streams=self.streams, seed=seed, device="cpu", progress=progress)
        curve = mutual_information(text, self.lags, seed=seed, progress=progress)
        return Generated(network, run, curve, CurveDecay.of(curve, self.above), text.beginning(300))


def generate_all(
    networks: Iterable[Architecture],
    seeds: Iterable[int],
    config: Callable[[Architecture, int], Config],
    generation: Generation,
    runs: Path,
    progress: Progress,
    *,
    workers: int | None,
) -> dict[Architecture, Generated]:
    """Train every network from every seed, and let the one with the lowest validation loss generate."""
    from memspan.reproductions.trainings import train_converging

    networks, seeds = list(networks), list(seeds)
    configs = {_folder(network, seed): config(network, seed) for network in networks for seed in seeds}
    trained = train_converging(configs, runs, progress, workers=workers)
    best = {network: _best(network, [trained.get(_folder(network, seed)) for seed in seeds]) for network in networks}
    return {network: generation.of(network, run, seeds[0], progress) for network, run in best.items()}


def _best(network: Architecture, runs: list[TrainingRun | None]) -> TrainingRun:
    """By validation loss, among the runs that did not diverge."""
    finished = [run for run in runs if run is not None]
    if not finished:
        raise InputError(f"{network.cell} {network.label} diverged from every seed; try another --seed")
    return min(finished, key=lambda run: float(run.validation_loss.min()))


def _folder(network: Architecture, seed: int) -> str:
    return f"{network.cell}-{network.width}x{network.depth}-seed-{seed}"


# --- Charts


def curves_chart(
    name: str,
    title: str,
    generated: Iterable[Generated],
    data: Curve,
    data_label: str,
    caption: str,
    unit: str = "symbols",
) -> Chart:
    """I(tau) of what each network generated, next to that of the data."""
    curves = [(each.network.label, thinned(each.curve)) for each in generated]
    thin = thinned(data)
    lines = [
        *(line(label, curve.lags, _visible(curve)) for label, curve in curves),
        points(data_label, thin.lags, _visible(thin)),
    ]
    return information_chart(name, title, unit, lines, caption)


def _visible(curve: Curve) -> NDArray[np.float64]:
    """Corrected values where they are significant, NaN elsewhere."""
    return np.where(curve.significant & (curve.corrected > 0), curve.corrected, np.nan)


def length_line(label: str, decays: Mapping[int, CurveDecay]) -> Line:
    """xi over the width or the depth, with its interval, where one was found."""
    found = {at: decay for at, decay in decays.items() if not math.isnan(decay.length)}
    low, high = zip(*(decay.interval for decay in found.values()), strict=True) if found else ((), ())
    lengths = [decay.length for decay in found.values()]
    return line(label, list(found), lengths, band=(low, high), style="markers")


def data_line(decay: CurveDecay, x: Iterable[int], label: str = "the same fit to the data") -> Line:
    """xi of the data as a horizontal line."""
    ends = list(x)
    return dashed(label, [min(ends), max(ends)], [decay.length] * 2)


def lengths_chart(by: Literal["width", "depth"], title: str, lines: Iterable[Line]) -> Chart:
    """xi of several networks, next to that of their training data, by width or depth."""
    return chart(
        f"lengths-by-{by}",
        title,
        "width of the layer" if by == "width" else "layers",
        "correlation length xi (symbols)",
        lines,
        "The correlation length of I_0 exp(-tau / xi), a straight line through the logarithms of what each network "
        "generated above the paper's level, with its 95 % interval; where no bar is visible, it is smaller than the marker. "
        "For a power law, xi is a rough description only: that of the data is the dashed line.",
        log="xy" if by == "width" else "y",
    )
