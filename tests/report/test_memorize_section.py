"""What `memorize` found, on a page: the answer, every number explained, the replay, the weights, and damaged files."""

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

from memspan.errors import CorruptError
from memspan.presentation import Section, render, report, sentence
from memspan.presentation.memorization import MOST_WEIGHTS, weight_tables
from memspan.presentation.presenter import read_result, section_of
from memspan.results import Memorization, Reproduction
from memspan.results.encoding import dumps

SCRIPT = "<script>alert('x')</script>-->"


def load_examples() -> ModuleType:
    path = Path(__file__).parent.parent / "figures" / "memorization_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_memorization_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()
CASES: dict[str, Memorization] = EXAMPLES.every()


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
    monkeypatch.setattr("memspan.presentation.memorization.illustrations", lambda result, captions: ())
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
            "abracadabra: 2 hidden units replay it for ever (checked for 110,000 symbols), "
            "and no smaller network of this form does",
        ),
        (
            "a number that comes back",
            "abracadabra: 1 hidden unit replays it for ever (checked for 110,000 symbols)",
        ),
        (
            "a number",
            "aabbaabbab: 1 hidden unit writes it once (checked for 10 symbols), and no network is smaller",
        ),
        (
            "two planes and a sign",
            "1001011011101000: 5 hidden units replay it for ever (checked for 110,000 symbols), "
            "the smallest found; smaller ones are not ruled out, but 2 and fewer are",
        ),
        (
            "a permutation",
            "banana: 6 hidden units replay it for ever (checked for 110,000 symbols); smaller networks were not looked for",
        ),
        (
            "an end",
            "to be⏎or not<END>: 4 hidden units write it up to its end symbol (checked for 110,000 symbols)",
        ),
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
    assert (shown["drift"], shown["noise it survives"], shown["checked"]) == (
        "3.0e-13",
        "1.2 %",
        "110,000 symbols",
    )
    assert (shown["smaller networks"], shown["search"]) == ("ruled out", "5 sets in 0.50 s")
    rows = {row[0]: row[2] for row in told(CASES["two planes and a sign"]).table.rows}
    assert rows["search"].startswith(
        "Sets of frequencies decided. It was ended after 60 s, its budget; 2 or fewer hidden units"
    )
    assert rows["smaller networks"].endswith("3 to 4 are not.")
    assert cells(told(CASES["one symbol"]))["margin"] == "no other symbol"


@pytest.mark.parametrize(
    ("name", "caption", "text"),
    [
        ("a star", "What it writes, the first 33 symbols", "abracadabra" * 3),
        ("a number", "What it writes", "aabbaabbab"),
        ("words", "What it writes, the first 21 symbols", " ".join(["to be or not to be that"] * 3)),
        ("an end", "What it writes, the first 13 symbols", "to be\nor not<END>"),
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
    assert reading.header == ("symbol", "times h_1", "plus", "once written, adds to h_1")
    network = CASES["a number that comes back"].network
    assert [float(row[-1]) for row in reading.rows] == pytest.approx(network.W_x[0], rel=1e-3)


def test_the_weights_of_a_large_network_are_not():
    assert weight_tables(CASES["many letters"].network) == ()
    assert CASES["many letters"].network.W_y.size > MOST_WEIGHTS


def test_the_trained_network_has_tables_of_its_own(told):
    learnt, eigenvalues = told(CASES["trained"]).details[:2]
    assert ("symbols replayed", "150 of 1,100") in [row[:2] for row in learnt.rows]
    assert [row[2] for row in eigenvalues.rows] == ["3/11 of a turn", "8/11 of a turn"]
    assert eigenvalues.rows[0][1] == "1.02"


def test_a_missing_noise_is_called_unknown(told):
    section = told(dataclasses.replace(CASES["a star"], noise=math.nan))
    assert cells(section)["noise it survives"] == "unknown"


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
    from memspan.memorization.orbits import orbits

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
        ({"symbols": np.array([0, 1])}, "points and symbols"),
        ({"symbols": np.full(8, 7)}, "symbols and alphabet"),
        ({"bias": np.zeros(3)}, "weights, bias and alphabet"),
    ],
)
def test_a_damaged_orbit_is_told(examples, tmp_path, change, message):
    from memspan.memorization.orbits import orbits

    orbit = dataclasses.replace(orbits(EXAMPLES.rotation())[0], **change)
    result = dataclasses.replace(examples.reproduction(), orbits=(orbit,))
    with pytest.raises(CorruptError, match=message):
        read_result(store(result, tmp_path, "reproduce"))
