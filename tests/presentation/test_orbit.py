"""Orbits as pictures: regions that tile the plane, letters in the points, and nothing that cannot be read."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline

from memspan.memorization.charts import orbits
from memspan.presentation import figures_of, plot
from memspan.presentation.draw.orbit import orbit_figure, regions, symbol_colors
from memspan.presentation.draw.style import drawing_style
from memspan.results import END, Orbit

ROUNDING = 1e-9
"""Of areas of some units, cut a few dozen times."""


def load_examples() -> ModuleType:
    path = Path(__file__).with_name("memorization_examples.py")
    spec = importlib.util.spec_from_file_location("memspan_memorization_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()
CASES: dict[str, Orbit] = {name: orbits(result)[0] for name, result in EXAMPLES.every().items()}


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def drawn(orbit: Orbit) -> Axes:
    return plot(orbit, Figure(figsize=(7.4, 5.4)).subplots())


def ring(symbols: str) -> Orbit:
    """Symbols around a circle, without regions."""
    alphabet = tuple(sorted(set(symbols)))
    angles = 2 * np.pi * np.arange(len(symbols)) / len(symbols)
    codes = np.array([alphabet.index(symbol) for symbol in symbols])
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    return Orbit("ring", "Ring", "x", "y", alphabet, points, codes, np.zeros((0, 2)), np.zeros(0), True, "A ring.")


def area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_regions_tile_the_box_and_hold_the_points_of_their_own_arg_max(seed):
    random = np.random.default_rng(seed)
    weights, bias = random.normal(size=(7, 2)), random.normal(size=7)
    found = regions(weights, bias, (-2.0, -1.0), (2.0, 1.5))
    assert sum(area(polygon) for polygon in found if len(polygon)) == pytest.approx(10.0, abs=ROUNDING)
    points = random.uniform((-2, -1), (2, 1.5), size=(200, 2))
    best = (points @ weights.T + bias).argmax(axis=1)
    for point, k in zip(points, best, strict=True):
        assert Outline(found[k]).contains_point(tuple(point), radius=ROUNDING)


def test_a_symbol_that_never_wins_has_no_region():
    found = regions(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]), np.array([0.0, 0.0, -1.0]), (-1, -1), (1, 1))
    assert [len(polygon) for polygon in found] == [4, 4, 0]


def test_every_point_of_abracadabra_lies_in_the_region_of_its_colour():
    orbit = CASES["a star"]
    ax = drawn(orbit)
    pale = {to_hex(patch.get_facecolor()): patch for patch in ax.patches}
    assert len(pale) == 5
    colours = [to_hex(patch.get_facecolor()) for patch in ax.patches]
    for point, code in zip(orbit.points, orbit.symbols, strict=True):
        assert pale[colours[code]].get_path().contains_point(tuple(point))


def test_letters_stand_in_the_points_and_places_beside_them():
    shown = texts(drawn(CASES["a star"]))
    assert sorted(text for text in shown if text.isalpha()) == sorted("abracadabra")
    assert [text for text in shown if not text.isalpha()] == ["start, 1", *map(str, range(2, 12))]


def test_places_that_share_a_point_are_told_together():
    orbit = dataclasses.replace(ring("abcd"), points=np.array([[1.0, 0], [-1, 0], [1, 1e-15], [-1, 0]]))
    ax = drawn(orbit)
    assert texts(ax) == ["a c\n(start, 1, 3)", "b d\n(2, 4)"]
    same = dataclasses.replace(orbit, symbols=np.array([0, 1, 0, 1]))
    assert texts(drawn(same)) == ["a", "start, 1, 3", "b", "2, 4"]


def test_hidden_symbols_are_shown_and_long_ones_cut():
    shown = " ".join(texts(drawn(CASES["hidden letters"])))
    for sign in ("⏎", "␣", "⇥", "\N{REPLACEMENT CHARACTER}", "\\$x\\$", "\N{WHITE SQUARE}", "(empty)", "antidise…"):
        assert sign in shown
    end = texts(drawn(CASES["an end"]))
    assert "END" in end
    assert END not in end


def test_words_stand_beside_their_points():
    shown = texts(drawn(CASES["words"]))
    assert shown[:2] == ["to (start, 1)", "be (2)"]
    assert "question" in texts(drawn(CASES["words as a number"]))


@pytest.mark.parametrize(("places", "lettered", "numbered"), [(8, 8, 8), (60, 60, 1), (200, 0, 1)])
def test_a_crowd_loses_its_places_first_and_then_its_letters(places, lettered, numbered):
    shown = texts(drawn(ring("ab" * (places // 2))))
    assert sum(text in "ab" for text in shown) == lettered
    assert sum(text not in "ab" for text in shown) == numbered


def test_a_round_orbit_is_closed_and_has_one_scale():
    round_ax, flat_ax = drawn(CASES["two runs"]), drawn(CASES["a number"])
    assert round_ax.get_aspect() == 1.0
    assert flat_ax.get_aspect() == "auto"
    way = np.asarray(round_ax.get_lines()[0].get_xydata())
    np.testing.assert_array_equal(way[0], way[-1])
    assert len(way) == 9
    assert len(np.asarray(flat_ax.get_lines()[0].get_xydata())) == 10


def test_few_symbols_have_a_legend_and_many_do_not():
    (legend,) = orbit_figure(CASES["a star"]).legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c", "d", "r"]
    assert orbit_figure(CASES["many letters"]).legends == []


def test_colours_differ_for_few_and_many_symbols():
    for amount in (1, 2, 8, 9, 26, 60):
        assert len(set(symbol_colors(amount))) == amount


def test_orbits_of_a_recipe_are_drawn_beside_its_charts(examples):
    result = dataclasses.replace(examples.reproduction(), orbits=(CASES["two runs"],))
    assert list(figures_of(result)) == ["recovery", "orbit"]
    twice = dataclasses.replace(result, orbits=(dataclasses.replace(CASES["two runs"], name="recovery"),))
    with pytest.raises(ValueError, match="different names"):
        figures_of(twice)


@pytest.mark.parametrize("name", ["one symbol", "many letters", "hidden letters", "words as a number"])
def test_letters_of_every_kind_are_drawn_without_a_warning(name):
    with drawing_style():
        orbit_figure(CASES[name]).draw_without_rendering()
