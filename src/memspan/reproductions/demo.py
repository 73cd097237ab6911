"""The demo: source code that is on every machine, a sequence whose law is known, and three networks.

The source code shows what measuring is for. The power-law sequence shows that the numbers can be trusted, because the
truth is known. A prediction shows what follows for the design of a network. A network is trained on the source code and
generates more of it, which is compared with the original. A computed network shows how few weights exact recall takes.
"""

from __future__ import annotations

import platform
import sysconfig
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from memspan.decay import compare, measure
from memspan.errors import InputError, MissingExtraError, check_models
from memspan.memorization import memorize
from memspan.presentation import Section, render
from memspan.presentation.numbers import trimmed, with_interval
from memspan.presentation.presenter import section_of, sentence
from memspan.progress import SILENT, Progress
from memspan.reproductions.corpora import pieces_of
from memspan.results import Comparison, LawFit, Measurement, Memorization, Prediction, TrainingRun
from memspan.sequences import Sequence, read
from memspan.sequences.sources import PowerLawBinary
from memspan.theory.diagrams import BIAS_MEAN, SIGMA_W
from memspan.theory.predict import DEFAULTS, PredictionRequest, predict_cell

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask

KNOWN = PowerLawBinary(0.1, 0.4)
DOCUMENTS, LENGTH = 400, 10_000
LIBRARY_BYTES = 3_000_000
# The network whose timescale is compared with the reach of the source code.
CELL, BIAS = "minimal-rnn", 6.0
# A piece of source code that a computed network replays; it says what the network does.
LINE = "while True"
# Settings of the network that is trained on the source code, on top of the defaults of `memspan train characters`.
LEARNER: dict[str, Any] = {
    "task": {"data": "python"},
    "cell": {"hidden": 128},
    "training": {"updates": 700, "learning_rate": 5e-3, "validate_every": 350, "validation_batches": 40},
}
# Characters that it generates.
GENERATED = 500_000
# A quarter of each generated text, so that every lag has enough pairs.
LARGEST_LAG = 500


