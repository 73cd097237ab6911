"""The gain of a BMI regularizer against the amount of text.

The paper motivates its regularizer by sparse samples of long-range dependence, so it should help most where there is little
text. Networks are trained on fractions of each text until they overfit, with the settings of the published program. The
dropout is that of the best baseline at each fraction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, LanguageModelSize, ModelKey, perplexity_value
from memspan.reproductions.cao2020.published import CONTROL, LABELS, variant_name
from memspan.reproductions.charts import chart, dashed
from memspan.reproductions.claims import claim, reach_of_mean
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, MeasuredRow, MeasuredTable, TrainingRun, line
from memspan.statistics import student_margin, welch_margin

if TYPE_CHECKING:
    from memspan.training import Config

# Training until validation no longer improves; the second phase starts when it first stops to (nt-asgd, as in the paper).
_UNTIL_OVERFITTING: dict[str, dict[str, Any]] = {
    "smoke": {},
    "laptop": {
        "bmi": {"switch_at": None},
        "training": {
            "optimizer": "nt-asgd",
            "learning_rate": 20.0,
            "schedule": "constant",
            "clip_norm": 0.25,
            "nonmonotone": 3,
            "patience": 6,
            "validation_size": 50,
        },
    },
    "paper": {"training": {"patience": 15}},
}
# Nats per word by which the last quarter of a training may still improve: half a percent of the perplexity.
CONVERGED = 0.005
# Pairs of variants of which the first should have the lower perplexity.
COMPARED = (("base", "none"), ("full", "none"), (CONTROL, "none"), ("full", CONTROL))


class AmountKey(NamedTuple):
    """One training run."""

    data: str
    fraction: float
    """Share of the training text."""
    dropout: float
    variant: str
    """A key of `LABELS`."""
    seed: int

    @property
    def folder(self) -> str:
        """Folder of the run, relative to the folder of all runs."""
        return f"{self.data}-{self.fraction:g}/dropout-{self.dropout:g}/{self.variant}-seed-{self.seed}"


Runs = dict[AmountKey, TrainingRun]


def run(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    models: str,
    fractions: tuple[float, ...],
    dropouts: tuple[float, ...],
    seeds: int,
    epochs: int,
) -> Outcome:
    """Choose the dropout of the baseline at every fraction, then train all variants with it for at most `epochs`.

    `dropouts` are values of `model.dropout`, for AWD-LSTMs factors on the published ones.
    """
    check_models("bmi-amount")
    size = LANGUAGE_MODELS[models]
    texts = [(data, fraction) for data in size.corpora for fraction in fractions]
    sweep = [AmountKey(*text, dropout, "none", seed) for text in texts for dropout in dropouts]

    def train(keys: Sequence[AmountKey]) -> Runs:
        from memspan.reproductions.trainings import train_all

        configs = {key.folder: amount_config(models, key, epochs, runs) for key in keys}
        trained = train_all(configs, runs, progress, workers=size.workers)
        return {key: trained[key.folder] for key in keys}

    swept = train(sweep)
    chosen = {text: best_dropout(text, swept) for text in texts}
    numbers = range(seed, seed + seeds)
    trained = train([AmountKey(*text, chosen[text], name, n) for text in texts for n in numbers for name in LABELS])
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [lower_test_perplexity(data, fraction, *pair, trained) for fraction in fractions for pair in COMPARED]
        claims += [larger_gain_of_less_text(data, variant, fractions, trained) for variant in ("base", "full")]
        claims.append(trained_enough(data, trained))
    dropout_note = "Dropout of the best baseline: " + ", ".join(
        f"{chosen[text]:g} for {text[1]:.0%} of {text[0]}" for text in texts
    )
    return Outcome(
        tuple(claims),
        tuple(_chart(data, fractions, _words(size, data), trained) for data in size.corpora),
        (f"{dropout_note}.", _NOTE),
        tables=tuple(_table(data, fractions, trained) for data in size.corpora),
    )


def amount_config(models: str, key: AmountKey, epochs: int, runs: Path) -> Config:
    """The training of one network: as in bmi-table1, on a fraction of the text, until it overfits."""
    from memspan.training.run.config import merge

    size = LANGUAGE_MODELS[models]
    corpus = size.corpora[key.data]
    awd = size.settings["model"].get("name") == "awd-lstm"
    own = {"model": {"dropouts" if awd else "dropout": key.dropout}}
    settings = merge(merge(merge(size.settings, corpus.settings), _UNTIL_OVERFITTING[models]), own)
    corpus = dataclasses.replace(corpus, task={**corpus.task, "fraction": key.fraction}, settings={})
    size = dataclasses.replace(size, corpora={key.data: corpus}, settings=settings)
    config = size.config(ModelKey(key.data, key.variant, key.seed), runs)
    epoch = config.task.batches("train", config.training.batch)
    assert epoch is not None, "a text is finite"
    # One validation for each epoch; at smoke scale there are only a few updates.
    few = models == "smoke"
    updates, every = (config.training.updates, config.training.validate_every) if few else (epochs * epoch, epoch)
    return dataclasses.replace(
        config, training=dataclasses.replace(config.training, updates=updates, validate_every=every)
    )


def best_dropout(text: tuple[str, float], swept: Runs) -> float:
    """The dropout with the lowest validation loss on one text."""
    losses = {key.dropout: run.validation_loss.min() for key, run in swept.items() if (key.data, key.fraction) == text}
    return min(losses, key=lambda dropout: losses[dropout])


def losses_by_seed(data: str, fraction: float, variant: str, trained: Runs) -> NDArray[np.float64]:
    """Test losses in nats, seed by seed."""
    kind = (data, fraction, variant)
    return np.array([run.loss for key, run in sorted(trained.items()) if (key.data, key.fraction, key.variant) == kind])


def gains(data: str, fraction: float, variant: str, other: str, trained: Runs) -> NDArray[np.float64]:
    """By how many percent the test perplexity of a variant is lower than that of another, seed by seed."""
    ours, theirs = (losses_by_seed(data, fraction, each, trained) for each in (variant, other))
    return 100 * -np.expm1(ours - theirs)


def lower_test_perplexity(data: str, fraction: float, variant: str, other: str, trained: Runs) -> Claim:
    """Claim that one variant has a lower test perplexity than another, beyond the scatter of seeds."""
    found = gains(data, fraction, variant, other, trained)
    mean, margin = float(found.mean()), reach_of_mean(found)
    return claim(
        f"With {fraction:.0%} of {data}, {variant_name(variant)} has a lower test perplexity than {variant_name(other)}. "
        f"(Measured: the gain in percent, as the mean over {len(found)} seeds. It holds above {margin:.2f}, outside the "
        "95 % interval by Student's t.)"
    ).holds_if(mean, mean > margin)


def larger_gain_of_less_text(data: str, variant: str, fractions: Sequence[float], trained: Runs) -> Claim:
    """Claim that the gain over the baseline is larger with the smallest than with the largest amount of text."""
    least, most = (gains(data, fraction, variant, "none", trained) for fraction in (min(fractions), max(fractions)))
    difference, margin = float(least.mean() - most.mean()), welch_margin(least, most)
    return claim(
        f"On {data}, the gain of {variant_name(variant)} is larger with {min(fractions):.0%} than with "
        f"{max(fractions):.0%} of the text. (Measured: the difference in percentage points. It holds above "
        f"{margin:.2f}, outside the 95 % interval by Welch.)"
    ).holds_if(difference, difference > margin)


def trained_enough(data: str, trained: Runs) -> Claim:
    """Claim that validation no longer improved: averaged weights approach their limit ever more slowly."""
    last = [late_improvement(run.validation_loss) for key, run in trained.items() if key.data == data]
    largest = float(np.max(last))
    return claim(
        f"On {data}, all networks were trained until validation no longer improved. (Measured: by how many nats the last "
        f"quarter of the validations improved on all before, in the worst case. It holds below {CONVERGED:g}.)"
    ).below(largest, CONVERGED)


def late_improvement(losses: NDArray[np.float64]) -> float:
    """By how much the last quarter of some losses improves on the best of the others; 0 if it does not.

    >>> round(late_improvement(np.array([5.0, 4.0, 3.0, 2.9])), 3), late_improvement(np.array([5.0, 4.0, 4.1, 4.2]))
    (0.1, 0.0)
    """
    early = len(losses) - max(1, len(losses) // 4)
    return max(0.0, float(losses[:early].min() - losses.min())) if early else 0.0


def _words(size: LanguageModelSize, data: str) -> int:
    """Words of the whole training text."""
    from memspan.reproductions.trainings import training_config
    from memspan.tasks.text import TextTask, encode_corpus

    task = training_config("words", "lstm", 0, {"task": size.corpora[data].task}).task
    assert isinstance(task, TextTask)
    return len(encode_corpus(task.identity).symbols["train"])


def _chart(data: str, fractions: Sequence[float], words: int, trained: Runs) -> Chart:
    amounts = np.array([words * fraction for fraction in fractions])
    lines = []
    for variant, label in LABELS.items():
        if variant == "none":
            continue
        found = [gains(data, fraction, variant, "none", trained) for fraction in fractions]
        mean = np.array([each.mean() for each in found])
        margin = np.array([student_margin(each) for each in found])
        band = None if np.isnan(margin).any() else (mean - margin, mean + margin)
        lines.append(line(label, amounts, mean, band=band))
    lines.append(dashed("Baseline", amounts, np.zeros(len(amounts))))
    return chart(
        f"gain-{data}",
        f"Gain in test perplexity against the amount of text, {data}",
        "words of training text",
        "gain in test perplexity (%)",
        lines,
        "By how many percent the test perplexity is lower than that of the baseline with the same seed and dropout, which "
        "is the best for the baseline. Means over seeds; bands are 95 % intervals by Student's t. Above 0, the regularizer "
        "helps.",
        log="x",
    )


def _table(data: str, fractions: Sequence[float], trained: Runs) -> MeasuredTable:
    return MeasuredTable(
        title=f"Test perplexity by amount of text, {data}",
        columns=tuple(f"{fraction:.0%} of the text" for fraction in fractions),
        rows=tuple(
            MeasuredRow(
                label,
                tuple(
                    perplexity_value(losses_by_seed(data, fraction, variant, trained).tolist())
                    for fraction in fractions
                ),
            )
            for variant, label in LABELS.items()
        ),
        caption="Geometric means over seeds with 95 % intervals by Student's t. Lower is better. The vocabulary and the "
        "test text are the same for all amounts.",
    )


_NOTE = (
    "Not in the paper, which trains on whole texts. A fraction is the beginning of a text; validation and test are whole, "
    "and the vocabulary is that of the whole training text. The dropout is chosen by the validation loss of the baseline "
    "with the first seed, so the regularizers have no dropout of their own choice. The uniform control trains on the same "
    "extra segments as BMI-full, with equal weights."
)
