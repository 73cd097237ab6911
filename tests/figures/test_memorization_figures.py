"""The figures of a memorized string: all of them, for every kind of network, and what they claim."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.memorization import memorize
from memspan.presentation import figures_of, plot, svg_text
from memspan.presentation.draw.eigenvalues import draw_eigenvalues
from memspan.presentation.draw.style import drawing_style
from memspan.presentation.memorization import memorization_captions, memorization_figures
from memspan.results import Memorization

ROUNDING = 1e-9
"""Of eigenvalues that the library computes."""


def load_examples() -> ModuleType:
    path = Path(__file__).with_name("memorization_examples.py")
    spec = importlib.util.spec_from_file_location("memspan_memorization_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()
CASES: dict[str, Memorization] = EXAMPLES.every()


def circle(result: Memorization) -> Axes:
    with drawing_style():
        ax = Figure().subplots()
        draw_eigenvalues(ax, result)
    return ax


def marked(ax: Axes, label: str) -> np.ndarray:
    (line,) = [line for line in ax.get_lines() if str(line.get_label()).replace("\n", " ") == label]
    x, y = np.asarray(line.get_xydata()).T
    return x + 1j * y


def texts(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_network_is_drawn_and_captioned(name):
    with drawing_style():
        figures = memorization_figures(CASES[name])
    captions = memorization_captions(CASES[name])
    scores = [] if name == "one symbol" else ["scores"]
    assert list(figures) == ["orbit", *scores, "eigenvalues"]
    for figure_name, figure in figures.items():
        assert captions[figure_name].endswith(".")
        assert all(ax.get_title(loc="left") for ax in figure.axes if ax.axison)


@pytest.mark.parametrize("name", ["two planes and a sign", "hidden letters", "an end"])
def test_figures_are_laid_out_and_rendered_without_a_warning(name):
    for figure in figures_of(CASES[name]).values():
        assert svg_text(figure).endswith("</svg>\n")


def test_planes_stand_side_by_side_under_one_title():
    with drawing_style():
        figure, signed = (
            memorization_figures(CASES[name])["orbit"] for name in ("many planes", "two planes and a sign")
        )
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        f"Plane {plane} of 15: {plane} turn{'s' * (plane > 1)} in 31 symbols" for plane in range(1, 5)
    ]
    assert figure.get_suptitle().endswith("30 hidden units make 15 circles at once")
    assert signed.get_suptitle().endswith(
        "5 hidden units make 2 circles at once, and a sign that changes at every step"
    )


def test_plot_draws_the_orbit_or_its_first_plane():
    ax = plot(EXAMPLES.unfinished(), Figure().subplots())
    assert ax.get_title(loc="left") == "Plane 1 of 2: 5 turns in 16 symbols"


def test_the_eigenvalues_of_abracadabra_are_two_of_eleven_roots_of_unity():
    ax = circle(EXAMPLES.abracadabra())
    roots = marked(ax, "roots of unity of the period")
    np.testing.assert_allclose(roots, np.exp(2j * np.pi * np.arange(11) / 11), atol=ROUNDING)
    own = marked(ax, "this network")
    np.testing.assert_allclose(np.sort_complex(own), np.sort_complex(roots[[3, 8]]), atol=ROUNDING)
    assert texts(ax) == {"3/11", "8/11"}
    assert "2 of the 11 roots of unity are enough" in ax.get_title(loc="left")


def test_a_trained_network_has_markers_of_its_own():
    result = EXAMPLES.trained()
    assert result.learnt is not None
    ax = circle(result)
    np.testing.assert_allclose(marked(ax, "trained by gradient descent"), result.learnt.eigenvalues)
    assert "trained" in memorization_captions(result)["eigenvalues"]
    labels = [str(line.get_label()) for line in circle(EXAMPLES.abracadabra()).get_lines()]
    assert not any("trained" in label for label in labels)


def test_an_eigenvalue_far_outside_is_pointed_at_and_the_circle_stays_large():
    ax = circle(EXAMPLES.feedback())
    assert texts(ax) == {"eigenvalue 8"}
    assert ax.get_xlim()[1] < 3
    assert "magnifies the state 8 times" in ax.get_title(loc="left")


def test_an_eigenvalue_just_outside_is_shown_where_it_is():
    ax = circle(CASES["a number"])
    assert marked(ax, "this network") == pytest.approx([2.0])
    assert ax.get_xlim()[1] > 2
    assert texts(ax) == set()


def test_a_large_network_shows_the_eigenvalues_of_its_construction(monkeypatch):
    for name in ("two planes and a sign", "a permutation", "a star"):
        computed = marked(circle(CASES[name]), "this network")
        with monkeypatch.context() as patch:
            patch.setattr("memspan.presentation.draw.eigenvalues._COMPUTED", 0)
            known = marked(circle(CASES[name]), "this network")
        assert np.abs(computed[:, None] - known).min(axis=1) == pytest.approx(0, abs=ROUNDING)
        assert np.abs(computed[:, None] - known).min(axis=0) == pytest.approx(0, abs=ROUNDING)


def test_dollars_and_line_ends_in_the_string_are_drawn_as_they_are():
    result = dataclasses.replace(EXAMPLES.abracadabra(), text="$a$\nb")
    with drawing_style():
        figures = memorization_figures(result)
    for figure in figures.values():
        figure.draw_without_rendering()
        assert r"\$a\$⏎b" in figure.axes[0].get_title(loc="left")


def test_what_memorize_finds_is_drawn_as_by_hand():
    found, by_hand = (
        svg_text(figures_of(result)["orbit"]) for result in (memorize("00000111"), EXAMPLES.rotation())
    )
    assert found == by_hand
