"""Intervals against closed forms, against scipy.stats, and by how often they hold the truth."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from memspan.statistics import (
    agresti_coull_interval,
    jackknife_error,
    jackknife_variance,
    standard_error,
    student_interval,
    student_margin,
    student_quantile,
    welch_margin,
    wilson_interval,
)

RANDOM = np.random.default_rng(0)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    assert student_quantile(1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)


def test_two_degrees_of_freedom_have_a_closed_form() -> None:
    assert student_quantile(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2.5, 9, 63, 1000])
def test_student_quantiles_are_bitwise_those_of_scipy_stats(freedom: float) -> None:
    assert student_quantile(freedom) == stats.t.ppf(0.975, freedom)


def test_student_intervals_are_those_of_a_t_test() -> None:
    some, others = RANDOM.normal(0, 1, 3), RANDOM.normal(1, 3, 5)
    assert student_interval(some) == pytest.approx(tuple(stats.ttest_1samp(some, 0).confidence_interval(0.95)))
    low, high = stats.ttest_ind(some, others, equal_var=False).confidence_interval(0.95)
    assert welch_margin(some, others) == pytest.approx((high - low) / 2)


def test_the_spread_of_a_single_value_is_unknown() -> None:
    assert math.isnan(float(standard_error([2.0])))
    assert math.isnan(student_margin([2.0]))
    assert (welch_margin([1.0], [2.0]), welch_margin([1.0, 1.0], [2.0])) == (0.0, 0.0)
    assert np.isnan(standard_error(np.ones((1, 4)))).all()


def test_standard_errors_are_taken_over_the_first_axis() -> None:
    values = RANDOM.normal(size=(7, 3))
    assert standard_error(values) == pytest.approx(stats.sem(values, axis=0))


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (40, 50), (50, 50)])
def test_wilson_intervals_are_those_of_a_binomial_test(successes: int, trials: int) -> None:
    low, high = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert wilson_interval(successes / trials, trials) == pytest.approx((low, high), abs=1e-6)


def test_agresti_and_coull_by_hand() -> None:
    """40 of 50: (40 + 1.92) / 53.84 = 0.7786, and 1.96 standard errors of that are 0.1109."""
    found = agresti_coull_interval(np.array([1.0] * 40 + [0.0] * 10))
    assert found == pytest.approx((0.6677, 0.8895), abs=1e-4)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = RANDOM.normal(size=(12, 5))
    left_out = (values.sum(axis=0) - values) / 11
    assert jackknife_error(left_out) == pytest.approx(standard_error(values))
    assert jackknife_variance(left_out[:, 0]) == pytest.approx(float(standard_error(values[:, 0])) ** 2)


def test_student_intervals_hold_the_mean_as_often_as_they_claim() -> None:
    """Of 2,000 samples of 4 values, 95 % within three standard deviations of the share (0.015)."""
    samples = RANDOM.normal(3.0, 2.0, (2000, 4))
    held = [low <= 3.0 <= high for low, high in map(student_interval, samples)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_importing_the_module_does_not_load_scipy() -> None:
    code = "import sys, memspan.statistics; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
