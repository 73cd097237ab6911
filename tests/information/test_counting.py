"""Pair counts of whole sequences: blocks, pieces, documents, shards, merging, saving."""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspan.errors import CorruptError, InputError, MemspanError
from memspan.information import PairCounts, assemble, count_pairs
from memspan.information.blocks import block_count, cut_blocks, lag_groups, pieces
from memspan.information.counting import Counter
from memspan.information.counts import load_counts
from memspan.information.null import FEWEST_DRAWS
from memspan.progress import SILENT
from memspan.sequences import Disk, Sequence

documents = st.lists(st.text("abcde", min_size=1, max_size=80), min_size=1, max_size=12).filter(
    lambda parts: len(set("".join(parts))) > 1 and max(map(len, parts)) > 3
)


def plain_joint(sequence: Sequence, lag: int) -> np.ndarray:
    """The oracle: pairs within each document."""
    size = len(sequence.alphabet)
    table = np.zeros((size, size), np.int64)
    for document in sequence.documents():
        np.add.at(table, (document[:-lag], document[lag:]) if lag < len(document) else ([], []), 1)
    return table


@settings(max_examples=60, deadline=None)
@given(documents)
def test_pairs_never_cross_a_document_boundary(parts: list[str]) -> None:
    sequence = Sequence.from_documents(parts)
    lags = list(range(1, sequence.longest))
    counts = count_pairs(sequence, lags, workers=1)
    for lag in lags:
        np.testing.assert_array_equal(counts.joint(lag), plain_joint(sequence, lag))
    assert counts.length == sequence.length
    assert counts.documents == len(parts)
    assert counts.frequencies.tolist() == np.bincount(np.concatenate(list(sequence.documents()))).tolist()


@settings(max_examples=30, deadline=None)
@given(documents, documents)
def test_counts_of_two_parts_add_up_to_the_counts_of_both(first: list[str], second: list[str]) -> None:
    lags = [1, 2, 3]
    parts = [Sequence.from_documents(d) for d in (first, second)]
    both = Sequence.from_documents([*first, *second])
    counted = [count_pairs(part, lags, null="independent", workers=1) for part in parts]
    together = counted[0] + counted[1]
    assert together.alphabet == both.alphabet
    for lag in lags:
        np.testing.assert_array_equal(together.joint(lag), plain_joint(both, lag))
        np.testing.assert_array_equal((counted[1] + counted[0]).joint(lag), together.joint(lag))


def test_small_pieces_on_disk_and_workers_do_not_change_the_counts(tmp_path: Path) -> None:
    symbols = np.random.default_rng(0).integers(0, 7, 50_000).astype(np.uint8)
    memory = Sequence.from_documents([symbols])
    (tmp_path / "raw").write_bytes(symbols.tobytes())
    disk = Sequence(Disk(tmp_path / "raw", np.dtype(np.uint8), len(symbols)), memory.offsets, memory.alphabet)
    a = count_pairs(memory, [1, 5, 400], workers=1)
    b = count_pairs(disk, [1, 5, 400], workers=3)
    for lag in (1, 5, 400):
        np.testing.assert_array_equal(a.joint(lag), b.joint(lag))
    assert a.null.draws.keys() == b.null.draws.keys()
    for place, table in a.null.draws.items():
        np.testing.assert_array_equal(table.cells, b.null.draws[place].cells)


def test_documents_on_disk_have_the_same_null_as_in_memory(tmp_path: Path) -> None:
    parts = [np.random.default_rng(k).integers(0, 5, 30 + k).astype(np.uint8) for k in range(60)]
    memory = Sequence.from_documents(parts)
    raw = np.concatenate(list(memory.documents()))
    (tmp_path / "raw").write_bytes(raw.tobytes())
    disk = Sequence(Disk(tmp_path / "raw", raw.dtype, len(raw)), memory.offsets, memory.alphabet)
    a, b = (count_pairs(s, [1, 20], null="blocks") for s in (memory, disk))
    for place, table in a.null.draws.items():
        np.testing.assert_array_equal(table.cells, b.null.draws[place].cells)


