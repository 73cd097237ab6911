"""The statistics of the calibration on curves made by hand, whose false alarms and coverage are known."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence as Many
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from memspan.bench import CalibrationPlan, calibration_peers, run
from memspan.bench.calibration import (
    Case,
    calibrate,
    calibration,
    cases,
    reach_interval,
    span_coverage,
    summarize,
    true_reach,
)
from memspan.bench.calibration_peers import LAGS, PeerCase, compare_peers
from memspan.errors import InputError
from memspan.information import log_lags
from memspan.presentation.benchmark import CALIBRATION_HEADER, calibration_row, error_table
from memspan.progress import SILENT
from memspan.results import BenchReport, Curve, PeerEstimate, Reach, SourceCalibration, Span
from memspan.sequences import Sequence
from memspan.sequences.sources import HiddenMarkov, Independent, MarkovChain, StickyChain

NOWHERE = (0.0, 1.0)
"""A true reach below the first lag."""


def curve(
    corrected: Many[float],
    *,
    error: float = 1.0,
    floor_sd: float = 1.0,
    p_value: Many[float] | None = None,
    undersampled: Many[bool] | None = None,
    span: Span | None = None,
    reach: Reach | None = None,
) -> Curve:
    n = len(corrected)
    ones = np.ones(n)
    return Curve(
        lags=np.arange(1, n + 1),
        information=np.asarray(corrected, dtype=np.float64),
        floor=0.0 * ones,
        floor_sd=floor_sd * ones,
        corrected=np.asarray(corrected, dtype=np.float64),
        stderr=error * ones,
        pairs=np.full(n, 100),
        p_value=ones if p_value is None else np.asarray(p_value, dtype=np.float64),
        replicates=np.zeros((2, n)),
        entropy=1.0,
        alphabet=2,
        length=100,
        documents=1,
        estimator="plugin",
        null="independent",
        span=span or Span(0, False),
        reach=reach or Reach(0.0, 1e-3, None, False),
        stderr_bias=0.0 * ones,
        undersampled=np.zeros(n, dtype=bool) if undersampled is None else np.asarray(undersampled),
    )


def summary(curves: Many[Curve], truth: Many[float], reach: tuple[float, float] = NOWHERE) -> SourceCalibration:
    return summarize("by hand", curves, np.asarray(truth, dtype=np.float64), reach, seconds=0.0)


def test_false_alarms_are_counted_at_far_lags_only() -> None:
    truth = [1.0, 1e-7, 1e-9, 0.0, 0.0, 0.0]
    one = curve([0.0] * 6, p_value=[1e-9, 1e-9, 0.04, 0.0005, 0.05, 0.9])
    two = curve([0.0] * 6, p_value=[1e-9, 1e-9, 0.5, 0.5, 0.5, 0.5])
    found = summary([one, two], truth)
    assert found.far_lags == 4
    assert found.false_alarms_05 == 2 / 8
    assert found.false_alarms_001 == 1 / 8


def test_the_far_deviation_is_in_units_of_the_floor_and_the_bias_keeps_its_sign() -> None:
    found = summary([curve([50.0, 0.2, -0.4, -0.4], floor_sd=0.1)], [1.0, 0.0, 0.0, 0.0])
    assert found.far_deviation == pytest.approx((2 + 4 + 4) / 3)
    assert found.far_bias == pytest.approx((2 - 4 - 4) / 3)


def test_coverage_counts_lags_within_two_errors_on_both_sides() -> None:
    truth = [1.0, 1.0, 1.0, 1e-4, 0.0]
    found = summary([curve([1.19, 0.81, 1.21, 1e-4 - 0.3, 0.1], error=0.1)], truth)
    assert found.coverage == 3 / 5
    assert found.coverage_above == 2 / 3


@pytest.mark.parametrize("too_wide", [0.5, 1.0, 3.0])
def test_normal_noise_has_the_stated_width_and_its_own_coverage(too_wide: float) -> None:
    rng = np.random.default_rng(0)
    lags, seeds = 400, 25
    truth = np.full(lags, 0.5)
    curves = [curve((0.5 + 0.01 * rng.standard_normal(lags)).tolist(), error=too_wide * 0.01) for _ in range(seeds)]
    found = summary(curves, truth.tolist())
    # 10,000 normal numbers: their standard deviation is known to 0.7 %, the share within x to 0.005 at most.
    assert found.width == pytest.approx(too_wide, rel=0.035)
    assert found.width_above == found.width
    assert found.coverage == pytest.approx(math.erf(2 * too_wide / math.sqrt(2)), abs=0.025)


def test_a_bias_narrows_the_width() -> None:
    # Deviations of 3 and 4 errors: rms is sqrt(12.5).
    found = summary([curve([0.5 + 0.3, 0.5 - 0.4], error=0.1)], [0.5, 0.5])
    assert found.width == pytest.approx(1 / math.sqrt(12.5))


def test_what_has_no_lags_to_be_taken_from_is_nan() -> None:
    found = summary([curve([0.5, 0.5])], [0.5, 0.5])
    assert found.far_lags == 0
    assert all(math.isnan(value) for value in (found.false_alarms_05, found.false_alarms_001, found.far_bias))
    independent = summary([curve([0.1, 0.1])], [0.0, 0.0])
    assert math.isnan(independent.coverage_above)
    assert math.isnan(independent.width_above)


def test_a_source_without_noise_is_covered_by_errors_of_zero() -> None:
    exact = math.log(2)
    assert summary([curve([exact, exact + 1e-15], error=0.0)], [exact, exact]).coverage == 1.0
    missed = summary([curve([exact, exact - 1e-6], error=0.0)], [exact, exact])
    assert missed.coverage == 0.5
    assert math.isnan(missed.width), "an error of zero has no width"


def test_the_share_of_undersampled_lags_is_pooled() -> None:
    flagged, not_flagged = curve([0.0, 0.0], undersampled=[True, False]), curve([0.0, 0.0])
    assert summary([flagged, not_flagged], [0.0, 0.0]).undersampled == 1 / 4


@pytest.mark.parametrize(
    ("reach", "covered"),
    [
        (Reach(12.0, 1e-3, (11.0, 12.9), False), False),
        (Reach(12.0, 1e-3, (11.0, 13.0), False), True),
        (Reach(13.5, 1e-3, (13.4, 13.6), False), True),
        (Reach(15.0, 1e-3, (14.1, 16.0), False), False),
        (Reach(10.0, 1e-3, None, True), True),  # "at least 10"
        (Reach(15.0, 1e-3, None, True), False),  # "at least 15"
        (Reach(0.0, 1e-3, None, False), False),
    ],
)
def test_a_reach_is_right_if_what_it_claims_meets_the_crossing(reach: Reach, covered: bool) -> None:
    assert summary([curve([0.0], reach=reach)], [0.0], reach=(13.0, 14.0)).reach_coverage == covered


def test_no_reach_claims_that_the_curve_is_below_the_level_from_the_first_lag_on() -> None:
    assert reach_interval(curve([0.0, 0.0])) == (0.0, 1.0)
    assert summary([curve([0.0, 0.0])], [0.0, 0.0]).reach_coverage == 1.0
    assert summary([curve([0.0, 0.0])], [1.0, 1.0], reach=(2.0, math.inf)).reach_coverage == 0.0


def test_the_true_reach_lies_between_neighboring_lags_also_where_the_grid_is_coarse() -> None:
    chain, level = MarkovChain.lazy(2, stay=0.99), 1e-3
    every = chain.information(np.arange(1, 500))
    last = int(np.flatnonzero(every >= level)[-1]) + 1
    lags = np.array([1, 10, 100, 1_000])
    assert true_reach(chain, lags, chain.information(lags), level) == (last, last + 1)


def test_a_true_reach_may_be_below_the_first_lag_or_beyond_the_last() -> None:
    lags = np.array([1, 10, 100])
    assert true_reach(Independent.uniform(2), lags, np.zeros(3), 1e-3) == (0.0, 1.0)
    forever = HiddenMarkov.periodic_pairs(0.9)
    assert true_reach(forever, lags, forever.information(lags), 1e-3) == (100.0, math.inf)


def test_spans_are_covered_pair_by_pair_where_they_have_an_interval() -> None:
    wide, narrow = curve([0.0], span=Span(10, False, (5, 20))), curve([0.0], span=Span(20, False, (19, 21)))
    none = curve([0.0], span=Span(0, False))
    assert span_coverage([wide, narrow]) == 1 / 2
    # wide: 20 inside, 0 outside; narrow: 10 and 0 outside; none claims nothing.
    assert span_coverage([wide, narrow, none]) == 1 / 4
    assert math.isnan(span_coverage([none, none]))
    assert math.isnan(span_coverage([wide]))


def test_a_case_is_sampled_with_consecutive_seeds_and_measured_the_same_again() -> None:
    case, source = Case("chain", lambda: MarkovChain.lazy(2, stay=0.7), 4_000), MarkovChain.lazy(2, stay=0.7)
    found = calibrate(case, source, CalibrationPlan(seeds=3, seed=5))
    again = calibrate(case, source, CalibrationPlan(seeds=3, seed=5))
    assert (found.seeds, found.length, found.documents, found.alphabet) == (3, 4_000, 1, 2)
    assert found.lags == len(log_lags(1, 400))
    assert len(found.spans) == len(found.reaches) == 3
    assert (again.coverage, again.width, again.spans) == (found.coverage, found.width, found.spans)
    tail = calibrate(case, source, CalibrationPlan(seeds=1, seed=6))
    assert tail.spans == found.spans[1:2]


def test_every_kind_of_source_is_in_the_table_and_its_name_is_short() -> None:
    quick, full = ([case.name for case in cases(full=size)] for size in (False, True))
    for word in ("independent", "Markov", "sticky", "AR(1)", "hidden", "Eq. 52", "periodic", "power law", "bigrams"):
        assert any(word in name for name in quick)
    assert set(quick) <= set(full)
    assert max(map(len, full)) <= 24, "the table is 100 columns wide"
    sticky = [case for case in cases(full=True) if case.name.startswith("sticky")]
    assert len(sticky) == 5 * 3 * 2


def test_absent_data_are_skipped_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMSPAN_DATA", "MEMSPAN_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    found = calibration(SILENT, CalibrationPlan(source="bigrams", seeds=1))
    assert found.calibration == ()
    assert len(found.notes) == 3
    assert all("skipped: " in note for note in found.notes)


def test_an_unknown_source_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"--source stiky: no source .* sticky Zipf 0.5, 60.*, peers"):
        calibration(SILENT, CalibrationPlan(source="stiky"))


def test_a_file_becomes_a_bigram_chain_of_its_own_length(tmp_path: Path) -> None:
    path = tmp_path / "song.txt"
    path.write_text("la li lu " * 200)
    report = run("calibration", SILENT, CalibrationPlan(file=path, seeds=1))
    (row,) = report.calibration
    assert (row.name, row.length, row.alphabet) == ("bigrams: song.txt", 1_800, 5)
    assert report.estimates == ()
    (words,) = run("calibration", SILENT, CalibrationPlan(file=path, symbols="words", seeds=1)).calibration
    assert (words.length, words.alphabet) == (600, 3)


def test_a_plan_belongs_to_the_calibration() -> None:
    with pytest.raises(InputError, match="expected it for calibration only"):
        run("theory", SILENT, CalibrationPlan())


TINY = (PeerCase("coin", StickyChain.zipf(3, 0.5)),)


def imported(monkeypatch: pytest.MonkeyPatch, modules: dict[str, Any]) -> None:
    """Peers that are these objects; one that is not among them is not installed."""
    real = importlib.import_module

    def find(name: str, package: str | None = None) -> Any:
        if name not in ("automutualinformation", "infomeasure"):
            return real(name, package)
        if name not in modules:
            raise ModuleNotFoundError(name)
        return modules[name]

    monkeypatch.setattr(importlib, "import_module", find)


def test_absent_peers_are_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, {})
    benchmarks, estimates, notes = compare_peers(0, TINY, pairs=9_000)
    assert benchmarks == ()
    assert [(one.estimator, one.lag) for one in estimates] == [("memspan", lag) for lag in LAGS]
    assert [one.truth for one in estimates] == TINY[0].source.information(LAGS).tolist()
    assert [note.split(":")[0] for note in notes] == ["automutualinformation skipped", "infomeasure skipped"]


def test_the_best_estimator_of_a_package_stands_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = dict(zip(LAGS, TINY[0].source.information(LAGS).tolist(), strict=True))
    off = {"discrete": 0.5, "grassberger": 0.25, "nsb": math.nan}

    def estimate(x: np.ndarray, y: np.ndarray, *, approach: str, base: str) -> float:
        assert base == "e"
        lag = 9_000 + LAGS[-1] - len(x)
        assert len(x) == len(y)
        return truth[lag] + off.get(approach, 2.0)

    imported(monkeypatch, {"infomeasure": SimpleNamespace(mutual_information=estimate)})
    (benchmark,), estimates, notes = compare_peers(0, TINY, pairs=9_000)
    assert benchmark.peer == "infomeasure grassberger"
    assert benchmark.theirs == pytest.approx(0.25)
    assert benchmark.ours == pytest.approx(max(one.error for one in estimates if one.estimator == "memspan"))
    assert benchmark.ratio == benchmark.theirs / benchmark.ours
    assert "infomeasure nsb left out: not finite on coin" in notes
    assert not any(one.estimator == "infomeasure nsb" for one in estimates)


def test_the_units_of_automutualinformation_cancel_in_the_difference() -> None:
    package: ModuleType = pytest.importorskip("automutualinformation", reason="install memspan[bench]")
    sequence: Sequence = TINY[0].source.sample(1, 30_000, seed=0)
    before = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]
    found = calibration_peers._automutualinformation(package, sequence)
    assert np.array_equal(np.random.get_state()[1], before)  # type: ignore[index]
    for (_, lag), exact in zip(found, TINY[0].source.information(LAGS), strict=True):
        # Three symbols, 30,000 pairs: the standard error of lag 1 is 0.005 nats.
        assert found["", lag] == pytest.approx(exact, abs=0.025)


def test_infomeasure_is_given_nats() -> None:
    package: ModuleType = pytest.importorskip("infomeasure", reason="install memspan[calibration]")
    sequence = TINY[0].source.sample(1, 30_000, seed=0)
    found = calibration_peers._infomeasure(package, sequence)
    assert found["discrete", 1] == pytest.approx(TINY[0].source.information([1])[0], abs=0.025)


def test_rows_say_where_there_is_nothing_and_keep_their_order() -> None:
    row = calibration_row(summary([curve([0.5, 0.5], error=0.25)], [0.5, 0.5]))
    assert len(row) == len(CALIBRATION_HEADER)
    assert row[CALIBRATION_HEADER.index("p<.05")] == "-"
    assert row[CALIBRATION_HEADER.index("±2se")] == "100"
    assert row[CALIBRATION_HEADER.index("span")] == "-"


def test_the_table_of_errors_has_a_row_per_estimator() -> None:
    estimates = [
        PeerEstimate("coin", lag, name, 0.5 + off, 0.5)
        for name, off in (("memspan", 0.01), ("other", -0.25))
        for lag in (1, 5)
    ]
    header, rows = error_table(estimates)
    assert header == ("error at lags 1, 5", "coin")
    assert rows == [("memspan", "0.010 0.010"), ("other", "0.250 0.250")]
    assert error_table(())[1] == []


def test_a_report_with_a_calibration_survives_json() -> None:
    found = summary([curve([0.5], error=0.25), curve([0.4], error=0.25)], [0.5])
    report = BenchReport("one core", (), 1.0, (found,), (PeerEstimate("coin", 1, "memspan", 0.5, 0.4),), ("a note",))
    plain = report.to_json()
    assert plain["calibration"][0]["false_alarms_05"] is None
    again = BenchReport.from_json(plain)
    assert again.to_json() == plain
    assert again.estimates == report.estimates
    older = {name: plain[name] for name in ("machine", "benchmarks", "seconds")}
    assert BenchReport.from_json(older).calibration == ()
