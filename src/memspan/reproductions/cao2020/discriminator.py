"""Erratum 16 (Cao and Xu 2020, section 5): the discriminator in the paper and the one in the authors' program.

The paper has one hidden layer of 500 units. The program has two networks of 300 units, one for each order of the two
segments, and pools over padding.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, LanguageModelSize, ModelKey
from memspan.reproductions.charts import chart, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim

if TYPE_CHECKING:
    from memspan.objectives import Bmi
    from memspan.training import Config
    from memspan.training.supervised.trained_model import TrainedModel

FORMS: dict[str, dict[str, Any]] = {
    "paper": {"hidden": 500, "swapped": False, "padding": False},
    "swapped": {"hidden": 300, "swapped": True, "padding": False},
    "padding": {"hidden": 500, "swapped": False, "padding": True},
    "program": {"hidden": 300, "swapped": True, "padding": True},
}
NAMES = {
    "paper": "500 units, as printed",
    "swapped": "twice 300 units, one network per order",
    "padding": "500 units, padding pooled",
    "program": "twice 300 units, padding pooled, as in the program",
}
# Size of a pooled vector (960 + 960 + 620 and 1,150 + 1,150 + 650), and the program's number of hidden units.
PUBLISHED = {"ptb": (2_540, 300), "wikitext-2": (2_950, 100)}
# Bounds are comparable if their ratio is below this value and above its inverse.
COMPARABLE = 1.25
# Difference of one sum in single precision, computed in two orders.
ROUNDING = 1e-5
# Number of lines that are pooled with and without padding.
POOLED_LINES = 200
# Share of pooled elements that padding must change to matter.
PADDING_MATTERS = 0.1


def run(
    *, seed: int, progress: Progress, runs: Path, models: str, seeds: int, updates: int | None, lines: int
) -> Outcome:
    """Train BMI-base with every form of the discriminator and evaluate it on `lines` lines of the validation text.

    `updates` of None are as many as in bmi-table1.
    """
    check_models("errata-16")
    from memspan.reproductions.trainings import train_all

    networks = LANGUAGE_MODELS[models]
    configs = {
        f"{form}-seed-{number}": _config(networks, form, number, updates, runs)
        for number in range(seed, seed + seeds)
        for form in FORMS
    }
    train_all(configs, runs, progress, workers=networks.workers)
    bounds: dict[str, list[float]] = {form: [] for form in FORMS}
    with progress.stage("discriminators", len(configs)) as stage:
        for name in configs:
            bounds[name.partition("-")[0]].append(held_out_bound(runs / name, lines=lines))
            stage.advance()
    claims = (*_parameter_counts(), *_padding_claims(runs / f"paper-seed-{seed}"), *_bound_claims(bounds))
    notes = [
        f"{NAMES[form]}: {', '.join(f'{value:.3f}' for value in values)} nats between neighboring lines of the "
        "validation text."
        for form, values in bounds.items()
    ]
    return Outcome(claims, (_chart(bounds),), (*notes, _NOTE))


def _config(networks: LanguageModelSize, form: str, seed: int, updates: int | None, runs: Path) -> Config:
    config = networks.config(ModelKey(next(iter(networks.corpora)), "base", seed), runs)
    return dataclasses.replace(
        config,
        bmi=dataclasses.replace(config.bmi, **FORMS[form]),
        training=dataclasses.replace(config.training, updates=updates or config.training.updates),
    )


def load_bmi(run: Path) -> tuple[TrainedModel, Bmi]:
    """Load the best weights of a run together with the discriminator at that update."""
    from memspan.objectives import Bmi
    from memspan.training.supervised.build import build_objectives
    from memspan.training.supervised.config import InitConfig
    from memspan.training.supervised.trained_model import load_best, load_initial_run

    best = load_best(run)
    (bmi,) = build_objectives(best.config, best.network)
    assert isinstance(bmi, Bmi)
    restored = dataclasses.replace(best.config, init=InitConfig(name="run", run=str(run)))
    load_initial_run(best.network, {bmi.name: bmi}, restored)
    return best, bmi


def held_out_bound(run: Path, *, lines: int, shifts: int = 20) -> float:
    """Donsker-Varadhan bound in nats on neighboring lines of the validation text.

    The joint sample pairs every line with the next one, the product sample with `shifts` distant lines.
    """
    import torch

    from memspan.objectives import donsker_varadhan
    from memspan.objectives.segment_information import far_shifts
    from memspan.objectives.segments import pooled
    from memspan.sampling.streams import evaluation_mode
    from memspan.tasks.text import TextTask, encode_corpus
    from memspan.training.supervised.build import text_lines

    best, bmi = load_bmi(run)
    task, padding = best.task, bmi.config.padding
    assert isinstance(task, TextTask)
    text = text_lines(task, encode_corpus(task.identity).symbols["valid"], bmi.config.length)
    count, batch = min(lines, len(text)), 3 * bmi.config.pairs
    with evaluation_mode(best.network), evaluation_mode(bmi):
        batches = [np.arange(first, min(first + batch, count)) for first in range(0, count, batch)]
        vectors = torch.cat(
            [pooled(best.network, text.take(which, whole=padding), padding=padding) for which in batches]
        )
        joint = bmi.discriminator(vectors[:-1], vectors[1:])
        product = torch.cat([bmi.discriminator(vectors, vectors.roll(by, 0)) for by in far_shifts(count, shifts)])
    return float(donsker_varadhan(joint, product))


def _parameter_counts() -> list[Claim]:
    """Parameters of the published sizes, as printed and as in the program."""
    import torch

    from memspan.objectives import Discriminator

    def count(width: int, hidden: int) -> int:
        with torch.device("meta"):
            network = Discriminator(width, hidden, swapped=True)
        return sum(parameter.numel() for parameter in network.parameters())

    return [
        claim(
            f"For {data}, the program's discriminator, two networks of {hidden} units on segment vectors of size "
            f"{width:,}, has another number of parameters than one network of 500 units. (Paper: one of 500 units. "
            "Measured: two, as built by memspan.)"
        ).near(count(width, hidden), 0.0, paper=500 * (5 * width + 2) + 1, corrected=2 * (hidden * (5 * width + 2) + 1))
        for data, (width, hidden) in PUBLISHED.items()
    ]


def _padding_claims(run: Path) -> list[Claim]:
    """What pooling over padding does to the lines of a text."""
    from memspan.objectives.segments import pooled
    from memspan.sampling.streams import evaluation_mode

    best, bmi = load_bmi(run)
    order = np.argsort(bmi.segments.lengths, kind="stable")
    extremes, some = order[[0, -1]], np.arange(min(POOLED_LINES, len(order)))
    with evaluation_mode(best.network):
        alone, batched = (pooled(best.network, bmi.segments.take(which))[0] for which in (extremes[:1], extremes))
        masked, filled = (
            pooled(best.network, bmi.segments.take(some, whole=True), padding=padding) for padding in (False, True)
        )
    share = float((filled > masked).float().mean())
    short = float(np.mean(bmi.segments.lengths[some] < bmi.config.length))
    return [
        claim(
            "With masked padding, the pooled vector of a short line does not depend on the other lines of its batch. "
            "(Measured: how much it changes next to the longest line.)"
        ).near((alone - batched).abs().max(), ROUNDING, corrected=0.0),
        claim(
            "With pooled padding, as in the program, the padding changes the result. (Measured: the share of "
            f"elements of pooled vectors that come from the unknown word, which pads {short:.0%} of the lines to "
            f"{bmi.config.length} words. It holds from {PADDING_MATTERS:g} on.)"
        ).holds_if(share, share >= PADDING_MATTERS),
    ]


def _bound_claims(bounds: dict[str, list[float]]) -> list[Claim]:
    """The bound of each form after the same training, relative to the printed form."""
    printed = float(np.mean(bounds["paper"]))
    claims = []
    for form in ("swapped", "padding", "program"):
        ratio = float(np.mean(bounds[form])) / printed if printed > 0 else None
        claims.append(
            claim(
                f"After the same training, the discriminator with {NAMES[form]} finds as much information between "
                f"unseen lines as the one with {NAMES['paper']}, within a factor of {COMPARABLE:g}. (Measured: the "
                "ratio of their bounds.)"
            ).holds_if(ratio, ratio is not None and 1 / COMPARABLE <= ratio <= COMPARABLE)
        )
    return claims


def _chart(bounds: dict[str, list[float]]) -> Chart:
    return chart(
        "bounds",
        "Information found by four discriminators after the same training",
        "discriminator",
        "bound on validation text (nats)",
        [
            points(NAMES[form], position + 0.1 * np.arange(len(values)), values)
            for position, (form, values) in enumerate(bounds.items(), 1)
        ],
        "Lower bound on the mutual information of neighboring lines of the validation text, from the discriminators "
        "of networks trained with BMI-base; one marker per seed. Only the discriminator and its input differ.",
        x_names=tuple(bounds),
    )


_NOTE = (
    "The paper mentions neither the second network nor the weight of IW-RAML nor padding. The bound is that of "
    "Donsker and Varadhan over all evaluated lines, with 20 other lines for each. The program pads every line to 40 "
    "words with the unknown word, whatever the rest of the batch. It divides the log-likelihoods of IW-RAML by the "
    "words of all 12 segments of a batch, so for segments of equal length its weight of 1 is a twelfth of the weight "
    "of a mean per word."
)
