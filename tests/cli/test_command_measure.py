"""`memspan measure`: the sentence, the object, the folder, the counts."""

from __future__ import annotations

import io
import json
import math
import shutil
import sys
from pathlib import Path

import pytest

from memspan.information import ESTIMATORS, NULLS
from memspan.sequences import TRANSFORMS
from memspan.sequences.sources import MarkovChain


def numbers(plain: dict) -> dict:
    """A result without what the clock or the version says."""
    return {name: value for name, value in plain.items() if name not in ("seconds", "version")}


def test_the_first_line_is_the_sentence_and_a_table_follows(memspan, novel):
    ran = memspan("measure", novel)
    first, rest = ran.out.split("\n", 1)
    assert ran.status == 0
    assert first.startswith("novel.txt: reach ")
    assert "; dependence visible to " in first
    assert "(20 k symbols)" in first
    assert "characters: 20,000 in 1 document, 4 different" in rest
    assert "a detection limit with 20 k characters; more data may show more" in rest


def test_json_is_one_object_and_the_only_thing_on_standard_output(memspan, novel):
    ran = memspan("measure", novel, "--json")
    assert (ran.plain["schema"], ran.plain["command"], ran.plain["unit"]) == (1, "measure", "nats")
    assert ran.plain["lags"][:3] == [1, 2, 3]
    assert ran.plain["symbols"] == "chars"
    exact = MarkovChain.lazy(4, stay=0.8).information([1])[0]
    assert abs(ran.plain["corrected"][0] - exact) < 4 * math.hypot(ran.plain["stderr"][0], ran.plain["floor_sd"][0])


def test_the_folder_holds_exactly_the_printed_object_figures_and_report(memspan, novel, tmp_path):
    ran = memspan("measure", novel, "--json", "--out", tmp_path / "run")
    assert (tmp_path / "run/result.json").read_bytes() == ran.out.encode()
    assert sorted(path.name for path in (tmp_path / "run/figures").iterdir()) == [
        "information.png",
        "information.svg",
        "residuals.png",
        "residuals.svg",
    ]
    assert "novel.txt" in (tmp_path / "run/report.html").read_text()
    assert not (tmp_path / "run/counts").exists()
    assert not list((tmp_path / "run").rglob("*.part"))


def test_bits_change_what_is_shown_and_never_the_object(memspan, novel, tmp_path):
    nats, bits = (memspan("measure", novel, *extra) for extra in ((), ("--bits",)))
    assert "information (nats)" in nats.out
    assert "information (bits)" in bits.out
    plain = memspan("measure", novel, "--json").plain
    assert numbers(memspan("measure", novel, "--json", "--bits").plain) == numbers(plain)
    shown = next(line.split()[1] for line in bits.out.splitlines() if line.strip().startswith("1 "))
    assert float(shown) == pytest.approx(plain["information"][0] / math.log(2), rel=0.01)
    memspan("measure", novel, "--bits", "--out", tmp_path)
    assert "bits" in (tmp_path / "figures/information.svg").read_text()
    assert json.loads((tmp_path / "result.json").read_text())["information"] == plain["information"]


def test_a_folder_or_several_files_are_documents_and_the_output_names_compare(memspan, novel, twin, tmp_path):
    shutil.copy(novel, tmp_path / "a.txt")
    shutil.copy(twin, tmp_path / "b.txt")
    for sources in ((tmp_path,), (novel, twin)):
        ran = memspan("measure", *sources, "--max-lag", 20)
        assert "2 documents" in ran.out
        assert "read as documents of one sequence" in ran.out
        assert "memspan compare NAME=FILE" in ran.out


def test_one_file_needs_no_remark_about_documents(memspan, novel):
    assert "memspan compare" not in memspan("measure", novel, "--max-lag", 5).out


def test_standard_input_is_named_in_the_sentence(memspan, novel, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(novel.read_bytes())))
    assert memspan("measure", "-").out.startswith("standard input: reach ")


def test_an_address_is_read_like_the_file_behind_it(memspan, novel):
    here, there = (memspan("measure", source, "--json").plain for source in (novel, novel.as_uri()))
    assert there["information"] == here["information"]


def test_a_data_set_is_found_by_name(memspan, novel, tmp_path, monkeypatch):
    (tmp_path / "text").mkdir()
    shutil.copy(novel, tmp_path / "text/mine.txt")
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    assert memspan("measure", "data:text/mine", "--max-lag", 5).out.startswith("mine.txt: ")


@pytest.mark.parametrize(
    ("words", "lags"),
    [
        (("--lags", "1,2,5"), [1, 2, 5]),
        (("--lags", "3:6"), [3, 4, 5, 6]),
        (("--lags", "all", "--max-lag", "20"), list(range(1, 21))),
        (("--max-lag", "18"), [*range(1, 17), 18]),
    ],
)
def test_lags_are_those_that_were_asked_for(memspan, novel, words, lags):
    assert memspan("measure", novel, "--json", *words).plain["lags"] == lags


