"""`count_pairs`: every pair of every lag, counted exactly, in parallel, and never twice.

Work is cut into tasks: one per block of the sequence, and a few for the draws of the null. A task's result is itself a
`PairCounts`; with `keep` it is written to its own file as soon as it is finished, and read from there the next time.
"""

from __future__ import annotations

import dataclasses
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
from memspan.information.counts import NullCounts, Origin, PairCounts, join_lags, load_counts, merge, save_counts
from memspan.information.kernels import LARGEST_DENSE, Kernel, PairTable, Runs, choose_kernel, spectral
from memspan.information.kernels.kernel import Accumulator
from memspan.information.lags import chosen_lags
from memspan.information.null import NullPlan, null_runs, part_of, plan_null
from memspan.information.tables import narrow_table
from memspan.progress import SILENT, Progress, Stage
from memspan.sequences import Memory, Sequence

DRAWS_PER_TASK = 4
# Cells of the tables of the null that are in memory at the same time, unless single tasks need more.
NULL_CELLS = 1 << 25
SPECTRAL_PIECE = 1 << 22


@final
@dataclass(frozen=True, eq=False)
class CountTask:
    """A part of the work: its name, what it depends on besides the data, its pairs, and how it is done."""

    name: str
    what: object
    pairs: float
    work: Callable[[Stage], PairCounts]


