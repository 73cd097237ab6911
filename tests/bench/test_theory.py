"""The benchmark of theory at tiny sizes: the peer solves the same problem, and both sides are timed."""

from __future__ import annotations

import pytest

from memspan.bench import BENCHMARKS
from memspan.bench.theory import TheorySizes, by_quadrature, theory
from memspan.progress import SILENT
from memspan.theory import MinimalField

TINY = TheorySizes(side=6, sampled=2, width=64, networks=2, steps=2, rounds=1)


def test_both_benchmarks_are_there_with_positive_ratios():
    done = theory(SILENT, TINY)
    assert len({benchmark.name for benchmark in done}) == len(done) == 2
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in done)
    assert BENCHMARKS["theory"].function() is theory


@pytest.mark.parametrize(("sigma_w", "bias_mean"), [(6.88, 0.0), (6.88, 2.0), (1.0, 6.0)])
def test_the_peer_and_we_solve_the_same_fixed_point(sigma_w, bias_mean):
    point = MinimalField(sigma_w=sigma_w, sigma_v=1.39, bias_mean=bias_mean, input_variance=0.46).fixed_point()
    assert by_quadrature(sigma_w, bias_mean) == pytest.approx((point.q, point.chi1), rel=1e-8)
