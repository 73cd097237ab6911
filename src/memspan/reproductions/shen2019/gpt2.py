"""Shen 2019, Fig. 3d: what a large Transformer writes, from a file of its samples or from the model itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from memspan.data.locations import places
from memspan.errors import InputError, check_models
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.corpora import load_corpus, missing
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.binary import SOURCE
from memspan.reproductions.shen2019.decay import TAIL, Laws, share_claim
from memspan.reproductions.shen2019.generated_charts import curves_chart
from memspan.reproductions.shen2019.ratios import times_claim, times_information
from memspan.reproductions.shen2019.text import ABOVE, MIDDLE
from memspan.results import Claim, Curve, line
from memspan.sequences import Sequence

SAMPLES = "gpt-2-samples"
"""A folder of text files: samples that others wrote, with a line of `=` and SAMPLE before each."""
MODEL = "gpt-2"
"""A folder that `save_pretrained` wrote."""
DIVIDER = re.compile(r"^=+ SAMPLE \d+ =+\n", re.MULTILINE)
TEXTS = {"laptop": (100, 512), "paper": (500, 1_024)}
"""Texts that the model writes, and tokens of each."""
COMPARED = "wikitext-2"


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    texts = _made(seed) if scale == "smoke" else _written(scale, seed, progress)
    longest = min(text.longest for text in texts.values())
    lags = log_lags(1, min(1_000, longest // 2))
    curves = {
        name: mutual_information(text, lags, seed=seed, progress=progress) for name, text in texts.items()
    }
    laws = {name: Laws.of(curve, ABOVE) for name, curve in curves.items()}
    claims = [_power(name, laws[name]) for name in curves]
    notes = [f"{name}: {laws[name]}." for name in curves]
    data, note = _data(lags, seed, progress) if scale != "smoke" else (None, "")
    if data is not None:
        claims += [_more(name, curve, data) for name, curve in curves.items()]
    chart = curves_chart(
        "curves",
        "What a large Transformer writes",
        (
            *(line(name, curve.lags, curve.corrected) for name, curve in curves.items()),
            *([] if data is None else [line(COMPARED, data.lags, data.corrected, style="markers")]),
        ),
        "The information between characters of what each model wrote, with the floor taken off. Markers, where they are, "
        "are WikiText-2, which smaller models learnt. A straight line is a power law.",
        unit="characters",
    )
    return Outcome(tuple(claims), (chart,), (*notes, *([note] if note else [])))


def _power(name: str, laws: Laws) -> Claim:
    return share_claim(
        f"What {name} writes forgets by a power law rather than exponentially, beyond {TAIL} characters.",
        1 - laws.tail_share,
        "power law's",
    )


def _more(name: str, curve: Curve, data: Curve) -> Claim:
    said = f"What {name} writes has more information than WikiText-2 at distances {MIDDLE[0]} to {MIDDLE[1]}."
    return times_claim(said, times_information(curve, data, MIDDLE), least=1.0)


def _made(seed: int) -> dict[str, Sequence]:
    """At smoke scale a file of samples is made of a sequence without a scale, and read as one of a model's would be."""
    drawn = SOURCE.sample(60, 400, seed=seed)
    texts = ["".join("ab"[code] for code in document.tolist()) for document in drawn.documents()]
    lines = [f"{'=' * 40} SAMPLE {number} {'=' * 40}\n{text}\n" for number, text in enumerate(texts, start=1)]
    return {"A made file": parted("".join(lines))}


def parted(text: str) -> Sequence:
    """The samples of a file, each a document of characters, without the lines between them."""
    samples = [part.strip() for part in DIVIDER.split(text)]
    return Sequence.from_documents([sample for sample in samples if sample], symbols="chars")


def _written(scale: str, seed: int, progress: Progress) -> dict[str, Sequence]:
    files = [path for place in places() for path in sorted((place / SAMPLES).glob("*.txt"))]
    found = {f"GPT-2 ({path.stem})": parted(path.read_text(encoding="utf-8")) for path in files}
    models = [folder for place in places() if (folder := place / MODEL).is_dir()]
    if models:
        found[f"GPT-2 ({models[0].name})"] = _sampled(models[0], scale, seed, progress)
    if not found:
        raise InputError(
            f"shen-fig3d needs samples of GPT-2 or the model: put text files into MEMSPAN_DATA/{SAMPLES}, or a folder that "
            f"save_pretrained wrote (safetensors) at MEMSPAN_DATA/{MODEL}; neither is there"
        )
    return found


def _sampled(model: Path, scale: str, seed: int, progress: Progress) -> Sequence:
    check_models("sampling GPT-2")
    from memspan.training.sampled import sequence_of

    streams, length = TEXTS[scale]
    return sequence_of(f"hf:{model}", streams * length, streams=streams, seed=seed, progress=progress)


def _data(lags: np.ndarray, seed: int, progress: Progress) -> tuple[Curve | None, str]:
    corpus = load_corpus(COMPARED, progress)
    if corpus is None:
        return None, missing(COMPARED)
    return mutual_information(corpus.train, lags, seed=seed, progress=progress), ""