def count_pairs(
    sequence: Sequence | Iterable[Any],
    lags: int | str | Iterable[int] | None = None,
    *,
    symbols: str | None = None,
    null: str = "auto",
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> PairCounts:
    """How often symbol b follows symbol a at each lag, with the tables of the null.

    `sequence` is a Sequence or what `Sequence.of` takes, with `symbols` for lists of strings. `lags` are 1-16, then 12 per
    decade: by default up to a tenth of the longest document and 10,000, with an int up to that lag; or a list, or a string
    such as "1:100". `keep` is a folder for finished parts, so that a killed count goes
    on where it was. The kernel is chosen by alphabet and lags; all give the same integers.
    """
    sequence = Sequence.of(sequence, symbols=symbols)
    counter = Counter.of(sequence, lags, null=null, seed=seed, workers=workers, keep=keep, progress=progress)
    groups = list(counter.groups())
    counted, draws = [g for g in groups if g.blocks], [g for g in groups if not g.blocks]
    return join_lags([merge([counted[0], *draws]), *counted[1:]])


@final
@dataclass(frozen=True, eq=False)
class Counter:
    """All that is decided before counting begins."""

    sequence: Sequence
    lags: NDArray[np.int64]
    plan: NullPlan
    cuts: NDArray[np.int64]
    """Where blocks begin and end, the same for all lags."""
    workers: int
    keep: Path | None
    progress: Progress
    replace: bool = True
    """Whether kept parts of other data may be counted over."""
    stop: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of(
        cls,
        sequence: Sequence | Iterable[Any],
        lags: int | str | Iterable[int] | None,
        *,
        null: str,
        seed: int | np.random.Generator,
        workers: int | None,
        keep: Path | None,
        progress: Progress,
        replace: bool = True,
    ) -> Counter:
        """Check what was given and decide the rest."""
        sequence = Sequence.of(sequence)
        if len(sequence.alphabet) < 2:
            raise InputError(
                f"the sequence has one symbol only ({next(iter(sequence.alphabet), '')!r}), so nothing depends on anything; "
                "give data with at least two different symbols"
            )
        longest = sequence.longest
        chosen = chosen_lags(lags, longest)
        number = int(seed.integers(2**63)) if isinstance(seed, np.random.Generator) else seed
        if number < 0:
            raise InputError(f"seed {number} is negative; expected 0 or more")
        cuts = cut_blocks(sequence.offsets, block_count(sequence, chosen))
        plan = plan_null(sequence, chosen, null, number, len(cuts) - 1)
        return cls(
            sequence, chosen, plan, cuts, available_cores() if workers is None else workers, keep, progress, replace
        )

    def groups(self) -> Iterator[PairCounts]:
        """Counts of as many lags at a time as fit the memory set aside, then the draws of the null, some at a time."""
        size = len(self.sequence.alphabet)
        choose_kernel(size).warm_up(self.sequence.store.read(0, 1).dtype, self.progress)
        groups = lag_groups(self.sequence.length, size, self.lags)
        tasks = [self._tasks(lags, f"{number:03d}-" if len(groups) > 1 else "") for number, lags in enumerate(groups)]
        draws = self._null_tasks(groups[0]) if self.plan.draws else []
        store = self._part_store([task.name for task in itertools.chain(*tasks, draws)])
        cells = DRAWS_PER_TASK * len(self.plan.lags) * (size**2 if size <= LARGEST_DENSE else self.sequence.length)
        batch = max(self.workers, NULL_CELLS // cells)
        if len(draws) <= batch:  # all at once keeps all workers busy
            tasks[0], draws = tasks[0] + draws, []
        for lags, group in zip(groups, tasks, strict=True):
            with self._stage(f"counting {len(lags)} lags", group) as stage:
                yield self._count(group, store, stage)
        if draws:
            with self._stage("drawing the null", draws) as stage:
                for first in range(0, len(draws), batch):
                    yield self._count(draws[first : first + batch], store, stage)
        if store is not None:
            store.forget_others()

    def at(self, lags: NDArray[np.int64]) -> Counter:
        """The same count at other lags, in the same blocks, without a null and without being stored."""
        return dataclasses.replace(
            self, lags=lags, plan=dataclasses.replace(self.plan, draws=()), keep=None, stop=threading.Event()
        )

    def _stage(self, name: str, tasks: list[CountTask]) -> Stage:
        return self.progress.stage(name, float(sum(task.pairs for task in tasks)))

    def _part_store(self, names: list[str]) -> PartStore | None:
        if self.keep is None:
            return None
        data = f"{self.sequence.fingerprint()} {self.sequence.symbols}"
        run = hashlib.sha256(repr((data, self.lags.tolist(), names, self._null_key())).encode()).hexdigest()
        return PartStore(self.keep, data, run, tuple(names), self.progress, self.replace)

    def _null_key(self) -> object:
        plan = self.plan
        return plan.kind, plan.lags.tolist(), plan.seed, plan.block, plan.share, plan.draws

    def _count(self, tasks: list[CountTask], store: PartStore | None, stage: Stage) -> PairCounts:
        def finish(task: CountTask) -> PairCounts:
            counts = functools.partial(task.work, stage)
            return counts() if store is None else store.finish(task.name, task.what, counts)

        try:
            return merge(Threads(self.workers).map(finish, tasks))
        except BaseException:
            self.stop.set()
            raise

    def _tasks(self, lags: NDArray[np.int64], prefix: str) -> list[CountTask]:
        return [
            CountTask(
                f"{prefix}block-{number:02d}",
                (lags.tolist(), start, stop),
                (stop - start) * len(lags),
                functools.partial(self._count_block, lags, start, stop),
            )
            for number, (start, stop) in enumerate(itertools.pairwise(self.cuts.tolist()))
        ]

    def _count_block(self, lags: NDArray[np.int64], start: int, stop: int, stage: Stage) -> PairCounts:
        sequence = self.sequence
        size = len(sequence.alphabet)
        frequencies = np.zeros(size, np.int64)
        for low in range(start, stop, SPECTRAL_PIECE):
            symbols = sequence.store.read(low, min(low + SPECTRAL_PIECE, stop))
            frequencies += np.bincount(symbols, minlength=size)
        if spectral.worthwhile(size, lags, np.diff(sequence.offsets)):
            tables = self._spectral_tables(lags, start, stop, stage)
        else:
            tables = self._tables(choose_kernel(size), lags, start, stop, stage)
        documents = int(np.sum((sequence.offsets[:-1] >= start) & (sequence.offsets[:-1] < stop)))
        return self._result(lags, (tuple(tables),), {}, frequencies, documents)

    def _tables(self, kernel: Kernel, lags: NDArray[np.int64], start: int, stop: int, stage: Stage) -> list[PairTable]:
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

    def _spectral_tables(self, lags: NDArray[np.int64], start: int, stop: int, stage: Stage) -> list[PairTable]:
        most, size = int(lags[-1]), len(self.sequence.alphabet)
        cells = np.zeros((len(lags), size**2), np.uint32)
        for piece in pieces(self.sequence, start, stop, max(SPECTRAL_PIECE, 8 * most)):
            self._check_stop()
            symbols = self.sequence.store.read(piece.start, piece.needed(most))
            cells += spectral.count_every_lag(symbols, piece.segments - piece.start, size, most)[lags]
            stage.advance((piece.stop - piece.start) * len(lags))
        return [PairTable(None, row) for row in cells]

    def _null_tasks(self, lags: NDArray[np.int64]) -> list[CountTask]:
        kernel = choose_kernel(len(self.sequence.alphabet))
        store = self.sequence.store
        whole = kernel.prepare(store.symbols) if isinstance(store, Memory) else None
        pairs = round(self.plan.share * self.sequence.length)
        numbers = self.plan.draws
        groups = [numbers[k : k + DRAWS_PER_TASK] for k in range(0, len(numbers), DRAWS_PER_TASK)]
        return [
            CountTask(
                f"null-{number:02d}",
                (self._null_key(), lags.tolist()),
                sum(pairs / part_of(draw)[0] for draw in draws) * len(self.plan.lags),
                functools.partial(self._count_null, lags, kernel, whole, draws),
            )
            for number, draws in enumerate(groups)
        ]

    def _count_null(
        self, lags: NDArray[np.int64], kernel: Kernel, whole: Any, draws: tuple[int, ...], stage: Stage
    ) -> PairCounts:
        places = [(lag, draw) for lag in self.plan.lags.tolist() for draw in draws]
        accumulator = kernel.accumulator(len(places))
        for slot, (lag, draw) in enumerate(places):
            self._check_stop()
            runs = null_runs(self.sequence, self.plan, self.cuts, lag, draw, kernel.piece)
            if whole is not None:
                accumulator.add(slot, whole, whole, runs)
            else:
                self._add_from_disk(accumulator, slot, kernel, runs)
            stage.advance(runs.pairs)
        tables = [narrow_table(table, len(self.sequence.alphabet)) for table in accumulator.tables()]
        drawn = dict(zip(places, tables, strict=True))
        return self._result(lags, (), drawn, np.zeros(len(self.sequence.alphabet), np.int64), 0)

    def _add_from_disk(self, accumulator: Accumulator, slot: int, kernel: Kernel, runs: Runs) -> None:
        """Runs of a sequence that is not in memory: read as many at a time as make a piece."""
        group = np.cumsum(runs.n) // kernel.piece
        ends = np.flatnonzero(np.diff(group, append=-1)) + 1
        for start, stop in itertools.pairwise([0, *ends.tolist()]):
            here = slice(start, stop)
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
        blocks: tuple[tuple[PairTable, ...], ...],
        draws: dict[tuple[int, int], PairTable],
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
            sequence.column,
        )

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise MemspanError("counting was stopped")


PART_NAME = re.compile(r"(\d{3}-)?(block|null)-\d+\.counts")
# Goes up when the same data would be counted differently, so that older parts are not used.
COUNTING = 2


@final
@dataclass(frozen=True, eq=False)
class PartStore:
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
            raise InputError(f"{self.folder} has counts of other data or options; choose another folder with --out")
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
