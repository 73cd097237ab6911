"""Erratum 16: the discriminator of the paper and that of the authors' program."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line

if TYPE_CHECKING:
    from memspan.training import Config

FORMS: dict[str, dict[str, Any]] = {
    "paper": {"hidden": 500, "swapped": False, "padding": False},
    "swapped": {"hidden": 300, "swapped": True, "padding": False},
    "padding": {"hidden": 500, "swapped": False, "padding": True},
    "program": {"hidden": 300, "swapped": True, "padding": True},
}
NAMES = {
    "paper": "500 units, as printed",
    "swapped": "two of 300 units, one for each order",
    "padding": "500 units, padding pooled",
    "program": "two of 300 units, padding pooled, as in the program",
}
PUBLISHED = {"ptb": (2_540, 300), "wikitext-2": (2_950, 100)}
"""Numbers of a pooled vector (960 + 960 + 620 and 1,150 + 1,150 + 650), and the program's hidden units."""
ALIKE = 1.25
"""Bounds whose ratio is below this, and above its inverse, are comparable."""
SAME = 1e-5
"""One sum in single precision, in two orders."""
POOLED, COUNTS = 200, 0.1
"""Lines that are pooled with and without padding, and the share of their numbers from which on padding counts."""


@final
@dataclass(frozen=True)
class _Size:
    seeds: int
    updates: int | None
    """None: as long as the networks of bmi-table1"""
    judged: int
    """Lines of the validation text"""


_SIZES = {"smoke": _Size(1, 6, 40), "laptop": _Size(2, 2_000, 3_000), "paper": _Size(3, None, 3_000)}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("errata-16")
    from memspan.reproductions.cao2020.networks import held_out_bound
    from memspan.reproductions.trainings import train_all

    size = _SIZES[scale]
    configs = {
        f"{form}-seed-{number}": _config(scale, form, number, runs)
        for number in range(seed, seed + size.seeds)
        for form in FORMS
    }
    train_all(configs, runs, progress, workers=SIZES[scale].workers)
    bounds: dict[str, list[float]] = {form: [] for form in FORMS}
    with progress.stage("discriminators", len(configs)) as stage:
        for name in configs:
            bounds[name.partition("-")[0]].append(held_out_bound(runs / name, most=size.judged))
            stage.advance()
    claims = (*_counts(), *_pooling(runs / f"paper-seed-{seed}", POOLED), *_bounds(bounds))
    return Outcome(claims, (_chart(bounds),), (*_notes(bounds), _NOTE))


def _config(scale: str, form: str, seed: int, runs: Path) -> Config:
    size = SIZES[scale]
    config = size.config(Key(next(iter(size.corpora)), "base", seed), runs)
    updates = _SIZES[scale].updates or config.training.updates
    return dataclasses.replace(
        config,
        bmi=dataclasses.replace(config.bmi, **FORMS[form]),
        training=dataclasses.replace(config.training, updates=updates),
    )


def _counts() -> list[Claim]:
    """Parameters of the published sizes, as printed and as in the program."""
    import torch

    from memspan.objectives import Discriminator

    def count(width: int, hidden: int, *, swapped: bool) -> int:
        with torch.device("meta"):
            network = Discriminator(width, hidden, swapped=swapped)
        return sum(parameter.numel() for parameter in network.parameters())

    return [
        claim_near(
            f"For {data}, the program's discriminator, two of {hidden} units on {width:,} numbers of a segment, has another "
            "number of parameters than one of 500 units. (Paper: of one of 500; measured: of two, as memspan builds them.)",
            float(count(width, hidden, swapped=True)),
            0.0,
            paper=float(500 * (5 * width + 2) + 1),
            corrected=float(2 * (hidden * (5 * width + 2) + 1)),
        )
        for data, (width, hidden) in PUBLISHED.items()
    ]


def _pooling(run: Path, most: int) -> list[Claim]:
    """What pooling the padding does to lines of a text."""
    from memspan.objectives.reading import pooled
    from memspan.reproductions.cao2020.networks import load_bmi
    from memspan.sampling.writing import at_rest

    best, bmi = load_bmi(run)
    order = np.argsort(bmi.segments.lengths, kind="stable")
    beside, some = order[[0, -1]], np.arange(min(most, len(order)))
    with at_rest(best.network):
        alone, together = (
            pooled(best.network, bmi.segments.take(which))[0] for which in (beside[:1], beside)
        )
        masked, filled = (
            pooled(best.network, bmi.segments.take(some, whole=True), padding=padding)
            for padding in (False, True)
        )
    moved = float((alone - together).abs().max())
    share = float((filled > masked).float().mean())
    short = float(np.mean(bmi.segments.lengths[some] < bmi.config.length))
    return [
        claim_near(
            "With padding masked, what a short line is pooled to is the same whatever is read beside it. (Measured: how "
            "far it moves beside the longest line.)",
            moved,
            SAME,
            corrected=0.0,
        ),
        Claim(
            "With padding pooled, as in the program, what stands behind a line's end counts. (Measured: of the numbers that "
            f"lines are pooled to, the share that the unknown word brings about, which fills {short:.0%} of them up to "
            f"{bmi.config.length}; it holds from {COUNTS:g} on.)",
            None,
            None,
            share,
            None,
            share >= COUNTS,
        ),
    ]


def _bounds(bounds: dict[str, list[float]]) -> list[Claim]:
    """What each form finds after the same training, beside the printed one."""
    printed = float(np.mean(bounds["paper"]))
    claims = []
    for form, found in bounds.items():
        if form == "paper":
            continue
        measured = float(np.mean(found)) / printed if printed > 0 else None
        claims.append(
            Claim(
                f"After the same training, the discriminator with {NAMES[form]} finds as much information between lines "
                f"that it never saw as the one with {NAMES['paper']}, within {ALIKE:g} times. (Measured: the ratio of "
                "their bounds.)",
                None,
                None,
                measured,
                None,
                measured is not None and 1 / ALIKE <= measured <= ALIKE,
            )
        )
    return claims


def _notes(bounds: dict[str, list[float]]) -> list[str]:
    return [
        f"{NAMES[form]}: {', '.join(f'{value:.3f}' for value in found)} nats between neighbouring lines of the validation "
        "text."
        for form, found in bounds.items()
    ]


_NOTE = (
    "The paper names neither the second network nor the weight of IW-RAML, and says nothing of padding. The bound is that "
    "of Donsker and Varadhan, of all lines judged and 20 other lines for each. The program fills every line up to 40 words "
    "with the unknown word, whatever is read beside it. It divides the log-likelihoods of IW-RAML by the words of all 12 "
    "segments of a batch, so that for segments of equal length its weight of 1 is a twelfth of one for the mean per word."
)


def _chart(bounds: dict[str, list[float]]) -> Chart:
    return Chart(
        name="bounds",
        title="What four discriminators find after the same training",
        x_label="which discriminator",
        y_label="bound on validation (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(
            line(NAMES[form], place + 0.1 * np.arange(len(found)), found, style="markers")
            for place, (form, found) in enumerate(bounds.items(), 1)
        ),
        caption="How much neighbouring lines of the validation text tell of each other, by the discriminator of networks "
        "that learnt with the base goal; one mark for each seed. Only the discriminator and what it reads differ.",
        x_names=tuple(bounds),
    )
