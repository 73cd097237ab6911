"""What was compiled once is used again as long as all that was compiled into it is the same."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

from memspan.cells.attentive import relevance_kernels
from memspan.cells.attentive.relevance_kernels import SOURCES, build_kernels
from memspan.cells.base.kernels import source_digest


def parts(function: Any, known: dict[str, Any]) -> dict[str, Any]:
    """All compiled functions that one calls, by module and name, those that these call among them."""
    for name in function.py_func.__code__.co_names:
        part = function.py_func.__globals__.get(name)
        if isinstance(part, Dispatcher):
            key = f"{part.py_func.__module__}.{name}"
            if key not in known:
                known[key] = part
                parts(part, known)
    return known


def imported(module: Any) -> Iterator[str]:
    """The modules of ours that a module takes something from."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memspan"):
            yield node.module or ""


def test_every_file_that_is_compiled_into_a_kernel_is_a_source():
    used = {}
    for kernel in build_kernels(1):
        parts(kernel, used)
    assert {
        "memspan.cells.attentive.relevance_kernels.store",
        "memspan.cells.base.kernels.quick_tanh",
    } <= set(used)
    own, named = relevance_kernels.__name__, {module.__name__ for module in SOURCES}
    assert {part.py_func.__module__ for part in used.values()} - {own} <= named
    # Constants leave no trace in what is compiled, so what a source takes them from has to be a source itself.
    assert {name for module in SOURCES for name in imported(module)} <= named


def test_parts_of_a_kernel_are_not_kept_on_disk_alone():
    used: dict[str, Any] = {}
    for kernel in build_kernels(1):
        parts(kernel, used)
        assert kernel.stats.cache_path is not None  # type: ignore[attr-defined]
    assert all(part.stats.cache_path is None for part in used.values())


@pytest.mark.parametrize("changed", SOURCES, ids=lambda module: module.__name__.rsplit(".")[-1])
def test_a_change_of_any_source_is_another_number(changed, monkeypatch):
    relevance_kernels.kernels.cache_clear()
    try:
        before = closed_over(relevance_kernels.kernels().forward)
        plain = inspect.getsource

        def source(module: Any) -> str:
            return plain(module).replace(">", ">=") + "\n" if module is changed else plain(module)

        monkeypatch.setattr(inspect, "getsource", source)
        relevance_kernels.kernels.cache_clear()
        assert closed_over(relevance_kernels.kernels().forward) != before
    finally:
        relevance_kernels.kernels.cache_clear()


def closed_over(kernel: Any) -> int:
    (cell,) = kernel.py_func.__closure__
    return cell.cell_contents


def test_another_number_is_another_entry_among_what_numba_has_compiled():
    """By numba's own key, of which it says that it holds what a function closes over."""

    def key(kernel: Any) -> tuple[Any, ...]:
        return kernel._cache._index_key("types", kernel.targetctx.codegen())

    def keys(number: int) -> list[tuple[Any, ...]]:
        return [key(kernel) for kernel in build_kernels(number)]

    assert keys(1) == keys(1)
    assert all(one != other for one, other in zip(keys(1), keys(2), strict=True))


def test_numbers_of_texts_differ_by_content_and_by_where_one_ends():
    numbers = {source_digest(texts) for texts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"])}
    assert len(numbers) == 4
    assert source_digest(["ab", "c"]) in numbers
    assert all(0 <= number < 2**63 for number in numbers)


def test_nothing_is_compiled_or_loaded_for_it_before_it_is_used():
    assert not any(kernel.signatures for kernel in build_kernels(3))  # type: ignore[attr-defined]
    program = "import sys, memspan.cells; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
