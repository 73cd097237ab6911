"""The public surface is one page: this list is the whole of it."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import memspan

NAMES = [
    *("read", "count_pairs", "mutual_information", "fit_decay", "measure", "compare", "memorize"),
    *("plot", "reproduce"),
    *("Sequence", "PairCounts", "Curve", "log_lags", "MemspanError"),
]
NAMESPACES = [
    *("sequences", "sources", "information", "decay", "theory", "memorization", "results"),
    *("init", "cells", "models", "tasks", "training", "diagnostics"),
    *("presentation", "data", "reproductions"),
]


def test_the_list_of_public_names_is_frozen():
    assert sorted(memspan.__all__) == sorted(["__version__", *NAMES, *NAMESPACES])
    assert dir(memspan) == sorted(memspan.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_resolves_to_something_of_ours_that_is_explained(name):
    thing = getattr(memspan, name)
    assert thing.__name__ == name
    assert thing.__module__.startswith("memspan.")
    assert inspect.getdoc(thing)


@pytest.mark.parametrize("name", NAMESPACES)
def test_each_namespace_is_a_module_that_opens_with_its_idea(name):
    module = getattr(memspan, name)
    assert inspect.ismodule(module)
    assert module.__doc__


def test_a_type_checker_sees_the_same_names():
    tree = ast.parse(Path(memspan.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen.keys() == {*NAMES, *NAMESPACES}
    assert {name: seen[name] for name in NAMES} == memspan._PUBLIC


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'horizon'"):
        _ = memspan.horizon


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert memspan.__version__ == version("memspan")


@pytest.mark.parametrize("name", ["init", "cells.LSTM", "models", "tasks.Copy", "training", "diagnostics"])
def test_without_torch_the_missing_extra_is_named(name):
    code = f"import sys; sys.modules['torch'] = None; import memspan; memspan.{name}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1].endswith(f"memspan.{name} needs PyTorch; install memspan[models]")
