"""Finished parts of a count on disk: read again instead of counted again, and never mixed with another count's."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from memspan.errors import CorruptError, InputError
from memspan.information.counts import PairCounts
from memspan.information.counts_file import Origin, load_counts, save_counts
from memspan.progress import Progress

PART_NAME = re.compile(r"(\d{3}-)?(block|null)-\d+\.counts")
COUNTING = 2
"""Goes up when the same data would be counted differently, so that older parts are not used."""


@final
@dataclass(frozen=True, eq=False)
class Keeper:
    """A folder for the parts of one run. `data` stands for the sequence, `names` are all parts that make up the run."""

    folder: Path
    data: str
    run: str
    names: tuple[str, ...]
    progress: Progress
    replace: bool = True
    """Whether parts of other data are counted over; if not, they are refused."""
    _said: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def finish(self, name: str, what: object, count: Callable[[], PairCounts]) -> PairCounts:
        """The part of this name: from its file if it was counted before from the same data, else counted and kept.

        `what` stands for everything besides the data that the part depends on.
        """
        path = self.folder / f"{name}.counts"
        key = hashlib.sha256(repr((COUNTING, self.data, name, what)).encode()).hexdigest()
        finished = self._finished(path, key)
        if finished is None:
            finished = count()
            save_counts(finished, path, Origin(key, self.run, name, self.names))
        return finished

    def forget_others(self) -> None:
        """Remove parts that an earlier count of other data or options left, so that no one adds them to these."""
        for path in self.folder.glob("*.counts"):
            if PART_NAME.fullmatch(path.name) and path.stem not in self.names:
                path.unlink()

    def _finished(self, path: Path, key: str) -> PairCounts | None:
        if not path.exists():
            return None
        try:
            counts, origin = load_counts(path)
        except CorruptError as error:
            self._say_once(f"{str(error).split(';')[0]}: counting again")
            return None
        if origin.key != key and not self.replace:
            raise InputError(
                f"{self.folder} has counts of other data or options; choose another folder with --out"
            )
        if origin.key != key:
            self._say_once(f"{path.parent} has counts of other data or options: counting again")
            return None
        if origin.run != self.run:  # the same part of a run with another null or seed
            save_counts(counts, path, Origin(key, self.run, path.stem, self.names))
        return counts

    def _say_once(self, remark: str) -> None:
        with self._lock:
            if remark not in self._said:
                self._said.add(remark)
                self.progress.say(remark)