def test_words_are_counted_sparsely_and_merge_over_alphabets() -> None:
    generator = np.random.default_rng(4)
    texts = [[f"w{number}" for number in generator.zipf(1.3, 20_000) % 3000] for _ in range(2)]
    parts = [Sequence.from_documents([text]) for text in texts]
    assert min(len(part.alphabet) for part in parts) > 1024
    together = count_pairs(parts[0], [1, 4]) + count_pairs(parts[1], [1, 4])
    both = Sequence.from_documents(texts)
    for lag in (1, 4):
        np.testing.assert_array_equal(together.joint(lag), plain_joint(both, lag))


def test_every_lag_is_counted_spectrally_and_equals_single_lags() -> None:
    symbols = np.random.default_rng(5).integers(0, 6, 60_000)
    whole = count_pairs([symbols], range(1, 3001))
    single = count_pairs([symbols], [1, 1777, 3000])
    for lag in (1, 1777, 3000):
        np.testing.assert_array_equal(whole.joint(lag), single.joint(lag))


def test_blocks_cover_the_sequence_and_are_not_shorter_than_the_largest_lag() -> None:
    sequence = Sequence.from_documents([np.arange(1000) % 7])
    lags = np.array([1, 90])
    blocks = block_count(sequence, lags)
    cuts = cut_blocks(sequence.offsets, blocks)
    assert blocks == 11
    assert cuts[0] == 0
    assert cuts[-1] == 1000
    assert np.diff(cuts).min() >= 90
    covered = [piece for low, high in itertools.pairwise(cuts) for piece in pieces(sequence, low, high, 17)]
    assert [piece.start for piece in covered[1:]] == [piece.stop for piece in covered[:-1]]


def test_cuts_move_to_the_ends_of_documents() -> None:
    offsets = np.array([0, 90, 210, 300])
    assert cut_blocks(offsets, 3).tolist() == [0, 90, 210, 300]


def test_many_lags_of_a_large_alphabet_are_counted_in_groups_that_fit() -> None:
    lags = np.arange(1, 101)
    groups = lag_groups(10_000_000, 500, lags)
    assert len(groups) > 1
    assert np.concatenate(groups).tolist() == lags.tolist()


def test_sixty_lags_of_bytes_stay_within_the_memory_promised() -> None:
    symbols = np.random.default_rng(6).integers(0, 256, 200_000)
    counts = count_pairs([symbols], range(1, 61), null="independent")
    size = sum(table.cells.nbytes for block in counts.blocks for table in block)
    assert size < 250e6


@pytest.mark.parametrize("alphabet", [2, 30, 2000])
def test_counts_survive_saving_and_loading(tmp_path: Path, alphabet: int) -> None:
    symbols = np.random.default_rng(7).integers(0, alphabet, 5000)
    counts = count_pairs([symbols], [1, 2, 50])
    counts.save(tmp_path / "x.counts")
    loaded = PairCounts.load(tmp_path / "x.counts")
    for lag in (1, 2, 50):
        np.testing.assert_array_equal(loaded.joint(lag), counts.joint(lag))
    assert loaded.alphabet == counts.alphabet
    assert loaded.null.draws.keys() == counts.null.draws.keys()
    assert (loaded.documents, loaded.symbols, loaded.notes) == (counts.documents, counts.symbols, counts.notes)


