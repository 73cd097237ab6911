"""Span, reach, significance, and the curve as a result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memspan.errors import CorruptError, InputError
from memspan.information import Plugin, count_pairs, log_lags, mutual_information, parse_lags
from memspan.information.lags import default_lags
from memspan.information.significance import p_values
from memspan.information.span import find_reach, find_span
from memspan.results import Curve, Span
from memspan.sequences.sources import IsingChain


def test_the_span_is_the_end_of_a_chain_that_gaps_of_a_period_do_not_end() -> None:
    lags = np.array([1, 2, 3, 6, 18, 60])
    assert find_span(lags, 1 - np.array([0, 0, 1.0, 0, 0, 0])) == Span(3, False)
    assert find_span(lags, 1 - np.array([0, 1, 0, 1, 1, 0], float)) == Span(18, False)
    assert find_span(lags, 1 - np.array([1, 1, 1, 1, 1, 1], float)) == Span(
        18, False
    )  # 60 is more than 3 x 18
    assert find_span(lags, 1 - np.array([0, 0, 0, 1, 1, 1], float)) == Span(0, False)  # begins too late
    assert find_span(lags[:5], 1 - np.array([1, 1, 1, 1, 1], float)) == Span(18, True)


def test_the_reach_lies_between_lags_on_log_log_axes() -> None:
    lags = np.array([1, 2, 4, 8, 16])
    information = 0.1 * lags**-2.0
    reach = find_reach(
        lags, information, np.zeros(5), np.ones(5, bool), np.zeros((8, 5)), np.zeros(5), 0.1 * 5**-2.0
    )
    assert reach.lag == pytest.approx(5)
    assert reach.interval == pytest.approx((5, 5))
    assert not reach.censored


def test_the_reach_is_zero_below_the_level_and_censored_above_it() -> None:
    lags, ones = np.array([1, 2, 4]), np.ones(3, bool)
    none = find_reach(lags, np.full(3, 1e-5), np.zeros(3), ones, np.zeros((8, 3)), np.zeros(3), 1e-3)
    assert (none.lag, none.interval, none.censored) == (0, None, False)
    all_above = find_reach(lags, np.full(3, 0.1), np.zeros(3), ones, np.zeros((8, 3)), np.zeros(3), 1e-3)
    assert (all_above.lag, all_above.censored) == (4, True)


def test_a_level_below_what_the_data_show_censors_the_reach() -> None:
    lags, ones = np.array([1, 2, 4, 8]), np.ones(4, bool)
    values, error = np.array([0.1, 0.01, 0.0, 0.0]), np.full(4, 0.001)
    unsure = find_reach(lags, values, error, ones, np.zeros((8, 4)), np.zeros(4), 1e-4)
    assert (unsure.lag, unsure.censored) == (2, True)
    assert not find_reach(lags, values, error, ones, np.zeros((8, 4)), np.zeros(4), 3e-3).censored


def test_false_alarms_among_ten_thousand_lags_do_not_carry_the_span_on() -> None:
    lags = np.arange(1, 10_001)
    p_value = np.random.default_rng(0).random(10_000)
    p_value[:40] = 0.0
    assert find_span(lags, p_value).lag < 60


def test_the_reach_does_not_depend_on_the_amount_of_data() -> None:
    source = IsingChain(-1.5)
    lags, none = np.arange(1, 100), np.zeros(99)
    ones, replicates = np.ones(99, bool), np.zeros((8, 99))
    exact = find_reach(lags, source.information(lags), none, ones, replicates, none, 1e-3).lag
    for length in (50_000, 800_000):
        reach = mutual_information(source.sample(1, length, seed=3)).reach
        assert reach.interval is not None
        assert reach.interval[0] * 0.8 < exact < reach.interval[1] * 1.25


def test_p_values_are_those_of_a_gamma_distribution() -> None:
    draws = np.random.default_rng(0).gamma(3.0, 2.0, (1, 200_000))
    values = np.quantile(draws, [0.5, 0.95, 0.999])
    found = p_values(values, np.repeat(draws, 3, axis=0))
    assert found == pytest.approx([0.5, 0.05, 0.001], rel=0.1)


def test_a_null_without_spread_decides_by_the_mean() -> None:
    assert p_values(np.array([0.2, 0.05]), np.full((2, 5), 0.1)).tolist() == [0.0, 1.0]


def test_a_curve_survives_json_and_files_exactly(tmp_path: Path) -> None:
    curve = mutual_information(["abcabdabeabf" * 40, "fedcba" * 50])
    curve.save(tmp_path / "curve.json")
    for again in (Curve.from_json(curve.to_json()), Curve.load(tmp_path / "curve.json")):
        assert again.to_json() == curve.to_json()
        np.testing.assert_array_equal(again.information, curve.information)
        assert again.lags.dtype == np.int64
        assert (again.span, again.reach) == (curve.span, curve.reach)
    with pytest.raises(CorruptError, match="cannot read"):
        Curve.load(tmp_path / "absent.json")


def test_a_curve_becomes_a_dataframe() -> None:
    frame = mutual_information(["abcabd" * 90], [1, 2, 3]).to_dataframe()
    assert frame["lags"].tolist() == [1, 2, 3]
    assert "corrected" in frame.columns


def test_the_same_seed_gives_the_same_curve_and_generators_are_taken() -> None:
    text = ["abcabdbbca" * 60]
    a, b = (mutual_information(text, seed=7) for _ in range(2))
    assert a.to_json() == b.to_json()
    c, d = (mutual_information(text, seed=np.random.default_rng(7)) for _ in range(2))
    assert c.to_json() == d.to_json()


def test_counts_and_sequence_give_the_same_curve() -> None:
    text = ["abcabdbbca" * 60]
    counts = count_pairs(text, [1, 2, 3])
    assert mutual_information(counts).to_json() == mutual_information(text, [1, 2, 3]).to_json()
    with pytest.raises(InputError, match="counted already"):
        mutual_information(counts, [1])


def test_counts_without_their_null_cannot_be_estimated() -> None:
    counts = count_pairs(["abcabdbbca" * 60], [1, 2])
    bare = type(counts)(**{**vars(counts), "null": type(counts.null)("shifts", 0)})
    with pytest.raises(InputError, match="no null tables"):
        mutual_information(bare)


@pytest.mark.parametrize("null", ["independent", "shifts"])
def test_independent_words_have_no_information_although_the_plugin_sees_nats_of_it(null: str) -> None:
    words = [f"w{k % 1500}" for k in np.random.default_rng(0).integers(0, 10**6, 4000)]
    curve = mutual_information([words], [1, 2], null=null, estimator=Plugin())
    assert curve.information.min() > 3
    assert curve.corrected == pytest.approx(0, abs=5 * curve.error.max())
    assert curve.span.lag == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,2,5", [1, 2, 5]), ("1:4", [1, 2, 3, 4]), ("9,1:2,9", [1, 2, 9]), ("all", list(range(1, 11)))],
)
def test_lags_as_typed(text: str, expected: list[int]) -> None:
    assert parse_lags(text, 100).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "expected numbers"),
        ("1:", "expected numbers"),
        ("7:3", "runs backwards"),
        ("0", "below 1"),
        ("5:100", "use --max-lag 99"),
        ("1:10000000000", "longer than"),
    ],
)
def test_lags_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_lags(text, 100)


def test_default_lags_end_at_a_tenth_of_the_document_and_ten_thousand() -> None:
    assert default_lags(1000)[-1] == 100
    assert default_lags(10**7)[-1] == 10_000
    assert {100, 1000} <= set(default_lags(10**7).tolist())
    assert default_lags(1000, 500)[-1] == 500
    with pytest.raises(InputError, match="too few"):
        default_lags(19)
    with pytest.raises(InputError, match="expected 1 <= first"):
        log_lags(5, 2)


def test_unknown_nulls_and_impossible_ones_are_told() -> None:
    with pytest.raises(InputError, match="expected one of"):
        mutual_information(["abcab" * 50], [1], null="shuffle")
    with pytest.raises(InputError, match="needs 50 documents"):
        mutual_information(["abcab" * 50], [1], null="documents")
    with pytest.raises(InputError, match="positive"):
        mutual_information(["abcab" * 50], [1], level=0)
