"""Results: exact JSON, atomic files, honest claims."""

from __future__ import annotations

import errno
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memspan.errors import CorruptError, InputError
from memspan.results import (
    Benchmark,
    BenchReport,
    Chart,
    Claim,
    MeasuredRow,
    MeasuredTable,
    MeasuredValue,
    Reproduction,
    claim_near,
    line,
)
from memspan.results.encoding import dumps, from_plain, read_object, to_plain
from memspan.results.files import replacing, write_text


@dataclass(frozen=True, eq=False)
class Sample:
    numbers: NDArray[np.float64]
    counts: NDArray[np.int64]
    value: float
    maybe: tuple[float, float] | None
    words: tuple[str, ...]
    table: dict[str, float]


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(floats),
    st.lists(st.integers(-(2**62), 2**62)),
    floats,
    st.none() | st.tuples(floats, floats),
    st.lists(st.text()),
    st.dictionaries(st.text(), floats),
)
def test_results_survive_json_to_the_last_bit(
    numbers: list[float],
    counts: list[int],
    value: float,
    maybe: tuple[float, float] | None,
    words: list[str],
    table: dict[str, float],
) -> None:
    import json

    sample = Sample(np.array(numbers, np.float64), np.array(counts, np.int64), value, maybe, tuple(words), table)
    again = from_plain(Sample, json.loads(dumps(to_plain(sample))))
    assert again.numbers.tobytes() == sample.numbers.tobytes()
    assert again.counts.tolist() == counts
    assert (again.value, again.maybe, again.words, again.table) == (value, maybe, tuple(words), table)


def test_numbers_that_are_not_finite_become_null() -> None:
    plain = to_plain({"a": math.nan, "b": np.array([1.0, math.inf]), "c": np.float64(2)})
    assert plain == {"a": None, "b": [1.0, None], "c": 2.0}
    assert math.isnan(from_plain(float, None))


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.txt"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.txt"]


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "old")
    with pytest.raises(InputError, match="No space left on device; free space"), replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert path.read_text() == "old"


def test_an_unwritable_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_text(tmp_path / "file" / "below.txt", "x")


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"a": 1}', "{"])
def test_files_that_are_not_results_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(CorruptError):
        read_object(path)


def test_a_claim_holds_within_its_tolerance_of_the_corrected_value() -> None:
    assert claim_near("x", 1.05, 0.1, paper=5.0, corrected=1.0).holds
    assert not claim_near("x", 1.05, 0.1, paper=5.0).holds
    with pytest.raises(ValueError, match="needs"):
        claim_near("x", 1.0, 0.1)


def test_a_reproduction_survives_json_and_holds_if_all_claims_do() -> None:
    chart = Chart("n", "t", "x", "y", "log", "linear", (line("a", [1, 2], [3.5, 4], band=([3, 3], [5, 5])),), "caption")
    claims = (Claim("a", 1.0, None, 1.0, 0.1, True), Claim("b", None, 2.0, 3.0, 0.1, False))
    entry = MeasuredValue(0.4, (0.3, 0.5), (0.35, 0.45), 0.25, 0.03)
    table = MeasuredTable("t", ("a", "b"), (MeasuredRow("base", (entry, None)),), "caption")
    result = Reproduction("shen-fig5", "title", "Shen", "smoke", 0, claims, (chart,), ("note",), 1.5, tables=(table,))
    assert not result.holds
    again = Reproduction.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert (again.claims, again.tables) == (claims, (table,))
    assert again.figures[0].lines[0].high.tolist() == [5, 5]


def test_a_reproduction_of_an_earlier_version_has_no_tables() -> None:
    plain = Reproduction("shen-fig5", "title", "Shen", "smoke", 0, (), (), (), 1.5).to_json()
    earlier = {name: plain[name] for name in plain.keys() - {"orbits", "maps", "tables"}}
    assert Reproduction.from_json(earlier).to_json() == plain


def test_a_bench_report_survives_json() -> None:
    report = BenchReport("machine", (Benchmark("a", "numpy", 1.0, 2.5, "ns", 2.5),), 1.0)
    plain: dict[str, Any] = report.to_json()
    assert BenchReport.from_json(plain) == report


@dataclass(frozen=True)
class Grown:
    name: str
    since: int = 3


def test_a_field_that_an_earlier_version_did_not_write_has_its_default():
    assert from_plain(Grown, {"name": "a"}) == Grown("a")
    with pytest.raises(KeyError):
        from_plain(Grown, {"since": 4})
