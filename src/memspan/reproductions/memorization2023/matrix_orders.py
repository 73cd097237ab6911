"""Matrices of finite order: how many rows a period takes with rational weights, and which powers of a cycle replay.

Memorization note 2023, last section and the remark on the choice of c.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import PeriodicString, coprime_powers
from memspan.memorization.rational import cyclotomic_polynomial, rational_matrix, rational_orders, rational_size
from memspan.memorization.strings import smallest_period
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, LinearNetwork

# Powers of 3 x 3 matrices with entries up to 3 stay below 9^20 / 3, 4e18: the 20th is exact in 64 bits.
POWERS = 20
DRAWN_PERIOD = 60
# Matrices that are multiplied at once.
CHUNK = 50_000
NAMED = ("abracadabra", "00000111", "abcabcabcabb", "she sells sea shells")
# Sizes of the alphabets of random strings.
ALPHABETS = (2, 8)


def rational_matrices(*, entry: int, longest: int, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001
    """The orders of all 3 x 3 matrices with entries from -entry to entry, and the theory for periods up to `longest`."""
    orders = _all_orders(entry, progress)
    claims = (*_search_claims(orders, entry), *_theory_claims(longest))
    notes = (
        "The smallest search already covers every case: a rational matrix of finite order is similar to a block diagonal "
        "of companion matrices of cyclotomic polynomials, and with three rows their entries are -1, 0 and 1.",
    )
    return Outcome(claims, (_orders_chart(orders, entry), _sizes_chart()), notes)


def _all_orders(entry: int, progress: Progress) -> Counter[int]:
    """How many matrices have each order; 0: none up to `POWERS`."""
    base = 2 * entry + 1
    orders: Counter[int] = Counter()
    with progress.stage("3 x 3 matrices", base**9) as stage:
        for start in range(0, base**9, CHUNK):
            numbers = np.arange(start, min(start + CHUNK, base**9))
            digits = np.stack(np.unravel_index(numbers, (base,) * 9), axis=1)
            orders.update(_orders_of(digits.reshape(-1, 3, 3) - entry).tolist())
            stage.advance(len(numbers))
    return orders


def _orders_of(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least k up to `POWERS` with A^k = 1 for each integer matrix, 0 where there is none."""
    found = np.zeros(len(matrices), dtype=np.int64)
    # A^k = 1 makes the determinant an integer whose k-th power is 1, so other matrices need no powers.
    open_cases = np.flatnonzero(np.abs(_determinants(matrices)) == 1)
    base = power = matrices[open_cases]
    for exponent in range(1, POWERS + 1):
        done = (power == np.eye(3, dtype=np.int64)).all(axis=(1, 2))
        found[open_cases[done]] = exponent
        open_cases, base, power = open_cases[~done], base[~done], power[~done]
        power = power @ base
    return found


