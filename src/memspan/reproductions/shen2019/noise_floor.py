"""Validation and test sets: is their power law missing, or hidden below the noise floor of the estimator?

`splits` measures the sets of Shen 2019, section 4.2.2, appendix D.2 and Fig. 6. `run` is erratum 3: the "non-uniformity" of
validation sets is, at long lags, the noise floor of the estimator, measured on independent symbols, which share nothing, and
on WikiText-2: raw and shuffled, validation and training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError, InputError
from memspan.information import ESTIMATORS, Digamma, Grassberger, PairCounts, count_pairs, log_lags, mutual_information
from memspan.progress import SILENT, Progress
from memspan.reproductions.charts import dashed, information_chart, points
from memspan.reproductions.claims import MANY, claim
from memspan.reproductions.corpora import CorpusSplits, equal_pieces, load_corpus, missing
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, Curve, line
from memspan.sequences import Memory, Sequence
from memspan.sequences.sources import Independent
from memspan.statistics import standard_error

# --- The splits of a data set

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


def splits(*, pieces: int, every_set: bool, seed: int, progress: Progress) -> Outcome:
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


# --- Independent symbols

# Different characters in the validation set of WikiText-2.
ALPHABET = 122


def run(*, length: int, text: bool, seed: int, progress: Progress) -> Outcome:
    """Measure `length` independent symbols with every estimator, then WikiText-2 if `text` is true."""
    curves = _independent_curves(length, seed, progress)
    claims, figure = _floor_claims(curves), _floor_chart(curves)
    if not text:
        return Outcome(tuple(claims), (figure,), ("WikiText-2 is measured at laptop and paper scale only.",))
    corpus = load_corpus("wikitext-2", progress)
    if corpus is None:
        return Outcome(tuple(claims), (figure,), (missing("wikitext-2"),))
    text_claims, text_chart = _wikitext(corpus, seed, progress)
    return Outcome((*claims, *text_claims), (figure, text_chart))


def _independent_curves(length: int, seed: int, progress: Progress) -> dict[str, Curve]:
    """Independent symbols whose frequencies fall as 1 / rank^2, by every estimator."""
    frequency = np.arange(1.0, ALPHABET + 1) ** -2
    source = Independent(frequency / frequency.sum())
    sample = source.sample(1, length, seed=np.random.default_rng([seed, 3]))
    counts = count_pairs(sample, log_lags(1, 1_000, 4), null="independent", seed=seed, progress=progress)
    return {name: mutual_information(counts, estimator=e, seed=seed) for name, e in ESTIMATORS.items()}


def _floor_claims(curves: dict[str, Curve]) -> list[Claim]:
    size = curves["digamma"].length
    claims = []
    for name, curve in curves.items():
        mean = float(curve.information.mean())
        noise = float(standard_error(curve.information))
        claims.append(
            claim(
                f"{size:,} independent symbols over an alphabet of {ALPHABET} share nothing, but the estimator {name} "
                "reports some information at every lag.",
                measure="the mean over lags, nats; it holds if above five times its noise",
            ).above(mean, MANY * noise, paper=0.0 if name == "digamma" else None)
        )
    nothing = claim("With the floor subtracted, every estimator finds nothing at any lag.").within_errors(
        np.array([curve.corrected for curve in curves.values()]),
        0.0,
        np.array([curve.error for curve in curves.values()]),
    )
    return [*claims, nothing]


def _floor_chart(curves: dict[str, Curve]) -> Chart:
    ours = curves["grassberger"]
    lines = [line(f"{name}, raw", curve.lags, curve.information) for name, curve in curves.items()]
    band = (ours.corrected - 2 * ours.error, ours.corrected + 2 * ours.error)
    return information_chart(
        "independent",
        "Information where there is none: independent symbols",
        "symbols",
        [
            *lines,
            line("grassberger, floor subtracted, two standard errors", ours.lags, ours.corrected, band=band),
            dashed("the truth", ours.lags, np.zeros(len(ours.lags))),
        ],
        f"{ours.length:,} symbols over an alphabet of {ALPHABET}, drawn independently, so the true information is zero at "
        "every lag. Every estimator reports some, because most pairs of rare symbols occur once or never. Subtracting the "
        "estimate for shuffled symbols brings it to zero.",
        log="x",
    )


# --- WikiText-2

LAGS = np.union1d(log_lags(1, 1_000), [50, 100, 200, 500])
LAG = 100
# Information of the validation set at lag 100, nats.
RAW = {"plugin": 0.0039, "miller-madow": 0.00137, "digamma": 0.00126, "grassberger": 0.00083}
# The same for the shuffled validation set.
SHUFFLED = {"plugin": 0.0035, "miller-madow": 0.00101, "digamma": 0.00090, "grassberger": 0.00045}
# Corrected information of the validation set by lag, nats; the standard error is 0.00014.
CORRECTED = {50: 0.0007, 100: 0.0003, 200: 0.0003, 500: 0.0001}
SHUFFLES = 8
# Pieces of the training set as long as the validation set: all of them.
PIECES = 9


def _wikitext(corpus: CorpusSplits, seed: int, progress: Progress) -> tuple[list[Claim], Chart]:
    """The claims about the characters of WikiText-2, and the chart."""
    valid = measure_split(corpus.valid, LAGS, seed)
    train = measure_split(corpus.train, LAGS, seed)
    parts = equal_pieces(corpus.train, corpus.valid.length, PIECES)
    pieces = [
        measure_split(part, LAGS, seed) for part in tracked(parts, progress, "measuring pieces of the training set")
    ]
    claims = [
        *_estimator_claims(corpus.valid, seed),
        *_lag_claims(valid),
        *_level_claims(valid, train, pieces),
        *_piece_claims(valid, pieces),
    ]
    return claims, _wikitext_chart(valid, pieces)


def _estimator_claims(valid: Sequence, seed: int) -> list[Claim]:
    """Raw, shuffled and corrected information at lag 100, by every estimator."""
    generator = np.random.default_rng([seed, 33])
    counts = count_pairs(valid, [LAG], null="independent", seed=seed)
    shuffles = [count_pairs(shuffled(valid, generator), [LAG], null="independent") for _ in range(SHUFFLES)]
    claims: list[Claim] = []
    for name in RAW:
        claims += [
            claim(
                f"WikiText-2 validation, lag {LAG}, estimator {name}: the raw information is {RAW[name]:g} nats."
            ).near(_information(counts, name), 5e-5 if name == "plugin" else 1e-5, corrected=RAW[name]),
            claim(
                f"The same text shuffled, estimator {name}: {SHUFFLED[name]:g} nats, although nothing is shared."
            ).near(np.mean([_information(shuffle, name) for shuffle in shuffles]), 1e-4, corrected=SHUFFLED[name]),
            claim(f"With the floor subtracted, estimator {name} gives (3 ± 2)e-4 nats.").near(
                mutual_information(counts, estimator=ESTIMATORS[name], seed=seed).corrected[0], 2e-4, corrected=3e-4
            ),
        ]
    return claims


def shuffled(sequence: Sequence, seed: np.random.Generator) -> Sequence:
    """The same symbols in random order: only their frequencies remain."""
    symbols = seed.permutation(sequence.store.read(0, sequence.length))
    return Sequence(Memory(symbols), sequence.offsets, sequence.alphabet, sequence.symbols)


def _information(counts: PairCounts, name: str) -> float:
    return float(mutual_information(counts, estimator=ESTIMATORS[name]).information[0])


def _lag_claims(valid: Split) -> list[Claim]:
    curve = valid.ours
    return [
        claim(
            f"WikiText-2 validation, floor subtracted: {value:g} nats at lag {lag}, within two standard errors."
        ).near(curve.corrected[curve.lags == lag][0], 2 * curve.error[curve.lags == lag][0], corrected=value)
        for lag, value in CORRECTED.items()
    ]


def _level_claims(valid: Split, train: Split, pieces: list[Split]) -> list[Claim]:
    levels = [_level(piece) for piece in pieces]
    return [
        claim(f"By Eq. 53 the validation set levels off at 0.0010 nats (lags {LEVEL} to 1,000).").near(
            _level(valid), 1e-4, corrected=0.0010
        ),
        claim(
            f"Training pieces of that length level off at 0.0010 to 0.0014 nats as well. (Measured: the median of "
            f"{len(pieces)}, which run from {min(levels):.4f} to {max(levels):.4f}.)"
        ).near(np.median(levels), 0.0002, corrected=0.0012),
        claim(
            "The floor of the whole training set by Eq. 53 is 0.0003 nats, three times below that of the validation set."
        ).near(train.paper.floor.mean(), 5e-5, corrected=0.0003),
    ]


def _level(split: Split) -> float:
    return float(split.paper.information[split.paper.lags >= LEVEL].mean())


def _piece_claims(valid: Split, pieces: list[Split]) -> list[Claim]:
    first = [float(piece.ours.corrected[0]) for piece in pieces]
    mean, error = mean_corrected(pieces)
    far = valid.ours.lags >= FAR
    return [
        claim("At lag one the validation set does have more: 0.85 nats.").near(
            valid.ours.corrected[0], 0.005, corrected=0.85
        ),
        claim(
            f"All {len(pieces)} training pieces of that length have 0.76 to 0.78 nats at lag one. (Measured: the one "
            "farthest from 0.77.)"
        ).near(max(first, key=lambda value: abs(value - 0.77)), 0.015, corrected=0.77),
        claim(
            f"With the floor subtracted, validation set and training pieces agree at lags from {FAR} on."
        ).within_errors(valid.ours.corrected[far], mean[far], np.hypot(valid.ours.error, error)[far]),
    ]


def _wikitext_chart(valid: Split, pieces: list[Split]) -> Chart:
    paper, ours = valid.paper, valid.ours
    curves = np.array([piece.ours.corrected for piece in pieces])
    mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    return information_chart(
        "wikitext-2",
        "WikiText-2: what remains of the validation curve when its floor is subtracted",
        "characters",
        [
            line("validation, raw (Eq. 53)", paper.lags, paper.information),
            points("validation, floor subtracted", ours.lags, ours.corrected, ours.error),
            dashed("validation shuffled (Eq. 53)", paper.lags, paper.floor),
            line(
                f"{len(pieces)} training pieces of that length, floor subtracted",
                ours.lags,
                mean,
                band=(mean - 2 * spread, mean + 2 * spread),
            ),
        ],
        "The raw validation curve levels off at the value of its shuffled characters. With this floor subtracted it "
        "continues to fall, together with equally long pieces of the training set (band: twice the standard deviation of "
        "the pieces). At short lags the validation set does share more. Values at or below zero are not shown.",
    )
