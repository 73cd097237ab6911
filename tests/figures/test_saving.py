"""Files and text: whole, the same every time, and no trace in matplotlib's state."""

import subprocess
import sys
import threading

import matplotlib as mpl
import pytest

from memspan.errors import InputError
from memspan.presentation import figures_of, plot, save, svg_text


def test_svg_and_png_are_written_and_nothing_else(examples, tmp_path):
    figure = figures_of(examples.reproduction())["recovery"]
    vector, raster = save(figure, tmp_path / "figures", "recovery")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["recovery.png", "recovery.svg"]
    assert vector.read_text().rstrip().endswith("</svg>")
    assert raster.read_bytes().startswith(b"\x89PNG")


def test_a_name_that_leaves_the_folder_is_refused(examples, tmp_path):
    figure = figures_of(examples.bench_report())["ratios"]
    with pytest.raises(InputError, match="not the name of a file"):
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
    threads = [
        threading.Thread(target=lambda: found.append(svg_text(figures_of(report)["ratios"])))
        for _ in range(3)
    ]
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
    program = "import sys, memspan.presentation.page.folder; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
