"""Networks that learnt to write sequences: the best of several seeds, what it writes, and how far back that remembers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError
from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.results import Chart, Claim, Curve, DecayFit, LawFit, Line, TrainingRun, line

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


FAR = 10
"""From here on a tail is looked at: what is nearer has a law of its own in most texts."""


@final
@dataclass(frozen=True, eq=False)
class Laws:
    """How a curve falls: all laws, and the correlation length xi of I_0 exp(-tau / xi) where it is above a level."""

    all: DecayFit | None
    """None: too few lags above the floor"""
    tail: DecayFit | None
    """The exponential and the power law at lags from `FAR` on"""
    exponential: LawFit | None

    @classmethod
    def of(cls, curve: Curve, above: float) -> Laws:
        """`above` is in nats; Shen 2019 takes 1e-3 for binary sequences and 2e-3 for text."""
        two = [LAWS["exponential"], LAWS["power"]]
        return cls(
            _fitted(lambda: fit_decay(curve)),
            _fitted(lambda: fit_decay(curve, two, first=FAR)),
            _law(_fitted(lambda: fit_decay(curve, two[:1], above=above)), "exponential"),
        )

    @property
    def length(self) -> float:
        """xi in symbols; NaN where too little is above the level."""
        return math.nan if self.exponential is None else self.exponential.parameters["length"]

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %."""
        return (math.nan, math.nan) if self.exponential is None else self.exponential.intervals["length"]

    @property
    def exponential_share(self) -> float:
        """The AICc weight of the exponential law when there is the power law only beside it; NaN without both."""
        return _share(self.all)

    @property
    def tail_share(self) -> float:
        """The same at lags from `FAR` on."""
        return _share(self.tail)

    def __str__(self) -> str:
        low, high = self.interval
        length = (
            "xi not found" if self.exponential is None else f"xi = {self.length:.3g} [{low:.3g}, {high:.3g}]"
        )
        if self.all is None:
            return f"{length}; too few lags above the floor for a law"
        best = self.all.best
        shares = [
            f"{share:.2g} {where}"
            for where, share in (("overall", self.exponential_share), (f"from {FAR} on", self.tail_share))
            if not math.isnan(share)
        ]
        beside = f"; exponential against power law {', '.join(shares)}" if shares else ""
        return f"{length}; best law {best} with weight {self.all[best].weight:.2g}{beside}"


def _share(fit: DecayFit | None) -> float:
    exponential, power = _law(fit, "exponential"), _law(fit, "power")
    if exponential is None or power is None:
        return math.nan
    return float(1 / (1 + np.exp(np.clip((exponential.aicc - power.aicc) / 2, -700, 700))))


def _fitted(fit: Callable[[], DecayFit]) -> DecayFit | None:
    try:
        return fit()
    except EvidenceError:
        return None


def _law(fit: DecayFit | None, name: str) -> LawFit | None:
    return None if fit is None else fit.laws.get(name)


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

    def of(self, network: Network, run: TrainingRun, seed: int) -> Generated:
        """Let the network of a run write, and measure that."""
        from memspan.training.sampled import sequence_of

        text = sequence_of(run.run, self.streams * self.length, streams=self.streams, seed=seed, device="cpu")
        curve = mutual_information(text, self.lags, seed=seed)
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
    from memspan.experiments.trainings import train_all

    wanted, tries = list(networks), list(seeds)
    configs = {_folder(network, seed): configured(network, seed) for network in wanted for seed in tries}
    trained = train_all(configs, runs, progress, workers=workers)
    best = {
        network: min(
            (trained[_folder(network, seed)] for seed in tries),
            key=lambda run: float(run.validation_loss.min()),
        )
        for network in wanted
    }
    with progress.stage("writing and measuring", len(best)) as stage:
        found = {}
        for network, run in best.items():
            found[network] = writing.of(network, run, tries[0])
            stage.advance()
    return found


def _folder(network: Network, seed: int) -> str:
    return f"{network.cell}-{network.width}x{network.depth}-seed-{seed}"


def curve_lines(generated: Iterable[Generated], data: Curve, data_label: str) -> tuple[Line, ...]:
    """The corrected curve of every network, and that of the data."""
    return (
        *(line(each.network.label, each.curve.lags, _shown(each.curve)) for each in generated),
        line(data_label, data.lags, _shown(data), style="markers"),
    )


def _shown(curve: Curve) -> NDArray[np.float64]:
    """Corrected values where they are significant; there is nothing to see below the floor."""
    return np.where(curve.significant & (curve.corrected > 0), curve.corrected, np.nan)


def length_line(label: str, laws: Mapping[int, Laws]) -> Line:
    """xi over the width or the depth, with its interval, where one was found."""
    found = {at: law for at, law in laws.items() if not math.isnan(law.length)}
    low, high = zip(*(law.interval for law in found.values()), strict=True) if found else ((), ())
    return line(label, list(found), [law.length for law in found.values()], band=(low, high), style="markers")


def data_line(laws: Laws, x: Iterable[int]) -> Line:
    """xi of the data as a level."""
    ends = list(x)
    return line("the same fit to the data", [min(ends), max(ends)], [laws.length] * 2, style="dashed")


def lengths_chart(name: str, title: str, x_label: str, lines: tuple[Line, ...]) -> Chart:
    """xi of several networks beside that of what they learnt."""
    return Chart(
        name=name,
        title=title,
        x_label=x_label,
        y_label="correlation length xi (symbols)",
        x_scale="log" if "units" in x_label else "linear",
        y_scale="log",
        lines=lines,
        caption="The correlation length of an exponential I_0 exp(-tau / xi) fitted to what each network wrote, with its "
        "95 % interval, where values are above the paper's level; where no bar is seen, it is smaller than the marker. "
        "Where the law is a power, the fit is a rough description: that of the data is the dashed line.",
    )


def curves_chart(
    name: str, title: str, lines: tuple[Line, ...], caption: str, unit: str = "symbols"
) -> Chart:
    """I(tau) of several networks beside that of what they learnt."""
    return Chart(
        name=name,
        title=title,
        x_label=f"distance tau ({unit})",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=lines,
        caption=caption,
    )


def ratio_claim(
    claim: str, measured: float, *, least: float | None = None, most: float | None = None
) -> Claim:
    """A claim about the ratio of two lengths or informations."""
    holds = (least is None or measured > least) and (most is None or measured < most)
    return Claim(f"{claim} (Measured: the ratio.)", None, None, measured, None, holds)


def share_claim(claim: str, share: float, whose: str) -> Claim:
    """A claim about which of two laws describes a curve better."""
    said = f"{claim} (Measured: the {whose} share of the AICc weight of the two.)"
    return Claim(said, None, None, share, None, share > 0.5)


def told(claims: Iterable[Claim]) -> list[Claim]:
    """Those with a number: where too little was above the floor for a fit there is nothing to claim."""
    return [claim for claim in claims if claim.measured is not None and math.isfinite(claim.measured)]
