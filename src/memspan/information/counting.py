"""`count_pairs`: every pair of every lag, counted exactly, in parallel, and never twice.

Work is cut into tasks: one per block of the sequence, and a few for the draws of the null. A task's result is itself a
`PairCounts`; with `keep` it is written to its own file as soon as it is finished, and read from there the next time.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.engines import Threads, available_cores
from memspan.errors import CorruptError, InputError, MemspanError
from memspan.information.blocks import block_count, cut_blocks, lag_groups, pieces
from memspan.information.counts import NullCounts, PairCounts, merge
from memspan.information.counts_file import load_counts, save_counts
from memspan.information.kernels import Kernel, Runs, Table, choose, spectral
from memspan.information.kernels.kernel import Accumulator
from memspan.information.lags import checked_lags, default_lags
from memspan.information.null import NullPlan, null_runs, plan_null
from memspan.progress import SILENT, Progress, Stage
from memspan.sequences import Memory, Sequence

DRAWS_PER_TASK = 4
SPECTRAL_PIECE = 1 << 22
PART_NAME = re.compile(r"(\d{3}-)?(block|null)-\d+\.counts")

Task = tuple[str, Callable[[Stage], PairCounts]]


def count_pairs(
    sequence: Sequence | Iterable[Any],
    lags: Iterable[int] | None = None,
    *,
    null: str = "auto",
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> PairCounts:
    """How often symbol b follows symbol a at each lag, with the tables of the null.

    `lags` are 1-16, then 12 per decade, unless told. `keep` is a folder for finished parts, so that a killed count goes
    on where it was. The kernel is chosen by alphabet and lags; all give the same integers.
    """
    counter = Counter.of(sequence, lags, null=null, seed=seed, workers=workers, keep=keep, progress=progress)
    counts = counter.count(counter.lags, with_null=True)
    counter._forget_others()
    return counts


@final
@dataclass(frozen=True, eq=False)
class Counter:
    """All that is decided before counting begins."""

    sequence: Sequence
    lags: NDArray[np.int64]
    plan: NullPlan
    workers: int
    keep: Path | None
    progress: Progress
    stop: threading.Event = field(default_factory=threading.Event)
    own: set[str] = field(default_factory=set)
    """Names of the parts that belong to this count."""
    said: set[str] = field(default_factory=set)
    """Remarks made already."""

    @classmethod
    def of(
        cls,
        sequence: Sequence | Iterable[Any],
        lags: Iterable[int] | None,
        *,
        null: str,
        seed: int | np.random.Generator,
        workers: int | None,
        keep: Path | None,
        progress: Progress,
    ) -> Counter:
        """Check what was given and decide the rest."""
        if not isinstance(sequence, Sequence):
            sequence = Sequence.from_documents(sequence)
        if len(sequence.alphabet) < 2:
            raise InputError(
                f"the sequence has one symbol only ({next(iter(sequence.alphabet), '')!r}), so nothing depends on anything; "
                "give data with at least two different symbols"
            )
        longest = sequence.longest
        chosen = default_lags(longest) if lags is None else checked_lags(lags, longest)
        number = int(seed.integers(2**63)) if isinstance(seed, np.random.Generator) else seed
        plan = plan_null(sequence, chosen, null, number)
        return cls(sequence, chosen, plan, workers or available_cores(), keep, progress)

    def groups(self) -> Iterator[PairCounts]:
        """Counts of as many lags at a time as fit the memory set aside; the null comes with the first."""
        groups = lag_groups(self.sequence.length, len(self.sequence.alphabet), self.lags)
        for number, lags in enumerate(groups):
            yield self.count(lags, with_null=number == 0, name=f"{number:03d}-" if len(groups) > 1 else "")
        self._forget_others()

    def count(self, lags: NDArray[np.int64], *, with_null: bool, name: str = "") -> PairCounts:
        """Counts of these lags."""
        kernel = choose(len(self.sequence.alphabet))
        kernel.warm_up(self.sequence.store.read(0, 1).dtype, self.progress)
        tasks = [(name + task, work) for task, work in self._block_tasks(lags)]
        if with_null and self.plan.kind != "independent":
            tasks += self._null_tasks(lags)
        total = self.sequence.length * len(lags)
        with self.progress.stage(f"counting {len(lags)} lags", total) as stage:
            try:
                results = Threads(self.workers).map(lambda task: self._finish(task, lags, stage), tasks)
            except BaseException:
                self.stop.set()
                raise
        return merge(results)

    def _finish(self, task: Task, lags: NDArray[np.int64], stage: Stage) -> PairCounts:
        """The result of a task: from its file if it was finished before, else counted and kept."""
        name, work = task
        if self.keep is None:
            return work(stage)
        self.own.add(f"{name}.counts")
        path, key = self.keep / f"{name}.counts", self._key(name, lags)
        finished = self._finished(path, key)
        if finished is None:
            finished = work(stage)
            save_counts(finished, path, key)
        return finished

    def _finished(self, path: Path, key: str) -> PairCounts | None:
        """What an earlier run left at `path`, if it is whole and of the same data."""
        if not path.exists():
            return None
        try:
            counts, found = load_counts(path)
        except CorruptError as error:
            self._say_once(f"{str(error).split(';')[0]}: counting again")
            return None
        if found != key:
            self._say_once(f"{path.parent} has counts of other data or options: counting again")
            return None
        return counts

    def _say_once(self, remark: str) -> None:
        if remark not in self.said:
            self.said.add(remark)
            self.progress.say(remark)

    def _forget_others(self) -> None:
        """Remove parts that an earlier count of other data or options left, so that no one adds them to these."""
        if self.keep is not None:
            for path in self.keep.glob("*.counts"):
                if path.name not in self.own and PART_NAME.fullmatch(path.name):
                    path.unlink()

    def _key(self, name: str, lags: NDArray[np.int64]) -> str:
        plan = self.plan
        null = (plan.kind, plan.lags.tolist(), plan.seed, plan.share, plan.largest, plan.draws)
        what = (self._fingerprint, name, lags.tolist(), null)
        return hashlib.sha256(repr(what).encode()).hexdigest()

    @functools.cached_property
    def _fingerprint(self) -> str:
        return self.sequence.fingerprint()

    def _block_tasks(self, lags: NDArray[np.int64]) -> list[Task]:
        sequence = self.sequence
        blocks = block_count(sequence, lags)
        cuts = cut_blocks(sequence.offsets, blocks).tolist()
        return [
            (f"block-{number:02d}", functools.partial(self._count_block, lags, start, stop))
            for number, (start, stop) in enumerate(itertools.pairwise(cuts))
        ]

    def _count_block(self, lags: NDArray[np.int64], start: int, stop: int, stage: Stage) -> PairCounts:
        sequence = self.sequence
        size = len(sequence.alphabet)
        frequencies = np.zeros(size, np.int64)
        for low in range(start, stop, SPECTRAL_PIECE):
            symbols = sequence.store.read(low, min(low + SPECTRAL_PIECE, stop))
            frequencies += np.bincount(symbols, minlength=size)
        if spectral.worthwhile(size, lags, sequence.longest):
            tables = self._spectral_tables(lags, start, stop, stage)
        else:
            tables = self._tables(choose(size), lags, start, stop, stage)
        documents = int(np.sum((sequence.offsets[:-1] >= start) & (sequence.offsets[:-1] < stop)))
        return self._result(lags, (tuple(tables),), {}, frequencies, documents)

    def _tables(
        self, kernel: Kernel, lags: NDArray[np.int64], start: int, stop: int, stage: Stage
    ) -> list[Table]:
        accumulator = kernel.accumulator(len(lags))
        size = max(kernel.piece, 8 * int(lags[-1]))
        for piece in pieces(self.sequence, start, stop, size):
            symbols = self.sequence.store.read(piece.start, piece.needed(int(lags[-1])))
            prepared = kernel.prepare(symbols)
            for slot, lag in enumerate(lags.tolist()):
                self._check_stop()
                accumulator.add(slot, prepared, prepared, piece.runs(lag))
                stage.advance(piece.stop - piece.start)
        return accumulator.tables()

    def _spectral_tables(self, lags: NDArray[np.int64], start: int, stop: int, stage: Stage) -> list[Table]:
        most, size = int(lags[-1]), len(self.sequence.alphabet)
        cells = np.zeros((len(lags), size**2), np.uint32)
        for piece in pieces(self.sequence, start, stop, max(SPECTRAL_PIECE, 8 * most)):
            self._check_stop()
            symbols = self.sequence.store.read(piece.start, piece.needed(most))
            cells += spectral.count_every_lag(symbols, piece.segments - piece.start, size, most)[lags]
            stage.advance((piece.stop - piece.start) * len(lags))
        return [Table(None, row) for row in cells]

    def _null_tasks(self, lags: NDArray[np.int64]) -> list[Task]:
        kernel = choose(len(self.sequence.alphabet))
        store = self.sequence.store
        whole = kernel.prepare(store.symbols) if isinstance(store, Memory) else None
        return [
            (f"null-{first:02d}", functools.partial(self._count_null, lags, kernel, whole, first))
            for first in range(0, self.plan.draws, DRAWS_PER_TASK)
        ]

    def _count_null(
        self, lags: NDArray[np.int64], kernel: Kernel, whole: Any, first: int, stage: Stage
    ) -> PairCounts:
        del stage  # a small part of the work, not counted in the total
        places = [
            (lag, draw) for lag in self.plan.lags.tolist() for draw in range(first, first + DRAWS_PER_TASK)
        ]
        accumulator = kernel.accumulator(len(places))
        for slot, (lag, draw) in enumerate(places):
            self._check_stop()
            runs = null_runs(self.sequence, self.plan, lag, draw, kernel.piece)
            if whole is not None:
                accumulator.add(slot, whole, whole, runs)
            else:
                self._add_from_disk(accumulator, slot, kernel, runs)
        draws = dict(zip(places, accumulator.tables(), strict=True))
        return self._result(lags, (), draws, np.zeros(len(self.sequence.alphabet), np.int64), 0)

    def _add_from_disk(self, accumulator: Accumulator, slot: int, kernel: Kernel, runs: Runs) -> None:
        """Runs of a sequence that is not in memory: read as many at a time as make a piece."""
        group = np.cumsum(runs.n) // kernel.piece
        for number in range(int(group[-1]) + 1):
            here = np.flatnonzero(group == number)
            self._check_stop()
            x, y = (self._gather(starts[here], runs.n[here]) for starts in (runs.x, runs.y))
            starts = np.cumsum(runs.n[here]) - runs.n[here]
            accumulator.add(slot, kernel.prepare(x), kernel.prepare(y), Runs(starts, starts, runs.n[here]))

    def _gather(self, starts: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[Any]:
        parts = [self.sequence.store.read(int(s), int(s + m)) for s, m in zip(starts, n, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def _result(
        self,
        lags: NDArray[np.int64],
        blocks: tuple[tuple[Table, ...], ...],
        draws: dict[tuple[int, int], Table],
        frequencies: NDArray[np.int64],
        documents: int,
    ) -> PairCounts:
        sequence, plan = self.sequence, self.plan
        notes = (*sequence.notes, plan.note) if plan.note else sequence.notes
        null = NullCounts(plan.kind, plan.seed, draws)
        return PairCounts(
            lags,
            sequence.alphabet,
            blocks,
            null,
            frequencies,
            documents,
            sequence.symbols,
            sequence.paths,
            notes,
        )

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise MemspanError("counting was stopped")
