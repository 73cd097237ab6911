"""One presenter for each result type: loaded late, drawn once, in one unit everywhere."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from memspan import results
from memspan.cli import main
from memspan.errors import InputError
from memspan.presentation import present
from memspan.presentation.presenter import _COMMANDS, _PRESENTERS, _VARIANTS, Presenter
from memspan.results.display import Notebook

MOST_MODULES = 70
"""Modules of memspan that one measurement with figures and a page may load."""
MOST_OWN_MODULES = 30
"""Of these, modules of the command line, the presentation and the results."""


def texts(svg: str) -> list[str]:
    """The texts of a drawing: matplotlib draws letters as outlines and leaves each text in a comment."""
    return re.findall(r"<!-- (.*?) -->", svg)


@pytest.fixture
def periodic(tmp_path: Path) -> Path:
    """A text with an exact period, whose information is named in the title of its figure."""
    path = tmp_path / "periodic.txt"
    path.write_text("aabacbaddc" * 500)
    return path


def test_bits_are_in_the_saved_figure_and_in_the_report(periodic, tmp_path):
    assert main(["measure", str(periodic), "--max-lag", "40", "--bits", "--quiet", "--out", str(tmp_path / "out")]) == 0
    for path in (tmp_path / "out/figures/information.svg", tmp_path / "out/report.html"):
        shown = texts(path.read_text())
        assert any("bits at multiples" in text for text in shown)
        assert not any("nats" in text for text in shown), path


def test_each_figure_is_drawn_once_for_the_folder_and_the_report(periodic, tmp_path, monkeypatch):
    drawn: list[str] = []
    savefig = Figure.savefig

    def counted(figure, target, **settings):
        drawn.append(settings["format"])
        savefig(figure, target, **settings)

    monkeypatch.setattr(Figure, "savefig", counted)
    main(["measure", str(periodic), "--max-lag", "20", "--quiet", "--out", str(tmp_path / "out")])
    assert sorted(drawn) == ["png", "svg"]
    element = (tmp_path / "out/figures/information.svg").read_text().split("<svg", 1)[1]
    outline = re.search(r' d="M [^"]{200,}"', element)
    assert outline is not None
    assert outline[0] in (tmp_path / "out/report.html").read_text()


def test_every_result_type_has_a_presenter():
    kinds = {
        name for name in dir(results) if inspect.isclass(kind := getattr(results, name)) and issubclass(kind, Notebook)
    }
    assert kinds == set(_PRESENTERS)


@pytest.mark.parametrize("name", _PRESENTERS)
def test_the_table_names_the_presenter_of_the_type(name):
    module, _, attribute = _PRESENTERS[name].partition(":")
    presenter = getattr(importlib.import_module(f"memspan.presentation.{module}"), attribute)
    assert issubclass(presenter, Presenter)
    assert presenter.result_type is getattr(results, name)


def test_every_command_leads_to_a_presenter():
    assert {*_COMMANDS.values(), *_VARIANTS.values()} <= set(_PRESENTERS)
    assert {command for command, _, _ in _VARIANTS} <= set(_COMMANDS)


def test_what_is_not_a_result_is_refused():
    class Curve:
        pass

    for thing in (3, Curve()):
        with pytest.raises(InputError, match=f"cannot present a {type(thing).__name__}; expected a result"):
            present(thing)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def loaded(periodic, tmp_path) -> list[str]:
    """The modules of memspan after a measurement with figures and a page."""
    words = ["measure", str(periodic), "--max-lag", "20", "--quiet", "--out", str(tmp_path / "out")]
    code = f"""
import sys
from memspan.cli import main
main({words!r})
print(*(name for name in sys.modules if name.partition(".")[0] == "memspan"), file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stderr.split()


def test_a_measurement_loads_only_its_own_presenter(loaded):
    own = [name for name in loaded if name.split(".")[1:2] in (["cli"], ["presentation"], ["results"])]
    assert len(own) <= MOST_OWN_MODULES, own


def test_a_measurement_loads_few_modules(loaded):
    assert len(loaded) <= MOST_MODULES, loaded
