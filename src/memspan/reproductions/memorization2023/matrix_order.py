"""Memorization note 2023, last section: no 3 x 3 rational matrix has order 8, and how many rows a period needs."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.rational import (
    cyclotomic_polynomial,
    rational_matrix,
    rational_orders,
    rational_size,
)
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line

POWERS = 20
"""Powers that are looked at. Those of 3 x 3 matrices with entries up to 3 stay below 9^20 / 3, 4e18: exact in 64 bits."""
_LARGEST_ENTRY = {"smoke": 1, "laptop": 2, "paper": 3}
_LONGEST_PERIOD = {"smoke": 60, "laptop": 120, "paper": 10_000}
_DRAWN_PERIOD = 60
_CHUNK = 50_000


def run(scale: str, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001 - nothing here is random
    entry = _LARGEST_ENTRY[scale]
    orders = _all_orders(entry, progress)
    claims = (*_search_claims(orders, entry), *_theory_claims(_LONGEST_PERIOD[scale]))
    notes = (
        "The smallest search already meets every case: a rational matrix of finite order is similar to companion matrices "
        "of cyclotomic polynomials along the diagonal, and with three rows their entries are -1, 0 and 1.",
    )
    return Outcome(claims, (_orders_chart(orders, entry), _sizes_chart()), notes)


def _all_orders(entry: int, progress: Progress) -> Counter[int]:
    """How many 3 x 3 matrices with entries from -entry to entry have each order; 0 stands for none up to 20."""
    base = 2 * entry + 1
    orders: Counter[int] = Counter()
    with progress.stage("3 x 3 matrices", base**9) as stage:
        for start in range(0, base**9, _CHUNK):
            numbers = np.arange(start, min(start + _CHUNK, base**9))
            digits = np.stack(np.unravel_index(numbers, (base,) * 9), axis=1)
            orders.update(_orders_of(digits.reshape(-1, 3, 3) - entry).tolist())
            stage.advance(len(numbers))
    return orders


def _orders_of(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least k up to 20 with A^k = 1 for each matrix of whole numbers, 0 where there is none."""
    found = np.zeros(len(matrices), dtype=np.int64)
    # A^k = 1 makes the determinant a whole number whose k-th power is 1, so others need no powers.
    open_cases = np.flatnonzero(np.abs(_determinants(matrices)) == 1)
    base = power = matrices[open_cases]
    for exponent in range(1, POWERS + 1):
        done = (power == np.eye(3, dtype=np.int64)).all(axis=(1, 2))
        found[open_cases[done]] = exponent
        open_cases, base, power = open_cases[~done], base[~done], power[~done]
        power = power @ base
    return found


def _determinants(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of 3 x 3 matrices, in whole numbers."""
    first, second, third = matrices[:, 0], matrices[:, 1], matrices[:, 2]
    return (first * np.cross(second, third)).sum(axis=1)


def _order_of(matrix: NDArray[np.int64]) -> int:
    """The order of one matrix, by multiplying until the identity comes back."""
    power, order = matrix, 1
    while not np.array_equal(power, np.eye(len(matrix))):
        power, order = power @ matrix, order + 1
    return order


def _search_claims(orders: Counter[int], entry: int) -> list[Claim]:
    searched = f"Among all {sum(orders.values()):,} matrices of 3 x 3 whole numbers from {-entry} to {entry}"
    finite = sorted(order for order in orders if order > 0)
    return [
        claim_near(
            f"{searched}, none has order 8. (Measured: how many do.)", float(orders[8]), 0.0, paper=0.0
        ),
        claim_near(
            f"{searched}, those with A^8 = 1 have an order of at most 4. (Measured: the largest one.)",
            float(max(order for order in finite if 8 % order == 0)),
            0.0,
            paper=4.0,
        ),
        Claim(
            f"{searched}, the finite orders are 1, 2, 3, 4 and 6, exactly those that products of cyclotomic polynomials of "
            f"degree 3 allow; powers up to {POWERS} were tried. (Measured: how many different ones were found.)",
            None,
            float(len(rational_orders(3))),
            float(len(finite)),
            None,
            finite == rational_orders(3),
        ),
    ]


def _theory_claims(longest: int) -> list[Claim]:
    matrix = rational_matrix(8)
    rows = [rational_size(period) for period in range(3, longest + 1)]
    return [
        claim_near(
            f"A {len(matrix)} x {len(matrix)} matrix of whole numbers has order 8, so 4 rows are the least. (Measured: its "
            "order, by multiplying.)",
            float(_order_of(matrix)),
            0.0,
            corrected=8.0,
        ),
        claim_near(
            f"Of the periods from 3 to {longest:,}, only 3, 4 and 6 have a rational W_h of two rows; a rotation of the real "
            "plane has any. (Measured: how many.)",
            float(rows.count(2)),
            0.0,
            corrected=3.0,
        ),
        claim_near(
            "The coefficients of cyclotomic polynomials leave {-1, 0, 1}, which no step of the argument needs. (Measured: "
            "the smallest coefficient up to index 105; up to index 104 it is -1.)",
            float(min(min(cyclotomic_polynomial(index)) for index in range(1, 106))),
            0.0,
            paper=-1.0,
            corrected=-2.0,
        ),
    ]


def _orders_chart(orders: Counter[int], entry: int) -> Chart:
    finite = sorted(order for order in orders if order > 0)
    return Chart(
        name="orders",
        title=f"Orders of all 3 x 3 matrices with entries from {-entry} to {entry}",
        x_label="order: the least k with A^k = 1",
        y_label="matrices",
        x_scale="linear",
        y_scale="log",
        lines=(
            line("found", finite, [orders[order] for order in finite], style="markers"),
            line("order 8: none", [8.0, 8.0], [1.0, max(orders[order] for order in finite)], style="dashed"),
        ),
        caption=f"Of {sum(orders.values()):,} matrices, {sum(orders[order] for order in finite):,} have a finite order, and "
        "it is 1, 2, 3, 4 or 6. None has order 8, so a state of three rational coordinates cannot count to eight.",
    )


def _sizes_chart() -> Chart:
    periods = list(range(1, _DRAWN_PERIOD + 1))
    return Chart(
        name="sizes",
        title="Hidden units that a period takes when all weights of W_h are rational",
        x_label="period p (symbols)",
        y_label="fewest hidden units",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("rational W_h", periods, [rational_size(period) for period in periods], style="markers"),
            line("p - 1", periods[1:], [period - 1 for period in periods[1:]], style="dashed"),
            line(
                "real W_h: a rotation of the plane", periods[2:], [2.0] * (_DRAWN_PERIOD - 2), style="dashed"
            ),
        ),
        caption="The size of the smallest rational matrix whose p-th power is the first to be the identity: the sum of "
        "Euler's phi over the prime powers in p. A prime period takes p - 1 units, a period with many small factors few; "
        "with real weights two are enough to visit p different states.",
    )
