"""What GPT-2 generates, from files of its samples or from the model itself.

Shen 2019, section 5.2, Fig. 3d.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.data.locations import places
from memspan.errors import InputError, check_models
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import information_chart, points
from memspan.reproductions.corpora import load_corpus, missing
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.binary import SOURCE
from memspan.reproductions.shen2019.decay import TAIL, CurveDecay, information_ratio, law_claim, ratio_claim
from memspan.reproductions.shen2019.text import ABOVE, MIDDLE, in_words
from memspan.results import Curve, line
from memspan.sequences import Sequence

# A folder of text files: samples that others generated, with a line of `=` and SAMPLE before each.
SAMPLES = "gpt-2-samples"
# A folder that `save_pretrained` wrote.
MODEL = "gpt-2"
DIVIDER = re.compile(r"^=+ SAMPLE \d+ =+\n", re.MULTILINE)
COMPARED = "wikitext-2"


def run(*, texts: int, tokens: int, model: str | None, seed: int, progress: Progress) -> Outcome:
    """Measure all samples, and `texts` texts of `tokens` tokens from a model; without texts, an artificial file.

    `model` is a folder with a causal language model; None: MEMSPAN_DATA/gpt-2, if there is one.
    """
    generated = _generated(texts, tokens, model, seed, progress) if texts else _artificial(seed)
    longest = min(text.longest for text in generated.values())
    lags = log_lags(1, min(1_000, longest // 2))
    curves = {name: mutual_information(text, lags, seed=seed, progress=progress) for name, text in generated.items()}
    decays = {name: CurveDecay.of(curve, ABOVE) for name, curve in curves.items()}
    claims = [
        law_claim(
            f"What {name} generates follows a power law rather than an exponential, beyond lag {TAIL}.",
            1 - decay.tail_weight,
            "power law",
        )
        for name, decay in decays.items()
    ]
    notes = [f"{name}: {decay}." for name, decay in decays.items()]
    data = _wikitext(lags, seed, progress) if texts else None
    if data is not None:
        claims += [
            ratio_claim(
                f"What {name} generates has more information than WikiText-2 at lags {in_words(MIDDLE)}.",
                information_ratio(curve, data, MIDDLE),
                least=1.0,
            )
            for name, curve in curves.items()
        ]
    elif texts:
        notes.append(missing(COMPARED))
    figure = information_chart(
        "curves",
        "What a large Transformer generates",
        "characters",
        [
            *(line(name, curve.lags, curve.corrected) for name, curve in curves.items()),
            *([] if data is None else [points(COMPARED, data.lags, data.corrected)]),
        ],
        "The information between characters of what each model generated, with the noise floor subtracted. Markers, if "
        "any, are WikiText-2, on which smaller models were trained. A straight line is a power law.",
    )
    return Outcome(tuple(claims), (figure,), tuple(notes))


def _artificial(seed: int) -> dict[str, Sequence]:
    """A file of samples made from a scale-free sequence, and read like one of a model."""
    drawn = SOURCE.sample(60, 400, seed=seed)
    texts = ["".join("ab"[code] for code in document.tolist()) for document in drawn.documents()]
    lines = [f"{'=' * 40} SAMPLE {number} {'=' * 40}\n{text}\n" for number, text in enumerate(texts, start=1)]
    return {"an artificial file": split_samples("".join(lines))}


def split_samples(text: str) -> Sequence:
    """The samples of a file, each a document of characters, without the lines between them."""
    samples = [part.strip() for part in DIVIDER.split(text)]
    return Sequence.from_documents([sample for sample in samples if sample], symbols="chars")


def _generated(texts: int, tokens: int, model: str | None, seed: int, progress: Progress) -> dict[str, Sequence]:
    files = [path for place in places() for path in sorted((place / SAMPLES).glob("*.txt"))]
    found = {f"GPT-2 ({path.stem})": split_samples(path.read_text(encoding="utf-8")) for path in files}
    if model is not None:
        found[Path(model).name] = _sampled(Path(model), texts, tokens, seed, progress)
    elif models := [folder for place in places() if (folder := place / MODEL).is_dir()]:
        found[f"GPT-2 ({models[0].name})"] = _sampled(models[0], texts, tokens, seed, progress)
    if not found:
        raise InputError(
            f"shen-fig3d found neither samples of GPT-2 nor a model: put text files into MEMSPAN_DATA/{SAMPLES}, or a folder"
            f" that save_pretrained wrote (safetensors) at MEMSPAN_DATA/{MODEL}, or name one with --set model=DIR"
        )
    return found


def _sampled(model: Path, texts: int, tokens: int, seed: int, progress: Progress) -> Sequence:
    check_models("sampling GPT-2")
    from memspan.training.supervised.generation import sampled_sequence

    return sampled_sequence(f"hf:{model}", texts * tokens, streams=texts, seed=seed, progress=progress)


def _wikitext(lags: NDArray[np.int64], seed: int, progress: Progress) -> Curve | None:
    corpus = load_corpus(COMPARED, progress)
    return None if corpus is None else mutual_information(corpus.train, lags, seed=seed, progress=progress)
