"""Claims about values with errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from memspan.reproductions.claims import MANY, claim, deviation, reach_of_mean
from memspan.statistics import welch_margin


def test_the_worst_of_all_values_decides() -> None:
    assert deviation([[1.0, 2.0], [3.0, 4.0]], 2.0, [[1.0, 1.0], [0.5, 4.0]]) == 2.0


@pytest.mark.parametrize(("off", "holds"), [(MANY - 0.01, True), (MANY + 0.01, False), (-MANY - 0.01, False)])
def test_a_claim_holds_up_to_five_standard_errors_on_either_side(off: float, holds: bool) -> None:
    found = claim("It is so.").within_errors(1.0 + off * 0.1, 1.0, 0.1)
    assert found.holds is holds
    assert found.tolerance == MANY
    assert found.measured == pytest.approx(abs(off))


def test_a_value_that_is_not_a_number_does_not_hold() -> None:
    assert not claim("It is so.").within_errors([1.0, np.nan], [1.0, 1.0], [0.1, 0.1]).holds


def test_intervals_of_a_few_seeds_are_those_of_scipy() -> None:
    random = np.random.default_rng(0)
    some, others = random.normal(0, 1, 3), random.normal(1, 3, 5)
    low, high = stats.ttest_1samp(some, 0).confidence_interval(0.95)
    assert reach_of_mean(some) == pytest.approx((high - low) / 2)
    low, high = stats.ttest_ind(some, others, equal_var=False).confidence_interval(0.95)
    assert welch_margin(some, others) == pytest.approx((high - low) / 2)


def test_values_without_scatter_have_no_interval() -> None:
    assert (reach_of_mean([2.0]), welch_margin([1.0], [2.0])) == (0.0, 0.0)
    assert welch_margin([1.0, 1.0], [2.0]) == 0.0


def test_a_value_is_compared_with_the_corrected_one_else_with_the_papers() -> None:
    near = claim("It is so.").near
    assert near(1.1, 0.2, paper=1.0).holds
    assert not near(1.1, 0.2, paper=1.0, corrected=2.0).holds
    with pytest.raises(ValueError, match="needs the paper's value or the corrected one"):
        near(1.0, 0.1)


def test_bounds_are_strict_and_both_count() -> None:
    it = claim("It is so.", "the ratio")
    assert it.above(1.1, 1.0).claim == "It is so. (Measured: the ratio.)"
    assert [it.above(1.0, 1.0).holds, it.below(1.0, 1.0).holds] == [False, False]
    assert [it.above(1.1, 1.0).holds, it.below(0.9, 1.0).holds] == [True, True]
    assert [it.between(value, least=1.0, most=2.0).holds for value in (1.0, 1.5, 2.0)] == [False, True, False]


@pytest.mark.parametrize("measured", [None, np.nan, np.inf])
def test_without_a_finite_value_no_claim_holds(measured: float | None) -> None:
    found = claim("It is so.").holds_if(measured, holds=True, paper=2.0)
    assert (found.measured, found.paper, found.holds) == (None, 2.0, False)
