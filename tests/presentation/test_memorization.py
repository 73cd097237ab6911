"""The figures of a memorized string: all of them, forevery kind of network, and what they claim."""

import dataclasses
import importlib.util
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.errors import CorruptError
from memspan.memorization import memorize
from memspan.presentation import Section, figures_of, plot, present, render, report, sentence, svg_text
from memspan.presentation.draw.eigenvalues import draw_eigenvalues
from memspan.presentation.draw.style import drawing_style
from memspan.presentation.memorization import _MOST_WEIGHTS, weight_tables
from memspan.presentation.presenter import read_result, section_of
from memspan.results import Memorization, Reproduction
from memspan.results.encoding import dumps

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
        figures = present(CASES[name]).new_figures()
    captions = present(CASES[name]).captions()
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
            present(CASES[name]).new_figures()["orbit"] for name in ("many planes", "two planes and a sign")
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
    assert "trained" in present(result).captions()["eigenvalues"]
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
        figures = present(result).new_figures()
    for figure in figures.values():
        figure.draw_without_rendering()
        assert r"\$a\$⏎b" in figure.axes[0].get_title(loc="left")


def test_what_memorize_finds_is_drawn_as_by_hand():
    found, by_hand = (svg_text(figures_of(result)["orbit"]) for result in (memorize("00000111"), EXAMPLES.rotation()))
    assert found == by_hand


SCRIPT = "<script>alert('x')</script>-->"


