"""Erratum 3: the "non-uniformity" of validation sets is, at long lags, the estimator's own floor."""

from __future__ import annotations

import numpy as np

from memspan.information import ESTIMATORS, count_pairs, log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import MANY, claim_within_errors
from memspan.reproductions.corpora import load_corpus, missing
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.noise_floor_text import text_claims
from memspan.results import Chart, Claim, Curve, line
from memspan.sequences.sources import Independent

KINDS = 122
"""As many as WikiText-2's validation set has characters."""
LENGTHS = {"smoke": 200_000, "laptop": 1_100_000, "paper": 1_100_000}
"""Symbols drawn; WikiText-2's validation set has 1.1 million."""


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    curves = _independent_curves(LENGTHS[scale], seed, progress)
    claims, figures = _floor_claims(curves), [_floor_chart(curves)]
    if scale == "smoke":
        return Outcome(tuple(claims), tuple(figures), ("WikiText-2 is looked at from laptop scale on.",))
    corpus = load_corpus("wikitext-2", progress)
    if corpus is None:
        return Outcome(tuple(claims), tuple(figures), (missing("wikitext-2"),))
    more, chart = text_claims(corpus, seed, progress)
    return Outcome((*claims, *more), (*figures, chart))


def _independent_curves(length: int, seed: int, progress: Progress) -> dict[str, Curve]:
    """Independent symbols with frequencies falling as one over the square of their rank, by every estimator."""
    frequency = np.arange(1.0, KINDS + 1) ** -2
    source = Independent(frequency / frequency.sum())
    sample = source.sample(1, length, seed=np.random.default_rng([seed, 3]))
    counts = count_pairs(sample, log_lags(1, 1_000, 4), null="independent", seed=seed, progress=progress)
    return {name: mutual_information(counts, estimator=e, seed=seed) for name, e in ESTIMATORS.items()}


def _floor_claims(curves: dict[str, Curve]) -> list[Claim]:
    size = curves["digamma"].length
    claims = []
    for name, curve in curves.items():
        mean = float(curve.information.mean())
        noise = float(curve.information.std(ddof=1) / np.sqrt(len(curve.lags)))
        claims.append(
            Claim(
                f"{size:,} independent symbols of {KINDS} kinds share nothing, but the estimator {name} reports some "
                "information at every lag. (Measured: the mean over lags, nats; it holds if above five times its noise.)",
                0.0 if name == "digamma" else None,
                None,
                mean,
                None,
                mean > MANY * noise,
            )
        )
    corrected, error = (
        np.array([getattr(c, key) for c in curves.values()]) for key in ("corrected", "error")
    )
    return [
        *claims,
        claim_within_errors(
            "With the floor taken off, every estimator finds nothing at any lag.", corrected, 0.0, error
        ),
    ]


def _floor_chart(curves: dict[str, Curve]) -> Chart:
    ours = curves["grassberger"]
    lines = [line(f"{name}, raw", curve.lags, curve.information) for name, curve in curves.items()]
    band = (ours.corrected - 2 * ours.error, ours.corrected + 2 * ours.error)
    return Chart(
        name="independent",
        title="Information where there is none: independent symbols",
        x_label="distance (symbols)",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="linear",
        lines=(
            *lines,
            line("grassberger, floor taken off, two standard errors", ours.lags, ours.corrected, band=band),
            line("the truth", ours.lags, np.zeros(len(ours.lags)), style="dashed"),
        ),
        caption=f"{ours.length:,} symbols of {KINDS} kinds, drawn independently, so the true information is zero at every "
        "distance. Every estimator reports some, because most pairs of rare symbols are seen once or never. Taking "
        "off what the same estimator gives for shuffled symbols brings it to zero.",
    )
