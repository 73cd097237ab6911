"""Compiled loops over rows of numbers: tanh, sigmoid, and products with a matrix.

For the small batches of a recurrent network, one compiled call over all steps is faster than a library call per step.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable

import numba
import numpy as np

# tanh(x) = x p(x^2) / q(x^2) for |x| <= 9, beyond which tanh is 1 in single precision. The coefficients minimize the
# relative error (iterated least squares); in single precision the largest error is 4e-7.
LIMIT = np.float32(9.0)
P0, P1, P2, P3, P4 = np.array(
    [0.9999999794651777, 0.13381021386150624, 0.0034955830816543357, 2.0609000472413838e-05, 1.3354552090841806e-08],
    dtype=np.float32,
)
Q1, Q2, Q3, Q4 = np.array(
    [0.4671433698164659, 0.025876962976933416, 0.00032856266056395707, 7.776512589898551e-07], dtype=np.float32
)
ONE, HALF = np.float32(1.0), np.float32(0.5)

# Sums may be reordered and signed zeros ignored, so that loops use all SIMD lanes; infinities and NaN are preserved.
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}

compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FAST_MATH)
"""Decorates the parts of a kernel. They are not cached on disk: numba does not notice that a part of a part has changed."""


def source_digest(texts: Iterable[str]) -> str:
    """16 hexadecimal digits that identify the source texts of a kernel."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@compiled
def fill(row, value):
    """row = value"""
    # Loops, here and below, compile in a fraction of the time of whole-array expressions.
    for j in range(len(row)):
        row[j] = value


@compiled
def add(row, other, factor):
    """row += factor other"""
    for j in range(len(row)):
        row[j] += factor * other[j]


@compiled
def quick_tanh(x):
    """tanh in single precision"""
    x = min(max(x, -LIMIT), LIMIT)
    u = x * x
    p = (((P4 * u + P3) * u + P2) * u + P1) * u + P0
    q = (((Q4 * u + Q3) * u + Q2) * u + Q1) * u + ONE
    return x * p / q


@compiled
def tanh_row(x, out):
    """out = tanh(x)"""
    if out.itemsize == 8:
        for j in range(len(out)):
            out[j] = math.tanh(x[j])
    else:
        for j in range(len(out)):
            out[j] = quick_tanh(x[j])


@compiled
def sigmoid_row(x, out):
    """out = 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2"""
    if out.itemsize == 8:
        for j in range(len(out)):
            out[j] = 0.5 + 0.5 * math.tanh(0.5 * x[j])
    else:
        for j in range(len(out)):
            out[j] = HALF + HALF * quick_tanh(HALF * x[j])


@compiled
def add_product(x, matrix, out, low, high):
    """out_b += x_b matrix for the rows low <= b < high."""
    # Two rows of x and four of the matrix at a time, so that every loaded value is used several times.
    for b in range(low, high - 1, 2):
        _add_two(x[b], x[b + 1], matrix, out[b], out[b + 1])
    if (high - low) % 2:
        _add_one(x[high - 1], matrix, out[high - 1])


@compiled
def _add_two(x, y, matrix, to_x, to_y):
    whole = len(matrix) // 4 * 4
    for k in range(0, whole, 4):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
        m0, m1, m2, m3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        for j in range(len(to_x)):
            to_x[j] += x0 * m0[j] + x1 * m1[j] + x2 * m2[j] + x3 * m3[j]
            to_y[j] += y0 * m0[j] + y1 * m1[j] + y2 * m2[j] + y3 * m3[j]
    for k in range(whole, len(matrix)):
        for j in range(len(to_x)):
            to_x[j] += x[k] * matrix[k, j]
            to_y[j] += y[k] * matrix[k, j]


@compiled
def _add_one(x, matrix, to_x):
    whole = len(matrix) // 4 * 4
    for k in range(0, whole, 4):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        m0, m1, m2, m3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        for j in range(len(to_x)):
            to_x[j] += x0 * m0[j] + x1 * m1[j] + x2 * m2[j] + x3 * m3[j]
    for k in range(whole, len(matrix)):
        for j in range(len(to_x)):
            to_x[j] += x[k] * matrix[k, j]
