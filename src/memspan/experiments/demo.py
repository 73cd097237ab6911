"""The demonstration: source code that every machine has, a sequence whose law is known, and two networks.

The first shows what measuring is for; the second that the numbers can be trusted, because the truth is known; the third
what follows for someone who designs a network; the last how little a network needs that is not left to chance.
"""

from __future__ import annotations

import platform
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from memspan.decay import measure
from memspan.errors import InputError
from memspan.memorization import memorize
from memspan.progress import SILENT, Progress
from memspan.report import Section, render
from memspan.report.numbers import trimmed, with_interval
from memspan.report.sections import section_of
from memspan.report.sentences import sentence
from memspan.results import LawFit, Measurement, Memorization, Prediction
from memspan.sequences import Sequence, read
from memspan.sequences.sources import PowerLawBinary
from memspan.theory.predictions import DEFAULTS, Asked, predict_cell
from memspan.theory.predictions.phase_diagram import BIAS_MEAN, SIGMA_W

KNOWN = PowerLawBinary(0.1, 0.4)
DOCUMENTS, LENGTH = 400, 10_000
LIBRARY_BYTES = 3_000_000
CELL, BIAS = "minimal-rnn", 6.0
"""The network that is asked whether it could remember what the source code needs."""
LINE = "while True"
"""A piece of source code for which a network is written; what it says is what the network does."""


@final
@dataclass(frozen=True, eq=False)
class Demo:
    """Two measurements, a prediction, and a network that was written instead of drawn at random."""

    library: Measurement
    known: Measurement
    network: Prediction
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


def run_demo(*, seed: int = 0, progress: Progress = SILENT) -> Demo:
    """Measure the Python standard library's own source and a power law; ask for a network for the one and write another."""
    progress.say("measuring the Python standard library's own source code")
    library = measure(library_source(progress=progress), seed=seed, progress=progress)
    progress.say(f"measuring a sequence whose information is {KNOWN.amplitude} / lag^{KNOWN.exponent} nats")
    sample = KNOWN.sample(DOCUMENTS, LENGTH, seed=seed)
    sample = replace(sample, paths=(f"power-law sequence of exponent {KNOWN.exponent}",))
    known = measure(sample, seed=seed, progress=progress)
    progress.say("predicting how long a network would remember")
    network = _network(library)
    progress.say(f"writing a network that remembers {LINE!r} for ever")
    return Demo(library, known, network, memorize(LINE, seed=seed, learn=True, progress=progress))


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
    """The story on one HTML page: a text, the check against a known truth, a network for the text, and one that is exact."""
    sections = [_first(demo), _second(demo), _third(demo), _fourth(demo)]
    return render(sections, "How far back does it remember?", _INTRODUCTION)


_INTRODUCTION = (
    "A sequence remembers if what stands here tells something about what stands far away. This page measures "
    "that twice: on source code that came with Python, where nobody knows the answer, and on a sequence "
    "that was made so that the answer is known. Then it asks what a network must be like to remember that much, and "
    "how small one can be that never forgets."
)


def _first(demo: Demo) -> Section:
    section = section_of(demo.library)
    story = (
        "Programs have structure at every distance: letters make words, words make lines, lines make functions, "
        "and a name that is defined at the top of a module comes back at its end. How far apart may two characters "
        "stand and still know of each other? This is what the standard library of Python says about itself."
    )
    return replace(
        section, title="1. A text that every machine has", explanation=(story, *section.explanation)
    )


def _second(demo: Demo) -> Section:
    section = section_of(demo.known)
    exponent = trimmed(KNOWN.exponent)
    story = (
        f"Can such numbers be trusted? These {DOCUMENTS * LENGTH:,} coin flips were made so that their information "
        f"is exactly {trimmed(KNOWN.amplitude)} nats at distance 1 and falls as the distance to the power -{exponent}. "
        f"Nothing of this was told to the measurement. It found: {demo.check}."
    )
    return replace(
        section,
        title="2. A sequence whose answer is known",
        answer=f"{sentence(demo.known)}; the truth is {exponent}",
        explanation=(story, *section.explanation),
    )


def _third(demo: Demo) -> Section:
    section = section_of(demo.network)
    story = (
        "A recurrent network that shall continue such source code must carry a signal as far as the code's own "
        "dependence reaches. How long signals last in a network can be computed before it is trained, from the spread of "
        "its weights and the mean of its biases alone. This is a network with one gate, the minimal RNN of Chen 2018."
    )
    return replace(
        section, title="3. A network that could remember it", explanation=(story, *section.explanation)
    )


def _fourth(demo: Demo) -> Section:
    section = section_of(demo.written)
    story = (
        "Networks like the one above begin at random, and what they hold fades. How few numbers does it take to remember "
        f"something exactly, and for ever? Here is a network for the {demo.written.period} characters {LINE!r}, with which "
        f"endless loops begin in Python. Its state is {demo.written.hidden_size} numbers. Its weights were neither drawn "
        "nor trained but computed, and it is proven that no network of this kind does with fewer."
    )
    explanation = (story, *section.explanation, *_trained(demo.written))
    return replace(section, title="4. A network written by hand", explanation=explanation)


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