@final
@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network trained on the source code, and what it generated compared with what it read."""

    run: TrainingRun
    comparison: Comparison


@final
@dataclass(frozen=True, eq=False)
class Demo:
    """Two measurements, a prediction, a trained network and a computed one."""

    library: Measurement
    known: Measurement
    network: Prediction
    trained: TrainedNetwork | None
    """None if PyTorch is not installed."""
    memorized: Memorization

    @property
    def measured(self) -> dict[str, Measurement]:
        """The measurements by the name of their folders, in the order of the report."""
        return {"python-source": self.library, "power-law": self.known}

    @property
    def power(self) -> LawFit:
        """The power law fitted to the sequence of known exponent."""
        if self.known.decay is None:
            raise InputError("no law could be fitted to the power-law sequence of the demo; use another --seed")
        return self.known.decay["power"]

    @property
    def check(self) -> str:
        """The fitted exponent next to the true one, in one sentence."""
        fitted = with_interval(self.power.parameters["exponent"], self.power.intervals["exponent"])
        return f"power-law sequence: fitted exponent {fitted}, true exponent {trimmed(KNOWN.exponent)}"


def run_demo(*, seed: int = 0, run: Path | None = None, progress: Progress = SILENT) -> Demo:
    """Measure the source of the Python standard library and a power-law sequence, then predict, train and compute networks.

    The training is saved in the folder `run`, if given, and resumed there.
    """
    progress.say("measuring the source code of the Python standard library")
    library = measure(library_source(progress=progress), seed=seed, progress=progress)
    progress.say(f"measuring a sequence whose information is {KNOWN.amplitude} / lag^{KNOWN.exponent} nats")
    sample = KNOWN.sample(DOCUMENTS, LENGTH, seed=seed)
    sample = replace(sample, paths=(f"power-law sequence of exponent {KNOWN.exponent}",))
    known = measure(sample, seed=seed, progress=progress)
    progress.say("predicting the timescale of a network")
    network = _predict(library)
    trained = _train(seed, run, progress)
    progress.say(f"computing a network that repeats {LINE!r} forever")
    memorized = memorize(LINE, seed=seed, learn=True, progress=progress)
    return Demo(library, known, network, trained, memorized)


def _train(seed: int, run: Path | None, progress: Progress) -> TrainedNetwork | None:
    """Train a network, let it generate, and compare the result with the source code as it read it."""
    try:
        check_models("the training part of the demo")
    except MissingExtraError as error:
        progress.say(f"skipped: {error}")
        return None
    from memspan.reproductions.trainings import train_or_read, training_config
    from memspan.training.supervised.generation import sampled_sequence

    progress.say("training a network on the source code, a minute or two")
    with tempfile.TemporaryDirectory(prefix="memspan-") as temporary:
        config = training_config("characters", "lstm", seed, LEARNER)
        result = train_or_read(config, run or Path(temporary) / "run", progress)
        progress.say(f"generating {GENERATED:,} characters")
        text = sampled_sequence(result.run, GENERATED, seed=seed, progress=progress)
    read = cast("TextTask", config.task).text("train", LIBRARY_BYTES)
    sources = {
        "source": replace(_mixed(read, text.longest, seed), paths=("the source code that the network was trained on",)),
        "network": replace(text, paths=("what the network generated",)),
    }
    found = compare(sources, max_lag=LARGEST_LAG, seed=seed, progress=progress)
    excerpts = {name: part.beginning() for name, part in sources.items()}
    return TrainedNetwork(result, found.with_excerpts(excerpts))


def _mixed(text: str, length: int, seed: int) -> Sequence:
    """A text cut into pieces as long as those that the network generates, in random order: every part is representative."""
    pieces = pieces_of(text, length)
    order = np.random.default_rng(seed).permutation(len(pieces))
    return Sequence.from_documents([pieces[place] for place in order], symbols="chars")


def _predict(library: Measurement) -> Prediction:
    """Whether a gated network with common weights has a timescale as long as the reach of the source code."""
    reach = library.curve.reach
    asked = PredictionRequest(
        timescale=max(float(reach.lag), 1.0),
        timescale_source=f"{library.name}, at least" if reach.censored else library.name,
        axes=(BIAS_MEAN, SIGMA_W),
    )
    return predict_cell(CELL, {**DEFAULTS[CELL], "bias_mean": BIAS}, asked)


def library_source(*, progress: Progress = SILENT) -> Sequence:
    """The characters of the modules of the standard library, by name, up to three million bytes; a file is a document.

    >>> library_source().symbols
    'chars'
    """
    folder = Path(sysconfig.get_path("stdlib"))
    chosen: list[Path] = []
    left = LIBRARY_BYTES
    for path in sorted(folder.glob("*.py")):
        size = path.stat().st_size
        if 0 < size <= left and not path.name.startswith("_"):
            chosen.append(path)
            left -= size
    if not chosen:
        raise InputError(f"found no Python source code in {folder}; run memspan measure on a text file instead")
    source = read(chosen, symbols="chars", progress=progress)
    note = f"{len(chosen)} modules of {folder}, each a document"
    name = f"the Python {platform.python_version()} standard library"
    return replace(source, paths=(name,), notes=(*source.notes, note))


def page(demo: Demo) -> str:
    """The report as one HTML page: a text, a check against a known truth, and networks for the text, one section each."""
    parts = [_text(demo), _known(demo), _predicted(demo), *_trained(demo), _computed(demo)]
    sections = [replace(each, title=f"{place}. {each.title}") for place, each in enumerate(parts, start=1)]
    return render(sections, "How far back does it remember?", _INTRODUCTION)


_INTRODUCTION = (
    "A sequence has memory if a symbol carries information about symbols far away. This page measures that twice: on "
    "source code that comes with Python, where the answer is unknown, and on a sequence that was constructed so that the "
    "answer is known. Then it asks what a network needs in order to remember as far, trains one on the source code, and "
    "measures the memory of what it generates. Finally it shows how small a network can be that never forgets."
)


def _text(demo: Demo) -> Section:
    section = section_of(demo.library)
    story = (
        "Programs have structure at every scale: letters form words, words form lines, lines form functions, and a name "
        "that is defined at the top of a module is used again at its end. How far apart can two characters be and still "
        "be informative about each other? This is the answer for the standard library of Python."
    )
    return replace(section, title="A text that every machine has", explanation=(story, *section.explanation))


def _known(demo: Demo) -> Section:
    section = section_of(demo.known)
    exponent = trimmed(KNOWN.exponent)
    story = (
        f"Can such numbers be trusted? These {DOCUMENTS * LENGTH:,} coin flips were generated so that their information "
        f"is exactly {trimmed(KNOWN.amplitude)} nats at lag 1 and falls as the lag to the power -{exponent}. The "
        f"measurement does not know this. It found: {demo.check}."
    )
    return replace(
        section,
        title="A sequence whose answer is known",
        answer=f"{sentence(demo.known)}; the truth is {exponent}",
        explanation=(story, *section.explanation),
    )


def _predicted(demo: Demo) -> Section:
    section = section_of(demo.network)
    story = (
        "A recurrent network that is to continue such source code must carry a signal as far as the dependence in the code "
        "reaches. How long signals last in a network can be computed before training, from the standard deviation of its "
        "weights and the mean of its biases alone. This is a network with one gate, the minimal RNN of Chen 2018."
    )
    return replace(section, title="A network that could remember it", explanation=(story, *section.explanation))


def _trained(demo: Demo) -> list[Section]:
    """The training and what the network generated; nothing if PyTorch is not installed."""
    if demo.trained is None:
        return []
    run, comparison = demo.trained.run, demo.trained.comparison
    training, generation = section_of(run), section_of(comparison)
    training_story = (
        f"Here an LSTM of {run.parameter_count:,} parameters is trained on the source code, character by character, to "
        f"predict the next one. This took {run.seconds:.0f} seconds. Its quality is measured in bits per character: the "
        "fewer, the better its predictions."
    )
    generation_story = (
        f"Then it generates {GENERATED:,} characters, each sampled from its own predictions, without a prompt. The "
        "beginnings of both texts are shown below, and above how far back each of them remembers, measured at equal size. "
        "Where the curve of the network falls below that of the source, it has not learned to use such a long context."
    )
    return [
        replace(training, title="A network trained on it", explanation=(training_story, *training.explanation)),
        replace(
            generation,
            title="What the network generates, compared with what it read",
            explanation=(generation_story, *generation.explanation),
        ),
    ]


def _computed(demo: Demo) -> Section:
    memorized = demo.memorized
    section = section_of(memorized)
    story = (
        "Networks like the one above start from random weights, and their memory fades. How few numbers does it take to "
        f"remember something exactly and forever? Here is a network for the {memorized.period} characters {LINE!r}, which "
        f"start an endless loop in Python. Its state has {memorized.hidden_size} numbers. Its weights are neither random "
        "nor trained but computed, and it is proven that no smaller network of this kind exists."
    )
    explanation = (story, *section.explanation, *_gradient_descent(memorized))
    return replace(section, title="A computed network", explanation=explanation)


def _gradient_descent(memorized: Memorization) -> tuple[str, ...]:
    """What gradient descent finds at the same size; nothing if it was not run."""
    trained = memorized.learnt
    if trained is None:
        return ()
    replayed, tested = trained.replayed_symbols, trained.tested_symbols
    end = "all of them correctly" if replayed == tested else f"{replayed:,} before the first error"
    return (
        "Does training find it, too? A network of the same size was trained on the same string by gradient descent. Its "
        f"eigenvalues came within {trained.distances.max():.2g} of roots of unity, but did not reach them, so its state "
        f"slowly leaves the circle: of {tested:,} symbols it replayed {end}. The computed one replayed "
        f"{memorized.verified_symbols:,}.",
    )
