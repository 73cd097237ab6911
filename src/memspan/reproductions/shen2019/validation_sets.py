"""Shen 2019, Fig. 6: is the power law missing in validation and test sets, or hidden below the estimator's floor?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError, InputError
from memspan.information import log_lags
from memspan.progress import Progress
from memspan.reproductions.claims import claim_within_errors
from memspan.reproductions.corpora import (
    Corpus,
    Split,
    equal_pieces,
    load_corpus,
    mean_corrected,
    measure_split,
    missing,
)
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Curve, claim_near, line
from memspan.sequences import Sequence

SETS = ("ptb", "wikitext-2", "text8", "wikitext-103")
LARGEST_LAG = 1_000
FAR = 50
"""From here on the paper sees a power law in training sets (50 to 1,000 characters)."""
LEVEL = 500
"""From here on a raw curve of a small set is level."""
_PIECES = {"smoke": 3, "laptop": 12, "paper": 12}
"""Pieces of the training set, each as long as the split it is set beside."""


@final
@dataclass(frozen=True, eq=False)
class _Measured:
    """The splits of one corpus, and pieces of its training set as long as its validation set."""

    name: str
    splits: dict[str, Split]
    pieces: list[Split]


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    claims: list[Claim] = []
    figures: list[Chart] = []
    notes = [_NULL_NOTE]
    found = 0
    for name in SETS:
        corpus = load_corpus(name, progress) if not (scale == "smoke" and found) else None
        if corpus is not None:
            found += 1
            measured = _measure(corpus, _PIECES[scale], seed, progress)
            claims += _claims(measured, notes)
            figures += [_paper_chart(measured), _our_chart(measured)]
        elif scale != "smoke":
            notes.append(missing(name))
    if not found:
        raise InputError(
            f"none of {', '.join(SETS)} is on this machine; run `memspan data get {SETS[0]}`, or set MEMSPAN_DATA to a "
            "folder that has one of them"
        )
    return Outcome(tuple(claims), tuple(figures), tuple(notes))


_NULL_NOTE = (
    "Floors are those of shuffled characters. Raw curves are the paper's estimator (Eq. 53); corrected ones are "
    "Grassberger's estimator with its floor taken off."
)


def _measure(corpus: Corpus, most: int, seed: int, progress: Progress) -> _Measured:
    shortest = min(corpus.train.length, corpus.valid.length, corpus.test.length)
    if shortest <= 2 * LARGEST_LAG:
        raise InputError(
            f"a split of {corpus.name} has {shortest:,} characters; expected over {2 * LARGEST_LAG:,}"
        )
    lags = log_lags(1, LARGEST_LAG)
    whole = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
    pieces = equal_pieces(corpus.train, corpus.valid.length, most)
    with progress.stage(f"measuring {corpus.name}", len(whole) + len(pieces)) as stage:

        def measured(sequence: Sequence) -> Split:
            split = measure_split(sequence, lags, seed)
            stage.advance()
            return split

        return _Measured(
            corpus.name, {k: measured(s) for k, s in whole.items()}, [measured(p) for p in pieces]
        )


def _claims(measured: _Measured, notes: list[str]) -> list[Claim]:
    claims = [_training_claim(measured)]
    for split in ("valid", "test"):
        claims += [_level_claim(measured, split), _floor_claim(measured, split)]
    if measured.pieces:
        claims.append(_agreement_claim(measured))
    notes.append(_laws_note(measured))
    return claims


def raw_exponent(curve: Curve) -> float:
    """The exponent of a power law through the raw values at lags from 50 on, as one reads it off a plot."""
    use = (curve.lags >= FAR) & (curve.information > 0)
    return -float(np.polyfit(np.log(curve.lags[use]), np.log(curve.information[use]), 1)[0])


def _training_claim(measured: _Measured) -> Claim:
    exponent = raw_exponent(measured.splits["train"].paper)
    if measured.name == "wikitext-2":
        return claim_near(
            "wikitext-2, training set: the raw curve falls about as tau^-0.3 between lags 50 and 1,000.",
            exponent,
            0.05,
            paper=0.3,
        )
    return Claim(
        f"{measured.name}, training set: the raw curve falls as a power of the lag between 50 and 1,000. (Measured: the "
        "exponent; it holds if above 0.2.)",
        None,
        None,
        exponent,
        None,
        exponent > 0.2,
    )


def _level_claim(measured: _Measured, split: str) -> Claim:
    here, training = (raw_exponent(measured.splits[name].paper) for name in (split, "train"))
    return Claim(
        f"{measured.name}, {_WORDS[split]}: the raw curve is flatter there than that of the training set, as the paper "
        f"found. (Measured: its exponent; the training set has {training:.2f}.)",
        None,
        None,
        here,
        None,
        here < training,
    )


def _floor_claim(measured: _Measured, split: str) -> Claim:
    curve = measured.splits[split].paper
    far = curve.lags >= LEVEL
    share = float(curve.floor[far].mean() / curve.information[far].mean())
    return Claim(
        f"{measured.name}, {_WORDS[split]}: most of what the raw curve levels off at (lags {LEVEL} to {LARGEST_LAG:,}, "
        f"{curve.information[far].mean():.2e} nats) is there when the characters are shuffled, so it is the estimator's "
        "own floor. (Measured: the share of the floor; it holds if above one half.)",
        None,
        None,
        share,
        None,
        share > 0.5,
    )


def _agreement_claim(measured: _Measured) -> Claim:
    valid, mean, error = measured.splits["valid"].ours, *mean_corrected(measured.pieces)
    far = valid.lags >= FAR
    return claim_within_errors(
        f"{measured.name}: with the floor taken off, the validation set and {len(measured.pieces)} pieces of the training "
        f"set of the same length agree at lags from {FAR} on: no law is missing.",
        valid.corrected[far],
        mean[far],
        np.hypot(valid.error, error)[far],
    )


def _laws_note(measured: _Measured) -> str:
    """Which power law each split has between lags 50 and 1,000 once the floor is taken off."""
    words = []
    for name, split in measured.splits.items():
        try:
            law = fit_decay(split.ours, [LAWS["power"]], first=FAR)["power"]
        except EvidenceError:
            words.append(f"{_WORDS[name]} too few lags above the floor")
            continue
        low, high = law.intervals["exponent"]
        words.append(f"{_WORDS[name]} {law.parameters['exponent']:.2f} [{low:.2f}, {high:.2f}]")
    return f"{measured.name}, exponent of the corrected curve at lags {FAR} to {LARGEST_LAG:,}: {', '.join(words)}."


_WORDS = {"train": "training set", "valid": "validation set", "test": "test set"}


def _paper_chart(measured: _Measured) -> Chart:
    curves = {name: split.paper for name, split in measured.splits.items()}
    lines = [
        line(f"{_WORDS[name]}, {c.length:,} characters", c.lags, c.information) for name, c in curves.items()
    ]
    floors = [line(f"{_WORDS[name]} shuffled", c.lags, c.floor, style="dashed") for name, c in curves.items()]
    return Chart(
        name=f"{measured.name}-raw",
        title=f"{measured.name} as the paper shows it: Eq. 53, nothing taken off",
        x_label="distance (characters)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=(*lines, *floors),
        caption="Validation and test sets seem to level off where the training set goes on falling. The dashed lines are "
        "the same estimator on shuffled characters, which share nothing: the smaller a text, the higher its floor, and the "
        "curves level off just above it.",
    )


def _our_chart(measured: _Measured) -> Chart:
    lines = []
    for name, split in measured.splits.items():
        c = split.ours
        band = (c.corrected - 2 * c.error, c.corrected + 2 * c.error)
        lines.append(line(_WORDS[name], c.lags, c.corrected, band=band, style="markers"))
    if measured.pieces:
        mean, error = mean_corrected(measured.pieces)
        label = f"mean of {len(measured.pieces)} training pieces as long as the validation set"
        lines.append(line(label, log_lags(1, LARGEST_LAG), mean, band=(mean - 2 * error, mean + 2 * error)))
    return Chart(
        name=f"{measured.name}-corrected",
        title=f"{measured.name} with the floor taken off",
        x_label="distance (characters)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=tuple(lines),
        caption="The same texts with the floor taken off. Beyond 50 characters all splits fall together, as far as their "
        "errors (bars and band: two standard errors) let one see. Values at or below zero are not shown.",
    )
