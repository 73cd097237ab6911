"""The demonstration: source code that every machine has, a sequence whose law is known, and three networks.

The first shows what measuring is for; the second that the numbers can be trusted, because the truth is known; the third
what follows for someone who designs a network; then one learns that source code and writes more of it, which is measured
beside the original; the last shows how little a network needs that is not left to chance.
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
from memspan.progress import SILENT, Progress
from memspan.report import Section, render
from memspan.report.numbers import trimmed, with_interval
from memspan.report.sections import section_of
from memspan.report.sentences import sentence
from memspan.reproductions.corpora import pieces_of
from memspan.results import Comparison, LawFit, Measurement, Memorization, Prediction, TrainingRun
from memspan.sequences import Sequence, read
from memspan.sequences.sources import PowerLawBinary
from memspan.theory.predictions import DEFAULTS, Asked, predict_cell
from memspan.theory.predictions.phase_diagram import BIAS_MEAN, SIGMA_W

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask

KNOWN = PowerLawBinary(0.1, 0.4)
DOCUMENTS, LENGTH = 400, 10_000
LIBRARY_BYTES = 3_000_000
CELL, BIAS = "minimal-rnn", 6.0
"""The network that is asked whether it could remember what the source code needs."""
LINE = "while True"
"""A piece of source code for which a network is written; what it says is what the network does."""


LEARNER: dict[str, Any] = {
    "task": {"data": "python"},
    "cell": {"hidden": 128},
    "training": {
        "updates": 700,
        "learning_rate": 5e-3,
        "validate_every": 350,
        "validation_batches": 40,
    },
}
"""The network that learns the source code, over the default settings of `memspan train characters`: a minute or two."""
WRITTEN = 500_000
"""Characters that it writes."""
LARGEST_LAG = 500
"""Of that comparison: a quarter of each of its texts."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """A network that learnt the source code, and what it wrote beside what it read."""

    run: TrainingRun
    beside: Comparison


@final
@dataclass(frozen=True, eq=False)
class Demo:
    """Two measurements, a prediction, a network that learnt, and one that was written instead."""

    library: Measurement
    known: Measurement
    network: Prediction
    learnt: Learnt | None
    """None: PyTorch is not installed."""
    written: Memorization

    @property
    def measured(self) -> dict[str, Measurement]:
        """The measurements, by the name of the folder each is kept in, in the order they are told."""
        return {"python-source": self.library, "power-law": self.known}

    @property
    def power(self) -> LawFit:
        """The power law as it was fitted to the sequence of known exponent."""
        if self.known.decay is None:
            raise InputError(
                "no law could be fitted to the demonstration's power-law sequence; use another seed"
            )
        return self.known.decay["power"]

    @property
    def check(self) -> str:
        """The fitted exponent next to the true one, in one sentence."""
        fitted = with_interval(self.power.parameters["exponent"], self.power.intervals["exponent"])
        return f"power-law sequence: fitted exponent {fitted}, true exponent {trimmed(KNOWN.exponent)}"


def run_demo(*, seed: int = 0, run: Path | None = None, progress: Progress = SILENT) -> Demo:
    """Measure the Python standard library's own source and a power law; ask for a network for the one, let another learn
    it and write, and compute a third.

    The folder `run` keeps the network that learns, and goes on with it, if it is told.
    """
    progress.say("measuring the Python standard library's own source code")
    library = measure(library_source(progress=progress), seed=seed, progress=progress)
    progress.say(f"measuring a sequence whose information is {KNOWN.amplitude} / lag^{KNOWN.exponent} nats")
    sample = KNOWN.sample(DOCUMENTS, LENGTH, seed=seed)
    sample = replace(sample, paths=(f"power-law sequence of exponent {KNOWN.exponent}",))
    known = measure(sample, seed=seed, progress=progress)
    progress.say("predicting how long a network would remember")
    network = _network(library)
    learnt = _learn(seed, run, progress)
    progress.say(f"writing a network that remembers {LINE!r} for ever")
    written = memorize(LINE, seed=seed, learn=True, progress=progress)
    return Demo(library, known, network, learnt, written)


def _learn(seed: int, run: Path | None, progress: Progress) -> Learnt | None:
    """Train, let it write, and set that beside the source code as it read it."""
    try:
        check_models("the part of the demonstration where a network learns")
    except MissingExtraError as error:
        progress.say(f"left out: {error}")
        return None
    from memspan.reproductions.trainings import configured, trained
    from memspan.training.sampled import sequence_of

    progress.say("teaching a network the source code, a minute or two")
    with tempfile.TemporaryDirectory(prefix="memspan-") as temporary:
        config = configured("characters", "lstm", seed, LEARNER)
        result = trained((config, run or Path(temporary) / "run"), progress)
        progress.say(f"letting it write {WRITTEN:,} characters")
        text = sequence_of(result.run, WRITTEN, seed=seed, progress=progress)
    read = cast("TextTask", config.task).text("train", LIBRARY_BYTES)
    sources = {
        "source": replace(_mixed(read, text.longest, seed), paths=("the source code that the network read",)),
        "network": replace(text, paths=("what the network wrote",)),
    }
    found = compare(sources, max_lag=LARGEST_LAG, seed=seed, progress=progress)
    return Learnt(result, found.with_excerpts({name: part.beginning() for name, part in sources.items()}))


def _mixed(text: str, length: int, seed: int) -> Sequence:
    """A text cut into pieces as long as those that the network writes, in random order, so that any part has all of it."""
    pieces = pieces_of(text, length)
    order = np.random.default_rng(seed).permutation(len(pieces))
    return Sequence.from_documents([pieces[place] for place in order], symbols="chars")


def _network(library: Measurement) -> Prediction:
    """Whether a gated network of common weights could remember as far as the source code reaches."""
    reach = library.curve.reach
    asked = Asked(
        timescale=max(float(reach.lag), 1.0),
        timescale_source=f"{library.name}, at least" if reach.censored else library.name,
        axes=(BIAS_MEAN, SIGMA_W),
    )
    return predict_cell(CELL, {**DEFAULTS[CELL], "bias_mean": BIAS}, asked)


def library_source(*, progress: Progress = SILENT) -> Sequence:
    """The characters of the standard library's modules, by name, up to three million bytes; a file is a document.

    >>> library_source().symbols
    'chars'
    """
    folder = Path(sysconfig.get_path("stdlib"))
    chosen: list[Path] = []
    room = LIBRARY_BYTES
    for path in sorted(folder.glob("*.py")):
        size = path.stat().st_size
        if 0 < size <= room and not path.name.startswith("_"):
            chosen.append(path)
            room -= size
    if not chosen:
        raise InputError(f"no source code in {folder}; give a text of your own to memspan measure")
    source = read(chosen, symbols="chars", progress=progress)
    note = f"{len(chosen)} modules of {folder}, each a document"
    name = f"the Python {platform.python_version()} standard library"
    return replace(source, paths=(name,), notes=(*source.notes, note))


def page(demo: Demo) -> str:
    """The story on one HTML page: a text, the check against a known truth, and networks for the text, each a section."""
    told = [_text(demo), _known(demo), _predicted(demo), *_learnt(demo), _by_hand(demo)]
    sections = [replace(each, title=f"{place}. {each.title}") for place, each in enumerate(told, start=1)]
    return render(sections, "How far back does it remember?", _INTRODUCTION)


_INTRODUCTION = (
    "A sequence remembers if what stands here tells something about what stands far away. This page measures "
    "that twice: on source code that came with Python, where nobody knows the answer, and on a sequence "
    "that was made so that the answer is known. Then it asks what a network must be like to remember that much, lets one "
    "learn the source code and go on writing, and looks how far back that remembers. In the end it tells how small a "
    "network can be that never forgets."
)


def _text(demo: Demo) -> Section:
    section = section_of(demo.library)
    story = (
        "Programs have structure at every distance: letters make words, words make lines, lines make functions, "
        "and a name that is defined at the top of a module comes back at its end. How far apart may two characters "
        "stand and still know of each other? This is what the standard library of Python says about itself."
    )
    return replace(section, title="A text that every machine has", explanation=(story, *section.explanation))


def _known(demo: Demo) -> Section:
    section = section_of(demo.known)
    exponent = trimmed(KNOWN.exponent)
    story = (
        f"Can such numbers be trusted? These {DOCUMENTS * LENGTH:,} coin flips were made so that their information "
        f"is exactly {trimmed(KNOWN.amplitude)} nats at distance 1 and falls as the distance to the power -{exponent}. "
        f"Nothing of this was told to the measurement. It found: {demo.check}."
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
        "A recurrent network that shall continue such source code must carry a signal as far as the code's own "
        "dependence reaches. How long signals last in a network can be computed before it is trained, from the spread of "
        "its weights and the mean of its biases alone. This is a network with one gate, the minimal RNN of Chen 2018."
    )
    return replace(
        section, title="A network that could remember it", explanation=(story, *section.explanation)
    )


def _learnt(demo: Demo) -> list[Section]:
    """What a network made of the source code; nothing where PyTorch is not installed."""
    if demo.learnt is None:
        return []
    run, beside = demo.learnt.run, demo.learnt.beside
    learning, writing = section_of(run), section_of(beside)
    size = f"{run.parameter_count:,} parameters"
    taught = (
        f"Here an LSTM of {size} learns the source code, character by character: it reads, guesses what comes next, and is "
        f"told. This took {run.seconds:.0f} seconds. How well it guesses is told in bits per character: the fewer it "
        "needs, the better it knew."
    )
    wrote = (
        f"Then it goes on by itself. It wrote {WRITTEN:,} characters, each drawn from its own guesses, starting from "
        "nothing. Below stand the beginnings of both texts, and above how far back each of them remembers, measured at "
        "equal size. Where the line of the network falls below that of the source, it has not learnt to look back so far."
    )
    return [
        replace(learning, title="A network that learns it", explanation=(taught, *learning.explanation)),
        replace(
            writing,
            title="What the network writes, beside what it read",
            explanation=(wrote, *writing.explanation),
        ),
    ]


def _by_hand(demo: Demo) -> Section:
    section = section_of(demo.written)
    story = (
        "Networks like the one above begin at random, and what they hold fades. How few numbers does it take to remember "
        f"something exactly, and for ever? Here is a network for the {demo.written.period} characters {LINE!r}, with which "
        f"endless loops begin in Python. Its state is {demo.written.hidden_size} numbers. Its weights were neither drawn "
        "nor trained but computed, and it is proven that no network of this kind does with fewer."
    )
    explanation = (story, *section.explanation, *_trained(demo.written))
    return replace(section, title="A network written by hand", explanation=explanation)


def _trained(written: Memorization) -> tuple[str, ...]:
    """What gradient descent makes of the same size; nothing where it was not asked."""
    learnt = written.learnt
    if learnt is None:
        return ()
    replayed, tested = learnt.replayed_symbols, learnt.tested_symbols
    end = "all of them" if replayed == tested else f"{replayed:,} before the first wrong one"
    return (
        "Does training find it, too? A network of the same size learnt the same string by gradient descent. Its eigenvalues "
        f"came within {learnt.distances.max():.2g} of roots of unity, but not onto them, so its state slowly leaves the "
        f"circle: of {tested:,} symbols it wrote {end}. The computed one was right for {written.verified_symbols:,}.",
    )