def test_options_reach_the_measurement(memspan, novel):
    words = ("--as", "bytes", "--estimator", "digamma", "--null", "independent", "--level", "0.01")
    plain = memspan("measure", novel, "--json", "--fit-above", 0.01, "--lags", "1:30", *words).plain
    assert (plain["symbols"], plain["estimator"], plain["null"]) == ("bytes", "digamma", "independent")
    assert plain["reach"]["level"] == 0.01
    assert all(plain["corrected"][plain["lags"].index(lag)] > 0.01 for lag in plain["fitted_lags"])


def test_documents_end_where_they_are_told_to(memspan, tmp_path):
    (tmp_path / "lines.txt").write_text("abcab\nbcabc\ncabca\n" * 100)
    plain = memspan("measure", tmp_path / "lines.txt", "--documents", "line", "--lags", "1:3", "--json").plain
    assert plain["documents"] == 300


def test_a_column_of_numbers_is_put_into_levels(memspan, tmp_path):
    rows = "\n".join(f"{i},{100 + (i * i * 7919) % 101}" for i in range(2000))
    (tmp_path / "prices.csv").write_text(f"day,close\n{rows}\n")
    words = ("--column", "close", "--transform", "difference", "--levels", "3", "--json")
    plain = memspan("measure", tmp_path / "prices.csv", *words).plain
    assert (plain["symbols"], plain["alphabet"], plain["length"]) == ("numbers", 3, 1999)


def test_nothing_above_the_floor_is_an_answer_and_no_error(memspan, tmp_path):
    (tmp_path / "coin.txt").write_text(chain_without_memory())
    ran = memspan("measure", tmp_path / "coin.txt", "--json")
    assert (ran.status, ran.plain["best_law"], ran.plain["laws"]) == (0, None, {})
    assert ran.plain["span"] == {"lag": 0, "censored": False, "interval": None}


@pytest.mark.parametrize("pattern", ["ab", "abc"])
def test_a_periodic_sequence_is_a_clean_answer(memspan, tmp_path, pattern):
    (tmp_path / "again.txt").write_text(pattern * 30_000)
    ran = memspan("measure", tmp_path / "again.txt", "--out", tmp_path / "run")
    period = len(pattern)
    information = {2: "0.693", 3: "1.10"}[period]
    assert ran.status == 0
    assert ran.out.splitlines()[0].endswith(f"; periodic with period {period}: I = {information} nats at every lag")
    plain = json.loads((tmp_path / "run/result.json").read_text())
    assert (plain["period"]["length"], plain["period"]["exact"]) == (period, True)
    assert (plain["best_law"], plain["laws"], plain["law_fits"]) == (None, {}, False)
    assert "The whole sequence repeats itself" in (tmp_path / "run/report.html").read_text()


def test_where_no_law_fits_the_table_lists_local_exponents(memspan, tmp_path):
    import numpy as np

    slow, fast = (
        next(MarkovChain.lazy(size, stay=stay).sample(1, 600_000, seed=1).documents())
        for size, stay in ((2, 0.999), (4, 0.5))
    )
    (tmp_path / "two.txt").write_bytes(bytes((97 + 2 * fast + slow).astype(np.uint8)))
    ran = memspan("measure", tmp_path / "two.txt", "--max-lag", 2000)
    assert "; no simple law fits; local exponent " in ran.out.splitlines()[0]
    assert sum(line.startswith("local exponent ") for line in ran.out.splitlines()) >= 2
    assert "note: no simple law fits" in ran.out
    plain = memspan("measure", tmp_path / "two.txt", "--max-lag", 2000, "--json").plain
    assert plain["law_fits"] is False
    assert plain["best_law"] in plain["laws"]
    assert plain["local_exponents"][0].keys() == {"first", "last", "exponent", "interval"}


def test_an_influential_stretch_is_a_note(memspan, tmp_path):
    import numpy as np

    (chain,) = MarkovChain.lazy(20, stay=0.6).sample(1, 200_000, seed=3).documents()
    symbols = chain.astype(np.uint8)
    symbols[100_000:104_000] = np.resize(np.random.default_rng(0).integers(0, 20, 47), 4000)
    (tmp_path / "table.txt").write_bytes(bytes(97 + symbols))
    ran = memspan("measure", tmp_path / "table.txt")
    assert "note: about the symbols 100,000 to 112,499 (block 9 of 16) carry " in ran.out


