"""Drawings of networks: points at the states, regions that read them correctly, leads that equal the margin."""

import dataclasses
import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from memspan.memorization import Cyclic, PeriodicString
from memspan.memorization.charts import leads, orbits
from memspan.results import Chart, Line, Memorization

ROUNDING = 1e-12
"""Of some sixty products with numbers near one."""


def load_examples() -> ModuleType:
    path = Path(__file__).parent.parent / "presentation" / "memorization_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_memorization_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()
CASES: dict[str, Memorization] = EXAMPLES.every()


def as_complex(points: np.ndarray) -> np.ndarray:
    return points[:, 0] + 1j * points[:, 1]


def labelled(chart: Chart) -> list[Line]:
    return [line for line in chart.lines if line.style == "markers"]


@pytest.mark.parametrize("name", CASES)
def test_every_drawing_shows_each_place_once_with_its_symbol(name):
    result = CASES[name]
    for orbit in orbits(result):
        assert orbit.points.shape == (result.period, 2)
        written = result.network.separator.join(orbit.alphabet[code] for code in orbit.symbols)
        assert written == result.text


@pytest.mark.parametrize("name", CASES)
def test_regions_that_are_drawn_read_every_point_correctly(name):
    result = CASES[name]
    for orbit in orbits(result):
        assert (orbit.weights.size > 0) == (result.hidden_size <= 2)
        if orbit.weights.size:
            scores = orbit.points @ orbit.weights.T + orbit.bias
            np.testing.assert_array_equal(scores.argmax(axis=1), orbit.symbols)


def test_the_state_of_abracadabra_makes_three_elevenths_of_a_turn_per_step():
    (orbit,) = orbits(EXAMPLES.abracadabra())
    np.testing.assert_allclose(as_complex(orbit.points), np.exp(2j * np.pi * 3 * np.arange(11) / 11), atol=ROUNDING)
    assert "3/11 of a turn" in orbit.title
    assert orbit.round


def test_each_plane_turns_by_its_own_frequency_and_the_sign_has_none():
    drawn = orbits(EXAMPLES.unfinished())
    assert [orbit.name for orbit in drawn] == ["orbit-5", "orbit-7"]
    assert [orbit.x_label for orbit in drawn] == ["hidden unit 1", "hidden unit 3"]
    for orbit, frequency in zip(drawn, (5, 7), strict=True):
        states = as_complex(orbit.points)
        np.testing.assert_allclose(states[1:] / states[:-1], np.exp(2j * np.pi * frequency / 16), atol=ROUNDING)
    assert "changes its sign" in drawn[0].caption


def test_no_more_than_four_planes_are_drawn_and_the_caption_counts_the_others():
    drawn = orbits(CASES["many planes"])
    assert [orbit.name for orbit in drawn] == ["orbit-1", "orbit-2", "orbit-3", "orbit-4"]
    assert "11 more planes are not shown" in drawn[0].caption


@pytest.mark.parametrize("power", [1, 5])
def test_a_permutation_is_seen_as_a_ring_in_the_order_of_places(power):
    string = PeriodicString.of("banana")
    result = EXAMPLES.found(string, "cyclic", Cyclic(power=power).build(string))
    (orbit,) = orbits(result)
    np.testing.assert_allclose(as_complex(orbit.points), np.exp(2j * np.pi * np.arange(6) / 6), atol=ROUNDING)
    assert "projection" in orbit.caption


def test_a_number_is_drawn_over_its_places():
    result = EXAMPLES.feedback()
    (orbit,) = orbits(result)
    np.testing.assert_array_equal(orbit.points[:, 0], np.arange(1, 12))
    np.testing.assert_array_equal(orbit.points[:, 1], result.network.run(11)[0][:, 0])
    assert not orbit.round
    assert "reloads the whole number" in orbit.caption
    (once,) = orbits(CASES["a number"])
    assert "reloads the whole number" not in once.caption


@pytest.mark.parametrize("name", [name for name in CASES if name != "one symbol"])
def test_every_place_has_one_marker_and_the_lowest_is_the_margin(name):
    result = CASES[name]
    chart = leads(result)
    markers = labelled(chart)
    places = np.concatenate([line.x for line in markers])
    np.testing.assert_array_equal(np.sort(places), np.arange(1, result.period + 1))
    assert min(line.y.min() for line in markers) == pytest.approx(result.margin, abs=ROUNDING)
    assert f"by at least {result.margin:.3g}" in chart.title


def test_markers_carry_the_symbol_that_is_written_there():
    result = EXAMPLES.abracadabra()
    found = {line.label: line.x.tolist() for line in labelled(leads(result))}
    assert found == {"emits a": [1, 4, 6, 8, 11], "emits b": [2, 9], "emits r": [3, 10], "emits c": [5], "emits d": [7]}


def test_symbols_beyond_the_seventh_share_one_row():
    chart = leads(EXAMPLES.letters())
    assert len(labelled(chart)) == 8
    assert labelled(chart)[-1].label == "emits one of 19 others"
    assert not any(line.style == "dashed" and not line.label for line in chart.lines)


@pytest.mark.parametrize("name", ["two runs", "a star", "two planes and a sign", "one sign", "half a turn"])
def test_curves_pass_through_the_markers_of_their_symbol_and_lead_nowhere_else(name):
    result = CASES[name]
    lines = leads(result).lines
    pairs = [(marks, curve) for marks, curve in pairwise(lines) if not curve.label]
    assert len(pairs) == len(result.alphabet)
    for marks, curve in pairs:
        at_places = np.array([curve.y[np.flatnonzero(curve.x == place)[0]] for place in range(1, result.period + 1)])
        here = np.isin(np.arange(1, result.period + 1), marks.x)
        np.testing.assert_allclose(at_places[here], marks.y, atol=ROUNDING)
        assert not (at_places[~here] > 0).any()


def test_a_network_that_does_not_turn_has_no_curves():
    for result in (EXAMPLES.feedback(), EXAMPLES.cyclic()):
        chart = leads(result)
        assert all(line.label for line in chart.lines)
        assert "curves" not in chart.caption


def test_one_symbol_has_nobody_to_lead():
    chart = leads(CASES["one symbol"])
    assert chart.lines == ()
    assert "only one symbol" in chart.title


def test_line_ends_in_the_string_do_not_break_a_title():
    result = dataclasses.replace(CASES["an end"], text="two\nlines")
    assert leads(result).title.startswith("two⏎lines: ")
