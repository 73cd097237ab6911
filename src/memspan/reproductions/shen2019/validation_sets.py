"""Validation and test sets: is their power law missing, or hidden below the noise floor of the estimator?

Shen 2019, section 4.2.2, appendix D.2 and Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError, InputError
from memspan.information import Digamma, Grassberger, count_pairs, log_lags, mutual_information
from memspan.progress import SILENT, Progress
from memspan.reproductions.charts import dashed, information_chart, points
from memspan.reproductions.claims import claim
from memspan.reproductions.corpora import CorpusSplits, equal_pieces, load_corpus, missing
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, Curve, line
from memspan.sequences import Sequence

SETS = ("ptb", "wikitext-2", "text8", "wikitext-103")
LARGEST_LAG = 1_000
# From this lag on the paper finds a power law in training sets (50 to 1,000 characters).
FAR = 50
# From this lag on the raw curve of a small set is level.
LEVEL = 500
WORDS = {"train": "training set", "valid": "validation set", "test": "test set"}
FLOOR_NOTE = (
    "Noise floors are those of shuffled characters. Raw curves are the paper's estimator (Eq. 53); corrected ones are "
    "Grassberger's estimator with its floor subtracted."
)


def run(*, pieces: int, every_set: bool, seed: int, progress: Progress) -> Outcome:
    """Measure the splits of every available data set, or of the first, and at most `pieces` pieces of its training set."""
    claims: list[Claim] = []
    figures: list[Chart] = []
    notes = [FLOOR_NOTE]
    for name in SETS:
        if figures and not every_set:
            break
        corpus = load_corpus(name, progress)
        if corpus is not None:
            measured = _measure(corpus, pieces, seed, progress)
            claims += _claims(measured)
            figures += [_paper_chart(measured), _our_chart(measured)]
            notes.append(_laws_note(measured))
        elif every_set:
            notes.append(missing(name))
    if not figures:
        raise InputError(
            f"none of {', '.join(SETS)} is on this machine; run `memspan data get {SETS[0]}`, or set MEMSPAN_DATA to a "
            "folder that contains one of them"
        )
    return Outcome(tuple(claims), tuple(figures), tuple(notes))


@final
@dataclass(frozen=True, eq=False)
class Split:
    """One text measured twice from the same counts: as in the paper, and with the noise floor subtracted."""

    paper: Curve
    """Eq. 53; the paper shows its `information`; its `floor` is that of the shuffled text."""
    ours: Curve
    """Grassberger's estimator; we show its `corrected`."""


def measure_split(sequence: Sequence, lags: NDArray[np.int64], seed: int, progress: Progress = SILENT) -> Split:
    """Measure with the floor of independent symbols, which in text removes no real dependence at long lags."""
    counts = count_pairs(sequence, lags, null="independent", seed=seed, progress=progress)
    paper, ours = (mutual_information(counts, estimator=e, seed=seed) for e in (Digamma(), Grassberger()))
    return Split(paper, ours)


