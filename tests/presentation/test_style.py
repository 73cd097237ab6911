"""Figures for a column of a paper, several curves in one axes, and legends that lie over nothing."""

import dataclasses
import subprocess
import sys
import threading

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

from memspan.errors import InputError
from memspan.presentation import figures_of, plot, save, svg_text
from memspan.presentation.draw import style as styles
from memspan.presentation.draw.axes import covered, place_legend
from memspan.presentation.draw.style import literal
from memspan.results import Span


def with_curve(measurement, **changes):
    return dataclasses.replace(measurement, curve=dataclasses.replace(measurement.curve, **changes))


def drawn(examples):
    measurement = examples.measurement()
    return {
        "measurement": measurement,
        "undersampled": with_curve(measurement, undersampled=measurement.curve.lags > 300),
        "independent": examples.independent(),
        "every lag": examples.measurement(lags=np.arange(1, 500)),
        "comparison": examples.comparison(("train", "valid", "a source with quite a long name")),
        "bench": examples.bench_report(),
        "recipe": examples.reproduction(),
    }


@pytest.mark.parametrize(
    "name", ["measurement", "undersampled", "independent", "every lag", "comparison", "bench", "recipe"]
)
def test_a_paper_figure_is_one_column_wide_without_a_title_and_its_legend_covers_nothing(examples, name):
    for figure in figures_of(drawn(examples)[name], style="paper").values():
        assert tuple(figure.get_size_inches()) == (3.4, 2.4)
        (ax,) = figure.axes
        assert ax.get_title(loc="left") == ax.get_title() == figure.get_suptitle() == ""
        assert covered(ax) == []
        whole = figure.get_tightbbox()
        assert whole is not None
        assert whole.x0 > -0.02
        assert whole.y0 > -0.02
        assert whole.x1 < 3.42
        assert whole.y1 < 2.42


@pytest.mark.parametrize("name", ["measurement", "undersampled", "independent", "every lag", "comparison"])
@pytest.mark.parametrize("size", [(3.4, 2.4), (7.4, 5.0)])
def test_the_legend_of_plot_covers_nothing_at_either_size(examples, name, size):
    ax = Figure(figsize=size, layout="constrained").subplots()
    plot(drawn(examples)[name], ax)
    assert covered(ax) == []


def test_a_legend_goes_below_axes_that_are_full():
    ax = Figure(figsize=(3.4, 2.4)).subplots()
    for height in np.linspace(0, 1, 40):
        ax.plot([0, 1], [height, height], label="line" if height == 0 else None)
    place_legend(ax)
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= ax.get_window_extent().y0
    assert covered(ax) == []


def test_a_legend_takes_a_free_corner():
    ax = Figure(figsize=(3.4, 2.4)).subplots()
    ax.plot([0, 1], [0, 1], label="rises")
    place_legend(ax)
    assert ax.get_legend() is not None
    assert covered(ax) == []


def test_paper_files_are_vectors_with_embedded_fonts(examples, tmp_path):
    (figure,) = figures_of(examples.measurement(), style="paper").values()
    paths = save(figure, tmp_path, "information", style="paper")
    assert sorted(path.suffix for path in paths) == [".pdf", ".png", ".svg"]
    content = (tmp_path / "information.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"/CreationDate" not in content
    save(figure, tmp_path / "again", "information", style="paper")
    assert (tmp_path / "again/information.pdf").read_bytes() == content


def test_several_curves_share_one_axes(examples):
    first, second = examples.measurement(), examples.measurement(seed=1)
    ax = plot([first.curve, second.curve], Figure().subplots())
    assert [line.get_label() for line in ax.lines if not str(line.get_label()).startswith("_")] == [
        "curve 1",
        "curve 2",
    ]
    ax = plot({"novel": first, "小": second.curve}, Figure().subplots(), style="paper")
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "novel"
    assert "noise floor" in [text.get_text() for text in legend.get_texts()]
    with pytest.raises(InputError, match="cannot draw a Span among several curves"):
        plot({"a": first, "b": Span(0, False)}, Figure().subplots())  # type: ignore[dict-item]


def test_measurements_in_a_list_are_called_by_their_data(examples):
    ax = plot([examples.measurement(path=path) for path in ("a.txt", "b.txt")], Figure().subplots())
    assert {"a.txt", "b.txt"} <= {line.get_label() for line in ax.lines}


def test_an_unknown_style_is_refused(examples):
    with pytest.raises(InputError, match="unknown style 'poster'; use report or paper"):
        plot(examples.measurement(), Figure().subplots(), style="poster")  # type: ignore[arg-type]


def test_undersampled_lags_are_hollow_triangles_that_the_legend_explains(examples):
    measurement = with_curve(examples.measurement(), undersampled=examples.measurement().curve.lags > 300)
    ax = figures_of(measurement)["information"].axes[0]
    marks = next(c for c in ax.containers if c.get_label() == "undersampled: lower bound")
    assert (marks[0].get_marker(), marks[0].get_markerfacecolor()) == ("^", "white")
    assert set(np.asarray(marks[0].get_xdata())) <= set(measurement.curve.lags[measurement.curve.undersampled])
    ax = plot([measurement.curve, examples.measurement(seed=1).curve], Figure().subplots())
    legend = ax.get_legend()
    assert legend is not None
    assert "undersampled: lower bound" in [text.get_text() for text in legend.get_texts()]


def test_many_undersampled_lags_are_a_dotted_line(examples):
    measurement = examples.measurement(lags=np.arange(1, 500))
    measurement = with_curve(measurement, undersampled=measurement.curve.lags > 300)
    ax = figures_of(measurement)["information"].axes[0]
    line = next(one for one in ax.lines if one.get_label() == "undersampled: lower bound")
    assert line.get_linestyle() == ":"


def test_the_interval_of_the_span_is_named_and_shaded(examples):
    measurement = with_curve(examples.measurement(), span=Span(464, False, (316, 681)))
    ax = figures_of(measurement)["information"].axes[0]
    assert "span 464 [316, 681]" in [text.get_text() for text in ax.texts]
    assert any(
        np.allclose(patch.get_extents().transformed(ax.transData.inverted()).intervalx, (316, 681))
        for patch in ax.patches
    )


@pytest.fixture
def only_dejavu(monkeypatch):
    monkeypatch.setattr(styles, "FALLBACK_FONTS", ())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("novel.txt", "novel.txt"),
        ("Война и мир.txt", "Война и мир.txt"),
        ("小説.txt", "[U+5C0F U+8AAC].txt"),
        ("カナ.txt", "kana.txt"),
        ("가나.txt", "gana.txt"),
        ("ﬀ𝒜", "ﬀA"),
        ("bell\a", "bell[U+0007]"),
    ],
)
def test_letters_that_no_font_has_are_spelled(only_dejavu, name, shown):
    if name == "ﬀ𝒜":
        shown = shown if styles._known("ﬀ") else "ffA"
        shown = name if styles._known(name) else shown
    assert literal(name) == shown


