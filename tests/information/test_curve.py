"""Span, reach, significance, and the curve as a result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memspan.errors import CorruptError, InputError
from memspan.information import Plugin, count_pairs, log_lags, mutual_information, parse_lags
from memspan.information.floor import p_of_scores, scores
from memspan.information.lags import default_lags
from memspan.information.span import RangeProfile, find_reach, find_span
from memspan.results import Curve, Reach, Span
from memspan.sequences.sources import IsingChain


def no_range(lags: np.ndarray) -> RangeProfile:
    """Of a sequence whose neighbors are independent, so that lags are uncorrelated."""
    return RangeProfile(lags, np.zeros(len(lags)), 2, np.zeros(len(lags), bool))


def span_of(lags: np.ndarray, score: np.ndarray, draws: int = 256) -> Span:
    return find_span(lags, score, no_range(lags), draws)


def test_the_span_ends_where_pooled_evidence_ends() -> None:
    lags = log_lags(1, 1000)
    assert span_of(lags, np.zeros(len(lags))) == Span(0, False)
    assert span_of(lags, np.full(len(lags), 50.0)).censored
    span = span_of(lags, np.where(lags <= 100, 20.0, 0.0))
    assert span.lag == 100
    assert not span.censored
    assert span.interval is not None
    assert span.interval[0] <= span.lag <= span.interval[1]
    assert span_of(lags, np.where(lags >= 30, 20.0, 0.0)) == Span(0, False)  # starts too late


def test_weak_evidence_at_many_lags_adds_up_and_one_false_alarm_does_not() -> None:
    """Scores of 2 are not significant one by one, at neighboring lags together they are."""
    lags = log_lags(1, 10_000)
    score = np.where(lags <= 16, 30.0, np.where(lags <= 1000, 2.0, 0.0))
    assert span_of(lags, score).lag > 500
    alone = np.where(lags <= 16, 30.0, np.where(lags == 1000, 4.0, 0.0))
    assert span_of(lags, alone).lag < 100


def test_the_dips_of_a_period_do_not_end_the_span() -> None:
    lags = np.arange(1, 17)
    assert span_of(lags, np.where(lags % 3 == 0, 12.0, 1.0)).censored


def test_correlated_lags_are_no_independent_evidence() -> None:
    """The same weak scores of a sequence with long-range structure, whose neighboring lags repeat each other."""
    lags = log_lags(1, 2000)
    score = np.where(lags <= 100, 30.0, 2.0)
    slow = RangeProfile(lags, np.exp(-lags / 500), 2, lags <= 1500)
    assert find_span(lags, score, slow, 256).lag < span_of(lags, score).lag
    assert slow.mean_range == pytest.approx(250, rel=0.1)  # T(s)^2 = exp(-s / 250)
    # Bartlett: (sum_s T(s) T(s + d) / sum_s T(s)^2)^2 = ((1 + d/500) exp(-d/500))^2 for an exponential
    expected = [((1 + d / 500) * np.exp(-d / 500)) ** 2 for d in (0, 100, 500)]
    assert slow.correlation(np.array([0, 100, 500])) == pytest.approx(expected, abs=0.02)


def reach_of(lags: np.ndarray, values: np.ndarray, level: float, error: float = 1e-9) -> Reach:
    n = len(lags)
    return find_reach(lags, values, np.full(n, error), np.zeros((8, n)), np.full(n, error), np.zeros(n), level)


def test_the_reach_lies_between_lags_on_log_log_axes_and_its_interval_knows_the_grid() -> None:
    lags = np.array([1, 2, 4, 8, 16])
    reach = reach_of(lags, 0.1 * lags**-2.0, 0.1 * 5**-2.0)
    assert reach.lag == pytest.approx(5)
    assert reach.interval == pytest.approx((4, 8))
    assert not reach.censored


def test_the_reach_is_zero_below_the_level_and_censored_above_it() -> None:
    lags = np.array([1, 2, 4])
    none = reach_of(lags, np.full(3, 1e-5), 1e-3)
    assert (none.lag, none.interval, none.censored) == (0, None, False)
    all_above = reach_of(lags, np.full(3, 0.1), 1e-3)
    assert (all_above.lag, all_above.censored) == (4, True)


def test_a_level_below_what_the_data_show_censors_the_reach() -> None:
    lags = np.array([1, 2, 4, 8])
    values = np.array([0.1, 0.01, 0.0, 0.0])
    unsure = reach_of(lags, values, 1e-4, error=0.001)
    assert (unsure.lag, unsure.censored) == (2, True)
    assert not reach_of(lags, values, 3e-3, error=0.0005).censored


def test_a_peak_surely_above_the_level_extends_the_reach() -> None:
    """Beats of a bar: every fourth lag is above the level up to 40, the others up to 10."""
    lags = np.arange(1, 101)
    values = np.where(lags <= 10, 0.01, np.where((lags % 4 == 0) & (lags <= 40), 0.005, 0.0))
    assert reach_of(lags, values, 1e-3, error=1e-4).lag == pytest.approx(40, abs=0.5)


def test_noise_at_single_lags_does_not_decide_the_reach() -> None:
    """exp(-tau/20) crosses 1e-3 at 138; with noise of half the level at 500 lags the last one above it is far beyond."""
    lags = np.arange(1, 501)
    truth = np.exp(-lags / 20)
    found = []
    for seed in range(20):
        values = truth + 5e-4 * np.random.default_rng(seed).standard_normal(500)
        assert lags[values >= 1e-3][-1] > 250
        found.append(reach_of(lags, values, 1e-3, error=5e-4))
    inside = [r.censored or (r.interval is not None and r.interval[0] <= 138.2 <= r.interval[1]) for r in found]
    assert np.mean(inside) >= 0.9
    assert np.median([r.lag for r in found]) == pytest.approx(138, rel=0.15)


def test_false_alarms_among_ten_thousand_lags_do_not_carry_the_span_on() -> None:
    lags = np.arange(1, 10_001)
    score = np.random.default_rng(0).standard_normal(10_000)
    score[:40] = 30.0
    assert span_of(lags, score).lag < 80


def test_the_reach_does_not_depend_on_the_amount_of_data() -> None:
    source = IsingChain(-1.5)
    lags = np.arange(1, 100)
    exact = reach_of(lags, source.information(lags), 1e-3).lag
    for length in (50_000, 800_000):
        reach = mutual_information(source.sample(1, length, seed=3)).reach
        assert reach.interval is not None
        assert reach.interval[0] <= exact <= reach.interval[1]


def p_values(information: np.ndarray, draws: np.ndarray) -> np.ndarray:
    mean, sd = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    return p_of_scores(scores(information, mean, sd), draws.shape[1])


def test_p_values_are_those_of_a_gamma_distribution() -> None:
    draws = np.random.default_rng(0).gamma(3.0, 2.0, (1, 200_000))
    values = np.quantile(draws, [0.5, 0.95, 0.999])
    found = p_values(values, np.repeat(draws, 3, axis=0))
    assert found == pytest.approx([0.5, 0.05, 0.001], rel=0.1)


def test_few_draws_make_p_values_larger() -> None:
    """A mean and a variance of 16 draws are uncertain: Student's distribution, not the normal one."""
    generator = np.random.default_rng(1)
    draws, values = generator.gamma(200.0, 1.0, (20_000, 16)), generator.gamma(200.0, 1.0, 20_000)
    found = p_values(values, draws)
    assert np.mean(found < 0.05) == pytest.approx(0.05, abs=0.005)
    assert np.mean(found < 0.001) == pytest.approx(0.001, abs=0.0007)


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
    counted, read = (mutual_information(data).to_json() for data in (counts, count_pairs(text, [1, 2, 3])))
    assert counted == read
    direct = mutual_information(text, [1, 2, 3]).to_json()
    assert {k: v for k, v in direct.items() if k != "reach"} == {k: v for k, v in counted.items() if k != "reach"}
    with pytest.raises(InputError, match="counted already"):
        mutual_information(counts, [1])


def test_counts_without_their_null_cannot_be_estimated() -> None:
    counts = count_pairs(["abcabdbbca" * 60], [1, 2])
    bare = type(counts)(**{**vars(counts), "null": type(counts.null)("blocks", 0)})
    with pytest.raises(InputError, match="no null tables"):
        mutual_information(bare)


@pytest.mark.parametrize("null", ["independent", "blocks"])
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


def test_unknown_nulls_and_levels_are_refused() -> None:
    with pytest.raises(InputError, match="expected one of"):
        mutual_information(["abcab" * 50], [1], null="shuffle")
    with pytest.raises(InputError, match="counted already"):
        mutual_information(count_pairs(["abcab" * 50], [1]), [1])
    with pytest.raises(InputError, match="positive"):
        mutual_information(["abcab" * 50], [1], level=0)
