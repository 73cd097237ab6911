"""Erratum 18: two hidden units are the least a string can need without input, not what every string needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import PeriodicString
from memspan.memorization.feedback import Feedback
from memspan.memorization.spectral import Spectral
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, LinearNetwork, claim_near, line

ENOUGH, SHORT, LONG = "abracadabra", "banana", "mississippi"
"""Strings of smallest size 2, 3 and 4 where W_x = 0."""


@final
@dataclass(frozen=True)
class _Size:
    longest: int
    """Every binary string with a period up to this is searched for its smallest network."""
    periods: int
    """Periods that named strings are replayed for."""


_SIZES = {"smoke": _Size(8, 200), "laptop": _Size(12, 10_000), "paper": _Size(16, 100_000)}


@final
@dataclass(frozen=True)
class _Count:
    """Binary strings of one period, those that are turned into each other counted once."""

    period: int
    strings: int
    found: int
    """Those whose smallest network with W_x = 0, as the search finds it, has two units or fewer."""
    by_runs: int
    """Those that are two runs when read in steps of some u coprime to the period."""
    smallest: int
    """Hidden units of the string that needs the fewest."""
    largest: int
    """Hidden units of the string that needs the most."""


def necklaces(period: int) -> Iterator[NDArray[np.int64]]:
    """Every binary string of this smallest period, once for all its rotations: Lyndon words, by Duval's algorithm.

    >>> ["".join(map(str, codes)) for codes in necklaces(4)]
    ['0001', '0011', '0111']
    """
    word = [-1]
    while word:
        word[-1] += 1
        length = len(word)
        if length == period:
            yield np.array(word)
        word += [word[place % length] for place in range(length, period)]
        while word and word[-1] == 1:
            word.pop()


def two_units_do(codes: NDArray[np.int64]) -> bool:
    """Whether a rotation of the plane replays a binary string: it is two runs when read in steps of some u.

    W_h^p = 1 with two real rows and p > 2 different states is a rotation by f turns per period, f coprime to p, in some
    basis. The states lie on an ellipse in the order 0, u, 2u … with u f = 1 mod p, and a line cuts it into two arcs.

    >>> two_units_do(np.array([0, 1, 0, 1, 1])), two_units_do(np.array([0, 0, 0, 1, 0, 1]))
    (True, False)
    """
    p = len(codes)
    walks = (codes[u * np.arange(p) % p] for u in range(1, p) if gcd(u, p) == 1)
    return any(int((walk != np.roll(walk, 1)).sum()) == 2 for walk in walks)


def two_unit_strings(period: int) -> int:
    """2 + (p - 3) phi(p) / 2 of the binary strings of period p > 2 need no more than two hidden units.

    A single 0 and a single 1 are one string each, however they are read; each of the p - 3 other lengths of a run is a
    different string for each pair u, p - u of the steps coprime to p.

    >>> [two_unit_strings(period) for period in (3, 8, 12, 16)]
    [2, 12, 20, 54]
    """
    coprime = sum(gcd(u, period) == 1 for u in range(1, period))
    return 2 + (period - 3) * coprime // 2


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    counts: list[_Count] = []
    with progress.stage("all binary strings", sum(2**p for p in range(3, size.longest + 1))) as stage:
        for period in range(3, size.longest + 1):
            counts.append(_counted(period, seed))
            stage.advance(2**period)
    claims = (*_count_claims(counts), *_named_claims(size.periods, seed))
    return Outcome(claims, (_chart(counts),))


def _counted(period: int, seed: int) -> _Count:
    strings = [PeriodicString(codes, ("0", "1"), "", period) for codes in necklaces(period)]
    sizes = [Spectral(seed=seed).solve(string).network.hidden_size for string in strings]
    by_runs = sum(two_units_do(string.codes) for string in strings)
    return _Count(period, len(strings), sum(size <= 2 for size in sizes), by_runs, min(sizes), max(sizes))


def _count_claims(counts: list[_Count]) -> list[Claim]:
    last = counts[-1]
    more = last.strings - two_unit_strings(last.period)
    apart = sum(abs(c.found - c.by_runs) + abs(c.found - two_unit_strings(c.period)) for c in counts)
    return [
        claim_near(
            f"Of the {last.strings:,} binary strings of period {last.period}, {more:,} need more than two hidden units "
            "where W_x = 0. (Measured: those for which the search refutes two.)",
            float(last.strings - last.found),
            0.0,
            corrected=float(more),
        ),
        claim_near(
            f"For every period p from 3 to {last.period} two units do for 2 + (p - 3) phi(p) / 2 strings, those that are "
            "two runs when read in steps coprime to p. (Measured: strings on which search, runs and formula differ.)",
            float(apart),
            0.0,
            corrected=0.0,
        ),
        Claim(
            f"The bound itself stands: no string of period 3 to {last.period} does with fewer than two, and some need more. "
            f"(Measured: hidden units of the string of period {last.period} that needs the most.)",
            2.0,
            None,
            float(last.largest),
            None,
            min(count.smallest for count in counts) == 2 and last.largest > 2,
        ),
    ]


def _named_claims(periods: int, seed: int) -> list[Claim]:
    solutions = {text: Spectral(seed=seed).solve(text) for text in (ENOUGH, SHORT, LONG)}
    least = [
        claim_near(
            f"The string {text!r} needs {size} hidden units where W_x = 0. (Measured: the smallest size, every smaller one "
            f"refuted; it replays {periods:,} periods.)",
            solutions[text].minimal * _size_if_replayed(solutions[text].network, text, periods),
            0.0,
            paper=2.0,
            corrected=float(size),
        )
        for text, size in ((ENOUGH, 2), (SHORT, 3), (LONG, 4))
    ]
    fed_back = [
        claim_near(
            f"A single unit replays {text!r} when it reads what it wrote, W_x != 0. (Measured: hidden units of a network "
            f"that replays {periods:,} periods.)",
            _size_if_replayed(Feedback().build(text), text, periods),
            0.0,
            corrected=1.0,
        )
        for text in (ENOUGH, LONG)
    ]
    return [*least, *fed_back]


def _size_if_replayed(network: LinearNetwork, text: str, periods: int) -> float:
    """Hidden units of the network; 0 if it writes anything else than the string."""
    return float(network.hidden_size) if network.replay(periods * len(text)) == periods * text else 0.0


def _chart(counts: list[_Count]) -> Chart:
    periods = [count.period for count in counts]
    return Chart(
        name="strings",
        title="Binary strings that two linear hidden units can replay, and all there are",
        x_label="period p (symbols)",
        y_label="strings",
        x_scale="linear",
        y_scale="log",
        lines=(
            line("all strings of this period", periods, [count.strings for count in counts]),
            line(
                "two units are enough (search)", periods, [count.found for count in counts], style="markers"
            ),
            line("2 + (p - 3) phi(p) / 2", periods, [two_unit_strings(p) for p in periods], style="dashed"),
        ),
        caption="Strings that are rotations of each other are counted once. Up to period 5 two hidden units replay every "
        "string; then the strings grow as 2^p / p and those that two units can replay no faster than p^2 / 2, so d = 2 is "
        "the least one can hope for, and soon too much to hope for.",
    )
