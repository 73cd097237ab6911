"""Cao and Xu 2020, Fig. 2: validation perplexity after the switch, without and with a BMI regularizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.reproductions.cao2020.published import VARIANTS
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim, reach_of_mean
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line

# Share of validations at which a consistently better network must be better.
CONSISTENT = 0.9

# (2, validations): updates since the switch, and validation losses in nats.
Curves = dict[ModelKey, NDArray[np.float64]]


def run(*, seed: int, progress: Progress, runs: Path, models: str) -> Outcome:
    """Train all networks and compare their validation losses after the switch."""
    check_models("bmi-fig2")
    size = LANGUAGE_MODELS[models]
    curves = {key: after_switch(run) for key, run in size.train(size.keys(seed), runs, progress).items()}
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [falls_faster(data, variant, curves) for variant in ("base", "full")]
        claims += [consistently_lower(data, curves), falls_further(data, curves)]
    return Outcome(tuple(claims), tuple(_chart(data, curves) for data in size.corpora), (_NOTE,))


def after_switch(run: TrainingRun) -> NDArray[np.float64]:
    """Updates since the switch and validation losses from there on, shape (2, validations).

    The switch is at a fixed update, or, with nt-asgd, where validation stops improving.
    """
    from memspan.training.supervised.schedule import averaging_triggered

    settings, losses = run.config, run.validation_loss.tolist()
    switch = settings["bmi"]["switch_at"]
    if switch is None:
        patience = settings["training"]["nonmonotone"]
        stops = [n for n in range(1, len(losses) + 1) if averaging_triggered(losses[:n], patience)]
        switch = int(run.validated[stops[0] - 1]) if stops else int(run.validated[-1])
    later = run.validated >= switch
    return np.stack([(run.validated[later] - switch).astype(np.float64), run.validation_loss[later]])


def falls_faster(data: str, variant: str, curves: Curves) -> Claim:
    """Claim that a variant's loss falls faster than the baseline's after the switch."""
    ours, baseline = _loss_arrays(data, (variant, "none"), curves)
    return _student_claim(
        f"On {data}, the validation perplexity of {VARIANTS[variant]} decreases faster than the baseline's after the "
        "switch. (Measured: how many nats more the loss has fallen since the switch, as the mean over validations and",
        _mean_fall(ours) - _mean_fall(baseline),
    )


def consistently_lower(data: str, curves: Curves) -> Claim:
    """Claim that BMI-full is below BMI-base at nearly every validation, beyond the scatter of seeds."""
    full, base = _loss_arrays(data, ("full", "base"), curves)
    difference = base[:, 1:] - full[:, 1:]
    share = float(np.mean(difference.mean(axis=0) > 0)) if difference.size else 0.0
    means = difference.mean(axis=1) if difference.size else np.zeros(len(difference))
    mean, half_width = float(means.mean()), reach_of_mean(means)
    return claim(
        f"On {data}, the validation perplexity of BMI-full is consistently lower than that of BMI-base after the "
        f"switch. (Measured: the share of validations at which the mean over {len(difference)} seeds is lower. It "
        f"holds from {CONSISTENT:g} on if the mean difference, here {mean:.4f} nats, is above {half_width:.4f}, "
        "outside its 95 % interval by Student's t.)"
    ).holds_if(share, share >= CONSISTENT and mean > half_width)


def falls_further(data: str, curves: Curves) -> Claim:
    """Claim that BMI-full reaches a lower loss than the two other variants."""
    full, base, none = (
        np.array([curve[1].min() for curve in _variant_curves(data, variant, curves)])
        for variant in ("full", "base", "none")
    )
    return _student_claim(
        f"On {data}, the validation perplexity of BMI-full decreases further than those of BMI-base and the baseline. "
        "(Measured: how many nats its lowest loss is below the lowest loss of the two others, as the mean over",
        np.minimum(base, none) - full,
    )


def _student_claim(text: str, differences: NDArray[np.float64]) -> Claim:
    """Claim that the mean of some differences, one per seed, is positive beyond their scatter."""
    mean, half_width = float(differences.mean()), reach_of_mean(differences)
    return claim(
        f"{text} {len(differences)} seeds. It holds above {half_width:.4f}, outside the 95 % interval by Student's t.)"
    ).holds_if(mean, mean > half_width)


def _variant_curves(data: str, variant: str, curves: Curves) -> list[NDArray[np.float64]]:
    """The curves of one variant, seed by seed."""
    return [curves[key] for key in sorted(curves) if (key.data, key.variant) == (data, variant)]


def _loss_arrays(data: str, variants: tuple[str, ...], curves: Curves) -> list[NDArray[np.float64]]:
    """Losses (seeds, validations) of each variant, with the same seeds, cut to the shortest curve."""
    groups = [_variant_curves(data, variant, curves) for variant in variants]
    validations = min(curve.shape[1] for group in groups for curve in group)
    return [np.array([curve[1, :validations] for curve in group]) for group in groups]


def _mean_fall(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean decrease from the first loss over all later validations, (seeds,); 0 if there are none."""
    return (losses[:, :1] - losses[:, 1:]).mean(axis=1) if losses.shape[1] > 1 else np.zeros(len(losses))


def _chart(data: str, curves: Curves) -> Chart:
    lines = []
    for variant, label in VARIANTS.items():
        group = _variant_curves(data, variant, curves)
        validations = min(curve.shape[1] for curve in group)
        updates, mean = np.mean([curve[:, :validations] for curve in group], axis=0)
        losses = [curve[1, :validations] for curve in group]
        band = np.exp(np.min(losses, axis=0)), np.exp(np.max(losses, axis=0))
        lines.append(line(label, updates, np.exp(mean), band=band))
    return chart(
        f"learning-curves-{data}",
        f"Validation perplexity after the switch, {data}",
        "updates since the switch",
        "validation perplexity",
        lines,
        "Validation perplexity from the switch on, where BMI-full starts to train on nearby segments as "
        "continuations. Lines are geometric means over seeds, bands their range.",
    )


_NOTE = (
    "The paper switches from SGD to averaged SGD, and its full objective starts there. At laptop scale all networks "
    "are trained with Adam and a decreasing learning rate, and the full objective starts at a fixed update, where all "
    "curves start. With such a schedule the loss decreases to the end, so how far each curve gets is measured by its "
    "minimum."
)
