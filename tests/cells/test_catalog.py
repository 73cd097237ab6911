"""The table of cells: names without torch, facts from the classes, and a new cell in one file and one line."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest
import torch

import memspan.cells
from memspan.cells import CELLS, LSTM, Catalog, RelRNN
from memspan.errors import InputError

every_name = pytest.mark.parametrize("name", CELLS)


def test_names_are_listed_without_loading_torch():
    program = "import sys; from memspan.cells import CELLS; sys.exit(len(CELLS) != 14 or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_missing_torch_is_named():
    program = (
        "import sys; sys.modules['torch'] = None; import memspan.cells\n"
        "try:\n    memspan.cells.LSTM\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "MissingExtraError memspan.cells.LSTM needs PyTorch; install memspan[models]"


@every_name
def test_the_class_of_a_name_is_a_public_name_of_the_package(name):
    cell = CELLS[name]
    assert getattr(memspan.cells, cell.__name__) is cell
    assert CELLS.name_of(cell) == name
    assert CELLS.find(name) is cell


@every_name
def test_facts_agree_with_the_cell(name):
    cell = CELLS[name](3, 4)
    assert cell.label
    assert cell.description
    assert cell.stores_past == any(None in shape for shape in cell.first.state_shapes(1))
    if cell.attends:
        assert cell.attention(torch.zeros(5, 2, 3)).shape == (5, 2, 5)
    for option, parameter in cell.options().items():
        assert getattr(cell.first, option) == parameter.default


def test_labels_and_descriptions_are_distinct():
    assert len({cell.label for cell in CELLS.values()}) == len({c.description for c in CELLS.values()}) == 14


def test_options_are_arguments_that_not_every_cell_takes():
    assert list(RelRNN.options()) == ["short_term", "relevant", "combine", "nonlinearity"]
    assert RelRNN.options()["short_term"].default == 10
    assert RelRNN.options()["short_term"].annotation is int
    assert CELLS["gru"].options() == {}
    assert CELLS.with_option("short_term") == ["rel-rnn", "rel-lstm"]


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match=r"there is no cell 'lstn'; did you mean lstm\?"):
        CELLS.find("lstn")
    with pytest.raises(KeyError):
        CELLS["lstn"]
    assert CELLS.get("lstn") is None
    with pytest.raises(AttributeError, match="has no attribute 'Lstm'"):
        memspan.cells.Lstm  # noqa: B018


def test_a_new_cell_takes_a_file_and_a_line(monkeypatch):
    module = types.ModuleType("memspan.cells.gated.dummy")
    module.DummyCell = type("DummyCell", (LSTM,), {"label": "Dummy"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(CELLS.places, "dummy", "gated.dummy:DummyCell")
    assert list(CELLS)[-1] == "dummy"
    assert CELLS["dummy"] is memspan.cells.DummyCell
    assert CELLS["dummy"].label == "Dummy"
    assert list(CELLS["dummy"].options()) == ["one_bias"]
    with pytest.raises(InputError, match="did you mean dummy"):
        CELLS.find("dumy")


def test_a_catalog_of_its_own_loads_nothing():
    assert list(Catalog({"a": "no.such:Cell"})) == ["a"]
