"""The words that name data (paths, `-`, URLs, `data:NAME`, `run:DIR`, `*.counts`) become sequences or pair counts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from memspan.errors import InputError, check_models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memspan.information import PairCounts
    from memspan.progress import Progress
    from memspan.sequences import Sequence

MODELS = ("run:", "hf:")
"""What begins the words for models, which are sampled."""


@final
@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How much a model that is named as a source writes, and how; every field is the option of its name."""

    sample: int = 2_000_000
    temperature: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, sources: list[str], sample: int | None, temperature: float | None, seed: int) -> Sampling:
        """From the options; refused where no source is a model, because they would do nothing."""
        given = {"sample": sample, "temperature": temperature}
        chosen = {name: value for name, value in given.items() if value is not None}
        if chosen and not any(map(is_model, sources)):
            name, value = next(iter(chosen.items()))
            raise InputError(
                f"--{name} {value} is for models that write (run:DIR, hf:PATH), and {sources[0]} is none; leave it out"
            )
        return cls(**chosen, seed=seed)  # pyright: ignore[reportArgumentType]

    def write(self, source: str, progress: Progress) -> Sequence:
        """What the model writes, as one sequence of characters, a document for each of its texts."""
        check_models("sampling")
        from memspan.sampling import Choice
        from memspan.training.supervised.generation import sampled_sequence

        choice = Choice(temperature=self.temperature)
        return sampled_sequence(source, self.sample, choice=choice, seed=self.seed, progress=progress)


@final
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read; every field is the option of its name (`symbols` is `--as`)."""

    symbols: str | None = None
    documents: str | None = None
    column: str | None = None
    key: str | None = None
    transform: str = "none"
    levels: int | None = None
    missing: str = "error"
    sampling: Sampling = Sampling()

    def read(self, sources: list[str], progress: Progress) -> Sequence:
        """The symbols of all sources as one sequence."""
        from memspan.sequences import read

        model = next((source for source in sources if is_model(source)), None)
        if model is not None:
            self._check_model(model, sources)
            return self.sampling.write(model, progress)

        sequence = read(
            sources,
            symbols=self.symbols,
            documents=self.documents,
            column=self.column,
            key=self.key,
            transform=self.transform,
            levels=_LEVELS if self.levels is None else self.levels,
            missing=self.missing,
            progress=progress,
        )
        return replace(sequence, paths=tuple(map(_readable, sequence.paths)))

    def check_effect(self, sources: list[str], sequences: list[Sequence]) -> None:
        """Refuse options of reading that changed nothing in any of the sequences."""
        kinds = {sequence.symbols.split(":", 1)[0] for sequence in sequences}
        if self.levels is not None and "numbers" not in kinds:
            raise InputError(
                f"--levels {self.levels} is for numbers, and {_readable(sources[0])} is read as {sequences[0].symbols}; "
                "use --as numbers or leave it out"
            )
        if self.documents in (None, "file") or any(map(is_model, sources)):
            return
        from memspan.sequences.readers.inputs import open_inputs

        _, inputs = open_inputs(sources)
        if sum(sequence.n_documents for sequence in sequences) <= len(inputs):
            raise InputError(
                f"--documents {self.documents!r} cuts nothing: {_readable(sources[0])} has no such place between two "
                "documents; choose another separator or leave it out"
            )

    def _check_model(self, model: str, sources: list[str]) -> None:
        """A model is a source by itself, and what it writes is measured as characters."""
        if len(sources) > 1:
            raise InputError(
                f"{model} is a model and cannot be read together with other sources; "
                "to set them side by side, use memspan compare NAME=SOURCE …"
            )
        plain = Reading(symbols="chars" if self.symbols else None, sampling=self.sampling)
        if self != plain:
            raise InputError(
                f"{model} is measured as the characters it writes, each text a document; for other symbols save a sample "
                f"(memspan sample {model} --save FILE) and measure the file"
            )


_LEVELS = 4
"""Bins of numbers where no --levels is given."""


def paths_of(sources: list[str]) -> tuple[str, ...]:
    """The paths that the result of these sources holds, known before anything is read.

    >>> paths_of(["novel.txt", "-"])
    ('novel.txt', 'standard input')
    """
    from memspan.sequences.readers.inputs import expand_paths

    return tuple(_readable(name) for source in sources for name in expand_paths(source))


def is_model(source: str) -> bool:
    """
    >>> is_model("run:runs/characters-lstm-1"), is_model("novel.txt")
    (True, False)
    """
    return source.startswith(MODELS)


def joined_note(sources: list[str]) -> tuple[str, ...]:
    """What to know where one sequence came from several files, or nothing.

    >>> joined_note(["a.txt"])
    ()
    """
    folder = next((source for source in sources if Path(source).is_dir()), None)
    if len(sources) > 1:
        what = f"{len(sources)} sources were"
    elif folder is not None:
        what = f"the files of {_readable(folder)} were"
    else:
        return ()
    return (
        f"{what} read as documents of one sequence; to set them side by side, use memspan compare NAME=FILE …",
    )


def load_counts(sources: list[str]) -> PairCounts | None:
    """Counts files put together; None if the sources are not counts."""
    counted = [source for source in sources if source.endswith(".counts")]
    folder = next((source for source in sources if any(Path(source).glob("*.counts"))), None)
    if folder is not None:
        raise InputError(f"{folder} is a folder of counts; to measure them give its files, {folder}/*.counts")
    if not counted:
        return None
    if len(counted) < len(sources):
        other = next(source for source in sources if source not in counted)
        raise InputError(
            f"{counted[0]} holds counts and {other} does not; give counts only, or count the rest with --counts-only"
        )
    from memspan.information import assemble

    return assemble(counted)


def chosen_lags(lags: str | None, max_lag: int | None, longest: int) -> NDArray[np.int64]:
    """The lags that `--lags` and `--max-lag` ask for, of a sequence whose longest document is known."""
    from memspan.information import default_lags, parse_lags

    if lags is None:
        return default_lags(longest, max_lag)
    if max_lag is None:
        return parse_lags(lags, longest)
    if lags != "all":
        raise InputError(
            f"--lags {lags} names the lags, so --max-lag {max_lag} has nothing to say; leave one of them out"
        )
    return parse_lags(f"1:{max_lag}", longest)


def _readable(path: str) -> str:
    """A name that can be printed, also where its bytes are not UTF-8."""
    return "standard input" if path == "-" else os.fsencode(path).decode("utf-8", "backslashreplace")
