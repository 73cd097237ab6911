"""The compiled kernels of a relevance memory: their arithmetic, their cache on disk, and the report of a compilation."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numba.core.dispatcher import Dispatcher

from memspan.cells import CELLS
from memspan.cells.attentive import relevance_kernels
from memspan.cells.attentive.relevance_kernels import SOURCES, build_kernels
from memspan.cells.base.kernels import add_product, source_digest, tanh_row
from memspan.progress import Progress, Silent, Stage


def test_the_tanh_of_the_kernels_is_tanh():
    x = np.concatenate([np.linspace(-12, 12, 200_001), [np.inf, -np.inf]]).astype(np.float32)
    values = np.empty_like(x)
    tanh_row(x, values)
    assert np.abs(values - np.tanh(x.astype(np.float64))).max() < 5e-7


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("inner", [3, 4, 9])
def test_the_product_of_the_kernels_is_the_product(rows, inner):
    draw = np.random.default_rng(0)
    x, matrix, out = draw.normal(size=(7, inner)), draw.normal(size=(inner, 6)), draw.normal(size=(7, 6))
    expected = out.copy()
    expected[1 : 1 + rows] += x[1 : 1 + rows] @ matrix
    add_product(x, matrix, out, 1, 1 + rows)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def parts(function: Any, known: dict[str, Any]) -> dict[str, Any]:
    """All compiled functions that one calls, directly or not, by module and name."""
    for name in function.py_func.__code__.co_names:
        part = function.py_func.__globals__.get(name)
        if isinstance(part, Dispatcher):
            key = f"{part.py_func.__module__}.{name}"
            if key not in known:
                known[key] = part
                parts(part, known)
    return known


def imported(module: Any) -> Iterator[str]:
    """The modules of memspan from which a module imports."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memspan"):
            yield node.module or ""


def test_every_file_that_is_compiled_into_a_kernel_is_a_source():
    used = {}
    for kernel in build_kernels("1"):
        parts(kernel, used)
    own = relevance_kernels.__name__
    assert {f"{own}.store", "memspan.cells.base.kernels.quick_tanh"} <= set(used)
    named = {module.__name__ for module in SOURCES}
    assert {part.py_func.__module__ for part in used.values()} - {own} <= named
    # Constants leave no trace in compiled code, so a module from which a source imports has to be a source itself.
    assert {name for module in SOURCES for name in imported(module)} <= named


def test_only_whole_kernels_are_cached_on_disk():
    used: dict[str, Any] = {}
    for kernel in build_kernels("1"):
        parts(kernel, used)
        assert kernel.stats.cache_path is not None  # type: ignore[attr-defined]
    assert all(part.stats.cache_path is None for part in used.values())


@pytest.mark.parametrize("changed", SOURCES, ids=lambda module: module.__name__.rsplit(".")[-1])
def test_a_change_of_any_source_changes_the_cache_file(changed, monkeypatch):
    relevance_kernels.relevance_kernels.cache_clear()
    try:
        before = cache_file(relevance_kernels.relevance_kernels().forward)
        plain = inspect.getsource

        def source(module: Any) -> str:
            return plain(module).replace(">", ">=") + "\n" if module is changed else plain(module)

        monkeypatch.setattr(inspect, "getsource", source)
        relevance_kernels.relevance_kernels.cache_clear()
        assert cache_file(relevance_kernels.relevance_kernels().forward) != before
    finally:
        relevance_kernels.relevance_kernels.cache_clear()


def cache_file(kernel: Any) -> str:
    return kernel._cache._cache_file._index_name


def test_every_digest_and_direction_has_its_own_cache_file():
    files = {digest: [cache_file(kernel) for kernel in build_kernels(digest)] for digest in ("1", "2")}
    assert files["1"] == [cache_file(kernel) for kernel in build_kernels("1")]
    assert len({*files["1"], *files["2"]}) == 4


def test_digests_differ_by_content_and_by_where_a_text_ends():
    digests = {source_digest(texts) for texts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"])}
    assert len(digests) == 4
    assert source_digest(["ab", "c"]) in digests


def test_nothing_is_compiled_or_loaded_before_it_is_used():
    assert not any(kernel.signatures for kernel in build_kernels("3"))  # type: ignore[attr-defined]
    program = "import sys, memspan.cells.attentive.relevance; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


class Remarks(Progress):
    """Records remarks."""

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        return Silent().stage(name, total, done)

    def say(self, remark: str) -> None:
        self.remarks.append(remark)


@pytest.mark.parametrize("name", CELLS)
def test_only_cells_with_kernels_announce_a_compilation(name, monkeypatch):
    """With a digest that no cache file has; half precision has no kernels."""
    monkeypatch.setattr(relevance_kernels, "relevance_kernels", lambda: build_kernels("never compiled"))
    progress = Remarks()
    CELLS[name](3, 4).announce_compilation(progress)
    announced = ["compiling the kernels of a relevance memory (half a minute), once"]
    assert progress.remarks == (announced if name in ("rel-rnn", "rel-lstm") else [])
    if name.startswith("rel-"):
        CELLS[name](3, 4, dtype=torch.bfloat16).announce_compilation(progress)
        assert progress.remarks == announced


def test_compiled_kernels_are_not_announced():
    cell = CELLS["rel-rnn"](3, 4)
    cell(torch.zeros(1, 1, 3))
    progress = Remarks()
    cell.announce_compilation(progress)
    assert progress.remarks == []
