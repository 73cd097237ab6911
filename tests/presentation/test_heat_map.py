"""Maps: the right colour at the right place, ends that say what they hide, lines that can be seen."""

import dataclasses
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.presentation import figures_of, plot, save, svg_text
from memspan.presentation.draw.heat_map import color_scale
from memspan.results import HeatMap, line

LARGEST_SVG = 300_000
"""Bytes; a page with a few maps can still be mailed."""


@pytest.fixture(scope="module")
def predictions() -> ModuleType:
    path = Path(__file__).with_name("prediction_examples.py")
    spec = importlib.util.spec_from_file_location("memspan_prediction_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(map: HeatMap) -> tuple[Figure, QuadMesh]:
    figure = Figure()
    ax = plot(map, figure.subplots())
    mesh = next(artist for artist in ax.collections if isinstance(artist, QuadMesh))
    return figure, mesh


def named(figure: Figure) -> list[str]:
    legend = figure.axes[0].get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def small(values: object, *, scale: str = "log", highest: float = 1000.0) -> HeatMap:
    table = np.array(values, dtype=np.float64)
    rows, columns = table.shape
    x, y = np.arange(columns, dtype=np.float64), np.arange(rows, dtype=np.float64)
    return HeatMap("map", "Map", "x", "y", "steps", scale, x, y, table, highest, np.zeros(0), "", (), "A map.")


def test_every_value_stands_at_its_place():
    _, mesh = drawn(small([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    np.testing.assert_array_equal(np.asarray(mesh.get_array()), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    corners = np.asarray(mesh.get_coordinates())
    np.testing.assert_allclose(corners[0, :, 0], [-0.5, 0.5, 1.5, 2.5])
    np.testing.assert_allclose(corners[:, 0, 1], [-0.5, 0.5, 1.5])


def test_labels_title_and_legend_are_the_maps_own(predictions):
    map = predictions.heat_map()
    figure, mesh = drawn(map)
    ax, bar = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == (map.x_label, map.y_label, map.value_label)
    assert ax.get_title(loc="left") == map.title
    assert named(figure) == [map.edge_label, *(entry.label for entry in map.lines)]
    assert isinstance(mesh.norm, LogNorm)


def test_what_lies_above_the_highest_shares_one_colour_and_the_bar_says_so(predictions):
    map = predictions.heat_map()
    figure, mesh = drawn(map)
    labels = [text.get_text() for text in figure.axes[1].get_yticklabels()]
    assert labels == ["1 or less", "10", "100", "1,000 or more"]
    assert np.nanmax(map.values) > 1000
    assert np.max(np.asarray(mesh.get_array())[~np.isnan(map.values)]) == 1000.0


def test_an_infinite_timescale_has_the_colour_of_the_longest():
    scale = color_scale(small([[10.0, np.inf]]))
    assert (scale.high, scale.open_ends, scale.labels[-1]) == (1000.0, "max", "1,000 or more")
    _, mesh = drawn(small([[10.0, np.inf]]))
    assert np.asarray(mesh.get_array())[0, 1] == 1000.0


def test_a_bar_whose_ends_hide_nothing_is_not_pointed():
    scale = color_scale(small([[2.0, 40.0]]))
    assert (scale.low, scale.high, scale.open_ends, scale.labels) == (2.0, 40.0, "neither", ("2", "40"))


def test_a_linear_bar_has_round_ticks_and_a_named_end():
    scale = color_scale(small([[0.2, 1.0, 2.6]], scale="linear", highest=1.83))
    assert scale.labels == ("0.3", "0.6", "0.9", "1.2", "1.5", "1.83 or more")
    assert scale.open_ends == "max"


def test_blanks_have_no_colour(predictions):
    map = predictions.heat_map()
    _, mesh = drawn(map)
    np.testing.assert_array_equal(np.ma.getmaskarray(np.ma.asarray(mesh.get_array())), np.isnan(map.values))


@pytest.mark.parametrize(
    "values", [np.full((3, 3), 5.0), np.full((3, 3), np.nan), np.full((2, 2), np.inf), np.zeros((2, 3)), [[1.0]]]
)
@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_map_with_little_to_show_is_drawn_without_a_warning(values, scale):
    drawn(small(values, scale=scale))[0].draw_without_rendering()


def test_an_empty_map_is_drawn_without_a_warning(predictions):
    empty = np.zeros(0)
    map = dataclasses.replace(predictions.heat_map(), x=empty, y=empty, values=np.zeros((0, 0)), edge=np.zeros((0, 0)))
    drawn(map)[0].draw_without_rendering()


def test_lines_have_a_casing_and_the_marker_an_edge(predictions):
    figure, _ = drawn(predictions.heat_map())
    edge, dashed, network = figure.axes[0].get_lines()
    assert edge.get_path_effects()
    assert edge.get_color() != dashed.get_color()
    assert (network.get_marker(), network.get_markeredgecolor()) == ("*", "black")


def test_a_line_outside_the_map_is_not_in_the_legend(predictions):
    lines = (line("inside", [0.0], [5.0], style="markers"), line("far away", [99.0], [5.0], style="markers"))
    figure, _ = drawn(dataclasses.replace(predictions.heat_map(), lines=lines))
    assert named(figure) == [predictions.heat_map().edge_label, "inside"]


def test_figures_of_a_prediction_are_its_charts_and_maps(predictions):
    assert list(figures_of(predictions.ordered())) == ["dynamics", "phase-diagram"]
    assert list(figures_of(predictions.linear())) == ["information"]
    assert list(figures_of(predictions.attention())) == ["gradient"]


def test_a_map_named_as_a_chart_is_refused(predictions):
    twice = dataclasses.replace(predictions.ordered(), maps=(predictions.heat_map("dynamics"),))
    with pytest.raises(ValueError, match="the figures of a Prediction need different names, got dynamics, dynamics"):
        figures_of(twice)


def test_a_prediction_itself_is_not_one_plot(predictions):
    with pytest.raises(InputError, match=r"cannot draw a Prediction; expected .* HeatMap .*`figures`"):
        plot(predictions.ordered(), Figure().subplots())


def test_the_cells_are_one_picture_and_the_text_is_the_same_every_time(predictions):
    map = predictions.heat_map(cells=160)
    result = dataclasses.replace(predictions.ordered(), figures=(), maps=(map,))
    first, second = (figures_of(result)["phase-diagram"] for _ in range(2))
    text = svg_text(first)
    assert text == svg_text(second)
    assert text == svg_text(first)
    assert len(text) < LARGEST_SVG
    assert len(re.findall(r"<image\b", text)) == 2  # the map and its colour bar
    assert set(re.findall(r'href="([^#"]{10})', text)) == {"data:image"}


def test_a_map_is_saved_as_svg_and_png(predictions, tmp_path):
    vector, raster = save(figures_of(predictions.ordered())["phase-diagram"], tmp_path, "phase-diagram")
    assert vector.stat().st_size < LARGEST_SVG
    assert raster.read_bytes().startswith(b"\x89PNG")


def test_a_border_that_does_not_cross_the_map_is_not_in_the_legend(predictions):
    map = predictions.heat_map()
    figure, _ = drawn(dataclasses.replace(map, edge=np.abs(map.edge) + 1))
    assert map.edge_label not in named(figure)


def test_colours_that_are_told_are_the_same_for_every_map():
    scales = [
        color_scale(dataclasses.replace(small(values, scale="linear"), colours=(0.0, 1.0)))
        for values in ([[0.4, 0.5]], [[0.85, 0.95]])
    ]
    assert scales[0] == scales[1]
    assert (scales[0].low, scales[0].high, scales[0].open_ends) == (0.0, 1.0, "neither")
