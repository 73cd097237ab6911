"""Gives the tests of this folder results made by hand."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memspan_examples", Path(__file__).with_name("examples.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