def chain_without_memory() -> str:
    import numpy as np

    return bytes(np.random.default_rng(3).integers(ord("a"), ord("e"), 20_000, dtype=np.uint8)).decode()


def test_counts_made_alone_and_then_measured_give_what_measuring_gives(memspan, novel, tmp_path):
    ran = memspan("measure", novel, "--counts-only", "--out", tmp_path / "run")
    assert ran.status == 0
    assert "20,000 symbols counted" in ran.out
    assert "memspan measure" in ran.out
    assert not (tmp_path / "run/result.json").exists()
    kept = sorted((tmp_path / "run/counts").glob("*.counts"))
    merged = memspan("measure", *kept, "--json").plain
    whole = memspan("measure", novel, "--json").plain
    # Lags around the crossing are counted in addition where that is possible, so the reach is more exact.
    assert numbers({**merged, "reach": None}) == numbers({**whole, "reach": None})
    low, high = merged["reach"]["interval"]
    assert low <= whole["reach"]["lag"] <= high


def test_counts_of_two_parts_add_up(memspan, novel, twin, tmp_path):
    for name, path in (("a", novel), ("b", twin)):
        memspan("measure", path, "--counts-only", "--out", tmp_path / name, "--max-lag", 10, "--null", "shifts")
    plain = memspan("measure", *sorted(tmp_path.glob("*/counts/*.counts")), "--json").plain
    assert (plain["length"], plain["documents"]) == (40_000, 2)
    assert plain["pairs"][:2] == [2 * 19_999, 2 * 19_998]


def test_counts_only_says_what_it_kept_as_json_too(memspan, novel, tmp_path):
    plain = memspan("measure", novel, "--counts-only", "--out", tmp_path, "--json").plain
    assert plain["counts"] == str(tmp_path / "counts")
    assert plain["parts"] == len(list((tmp_path / "counts").glob("*.counts")))


def test_the_same_seed_gives_the_same_numbers(memspan, novel):
    first, second = (memspan("measure", novel, "--json", "--seed", 7).plain for _ in range(2))
    assert numbers(first) == numbers(second)


def test_workers_do_not_change_the_numbers(memspan, novel):
    first, second = (memspan("measure", novel, "--json", "--workers", n).plain for n in (1, 2))
    assert numbers(first) == numbers(second)


def test_brackets_in_a_name_are_shown_as_they_are(memspan, novel, tmp_path):
    shutil.copy(novel, tmp_path / "[red]novel[bold].txt")
    assert memspan("measure", tmp_path / "[red]novel[bold].txt", "--max-lag", 5).out.startswith(
        "[red]novel[bold].txt: "
    )


def test_a_name_that_is_not_utf8_can_be_measured_and_reported(memspan, novel, tmp_path):
    path = Path(f"{tmp_path}/\udcff.txt")
    shutil.copy(novel, path)
    ran = memspan("measure", path, "--max-lag", 5, "--out", tmp_path / "run")
    assert ran.status == 0
    assert ran.out.startswith("\\xff.txt: ")
    assert "\\\\xff.txt" in (tmp_path / "run/result.json").read_text()


def test_the_words_of_the_options_are_those_of_the_library():
    from typing import get_args

    from memspan.cli import options
    from memspan.cli.measure import Estimator

    _, estimator = get_args(Estimator)
    assert estimator.help == f"Entropy estimator: {', '.join(ESTIMATORS)}."
    assert get_args(options.NullName) == tuple(NULLS)
    assert get_args(options.TransformName) == tuple(TRANSFORMS)


def test_the_column_of_a_table_is_named_everywhere(memspan, tmp_path):
    numbers = [k * 7919 % 1000 for k in range(3000)]
    rows = "\n".join(f"{k},{value if k % 50 else 'NA'}" for k, value in enumerate(numbers))
    path = tmp_path / "prices.csv"
    path.write_text(f"row,close\n{rows}\n")
    words = ("measure", path, "--lags", "1:5")
    assert "--missing drop" in memspan(*words).error
    ran = memspan(*words, "--missing", "drop")
    assert ran.out.startswith("prices.csv, column close: ")
    assert "values of column close: 2,940 in 1 document" in ran.out
    assert "note: column close, the only column of numbers; left out: row (index" in ran.out
    plain = memspan(*words, "--missing", "break", "--json", "--keep-counts", "--out", tmp_path / "out").plain
    assert (plain["column"], plain["documents"], plain["length"]) == ("close", 59 + 1, 2940)
    counts = sorted((tmp_path / "out/counts").glob("*.counts"))
    assert memspan("measure", *counts, "--json").plain["column"] == "close"
    compared = memspan("compare", f"a={path}", f"b={path}", "--lags", "1:3", "--missing", "drop", "--json").plain
    assert [source["column"] for source in compared["sources"].values()] == ["close", "close"]