def mean_corrected(splits: list[Split]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of several corrected curves, and its standard error from those of the curves, nats."""
    corrected = np.array([split.ours.corrected for split in splits])
    error = np.array([split.ours.error for split in splits])
    return corrected.mean(axis=0), np.sqrt(np.mean(error**2, axis=0) / len(splits))


@final
@dataclass(frozen=True, eq=False)
class MeasuredCorpus:
    """The splits of one corpus, and pieces of its training set as long as its validation set."""

    name: str
    splits: dict[str, Split]
    pieces: list[Split]


def _measure(corpus: CorpusSplits, most: int, seed: int, progress: Progress) -> MeasuredCorpus:
    shortest = min(corpus.train.length, corpus.valid.length, corpus.test.length)
    if shortest <= 2 * LARGEST_LAG:
        raise InputError(f"a split of {corpus.name} has {shortest:,} characters; expected over {2 * LARGEST_LAG:,}")
    lags = log_lags(1, LARGEST_LAG)
    whole = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
    parts = [*whole.values(), *equal_pieces(corpus.train, corpus.valid.length, most)]
    measured = [measure_split(part, lags, seed) for part in tracked(parts, progress, f"measuring {corpus.name}")]
    splits = dict(zip(whole, measured, strict=False))
    return MeasuredCorpus(corpus.name, splits, measured[len(whole) :])


def _claims(measured: MeasuredCorpus) -> list[Claim]:
    claims = [_training_claim(measured)]
    for split in ("valid", "test"):
        claims += [_level_claim(measured, split), _floor_claim(measured, split)]
    if measured.pieces:
        claims.append(_agreement_claim(measured))
    return claims


def raw_exponent(curve: Curve) -> float:
    """The exponent of a power law through the raw values at lags from 50 on, as read off a plot."""
    use = (curve.lags >= FAR) & (curve.information > 0)
    return -float(np.polyfit(np.log(curve.lags[use]), np.log(curve.information[use]), 1)[0])


def _training_claim(measured: MeasuredCorpus) -> Claim:
    exponent = raw_exponent(measured.splits["train"].paper)
    if measured.name == "wikitext-2":
        return claim("wikitext-2, training set: the raw curve falls about as tau^-0.3 between lags 50 and 1,000.").near(
            exponent, 0.05, paper=0.3
        )
    return claim(
        f"{measured.name}, training set: the raw curve falls as a power of the lag between 50 and 1,000.",
        measure="the exponent; it holds if above 0.2",
    ).above(exponent, 0.2)


def _level_claim(measured: MeasuredCorpus, split: str) -> Claim:
    here, training = (raw_exponent(measured.splits[name].paper) for name in (split, "train"))
    return claim(
        f"{measured.name}, {WORDS[split]}: the raw curve is flatter there than that of the training set, as the paper "
        "found.",
        measure=f"its exponent; the training set has {training:.2f}",
    ).below(here, training)


def _floor_claim(measured: MeasuredCorpus, split: str) -> Claim:
    curve = measured.splits[split].paper
    far = curve.lags >= LEVEL
    share = float(curve.floor[far].mean() / curve.information[far].mean())
    return claim(
        f"{measured.name}, {WORDS[split]}: most of the level that the raw curve reaches (lags {LEVEL} to {LARGEST_LAG:,}, "
        f"{curve.information[far].mean():.2e} nats) remains when the characters are shuffled, so it is the noise floor of "
        "the estimator.",
        measure="the fraction of the floor; it holds if above one half",
    ).above(share, 0.5)


def _agreement_claim(measured: MeasuredCorpus) -> Claim:
    valid, mean, error = measured.splits["valid"].ours, *mean_corrected(measured.pieces)
    far = valid.lags >= FAR
    return claim(
        f"{measured.name}: with the floor subtracted, the validation set and {len(measured.pieces)} pieces of the training "
        f"set of the same length agree at lags from {FAR} on: no law is missing."
    ).within_errors(valid.corrected[far], mean[far], np.hypot(valid.error, error)[far])


def _laws_note(measured: MeasuredCorpus) -> str:
    """The power law of each split between lags 50 and 1,000 with the floor subtracted."""
    words = []
    for name, split in measured.splits.items():
        try:
            law = fit_decay(split.ours, [LAWS["power"]], first=FAR)["power"]
        except EvidenceError:
            words.append(f"{WORDS[name]} too few lags above the floor")
            continue
        low, high = law.intervals["exponent"]
        words.append(f"{WORDS[name]} {law.parameters['exponent']:.2f} [{low:.2f}, {high:.2f}]")
    return f"{measured.name}, exponent of the corrected curve at lags {FAR} to {LARGEST_LAG:,}: {', '.join(words)}."


def _paper_chart(measured: MeasuredCorpus) -> Chart:
    curves = {name: split.paper for name, split in measured.splits.items()}
    lines = [line(f"{WORDS[name]}, {c.length:,} characters", c.lags, c.information) for name, c in curves.items()]
    floors = [dashed(f"{WORDS[name]} shuffled", c.lags, c.floor) for name, c in curves.items()]
    return information_chart(
        f"{measured.name}-raw",
        f"{measured.name} as the paper shows it: Eq. 53, nothing subtracted",
        "characters",
        [*lines, *floors],
        "Validation and test sets seem to level off where the training set continues to fall. The dashed lines are the "
        "same estimator on shuffled characters, which share nothing: the smaller a text, the higher its floor, and the "
        "curves level off just above it.",
    )


def _our_chart(measured: MeasuredCorpus) -> Chart:
    lines = [
        points(WORDS[name], split.ours.lags, split.ours.corrected, split.ours.error)
        for name, split in measured.splits.items()
    ]
    if measured.pieces:
        mean, error = mean_corrected(measured.pieces)
        label = f"mean of {len(measured.pieces)} training pieces as long as the validation set"
        lines.append(line(label, log_lags(1, LARGEST_LAG), mean, band=(mean - 2 * error, mean + 2 * error)))
    return information_chart(
        f"{measured.name}-corrected",
        f"{measured.name} with the floor subtracted",
        "characters",
        lines,
        "The same texts with the noise floor subtracted. Beyond 50 characters all splits fall together within their errors "
        "(bars and band: two standard errors). Values at or below zero are not shown.",
    )