def test_letters_are_drawn_with_an_installed_font_that_has_them(examples, monkeypatch, tmp_path):
    """A font of one Chinese letter, made here, is found by the font manager like an installed one."""
    path = tmp_path / "one-letter.ttf"
    one_letter_font(path, "文", "One Letter")
    fontManager.addfont(str(path))
    try:
        monkeypatch.setattr(styles, "FALLBACK_FONTS", ("One Letter",))
        assert literal("文.txt") == "文.txt"
        assert literal("文小.txt") == "文[U+5C0F].txt"
        figure = figures_of(examples.measurement(path="文.txt"))["information"]
        assert "文.txt" in figure.get_suptitle()
        save(figure, tmp_path, "drawn")  # a missing glyph would be a warning, and warnings are errors here
        (paper,) = figures_of(examples.comparison(("文", "b")), style="paper").values()
        save(paper, tmp_path, "paper", style="paper")
    finally:
        fontManager.ttflist = [font for font in fontManager.ttflist if font.name != "One Letter"]


def one_letter_font(path, letter: str, family: str) -> None:
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for point in ((100, 700), (800, 700), (800, 0)):
        pen.lineTo(point)
    pen.closePath()
    box = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "letter"])
    builder.setupCharacterMap({ord(letter): "letter"})
    builder.setupGlyf({".notdef": box, "letter": box})
    builder.setupHorizontalMetrics({".notdef": (900, 100), "letter": (900, 100)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    assert ord(letter) in FT2Font(str(path)).get_charmap()


def test_svg_and_png_are_written_and_nothing_else(examples, tmp_path):
    figure = figures_of(examples.reproduction())["recovery"]
    vector, raster = save(figure, tmp_path / "figures", "recovery")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["recovery.png", "recovery.svg"]
    assert vector.read_text().rstrip().endswith("</svg>")
    assert raster.read_bytes().startswith(b"\x89PNG")


def test_a_name_that_leaves_the_folder_is_refused(examples, tmp_path):
    figure = figures_of(examples.bench_report())["ratios"]
    with pytest.raises(InputError, match="is not a file name"):
        save(figure, tmp_path, "../outside")


def test_the_same_result_gives_the_same_text(examples):
    first, second = (figures_of(examples.measurement())["information"] for _ in range(2))
    text = svg_text(first)
    assert text == svg_text(second)
    assert text == svg_text(first)
    assert text.startswith("<svg")
    assert "<dc:date" not in text


def test_letters_are_outlines_so_that_no_font_is_needed(examples):
    assert "<text" not in svg_text(figures_of(examples.bench_report())["ratios"])


def test_drawing_leaves_matplotlibs_settings_alone(examples):
    before = dict(mpl.rcParams)
    svg_text(figures_of(examples.bench_report())["ratios"])
    assert dict(mpl.rcParams) == before


def test_a_users_dark_style_does_not_change_a_figure(examples):
    plain = svg_text(figures_of(examples.bench_report())["ratios"])
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "font.size": 30}):
        assert svg_text(figures_of(examples.bench_report())["ratios"]) == plain


def test_threads_draw_the_same_as_one_thread(examples):
    before, report = dict(mpl.rcParams), examples.bench_report()
    alone, found = svg_text(figures_of(report)["ratios"]), []
    threads = [threading.Thread(target=lambda: found.append(svg_text(figures_of(report)["ratios"]))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 3
    assert dict(mpl.rcParams) == before


def test_plot_without_axes_makes_a_pyplot_figure(examples):
    mpl.use("Agg")
    from matplotlib import pyplot

    ax = plot(examples.bench_report())
    assert pyplot.gcf() is ax.figure
    pyplot.close(ax.figure)  # pyright: ignore[reportArgumentType]


def test_words_and_sentences_do_not_load_matplotlib():
    program = "import sys, memspan.presentation.presenter; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_figures_never_load_pyplot():
    program = "import sys, memspan.presentation.page.html; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
