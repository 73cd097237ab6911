"""What the figure of a comparison shows."""

import numpy as np
from matplotlib.figure import Figure

from memspan.presentation import figures_of, plot
from memspan.presentation.draw.comparison import MOST_PAIRS, comparison_figure
from memspan.presentation.draw.style import drawing_style


def test_every_source_has_its_own_colour_marker_and_dash(examples):
    ax = plot(examples.comparison(("a", "b", "c")), Figure().subplots())
    lines = [line for line in ax.get_lines() if line.get_label() in ("a", "b", "c")]
    for look in ("get_color", "get_marker", "get_linestyle"):
        assert len({getattr(line, look)() for line in lines[:2]}) == 2
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 3


def test_curves_are_the_corrected_ones(examples):
    comparison = examples.comparison()
    ax = plot(comparison, Figure().subplots())
    drawn = next(line for line in ax.get_lines() if line.get_label() == "valid")
    corrected = comparison.sources["valid"].curve.corrected
    shown = np.asarray(drawn.get_ydata(), dtype=np.float64)
    np.testing.assert_allclose(shown, np.where(corrected > 0, corrected, np.nan))


def test_the_lower_panel_marks_exactly_the_lags_that_differ(examples):
    comparison = examples.comparison()
    lower = figures_of(comparison)["comparison"].axes[1]
    marked = next(line for line in lower.get_lines() if line.get_marker() == "s")
    assert tuple(np.asarray(marked.get_xdata())) == comparison.pairs[0].different_lags
    assert lower.get_title(loc="left") == "train minus valid: different (p < 0.0001)"


def test_one_panel_per_pair_up_to_a_limit_that_is_told(examples):
    with drawing_style():
        figure = comparison_figure(examples.comparison(("a", "b", "c", "d", "e")), bits=False)
    assert len(figure.axes) == 1 + MOST_PAIRS
    assert "the 6 pairs with the smallest p of 10" in figure.get_suptitle()


def test_a_source_whose_name_starts_with_an_underscore_is_in_the_legend(examples):
    ax = plot(examples.comparison(("_train", "valid")), Figure().subplots())
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text().strip() for text in legend.get_texts()] == ["_train", "valid"]


def test_the_floor_of_every_source_is_dotted(examples):
    comparison = examples.comparison()
    ax = plot(comparison, Figure().subplots())
    dotted = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_linestyle() == ":"]
    floors = [source.curve.floor for source in comparison.sources.values()]
    assert len(dotted) == len(floors)
    for drawn, floor in zip(dotted, floors, strict=True):
        np.testing.assert_allclose(np.ma.filled(drawn, np.nan)[floor > 0], floor[floor > 0])
