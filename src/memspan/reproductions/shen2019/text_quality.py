"""Samples of generated text next to the curves of their mutual information: the more of it, the better the text.

Shen 2019, appendix F. The networks are those of Fig. 2 and Fig. 3, so one folder of runs serves these recipes, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

import numpy as np

from memspan.data.locations import places
from memspan.errors import check_models
from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import information_chart, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import TAIL, CurveDecay, Ratio, information_ratio, law_claim, ratio_claim
from memspan.reproductions.shen2019.generated import generate_all
from memspan.reproductions.shen2019.gpt2 import SAMPLES, split_samples
from memspan.reproductions.shen2019.sizes import CELL_NAMES, Architecture, Kind, TextSize
from memspan.reproductions.shen2019.text import (
    ABOVE,
    ALIKE,
    FAR,
    NEAR,
    in_words,
    instead_of,
    measured_text,
    text_config,
    text_generation,
)
from memspan.results import Chart, Claim, Curve, line

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask

# Lags up to which the word networks are said to follow a power law.
WORD_LSTM_LAGS, WORD_TRANSFORMER_LAGS = (50, 150), (100, 500)
# Characters of each network whose spelling is checked, in this number of texts.
SPELLED, TEXTS = 20_000, 10
# Words of this length or longer count for spelling, because the paper excepts short words.
LONG_WORD = 4
# Characters of the samples that are shown.
SHOWN = 300


@final
@dataclass(frozen=True, eq=False)
class NetworkText:
    """What one network generated, its curve, and the curve of the text it was trained on."""

    name: str
    excerpt: str
    curve: Curve
    text: Curve
    spelled: float | None = None
    """Share of the long words that occur in the training text; None for networks that generate words."""
    balanced: float | None = None
    """Share of the headings with as many equals signs before as after; None without headings."""

    def ratio(self, lags: tuple[int, int]) -> Ratio:
        """Information of the sample / information of the text, between two lags."""
        return information_ratio(self.curve, self.text, lags)


def run(*, lstm: TextSize, transformer: TextSize, gpt2: bool, seed: int, progress: Progress, runs: Path) -> Outcome:
    """Train four networks and compare what they generate; with `gpt2`, also the published samples of GPT-2."""
    check_models("shen-appendix-f")
    samples = {
        **_samples(lstm, "characters", seed, progress, runs),
        **_samples(lstm, "words", seed, progress, runs),
        **_samples(transformer, "words", seed, progress, runs),
    }
    notes = [f"{sample.name}: {' '.join(sample.excerpt.split())!r}" for sample in samples.values()]
    claims = list(sample_claims(samples))
    found = _gpt2(samples["narrow"].curve, seed, progress) if gpt2 else {}
    claims += [_gpt2_claim(name, curve) for name, (curve, _) in found.items()]
    notes += [f"{name}: {' '.join(excerpt.split())!r}" for name, (_, excerpt) in found.items()]
    if gpt2 and not found:
        notes.append(f"There are no samples of GPT-2: put text files into MEMSPAN_DATA/{SAMPLES}.")
    figure = _chart(samples, {name: curve for name, (curve, _) in found.items()})
    return Outcome(tuple(claims), (figure,), (*notes, lstm.differences, transformer.differences))


def networks(size: TextSize, kind: Kind) -> dict[str, tuple[Architecture, str]]:
    """The networks of appendix F, or the most similar ones of this size, with the published width (and depth).

    Keys: `narrow` and `wide` LSTMs of characters, the `words` LSTM and the `transformer`.
    """
    grid = size.plans[kind].grid
    widest, cell = max(grid.widths), size.cell
    if cell == "transformer":
        deepest = 4 if 4 in grid.depths else max(grid.depths)
        return {"transformer": (Architecture(cell, grid.deep, deepest), "512x4")}
    if kind == "words":
        return {"words": (Architecture(cell, widest), "2048")}
    wide = 1_024 if 1_024 in grid.widths else widest
    return {"narrow": (Architecture(cell, min(grid.widths)), "8"), "wide": (Architecture(cell, wide), "1024")}


def _samples(size: TextSize, kind: Kind, seed: int, progress: Progress, runs: Path) -> dict[str, NetworkText]:
    plan, chosen = size.plans[kind], networks(size, kind)
    found = generate_all(
        dict.fromkeys(network for network, _ in chosen.values()),
        range(seed, seed + plan.seeds),
        lambda network, seed: text_config(plan, kind, size.data, network, seed),
        text_generation(plan, kind),
        runs / kind,
        progress,
        workers=size.workers,
    )
    text, samples = measured_text(size, kind, seed, progress), {}
    for key, (network, published) in chosen.items():
        generated = found[network]
        name = f"{CELL_NAMES[network.cell]} {network.label} of {kind}{instead_of(network.label, published)}"
        sample = NetworkText(name, generated.excerpt[:SHOWN], generated.curve, text)
        if kind == "characters":
            task = cast("TextTask", text_config(plan, kind, size.data, network, seed).task)
            written = _generated_text(generated.run.run, seed, progress)
            sample = replace(sample, spelled=spelling(written, task.text("train")), balanced=balance(written))
        samples[key] = sample
    return samples


def _generated_text(run: str, seed: int, progress: Progress) -> str:
    """More of what a network generates, as text."""
    from memspan.training.supervised.generation import sampled_sequence

    drawn = sampled_sequence(run, SPELLED, streams=TEXTS, seed=seed, device="cpu", progress=progress)
    texts = ["".join(str(drawn.alphabet[code]) for code in document.tolist()) for document in drawn.documents()]
    return "\n".join(texts)


def spelling(generated: str, text: str) -> float | None:
    """Share of the words of four letters or more that occur in the text; None without such words.

    >>> spelling("This is wrnog spelling", "This spelling is right")
    0.6666666666666666
    """
    known, words = set(text.split()), [word for word in generated.split() if len(word) >= LONG_WORD and word.isalpha()]
    return float(np.mean([word in known for word in words])) if words else None


def balance(generated: str) -> float | None:
    """Share of the lines that begin with an equals sign and end with as many of them; None without such lines.

    >>> balance("= = A = =\\n= B = =\\nC = D")
    0.5
    """
    rows = [row.split() for row in generated.splitlines() if row.strip().startswith("=")]
    counts = [(_leading(row), _leading(row[::-1])) for row in rows if set(row) != {"="}]
    return float(np.mean([before == after for before, after in counts])) if counts else None


def _leading(words: list[str]) -> int:
    """Number of equals signs before the first other word."""
    return next(number for number, word in enumerate(words) if word != "=")


# --- Claims


def sample_claims(samples: Mapping[str, NetworkText]) -> tuple[Claim, ...]:
    """What the appendix says about each sample, in its order."""
    narrow, wide, words, transformer = (samples[key] for key in ("narrow", "wide", "words", "transformer"))
    return (
        ratio_claim(
            f"{narrow.name}: even the information at lags {in_words(NEAR)} is not completely captured.",
            narrow.ratio(NEAR),
            most=1.0,
        ),
        _share_claim(f"{narrow.name}: the spelling of longer words is mostly wrong.", narrow.spelled, most=0.5),
        ratio_claim(
            f"{wide.name}: the information at lags {in_words(NEAR)} is captured, within a factor of {ALIKE:g}.",
            wide.ratio(NEAR),
            least=1 / ALIKE,
            most=ALIKE,
        ),
        _share_claim(f"{wide.name}: the spelling is mostly correct.", wide.spelled, least=0.5),
        claim(
            f"{wide.name}: headings have as many equals signs before as after.",
            measure="the share of headings; it holds above one half",
        ).holds_if(wide.balanced, wide.balanced is not None and wide.balanced > 0.5),
        ratio_claim(
            f"{wide.name}: no power law is captured; at lags {in_words(FAR)} less than half of the information is left.",
            wide.ratio(FAR),
            most=0.5,
        ),
        ratio_claim(
            f"{words.name}: at least half of the information of the text is left at lags {in_words(WORD_LSTM_LAGS)}.",
            words.ratio(WORD_LSTM_LAGS),
            least=0.5,
        ),
        ratio_claim(
            f"{transformer.name}: at least half of the information of the text is left at lags "
            f"{in_words(WORD_TRANSFORMER_LAGS)}.",
            transformer.ratio(WORD_TRANSFORMER_LAGS),
            least=0.5,
        ),
        order_claim([sample.ratio(FAR).value for sample in (narrow, wide, words, transformer)]),
    )


def _share_claim(text: str, share: float | None, *, least: float = 0.0, most: float = 1.0) -> Claim:
    measure = f"the share of generated words of {LONG_WORD} letters or more that occur in the training text"
    return claim(text, measure).holds_if(share, share is not None and least <= share <= most)


def order_claim(ratios: list[float]) -> Claim:
    """Better text has more information at long lags, in the order in which the appendix lists the samples."""
    steps = np.diff(ratios)
    rising = None if np.isnan(steps).any() else float((steps > 0).sum())
    return claim(
        f"The samples get better in the order listed, and their share of the text's information at lags {in_words(FAR)} "
        "rises in the same order.",
        measure=f"in how many of {len(steps)} steps it rises",
    ).holds_if(rising, rising == len(steps), paper=len(steps))


def _gpt2(like: Curve, seed: int, progress: Progress) -> dict[str, tuple[Curve, str]]:
    """Curves and excerpts of the published samples."""
    files = [path for place in places() for path in sorted((place / SAMPLES).glob("*.txt"))]
    found = {}
    for path in files:
        samples = split_samples(path.read_text(encoding="utf-8"))
        curve = mutual_information(samples, like.lags, seed=seed, progress=progress)
        found[f"GPT-2 ({path.stem})"] = curve, samples.beginning(SHOWN)
    return found


def _gpt2_claim(name: str, curve: Curve) -> Claim:
    return law_claim(
        f"{name}: the information follows a power law rather than an exponential, from lag {TAIL} to the longest one, "
        f"{curve.lags[-1]:,}.",
        1 - CurveDecay.of(curve, ABOVE).tail_weight,
        "power law",
    )


def _chart(samples: Mapping[str, NetworkText], published: Mapping[str, Curve]) -> Chart:
    texts = {kind: samples[key].text for kind, key in (("characters", "narrow"), ("words", "words"))}
    curves = {sample.name: sample.curve for sample in samples.values()} | dict(published)
    return information_chart(
        "samples",
        "The mutual information of the samples",
        "characters",
        [
            *(
                line(name, curve.lags, np.where(curve.significant, curve.corrected, np.nan))
                for name, curve in curves.items()
            ),
            *(points(f"the text of {kind}", text.lags, text.corrected) for kind, text in texts.items()),
        ],
        "The information between characters of what each network generated, with the noise floor subtracted, where it is "
        "significant. Markers are the text that they were trained on. The notes show how each sample begins.",
    )
