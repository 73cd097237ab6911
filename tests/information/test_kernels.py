"""Every kernel against the plain definition: count pairs one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspan.information.kernels import Runs, choose_kernel, spectral
from memspan.information.kernels.bits import Bits
from memspan.information.kernels.dense import Dense
from memspan.information.kernels.kernel import Kernel, PairTable
from memspan.information.kernels.sparse import Sparse, union
from memspan.sequences.store import narrow_dtype


def plain_counts(x: np.ndarray, y: np.ndarray, runs: Runs, alphabet: int) -> np.ndarray:
    """The oracle: a loop over pairs."""
    table = np.zeros((alphabet, alphabet), np.int64)
    for i, j, n in zip(runs.x.tolist(), runs.y.tolist(), runs.n.tolist(), strict=True):
        for t in range(n):
            table[x[i + t], y[j + t]] += 1
    return table


def dense_form(table: PairTable, alphabet: int) -> np.ndarray:
    if table.keys is None:
        return table.cells.reshape(alphabet, alphabet).astype(np.int64)
    cells = np.zeros(alphabet**2, np.int64)
    np.add.at(cells, table.keys, table.cells.astype(np.int64))
    return cells.reshape(alphabet, alphabet)


@st.composite
def symbols_and_runs(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray, Runs]:
    alphabet = draw(st.integers(2, 6))
    x, y = (
        np.array(draw(st.lists(st.integers(0, alphabet - 1), min_size=1, max_size=300)), narrow_dtype(alphabet))
        for _ in range(2)
    )
    starts, partners, lengths = [], [], []
    position = 0
    while position < len(x) and draw(st.booleans()):
        j = draw(st.integers(0, len(y) - 1))
        n = draw(st.integers(0, min(len(x) - position, len(y) - j)))
        starts.append(position)
        partners.append(j)
        lengths.append(n)
        position += n + draw(st.integers(0, 3))
    return alphabet, x, y, Runs(*(np.array(values, np.int64) for values in (starts, partners, lengths)))


@settings(max_examples=60, deadline=None)
@given(symbols_and_runs())
def test_every_kernel_counts_what_a_plain_loop_counts(case: tuple[int, np.ndarray, np.ndarray, Runs]) -> None:
    alphabet, x, y, runs = case
    expected = plain_counts(x, y, runs, alphabet)
    kernels: list[Kernel] = [Dense(alphabet), Sparse(alphabet)]
    if alphabet <= 4:
        kernels.append(Bits(alphabet))
    for kernel in kernels:
        accumulator = kernel.accumulator(2)
        accumulator.add(1, kernel.prepare(x), kernel.prepare(y), runs)
        empty, counted = accumulator.tables()
        assert not dense_form(empty, alphabet).any()
        np.testing.assert_array_equal(dense_form(counted, alphabet), expected, err_msg=repr(kernel))


def test_counting_twice_doubles_every_cell() -> None:
    x = np.random.default_rng(0).integers(0, 4, 1000).astype(np.uint8)
    runs = Runs(np.array([0]), np.array([7]), np.array([993]))
    for kernel in (Bits(4), Dense(4), Sparse(4)):
        accumulator = kernel.accumulator(1)
        prepared = kernel.prepare(x)
        for _ in range(2):
            accumulator.add(0, prepared, prepared, runs)
        np.testing.assert_array_equal(
            dense_form(accumulator.tables()[0], 4), 2 * plain_counts(x, x, runs, 4), err_msg=repr(kernel)
        )


def test_words_beyond_sixteen_bits_are_counted() -> None:
    alphabet = 70_000
    generator = np.random.default_rng(1)
    x = generator.integers(0, alphabet, 2000).astype(np.uint32)
    kernel = Sparse(alphabet)
    accumulator = kernel.accumulator(1)
    prepared = kernel.prepare(x)
    accumulator.add(0, prepared, prepared, Runs(np.array([0]), np.array([3]), np.array([1997])))
    table = accumulator.tables()[0]
    expected = Counter(zip(x[:-3].tolist(), x[3:].tolist(), strict=True))
    assert table.keys is not None
    found = {
        (key // alphabet, key % alphabet): count
        for key, count in zip(table.keys.tolist(), table.cells.tolist(), strict=True)
    }
    assert found == dict(expected)


def test_pairs_beyond_sixteen_bits_are_counted() -> None:
    x = np.zeros(200_000, np.uint16)
    x[::1000] = 1500
    kernel = Sparse(2000)
    accumulator, prepared = kernel.accumulator(1), kernel.prepare(x)
    accumulator.add(0, prepared, prepared, Runs(np.array([0]), np.array([1]), np.array([199_999])))
    found = dense_form(accumulator.tables()[0], 2000)
    assert found[0, 0] == np.sum((x[:-1] == 0) & (x[1:] == 0)) > 1 << 16
    assert found.sum() == 199_999


def test_union_puts_sparse_tables_on_common_keys() -> None:
    a, b = (PairTable(np.array([5, 1, 7]), np.array([1, 2, 3])), PairTable(np.array([4, 5]), np.array([10, 20])))
    # Rows of three symbols: keys 0-2, 3-5, 6-8 come row by row, in any order within a row.
    a = PairTable(np.array([1, 5, 7]), np.array([2, 1, 3]))
    keys, cells = union([a, b], 3)
    assert dict(zip(keys.tolist(), cells.T.tolist(), strict=True)) == {1: [2, 0], 5: [1, 20], 4: [0, 10], 7: [3, 0]}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=5),
    st.integers(2, 5),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
def test_spectral_counts_equal_one_pass_per_lag(lengths: list[int], alphabet: int, most: int, seed: int) -> None:
    ends = np.cumsum(lengths)
    x = np.random.default_rng(seed).integers(0, alphabet, int(ends[-1])).astype(np.uint8)
    rows = [(end - n, end - n // 3, end) for n, end in zip(lengths, ends.tolist(), strict=True)]
    segments = np.array(rows, np.int64)
    counted = spectral.count_every_lag(x, segments, alphabet, most)
    for lag in {0, 1, most // 2, most}:
        begin, end, limit = segments.T
        n = np.maximum(np.minimum(end, limit - lag) - begin, 0)
        expected = plain_counts(x, x, Runs(begin, begin + lag, n), alphabet)
        np.testing.assert_array_equal(counted[lag].reshape(alphabet, alphabet), expected)


def test_spectral_stays_exact_over_many_windows() -> None:
    x = np.random.default_rng(3).choice(5, 200_000, p=[0.8, 0.1, 0.05, 0.03, 0.02]).astype(np.uint8)
    counted = spectral.count_every_lag(x, np.array([[0, len(x), len(x)]]), 5, 1500)
    for lag in (1, 700, 1500):
        pairs = x[:-lag].astype(np.int64) * 5 + x[lag:]
        np.testing.assert_array_equal(counted[lag], np.bincount(pairs, minlength=25))


@pytest.mark.parametrize(("alphabet", "kind"), [(2, Bits), (4, Bits), (5, Dense), (1024, Dense), (1025, Sparse)])
def test_the_alphabet_decides_the_kernel(alphabet: int, kind: type[Kernel]) -> None:
    assert type(choose_kernel(alphabet)) is kind
