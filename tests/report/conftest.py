"""Gives the tests of reports results made by hand."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_EXAMPLES = Path(__file__).parent.parent / "figures" / "examples.py"


@pytest.fixture(scope="session")
def examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memspan_examples", _EXAMPLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
