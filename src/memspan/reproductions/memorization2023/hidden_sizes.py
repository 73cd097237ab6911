"""How many hidden units strings need: random strings on average, and all binary strings with short periods.

Memorization note 2023, "How small can we make d?", and erratum 18.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import PeriodicString
from memspan.memorization.feedback import Feedback
from memspan.memorization.harmonics import change_bound, size_bound
from memspan.memorization.spectral import Spectral
from memspan.memorization.strings import smallest_period
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import ONE, claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, LinearNetwork, line

# --- Random strings

ALPHABETS = (2, 3, 8, 26)
# The period whose average sizes are claimed.
CHECKED = 16
BINARY, EIGHT = (4.90, 0.99), (3.84, 0.41)
"""Mean and standard deviation of the smallest size at period 16: of all 4,080 binary strings (rotations counted once),
and of 3,000 random strings of eight symbols, whose mean is known to 0.01."""
# From 200 strings on, the average is known to 0.07 units, well enough to compare it with a round number.
ENOUGH_STRINGS = 200


@final
@dataclass(frozen=True)
class SmallestNetwork:
    """One random string and the smallest network found for it."""

    n: int
    period: int
    size: int
    run_bound: int
    bound: int
    """The least of all upper bounds for this string."""
    proven: bool
    replayed: bool


def random_strings(*, periods: tuple[int, ...], strings: int, checked: int, seed: int, progress: Progress) -> Outcome:
    """Smallest networks of random strings; `checked` of them for two and for eight symbols at period 16."""
    rng = np.random.default_rng([seed, 16])
    kinds = [
        (n, p) for p in periods for n in ALPHABETS for _ in range(checked if p == CHECKED and n in (2, 8) else strings)
    ]
    cases: list[SmallestNetwork] = []
    with progress.stage("smallest networks of random strings", sum(p**2 for _, p in kinds)) as stage:
        for n, period in kinds:
            cases.append(smallest_network(n, _random_string(n, period, rng), seed))
            stage.advance(period**2)
    binary, eight = ([case.size for case in cases if (case.n, case.period) == (n, CHECKED)] for n in (2, 8))
    claims = (
        *bound_claims(cases),
        *average_claims("binary strings", binary, BINARY, 5.2),
        *average_claims("strings of eight symbols", eight, EIGHT, 4.0),
        claim(
            f"None of {len(eight):,} random strings of eight symbols and period {CHECKED} needs more than 5 hidden units.",
            measure="the largest number needed",
        ).holds_if(max(eight), max(eight) <= 5),
    )
    return Outcome(claims, (_sizes_chart(cases, periods),))


def _random_string(n: int, period: int, rng: np.random.Generator) -> PeriodicString:
    """Independent, uniformly distributed symbols, drawn again if they repeat before the period is over."""
    while True:
        codes = rng.integers(0, n, size=period)
        if smallest_period(codes) == period:
            return PeriodicString.of("".join(chr(ord("a") + code) for code in codes))


def smallest_network(n: int, string: PeriodicString, seed: int) -> SmallestNetwork:
    """Search the smallest network of a string over n symbols, and replay two periods of it."""
    solution = Spectral(seed=seed).solve(string)
    size, runs = solution.network.hidden_size, size_bound(string)
    bounds = [runs, string.period - 1, *([change_bound(string)] if len(string.alphabet) == 2 else [])]
    replayed = solution.network.replay(2 * string.period) == 2 * string.text
    return SmallestNetwork(n, string.period, size, runs, min(bounds), solution.minimal, replayed)


def bound_claims(cases: list[SmallestNetwork]) -> list[Claim]:
    """No size is above its bound, every network replays its string, every size is proven."""
    excess = max(case.size - case.bound for case in cases)
    return [
        claim(
            "No string needs more hidden units than its bounds: p - 1, the number of changes (two symbols), and twice the "
            "runs of the symbol with the second most runs.",
            measure=f"the largest excess over the least bound, of {len(cases):,} strings",
        ).holds_if(excess, excess <= 0),
        claim(
            "Every network replays its string. (Measured: the fraction of networks that output two periods without a "
            "mistake.)"
        ).near(np.mean([case.replayed for case in cases]), 0.0, corrected=1.0),
        claim(
            "Every size is proven to be the smallest without input. (Measured: the fraction of strings for which all "
            "smaller sets of rotations were refuted.)"
        ).near(np.mean([case.proven for case in cases]), 0.0, corrected=1.0),
    ]


def average_claims(what: str, sizes: list[int], known: tuple[float, float], most: float) -> list[Claim]:
    """The mean is the known one within four standard errors; with enough strings, it is also below a round number."""
    mean, deviation = known
    measured = float(np.mean(sizes))
    near = claim(
        f"Random {what} of period {CHECKED} need {mean:g} hidden units on average, where W_x = 0. (Measured: the mean of "
        f"{len(sizes):,} strings, plus or minus four standard errors.)"
    ).near(measured, ONE * deviation / float(np.sqrt(len(sizes))), corrected=mean)
    below = claim(
        f"That is at most {most:g} units on average, whereas one unit per symbol of the period takes {CHECKED}."
    ).holds_if(measured, measured <= most, paper=CHECKED)
    return [near, below] if len(sizes) >= ENOUGH_STRINGS else [near]


def _sizes_chart(cases: list[SmallestNetwork], periods: tuple[int, ...]) -> Chart:
    def mean_and_spread(n: int) -> Line:
        sizes = [np.array([case.size for case in cases if (case.n, case.period) == (n, p)]) for p in periods]
        mean, spread = np.array([part.mean() for part in sizes]), np.array([part.std() for part in sizes])
        return line(f"{n} symbols, smallest size", periods, mean, band=(mean - spread, mean + spread))

    runs = [np.mean([case.run_bound for case in cases if (case.n, case.period) == (2, p)]) for p in periods]
    return chart(
        "sizes",
        "The fewest linear hidden units that replay a random string",
        "period p (symbols)",
        "hidden units d",
        [
            *(mean_and_spread(n) for n in ALPHABETS),
            dashed("enough for any string: p - 1", periods, [p - 1 for p in periods]),
            dashed("enough by counting runs (2 symbols, mean)", periods, runs),
            dashed("lower bound: 2", periods, [2.0] * len(periods)),
        ],
        "Random strings of 2, 3, 8 and 26 equally likely symbols: the mean of the smallest number of hidden units, with a "
        "band of one standard deviation. All sizes are proven for networks that do not read their input. The more symbols "
        "there are, the fewer runs each has, and the fewer units are needed.",
    )


# --- Erratum 18: all binary strings

# Strings of smallest size 2, 3 and 4 where W_x = 0.
TWO_UNITS, THREE_UNITS, FOUR_UNITS = "abracadabra", "banana", "mississippi"


@final
@dataclass(frozen=True)
class StringCount:
    """Binary strings of one period; strings that are rotations of each other count once."""

    period: int
    strings: int
    found: int
    """Strings whose smallest network with W_x = 0, according to the search, has at most two units."""
    by_runs: int
    """Strings that are two runs when read in steps of some u coprime to the period."""
    smallest: int
    """Hidden units of the string that needs the fewest."""
    largest: int
    """Hidden units of the string that needs the most."""


def binary_strings(*, longest: int, periods: int, seed: int, progress: Progress) -> Outcome:
    """Erratum 18: two hidden units are the least that a string can need without input, not what every string needs.

    The smallest network is searched for every binary string with a period up to `longest`; named strings are replayed
    for `periods` periods.
    """
    counts: list[StringCount] = []
    with progress.stage("all binary strings", sum(2**p for p in range(3, longest + 1))) as stage:
        for period in range(3, longest + 1):
            counts.append(_count(period, seed))
            stage.advance(2**period)
    return Outcome((*count_claims(counts), *_named_claims(periods, seed)), (_strings_chart(counts),))


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


def two_units_suffice(codes: NDArray[np.int64]) -> bool:
    """Whether a rotation of the plane replays a binary string: it is two runs when read in steps of some u.

    W_h^p = 1 with two real rows and p > 2 different states is a rotation by f turns per period, f coprime to p, in some
    basis. The states lie on an ellipse in the order 0, u, 2u … with u f = 1 mod p, and a line cuts it into two arcs.

    >>> two_units_suffice(np.array([0, 1, 0, 1, 1])), two_units_suffice(np.array([0, 0, 0, 1, 0, 1]))
    (True, False)
    """
    p = len(codes)
    walks = (codes[u * np.arange(p) % p] for u in range(1, p) if gcd(u, p) == 1)
    return any(int((walk != np.roll(walk, 1)).sum()) == 2 for walk in walks)


def two_unit_strings(period: int) -> int:
    """2 + (p - 3) phi(p) / 2 of the binary strings of period p > 2 need at most two hidden units.

    A single 0 and a single 1 are one string each, in whatever steps they are read; each of the p - 3 other lengths of a
    run is a different string for each pair u, p - u of the steps coprime to p.

    >>> [two_unit_strings(period) for period in (3, 8, 12, 16)]
    [2, 12, 20, 54]
    """
    coprime = sum(gcd(u, period) == 1 for u in range(1, period))
    return 2 + (period - 3) * coprime // 2


def _count(period: int, seed: int) -> StringCount:
    strings = [PeriodicString(codes, ("0", "1"), "", period) for codes in necklaces(period)]
    sizes = [Spectral(seed=seed).solve(string).network.hidden_size for string in strings]
    by_runs = sum(two_units_suffice(string.codes) for string in strings)
    return StringCount(period, len(strings), sum(size <= 2 for size in sizes), by_runs, min(sizes), max(sizes))


def count_claims(counts: list[StringCount]) -> list[Claim]:
    """How many strings two units replay, by search, by runs and by formula."""
    last = counts[-1]
    more = last.strings - two_unit_strings(last.period)
    apart = sum(abs(c.found - c.by_runs) + abs(c.found - two_unit_strings(c.period)) for c in counts)
    return [
        claim(
            f"Of the {last.strings:,} binary strings of period {last.period}, {more:,} need more than two hidden units "
            "where W_x = 0. (Measured: those for which the search refutes two.)"
        ).near(last.strings - last.found, 0.0, corrected=more),
        claim(
            f"For every period p from 3 to {last.period} two units are enough for 2 + (p - 3) phi(p) / 2 strings, those "
            "that are two runs when read in steps coprime to p. (Measured: strings on which search, runs and formula "
            "differ.)"
        ).near(apart, 0.0, corrected=0.0),
        claim(
            f"The bound itself is right: no string of period 3 to {last.period} needs fewer than two, and some need more.",
            measure=f"hidden units of the string of period {last.period} that needs the most",
        ).holds_if(last.largest, min(count.smallest for count in counts) == 2 and last.largest > 2, paper=2.0),
    ]


def _named_claims(periods: int, seed: int) -> list[Claim]:
    sizes = {TWO_UNITS: 2, THREE_UNITS: 3, FOUR_UNITS: 4}
    solutions = {text: Spectral(seed=seed).solve(text) for text in sizes}
    return [
        *(
            claim(
                f"The string {text!r} needs {size} hidden units where W_x = 0. (Measured: the smallest size, every smaller "
                f"one refuted; it replays {periods:,} periods.)"
            ).near(
                solutions[text].minimal * _size_if_replayed(solutions[text].network, text, periods),
                0.0,
                paper=2.0,
                corrected=size,
            )
            for text, size in sizes.items()
        ),
        *(
            claim(
                f"A single unit replays {text!r} when it reads its own output, W_x != 0. (Measured: hidden units of a "
                f"network that replays {periods:,} periods.)"
            ).near(_size_if_replayed(Feedback().build(text), text, periods), 0.0, corrected=1.0)
            for text in (TWO_UNITS, FOUR_UNITS)
        ),
    ]


def _size_if_replayed(network: LinearNetwork, text: str, periods: int) -> float:
    """Hidden units of the network; 0 if its output differs from the string."""
    return float(network.hidden_size) if network.replay(periods * len(text)) == periods * text else 0.0


def _strings_chart(counts: list[StringCount]) -> Chart:
    periods = [count.period for count in counts]
    return chart(
        "strings",
        "Binary strings that two linear hidden units can replay, and all there are",
        "period p (symbols)",
        "strings",
        [
            line("all strings of this period", periods, [count.strings for count in counts]),
            points("two units are enough (search)", periods, [count.found for count in counts]),
            dashed("2 + (p - 3) phi(p) / 2", periods, [two_unit_strings(p) for p in periods]),
        ],
        "Strings that are rotations of each other are counted once. Up to period 5 two hidden units replay every string. "
        "Beyond that, the number of strings grows as 2^p / p, and those that two units can replay no faster than p^2 / 2, "
        "so that d = 2 is a lower bound that few strings reach.",
        log="y",
    )
