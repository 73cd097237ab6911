"""The part of erratum 3 that looks at WikiText-2: raw and shuffled, validation and training, short and long lags."""

from __future__ import annotations

import numpy as np

from memspan.information import ESTIMATORS, PairCounts, count_pairs, log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import claim_within_errors
from memspan.reproductions.corpora import Corpus, Split, equal_pieces, mean_corrected, measure_split, shuffled
from memspan.results import Chart, Claim, claim_near, line
from memspan.sequences import Sequence

LAGS = np.union1d(log_lags(1, 1_000), [50, 100, 200, 500])
LAG = 100
FAR = 50
LEVEL = 500
RAW = {"plugin": 0.0039, "miller-madow": 0.00137, "digamma": 0.00126, "grassberger": 0.00083}
"""Information of the validation set at lag 100, nats."""
SHUFFLED = {"plugin": 0.0035, "miller-madow": 0.00101, "digamma": 0.00090, "grassberger": 0.00045}
"""The same for the shuffled validation set."""
CORRECTED = {50: 0.0007, 100: 0.0003, 200: 0.0003, 500: 0.0001}
"""Corrected information of the validation set by lag, nats; the standard error is 0.00014."""
SHUFFLES = 8
PIECES = 9
"""Pieces of the training set as long as the validation set: all there are."""


def text_claims(corpus: Corpus, seed: int, progress: Progress) -> tuple[list[Claim], Chart]:
    """The claims about WikiText-2's characters, and the picture."""
    valid = measure_split(corpus.valid, LAGS, seed)
    train = measure_split(corpus.train, LAGS, seed)
    pieces = []
    parts = equal_pieces(corpus.train, corpus.valid.length, PIECES)
    with progress.stage("measuring pieces of the training set", len(parts)) as stage:
        for part in parts:
            pieces.append(measure_split(part, LAGS, seed))
            stage.advance()
    claims = [
        *_estimator_claims(corpus.valid, seed),
        *_lag_claims(valid),
        *_level_claims(valid, train, pieces),
        *_piece_claims(valid, pieces),
    ]
    return claims, _chart(valid, pieces)


def _estimator_claims(valid: Sequence, seed: int) -> list[Claim]:
    """Raw, shuffled and corrected information at lag 100, by every estimator."""
    generator = np.random.default_rng([seed, 33])
    counts = count_pairs(valid, [LAG], null="independent", seed=seed)
    apart = [count_pairs(shuffled(valid, generator), [LAG], null="independent") for _ in range(SHUFFLES)]
    claims: list[Claim] = []
    for name in RAW:
        claims += [
            claim_near(
                f"WikiText-2 validation, lag {LAG}, estimator {name}: the raw information is {RAW[name]:g} nats.",
                _information(counts, name),
                5e-5 if name == "plugin" else 1e-5,
                corrected=RAW[name],
            ),
            claim_near(
                f"The same text shuffled, estimator {name}: {SHUFFLED[name]:g} nats, although nothing is shared.",
                float(np.mean([_information(shuffle, name) for shuffle in apart])),
                1e-4,
                corrected=SHUFFLED[name],
            ),
            claim_near(
                f"With the floor taken off, estimator {name} gives (3 ± 2)e-4 nats.",
                float(mutual_information(counts, estimator=ESTIMATORS[name], seed=seed).corrected[0]),
                2e-4,
                corrected=3e-4,
            ),
        ]
    return claims


def _information(counts: PairCounts, name: str) -> float:
    return float(mutual_information(counts, estimator=ESTIMATORS[name]).information[0])


def _lag_claims(valid: Split) -> list[Claim]:
    curve = valid.ours
    return [
        claim_near(
            f"WikiText-2 validation, floor taken off: {value:g} nats at lag {lag}, within two standard errors.",
            float(curve.corrected[curve.lags == lag][0]),
            float(2 * curve.error[curve.lags == lag][0]),
            corrected=value,
        )
        for lag, value in CORRECTED.items()
    ]


def _level_claims(valid: Split, train: Split, pieces: list[Split]) -> list[Claim]:
    levels = [_level(piece) for piece in pieces]
    return [
        claim_near(
            f"By Eq. 53 the validation set levels off at 0.0010 nats (lags {LEVEL} to 1,000).",
            _level(valid),
            1e-4,
            corrected=0.0010,
        ),
        claim_near(
            f"Training pieces of that length level off at 0.0010 to 0.0014 nats as well. (Measured: the median of "
            f"{len(pieces)}, which run from {min(levels):.4f} to {max(levels):.4f}.)",
            float(np.median(levels)),
            0.0002,
            corrected=0.0012,
        ),
        claim_near(
            "The floor of the whole training set by Eq. 53 is 0.0003 nats, three times below that of the validation set.",
            float(train.paper.floor.mean()),
            5e-5,
            corrected=0.0003,
        ),
    ]


def _level(split: Split) -> float:
    return float(split.paper.information[split.paper.lags >= LEVEL].mean())


def _piece_claims(valid: Split, pieces: list[Split]) -> list[Claim]:
    first = [float(piece.ours.corrected[0]) for piece in pieces]
    mean, error = mean_corrected(pieces)
    far = valid.ours.lags >= FAR
    return [
        claim_near(
            "At lag one the validation set really has more: 0.85 nats.",
            float(valid.ours.corrected[0]),
            0.005,
            corrected=0.85,
        ),
        claim_near(
            f"All {len(pieces)} training pieces of that length have 0.76 to 0.78 nats at lag one. (Measured: the one "
            "farthest from 0.77.)",
            max(first, key=lambda value: abs(value - 0.77)),
            0.015,
            corrected=0.77,
        ),
        claim_within_errors(
            f"With the floor taken off, validation set and training pieces agree at lags from {FAR} on.",
            valid.ours.corrected[far],
            mean[far],
            np.hypot(valid.ours.error, error)[far],
        ),
    ]


def _chart(valid: Split, pieces: list[Split]) -> Chart:
    paper, ours = valid.paper, valid.ours
    curves = np.array([piece.ours.corrected for piece in pieces])
    mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    band = (ours.corrected - 2 * ours.error, ours.corrected + 2 * ours.error)
    return Chart(
        name="wikitext-2",
        title="WikiText-2: what is left of the validation curve when its floor is taken off",
        x_label="distance (characters)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=(
            line("validation, raw (Eq. 53)", paper.lags, paper.information),
            line("validation, floor taken off", ours.lags, ours.corrected, band=band, style="markers"),
            line("validation shuffled (Eq. 53)", paper.lags, paper.floor, style="dashed"),
            line(
                f"{len(pieces)} training pieces of that length, floor taken off",
                ours.lags,
                mean,
                band=(mean - 2 * spread, mean + 2 * spread),
            ),
        ),
        caption="The raw validation curve levels off at the value that its shuffled characters give. With this floor taken "
        "off it goes on falling, together with equally long pieces of the training set (band: twice the spread of the "
        "pieces). At short distances the validation set really shares more. Values at or below zero are not shown.",
    )
