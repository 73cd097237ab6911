"""Claims about ratios know the noise of both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memspan.information import mutual_information
from memspan.reproductions.shen2019.decay import Laws, Length
from memspan.reproductions.shen2019.ratios import (
    NONE,
    Times,
    longest,
    times_claim,
    times_information,
    times_length,
)
from memspan.sequences.sources import Independent, PowerLawBinary

LAGS = np.arange(1, 21)
SEEDS = 40


def law(value: float, low: float, high: float) -> Laws:
    return Laws(None, None, Length(value, (low, high)))


def test_the_interval_of_a_ratio_covers_the_truth_as_often_as_it_says():
    source = PowerLawBinary(0.1, 0.4)
    curves = [
        mutual_information(source.sample(100, 500, seed=seed), LAGS, seed=seed) for seed in range(SEEDS)
    ]
    pairs = zip(curves[::2], curves[1::2], strict=True)
    found = [times_information(one, other, (1, 20)).interval for one, other in pairs]
    assert (
        sum(low < 1 < high for low, high in found) >= 17
    )  # of 20; 95 % are 19, and 16 or fewer come once in 60


def test_where_nothing_is_above_the_floor_an_interval_is_wide():
    source = PowerLawBinary(0.1, 0.4)
    read = mutual_information(source.sample(100, 500, seed=0), LAGS)
    blank = mutual_information(Independent(np.array([0.5, 0.5])).sample(100, 500, seed=0), LAGS)
    much, nothing = (times_information(curve, read, (1, 20)).interval for curve in (read, blank))
    assert math.log(nothing[1] / nothing[0]) > math.log(much[1] / much[0])
    assert nothing[1] < 0.5


def test_errors_of_both_lengths_count():
    exact, rough = law(10, 9.99, 10.01), law(5, 4, 6.5)
    one, both = times_length(rough, exact), times_length(rough, rough)
    assert (one.value, both.value) == (0.5, 1.0)
    assert one.interval == pytest.approx((0.4, 0.65), rel=1e-2)
    assert both.interval[0] < 0.8
    assert both.interval[1] > 1.3
    assert times_length(rough, law(10, 5, math.inf)).interval[0] == 0
    assert math.isnan(times_length(rough, Laws(None, None, None)).value)


def test_a_claim_holds_if_all_of_its_interval_does():
    near = Times(1.1, (0.9, 1.3))
    assert not times_claim("It is longer.", near, least=1.0).holds
    assert times_claim("It is alike.", near, least=2 / 3, most=1.5).holds
    assert not times_claim("It is not longer.", near, most=1.2).holds
    nothing = times_claim("It is short.", NONE, most=1.0)
    assert (nothing.measured, nothing.holds) == (None, False)
    assert longest([NONE, near, Times(0.5, (0.4, 2.0))]) == near
    assert longest([NONE]) is NONE