def test_damaged_foreign_and_future_counts_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.counts"
    count_pairs(["abcabcabd" * 30], [1, 2]).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    with pytest.raises(CorruptError, match="checksum"):
        PairCounts.load(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorruptError, match="count again"):
        PairCounts.load(path)
    path.write_text("hello")
    with pytest.raises(CorruptError, match="not a counts file"):
        PairCounts.load(path)
    header = json.dumps({"__metadata__": {"format": "other"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(CorruptError, match="not a counts file of memspan"):
        PairCounts.load(path)
    with pytest.raises(InputError, match="no such file"):
        PairCounts.load(tmp_path / "absent.counts")


def test_counts_of_other_lags_symbols_or_nulls_do_not_add() -> None:
    a = count_pairs(["abcabd" * 30], [1, 2])
    with pytest.raises(InputError, match="different lags"):
        _ = a + count_pairs(["abcabd" * 30], [1, 3])
    with pytest.raises(InputError, match="same --null"):
        _ = a + count_pairs(["abcabd" * 30], [1, 2], null="independent")
    words = Sequence.from_documents([["x", "y"] * 90], symbols="words")
    with pytest.raises(InputError, match="same --as"):
        _ = a + count_pairs(words, [1, 2])


def test_finished_parts_are_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sequence = Sequence.from_documents([np.random.default_rng(8).integers(0, 9, 20_000)])
    whole = count_pairs(sequence, [1, 10])
    calls: list[int] = []
    count_block = Counter._count_block

    def counted(self: Counter, lags: np.ndarray, start: int, *rest: object) -> PairCounts:
        calls.append(start)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return count_block(self, lags, start, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Counter, "_count_block", counted)
    with pytest.raises(KeyboardInterrupt):
        count_pairs(sequence, [1, 10], keep=tmp_path, workers=1)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == [f"block-{number:02d}.counts" for number in range(5)]
    calls[:] = [-1] * 100  # no more interrupts
    again = count_pairs(sequence, [1, 10], keep=tmp_path, workers=1)
    assert len(calls) - 100 == len(again.blocks) - 5
    for lag in (1, 10):
        np.testing.assert_array_equal(again.joint(lag), whole.joint(lag))
    for place, table in whole.null.draws.items():
        np.testing.assert_array_equal(table.cells, again.null.draws[place].cells)


def test_kept_parts_of_other_data_or_damaged_ones_are_counted_again(tmp_path: Path) -> None:
    a, b = (Sequence.from_documents([np.random.default_rng(k).integers(0, 9, 5000)]) for k in (1, 2))
    count_pairs(a, [1, 10], keep=tmp_path)
    counted = count_pairs(b, [1, 10], keep=tmp_path)
    np.testing.assert_array_equal(counted.joint(10), plain_joint(b, 10))
    block = tmp_path / "block-00.counts"
    block.write_bytes(block.read_bytes()[:-3])
    np.testing.assert_array_equal(count_pairs(b, [1, 10], keep=tmp_path).joint(10), plain_joint(b, 10))
    load_counts(block)


def test_parts_of_an_earlier_count_do_not_stay_behind(tmp_path: Path) -> None:
    sequence = Sequence.from_documents([np.random.default_rng(3).integers(0, 9, 5000)])
    (tmp_path / "mine.counts").write_text("a file of somebody else")
    count_pairs(sequence, [1, 2], keep=tmp_path)
    assert len(list(tmp_path.glob("block-*"))) == 64
    count_pairs(sequence, [1, 1000], keep=tmp_path)
    assert len(list(tmp_path.glob("block-*"))) == 5
    assert (tmp_path / "mine.counts").exists()


def test_kept_parts_can_be_merged_by_hand(tmp_path: Path) -> None:
    sequence = Sequence.from_documents([np.random.default_rng(9).integers(0, 3, 5000)])
    whole = count_pairs(sequence, [1, 10], keep=tmp_path)
    parts = [PairCounts.load(path) for path in sorted(tmp_path.iterdir())]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    np.testing.assert_array_equal(merged.joint(10), whole.joint(10))
    assert merged.length == 5000
    assert len(merged.null.draws) >= FEWEST_DRAWS


def test_a_stopped_counter_ends_at_once() -> None:
    counter = Counter.of(["abcd" * 500], [1], null="auto", seed=0, workers=1, keep=None, progress=SILENT)
    counter.stop.set()
    with pytest.raises(MemspanError, match="stopped"):
        list(counter.groups())


@pytest.mark.parametrize(
    ("data", "lags", "message"),
    [
        (["aaaa"], [1], "one symbol only"),
        (["abab"], [0], "below 1"),
        (["abab"], [-3], "below 1"),
        (["abab" * 10], [40], "longer than the longest document"),
        (["abab" * 10], [], "no lags"),
        (["abababab"], None, "too few for two lags"),
        ([], None, "no symbols"),
    ],
)
def test_bad_input_is_told_in_one_line(data: list[str], lags: list[int] | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        count_pairs(data, lags)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("alphabet", "documents"), [(1000, 500), (60, 1)])
def test_groups_of_lags_share_their_blocks(alphabet: int, documents: int) -> None:
    """Large alphabets are counted a few lags at a time; the jackknife needs the same blocks for all of them."""
    symbols = np.random.default_rng(0).integers(0, alphabet, (documents, 20_000 // documents))
    lags = range(1, 5001) if documents == 1 else None
    counter = Counter.of(list(symbols), lags, null="auto", seed=0, workers=2, keep=None, progress=SILENT)
    groups = lag_groups(20_000, alphabet, counter.lags)
    assert len(groups) > 1 or documents > 1
    assert len({len(counts.blocks) for counts in counter.groups() if counts.blocks}) == 1


def test_parts_of_a_run_are_put_together_only_if_they_are_all_there_once(tmp_path: Path) -> None:
    sequence = Sequence.from_documents([np.random.default_rng(1).integers(0, 4, 5000)])
    whole = count_pairs(sequence, [1, 10], keep=tmp_path)
    files = sorted(tmp_path.iterdir())
    together = assemble(files)
    np.testing.assert_array_equal(together.joint(10), whole.joint(10))
    assert together.null.draws.keys() == whole.null.draws.keys()
    with pytest.raises(InputError, match=r"1 are missing \(block-03\)"):
        assemble([file for file in files if file.stem != "block-03"])
    with pytest.raises(InputError, match="given twice"):
        assemble([*files, files[0]])


def test_runs_of_different_data_add_up_and_other_lags_are_refused(tmp_path: Path) -> None:
    parts = [Sequence.from_documents([np.random.default_rng(k).integers(0, 4, 5000)]) for k in (1, 2)]
    for name, part in zip("ab", parts, strict=True):
        count_pairs(part, [1, 10], keep=tmp_path / name)
    together = assemble([*(tmp_path / "a").iterdir(), *(tmp_path / "b").iterdir()])
    np.testing.assert_array_equal(together.joint(10), sum(plain_joint(part, 10) for part in parts))
    assert together.length == 10_000
    count_pairs(parts[0], [1, 9], keep=tmp_path / "c")
    with pytest.raises(InputError, match="different lags"):
        assemble([*(tmp_path / "a").iterdir(), *(tmp_path / "c").iterdir()])


def test_nulls_of_different_classes_add_up_class_by_class() -> None:
    """Equal documents need one null, documents near the largest lag several; their sum has all classes of both."""
    generator = np.random.default_rng(2)
    a = count_pairs([generator.integers(0, 2, 20_000) for _ in range(60)], [1, 300])
    b = count_pairs([generator.integers(0, 2, 400) for _ in range(60)], [1, 300])
    both = (a + b).null
    assert a.null.lags.tolist() == [1]
    assert both.lags.tolist() == b.null.lags.tolist() == [1, 300]
    pairs = [int(null.draws[300, 0].cells.sum()) for null in (both, b.null)]
    assert pairs[0] == pairs[1] + int(a.null.draws[1, 0].cells.sum())


@pytest.mark.parametrize(
    "change",
    [
        {"block.0.keys": np.array([5, -1, 3], np.int64)},
        {"block.0.keys": np.array([10**9], np.int64)},
        {"lags": np.array([[1, 2]], np.int64)},
        {"lags": np.array([0, 1], np.int64)},
        {"frequencies": np.array([1], np.int64)},
        {"block.0.cells": np.array([0.5, 1.5])},
    ],
)
def test_hostile_counts_files_are_refused(tmp_path: Path, change: dict[str, np.ndarray]) -> None:
    from safetensors import safe_open
    from safetensors.numpy import save_file

    from memspan.information.counts import _checksum

    path = tmp_path / "x.counts"
    count_pairs([np.arange(6000) % 2000], [1, 2], null="independent").save(path)
    with safe_open(path, framework="np") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    tensors |= change
    save_file(tensors, path, {**metadata, "checksum": _checksum(metadata["about"], tensors)})
    with pytest.raises(CorruptError, match="count again"):
        PairCounts.load(path)


def test_labels_that_json_cannot_hold_are_told() -> None:
    counts = count_pairs([[b"a", b"b"] * 50], [1])
    with pytest.raises(InputError, match="cannot be saved"):
        counts.save("never-written.counts")


def test_tuples_of_tuples_survive_saving(tmp_path: Path) -> None:
    counts = count_pairs([[(1, (2, 3)), (4, (5, 6))] * 50], [1])
    counts.save(tmp_path / "x.counts")
    assert PairCounts.load(tmp_path / "x.counts").alphabet == ((1, (2, 3)), (4, (5, 6)))