class Tags(HTMLParser):
    """Collects the tags of a page, and checks that they close in the order they opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def told(monkeypatch):
    """The section without its figures, which take most of the time."""
    monkeypatch.setattr("memspan.presentation.memorization.MemorizationPresenter.new_figures", lambda self: {})
    return section_of


def store(result: Memorization | Reproduction, folder: Path, command: str = "memorize") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"schema": 1, "command": command, "version": "0.1.0", **result.to_json()}
    path = folder / "result.json"
    path.write_text(dumps(plain), encoding="utf-8")
    return path


def cells(section: Section) -> dict[str, str]:
    return {row[0]: row[1] for row in section.table.rows}


def every_text(section: Section) -> str:
    tables = (section.table, *section.details)
    words = [cell for table in tables for row in table.rows for cell in row]
    listings = [listing.text for listing in section.listings]
    return "\n".join([section.title, section.answer, *section.explanation, *section.notes, *words, *listings])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "a star",
            "abracadabra: 2 hidden units replay it forever (checked for 110,000 symbols), "
            "and no smaller network of this form does",
        ),
        ("a number that comes back", "abracadabra: 1 hidden unit replays it forever (checked for 110,000 symbols)"),
        ("a number", "aabbaabbab: 1 hidden unit generates it once (checked for 10 symbols), and no network is smaller"),
        (
            "two planes and a sign",
            "1001011011101000: 5 hidden units replay it forever (checked for 110,000 symbols), "
            "the smallest found; smaller ones are not ruled out, but 2 and fewer are",
        ),
        (
            "a permutation",
            "banana: 6 hidden units replay it forever (checked for 110,000 symbols); smaller networks were not searched for",
        ),
        ("an end", "to be⏎or not<END>: 4 hidden units generate it up to its end symbol (checked for 110,000 symbols)"),
    ],
)
def test_the_answer_is_one_sentence(name, expected):
    assert sentence(CASES[name]).startswith(expected)
    assert "\n" not in sentence(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_every_number_is_explained_and_none_is_shown_as_none(told, name):
    section = told(CASES[name])
    assert section.answer == sentence(CASES[name])
    assert all(len(row) == 3 and all(row) for row in section.table.rows)
    assert not re.search(r"\b(nan|None|inf)\b", every_text(section))
    assert all(len(row) == len(table.header) for table in section.details for row in table.rows)


@pytest.mark.parametrize("name", CASES)
def test_a_result_read_back_from_its_file_says_the_same(told, tmp_path, name):
    back = read_result(store(CASES[name], tmp_path))
    assert isinstance(back, Memorization)
    assert told(back) == told(CASES[name])


def test_the_facts_are_listed(told):
    shown = cells(told(CASES["a star"]))
    assert (shown["hidden units"], shown["period"], shown["alphabet"]) == ("2", "11", "5: a b c d r")
    assert (shown["method"], shown["frequencies"], shown["margin"]) == ("spectral", "3/11", "0.176")
    assert (shown["drift"], shown["noise tolerance"], shown["checked"]) == ("3.0e-13", "1.2 %", "110,000 symbols")
    assert (shown["smaller networks"], shown["search"]) == ("ruled out", "5 sets in 0.50 s")
    rows = {row[0]: row[2] for row in told(CASES["two planes and a sign"]).table.rows}
    assert rows["search"].startswith(
        "Sets of frequencies decided. It stopped after its budget of 60 s; 2 or fewer hidden units"
    )
    assert rows["smaller networks"].endswith("3 to 4 are not.")
    assert cells(told(CASES["one symbol"]))["margin"] == "no other symbol"


@pytest.mark.parametrize(
    ("name", "caption", "text"),
    [
        ("a star", "Generated text, the first 33 symbols", "abracadabra" * 3),
        ("a number", "Generated text", "aabbaabbab"),
        ("words", "Generated text, the first 21 symbols", " ".join(["to be or not to be that"] * 3)),
        ("an end", "Generated text, the first 13 symbols", "to be\nor not<END>"),
    ],
)
def test_the_replay_is_listed(told, name, caption, text):
    (listing,) = told(CASES[name]).listings
    assert (listing.caption, listing.text) == (caption, text)


def test_the_weights_of_a_small_network_are_listed(told):
    network = CASES["a star"].network
    step, reading = told(CASES["a star"]).details
    assert [float(row[1]) for row in step.rows] == pytest.approx(network.W_h[:, 0], abs=1e-4)
    assert [row[0] for row in reading.rows] == list("abcdr")
    assert [float(row[-1]) for row in reading.rows] == pytest.approx(network.b_y, abs=1e-3)


def test_what_is_fed_back_is_listed_where_there_is_any(told):
    _, reading = told(CASES["a number that comes back"]).details
    assert reading.header == ("symbol", "h_1", "bias", "as input, adds to h_1")
    network = CASES["a number that comes back"].network
    assert [float(row[-1]) for row in reading.rows] == pytest.approx(network.W_x[0], rel=1e-3)


def test_the_weights_of_a_large_network_are_not():
    assert weight_tables(CASES["many letters"].network) == ()
    assert CASES["many letters"].network.W_y.size > _MOST_WEIGHTS


def test_the_trained_network_has_tables_of_its_own(told):
    learnt, eigenvalues = told(CASES["trained"]).details[:2]
    assert ("symbols replayed", "150 of 1,100") in [row[:2] for row in learnt.rows]
    assert [row[2] for row in eigenvalues.rows] == ["3/11 of a turn", "8/11 of a turn"]
    assert eigenvalues.rows[0][1] == "1.02"


def test_a_missing_noise_is_called_unknown(told):
    section = told(dataclasses.replace(CASES["a star"], noise=math.nan))
    assert cells(section)["noise tolerance"] == "unknown"


def test_a_string_of_tags_is_shown_and_not_obeyed():
    result = dataclasses.replace(EXAMPLES.cyclic(SCRIPT), notes=(SCRIPT,), statement=SCRIPT)
    words = EXAMPLES.cyclic(["<b>", "</pre>", "<img src=x>", '"'])
    page = render([section_of(result), section_of(words)], SCRIPT)
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not tags.seen & {"script", "img", "b"}
    assert "<pre>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;--&gt;" in page
    assert "&lt;/pre&gt;" in page


def test_letters_that_no_file_can_hold_do_not_stop_the_page(tmp_path):
    result = EXAMPLES.cyclic(["\udc80", "a", "\x00"])
    page = render([section_of(result)], "title")
    assert "\N{REPLACEMENT CHARACTER} a \N{REPLACEMENT CHARACTER}" in page
    assert page.encode()


def test_the_report_of_a_folder_shows_the_figures_with_captions(tmp_path):
    store(CASES["a star"], tmp_path / "a")
    page = report(tmp_path).read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    captions = re.findall(r"<figcaption>([^<]*)</figcaption>", page)
    assert [caption.split(" ")[0] for caption in captions] == ["The", "Each", "Each"]
    assert page.index('class="answer"') < page.index("<svg") < page.index("<pre>")


def test_orbits_of_a_recipe_are_on_its_page(examples, tmp_path):
    from memspan.memorization.charts import orbits

    drawn = orbits(EXAMPLES.unfinished())[:1]
    result = dataclasses.replace(examples.reproduction(), figures=(), orbits=drawn)
    first, again = section_of(result), section_of(read_result(store(result, tmp_path, "reproduce")))
    assert [(figure.name, figure.caption) for figure in first.figures] == [("orbit-5", drawn[0].caption)]
    assert again == first


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("two planes and a sign", {"frequencies": [5, 7]}, "frequencies and hidden units"),
        ("trained", {"learnt": {"distances": [0.1]}}, "distances and eigenvalues"),
        ("a star", {"network": {"b_y": [0.0]}}, "b_y has shape"),
    ],
)
def test_a_damaged_file_is_told_with_its_path(tmp_path, name, change, message):
    path = store(CASES[name], tmp_path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    for key, value in change.items():
        plain[key] = {**plain[key], **value} if isinstance(value, dict) else value
    path.write_text(dumps(plain), encoding="utf-8")
    with pytest.raises(CorruptError, match=rf"result\.json is damaged \(.*{message}"):
        read_result(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"symbols": [0, 1]}, "points and symbols"),
        ({"symbols": [7] * 8}, "symbols and alphabet"),
        ({"bias": [0.0, 0.0, 0.0]}, "weights, bias and alphabet"),
    ],
)
def test_a_damaged_orbit_is_told(examples, tmp_path, change, message):
    from memspan.memorization.charts import orbits

    result = dataclasses.replace(examples.reproduction(), orbits=orbits(EXAMPLES.rotation())[:1])
    path = store(result, tmp_path, "reproduce")
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["orbits"][0] |= change
    path.write_text(dumps(plain), encoding="utf-8")
    with pytest.raises(CorruptError, match=message):
        read_result(path)