def _determinants(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of 3 x 3 matrices, in integers."""
    first, second, third = matrices[:, 0], matrices[:, 1], matrices[:, 2]
    return (first * np.cross(second, third)).sum(axis=1)


def _order_of(matrix: NDArray[np.int64]) -> int:
    """The order of one matrix, by multiplying until the identity returns."""
    power, order = matrix, 1
    while not np.array_equal(power, np.eye(len(matrix))):
        power, order = power @ matrix, order + 1
    return order


def _search_claims(orders: Counter[int], entry: int) -> list[Claim]:
    searched = f"Among all {sum(orders.values()):,} 3 x 3 integer matrices with entries from {-entry} to {entry}"
    finite = sorted(order for order in orders if order > 0)
    return [
        claim(f"{searched}, none has order 8. (Measured: the number that do.)").near(orders[8], 0.0, paper=0.0),
        claim(f"{searched}, those with A^8 = 1 have an order of at most 4. (Measured: the largest one.)").near(
            max(order for order in finite if 8 % order == 0), 0.0, paper=4.0
        ),
        claim(
            f"{searched}, the finite orders are 1, 2, 3, 4 and 6, exactly those that products of cyclotomic polynomials of "
            f"degree 3 allow; powers up to {POWERS} were tried.",
            measure="the number of different orders found",
        ).holds_if(len(finite), finite == rational_orders(3), corrected=len(rational_orders(3))),
    ]


def _theory_claims(longest: int) -> list[Claim]:
    matrix = rational_matrix(8)
    rows = [rational_size(period) for period in range(3, longest + 1)]
    return [
        claim(
            f"A {len(matrix)} x {len(matrix)} integer matrix has order 8, so 4 rows are the minimum. (Measured: its "
            "order, by multiplying.)"
        ).near(_order_of(matrix), 0.0, corrected=8.0),
        claim(
            f"Of the periods from 3 to {longest:,}, only 3, 4 and 6 have a rational W_h of two rows; a rotation of the real "
            "plane can have any period. (Measured: their number.)"
        ).near(rows.count(2), 0.0, corrected=3.0),
        claim(
            "The coefficients of cyclotomic polynomials leave {-1, 0, 1}, which no step of the argument needs. (Measured: "
            "the smallest coefficient up to index 105; up to index 104 it is -1.)"
        ).near(min(min(cyclotomic_polynomial(index)) for index in range(1, 106)), 0.0, paper=-1.0, corrected=-2.0),
    ]


def _orders_chart(orders: Counter[int], entry: int) -> Chart:
    finite = sorted(order for order in orders if order > 0)
    counts = [orders[order] for order in finite]
    return chart(
        "orders",
        f"Orders of all 3 x 3 matrices with entries from {-entry} to {entry}",
        "order: the least k with A^k = 1",
        "matrices",
        [points("found", finite, counts), dashed("order 8: none", [8.0, 8.0], [1.0, max(counts)])],
        f"Of {sum(orders.values()):,} matrices, {sum(counts):,} have a finite order, and it is 1, 2, 3, 4 or 6. None has "
        "order 8, so a state of three rational coordinates cannot count to eight.",
        log="y",
    )


def _sizes_chart() -> Chart:
    periods = list(range(1, DRAWN_PERIOD + 1))
    return chart(
        "sizes",
        "Hidden units that a period takes when all weights of W_h are rational",
        "period p (symbols)",
        "fewest hidden units",
        [
            points("rational W_h", periods, [rational_size(period) for period in periods]),
            dashed("p - 1", periods[1:], [period - 1 for period in periods[1:]]),
            dashed("real W_h: a rotation of the plane", periods[2:], [2.0] * (DRAWN_PERIOD - 2)),
        ],
        "The size of the smallest rational matrix whose p-th power is the first to be the identity: the sum of Euler's phi "
        "over the prime powers in p. A prime period takes p - 1 units, a period with many small factors few; with real "
        "weights two are enough to visit p different states.",
    )


# --- Erratum 19: powers of the cyclic permutation


def cycle_powers(*, longest: int, largest: int, seed: int, progress: Progress) -> Outcome:
    """Erratum 19: phi(d) powers of the cyclic permutation replay a string of period d, whatever its alphabet.

    Random strings have periods up to `longest`; the remark's bound sqrt(d) / 2 is compared with phi(d) up to `largest`.
    """
    counts = _random_counts(longest, np.random.default_rng([seed, 19]), progress)
    named = (_named_claim(text) for text in NAMED)
    claims = (*named, *_random_claims(counts, longest), _totient_bound(largest))
    return Outcome(claims, (_powers_chart(counts, longest),))


def totients(largest: int) -> NDArray[np.int64]:
    """phi(0 … largest), Euler's totient, by a sieve; phi(0) has no meaning.

    >>> totients(12)[1:].tolist()
    [1, 1, 2, 2, 4, 2, 6, 4, 6, 4, 10, 4]
    """
    phi = np.arange(largest + 1)
    for prime in range(2, largest + 1):
        if phi[prime] == prime:
            phi[prime::prime] -= phi[prime::prime] // prime
    return phi


def replaying_powers(string: PeriodicString) -> list[int]:
    """The powers j of the cycle c of length d for which W_h = c^j replays the string with some W_y.

    Each entry of the one-hot state is assigned the symbol that it should output most often. If it should output two
    different ones, no W_y works; the network is built anyway and run for two periods, so that its output decides.

    >>> replaying_powers(PeriodicString.of("00000111"))
    [1, 3, 5, 7]
    """
    d, n = string.period, len(string.alphabet)
    target = np.tile(string.codes, 2)
    found = []
    for power in range(1, max(d, 2)):
        W_h = np.roll(np.eye(d), power, axis=0)
        W_y = np.zeros((n, d))
        np.add.at(W_y, (string.codes, power * np.arange(d) % d), 1.0)
        h_0 = W_h.T @ np.eye(d)[0]
        network = LinearNetwork(string.alphabet, "", W_h, np.zeros((d, n)), W_y, np.zeros(n), h_0)
        if np.array_equal(network.run(2 * d)[1], target):
            found.append(power)
    return found


def _random_counts(longest: int, rng: np.random.Generator, progress: Progress) -> dict[int, list[tuple[int, int]]]:
    """For each alphabet size n: period d and number of powers that replay a random string, n <= d <= longest."""
    counts: dict[int, list[tuple[int, int]]] = {}
    with progress.stage("powers of the cycle", len(ALPHABETS) * longest) as stage:
        for n in ALPHABETS:
            counts[n] = []
            for d in range(n, longest + 1):
                string = _random_string(d, n, rng)
                counts[n].append((d, len(replaying_powers(string))))
                stage.advance()
    return counts


def _random_string(d: int, n: int, rng: np.random.Generator) -> PeriodicString:
    """A string of smallest period d with all n symbols."""
    alphabet = tuple(chr(ord("a") + k) for k in range(n))
    while True:
        codes = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, size=d - n)]))
        if smallest_period(codes) == d:
            return PeriodicString(codes, alphabet, "", d)


def _named_claim(text: str) -> Claim:
    string = PeriodicString.of(text)
    d, n = string.period, len(string.alphabet)
    phi = totients(d)
    return claim(
        f"{len(coprime_powers(d))} powers of the cycle replay {text!r}, of period d = {d} over n = {n} symbols: phi(d), "
        "not phi(n)."
    ).near(len(replaying_powers(string)), 0.0, paper=phi[n], corrected=phi[d])


def _random_claims(counts: dict[int, list[tuple[int, int]]], longest: int) -> list[Claim]:
    phi = totients(longest)
    cases = [(n, d, count) for n, rows in counts.items() for d, count in rows]
    agree = sum(count == phi[d] for _, d, count in cases)
    as_printed = sum(count == phi[n] for n, _, count in cases)
    return [
        claim(
            f"For random strings of 2 and of 8 symbols and every period up to {longest} the number of powers that replay is "
            f"phi(d). (Measured: in how many of {len(cases)} cases.)"
        ).near(agree, 0.0, corrected=len(cases)),
        claim("The printed phi(n) is their number only by chance.", measure=f"in how many of {len(cases)} cases").below(
            as_printed, len(cases) / 2, paper=len(cases)
        ),
    ]


def _totient_bound(largest: int) -> Claim:
    d = np.arange(1, largest + 1)
    ratio = float((totients(largest)[1:] / (np.sqrt(d) / 2)).min())
    return claim(
        f"There are at least sqrt(d) / 2 such powers, for every d up to {largest:,}.",
        measure="the smallest ratio, which is the square root of 2, at d = 2",
    ).holds_if(ratio, ratio >= 1.0, paper=1.0)


def _powers_chart(counts: dict[int, list[tuple[int, int]]], longest: int) -> Chart:
    periods = np.arange(2, longest + 1)
    measured = [points(f"random strings of {n} symbols", *zip(*rows, strict=True)) for n, rows in counts.items()]
    phi = totients(max(longest, *counts))
    printed = [dashed(f"as printed: phi({n}) = {phi[n]}", [n, longest], [phi[n], phi[n]]) for n in counts]
    return chart(
        "powers",
        "How many powers of the cyclic permutation replay a string of period d",
        "period d = hidden units",
        "powers c^j that replay the string",
        [*measured, dashed("phi(d)", periods, phi[periods]), *printed],
        "Each marker is one random string; W_h = c^j was tried for every j below d, each with the best W_y. As many powers "
        "replay the string as there are numbers below d that share no factor with it, phi(d); the size of the alphabet "
        "does not matter, and markers of the same period coincide.",
    )
