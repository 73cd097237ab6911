"""Memorization note 2023: how few hidden units random strings need, against their period and alphabet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.memorization import PeriodicString
from memspan.memorization.bounds import change_bound, size_bound
from memspan.memorization.spectral import Spectral
from memspan.memorization.strings import smallest_period
from memspan.progress import Progress
from memspan.reproductions.claims import ONE
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, claim_near, line

ALPHABETS = (2, 3, 8, 26)
CHECKED = 16
"""The period whose average sizes are claimed."""
BINARY, EIGHT = (4.90, 0.99), (3.84, 0.41)
"""Mean and standard deviation of the smallest size at period 16: of all 4,080 binary strings (rotations counted once),
and of 3,000 random strings of eight symbols, whose mean is known to 0.01."""
_SAMPLES_ENOUGH = 200
"""Strings from which an average is known well enough (to 0.07 units) to be held against a round number."""


@final
@dataclass(frozen=True)
class _Size:
    periods: tuple[int, ...]
    strings: int
    """Random strings of each alphabet and period."""
    checked: int
    """The same for two and for eight symbols at period 16."""


_SIZES = {
    "smoke": _Size((8, 16), 3, 10),
    "laptop": _Size((4, 8, 12, 16, 20, 24, 28, 32), 20, 200),
    "paper": _Size((4, 8, 12, 16, 20, 24, 28, 32, 36, 40), 50, 1_000),
}


@final
@dataclass(frozen=True)
class _Case:
    """One random string and the smallest network that was found for it."""

    n: int
    period: int
    size: int
    run_bound: int
    bound: int
    """The least of all bounds that hold for this string."""
    proven: bool
    replayed: bool


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size, rng = _SIZES[scale], np.random.default_rng([seed, 16])
    kinds = [(n, p) for p in size.periods for n in ALPHABETS for _ in range(_strings(size, n, p))]
    cases: list[_Case] = []
    with progress.stage("smallest networks of random strings", sum(p**2 for _, p in kinds)) as stage:
        for n, period in kinds:
            cases.append(_case(n, _random_string(n, period, rng), seed))
            stage.advance(period**2)
    claims = (*_bound_claims(cases), *_binary_claims(cases), *_eight_claims(cases))
    return Outcome(claims, (_chart(cases, size.periods),))


def _strings(size: _Size, n: int, period: int) -> int:
    return size.checked if period == CHECKED and n in (2, 8) else size.strings


def _random_string(n: int, period: int, rng: np.random.Generator) -> PeriodicString:
    """Independent symbols, all of the n as likely, that do not repeat before the period is over."""
    while True:
        codes = rng.integers(0, n, size=period)
        if smallest_period(codes) == period:
            return PeriodicString.of("".join(chr(ord("a") + code) for code in codes))


def _case(n: int, string: PeriodicString, seed: int) -> _Case:
    solution = Spectral(seed=seed).solve(string)
    runs = size_bound(string)
    bounds = [runs, string.period - 1, *([change_bound(string)] if len(string.alphabet) == 2 else [])]
    replayed = solution.network.replay(2 * string.period) == 2 * string.text
    return _Case(
        n, string.period, solution.network.hidden_size, runs, min(bounds), solution.minimal, replayed
    )


def _bound_claims(cases: list[_Case]) -> list[Claim]:
    excess = max(case.size - case.bound for case in cases)
    return [
        Claim(
            "No string takes more hidden units than its bounds: p - 1, the number of changes (two symbols), and twice the "
            "runs of the symbol with the second most. (Measured: the largest excess over the least bound, of "
            f"{len(cases):,} strings.)",
            None,
            None,
            float(excess),
            None,
            excess <= 0,
        ),
        claim_near(
            "Every network replays its string. (Measured: the share of networks that write two periods without a mistake.)",
            float(np.mean([case.replayed for case in cases])),
            0.0,
            corrected=1.0,
        ),
        claim_near(
            "Every size is proven to be the smallest without input. (Measured: the share of strings for which all smaller "
            "sets of rotations were refuted.)",
            float(np.mean([case.proven for case in cases])),
            0.0,
            corrected=1.0,
        ),
    ]


def _binary_claims(cases: list[_Case]) -> list[Claim]:
    sizes = [case.size for case in cases if (case.n, case.period) == (2, CHECKED)]
    return _average_claims("binary strings", sizes, BINARY, 5.2)


def _eight_claims(cases: list[_Case]) -> list[Claim]:
    sizes = [case.size for case in cases if (case.n, case.period) == (8, CHECKED)]
    return [
        *_average_claims("strings of eight symbols", sizes, EIGHT, 4.0),
        Claim(
            f"None of {len(sizes):,} random strings of eight symbols and period {CHECKED} needs more than 5 hidden units. "
            "(Measured: the most that one needs.)",
            None,
            None,
            float(max(sizes)),
            None,
            max(sizes) <= 5,
        ),
    ]


def _average_claims(what: str, sizes: list[int], known: tuple[float, float], most: float) -> list[Claim]:
    """The mean is the known one within four standard errors; with many strings, it is also below a round number."""
    mean, deviation = known
    measured = float(np.mean(sizes))
    near = claim_near(
        f"Random {what} of period {CHECKED} need {mean:g} hidden units on average, where W_x = 0. (Measured: the mean of "
        f"{len(sizes):,} strings, give or take four standard errors.)",
        measured,
        ONE * deviation / float(np.sqrt(len(sizes))),
        corrected=mean,
    )
    below = Claim(
        f"That is at most {most:g} units on average, where one unit per place takes {CHECKED}.",
        float(CHECKED),
        None,
        measured,
        None,
        measured <= most,
    )
    return [near, below] if len(sizes) >= _SAMPLES_ENOUGH else [near]


def _chart(cases: list[_Case], periods: tuple[int, ...]) -> Chart:
    runs = [_mean([case.run_bound for case in cases if (case.n, case.period) == (2, p)]) for p in periods]
    return Chart(
        name="sizes",
        title="The fewest linear hidden units that replay a random string",
        x_label="period p (symbols)",
        y_label="hidden units d",
        x_scale="linear",
        y_scale="linear",
        lines=(
            *(_sizes_line(n, cases, periods) for n in ALPHABETS),
            line("enough for any string: p - 1", periods, [p - 1 for p in periods], style="dashed"),
            line("enough by counting runs (2 symbols, mean)", periods, runs, style="dashed"),
            line("the least there can be: 2", periods, [2.0] * len(periods), style="dashed"),
        ),
        caption="Random strings of 2, 3, 8 and 26 equally likely symbols: the mean of the smallest number of hidden units "
        "and, shaded, one standard deviation to each side. All sizes are proven for networks that do not read their input. "
        "The more symbols there are, the fewer runs has each, and the fewer units are needed.",
    )


def _sizes_line(n: int, cases: list[_Case], periods: tuple[int, ...]) -> Line:
    sizes = [np.array([case.size for case in cases if (case.n, case.period) == (n, p)]) for p in periods]
    mean, spread = np.array([part.mean() for part in sizes]), np.array([part.std() for part in sizes])
    return line(f"{n} symbols, smallest size", periods, mean, band=(mean - spread, mean + spread))


def _mean(values: list[int]) -> float:
    return float(np.mean(values))
