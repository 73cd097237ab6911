"""Erratum 19: phi(d) powers of the cyclic permutation replay a string of period d, whatever its alphabet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import PeriodicString, coprime_powers
from memspan.memorization.strings import smallest_period
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, LinearNetwork, claim_near, line

NAMED = ("abracadabra", "00000111", "abcabcabcabb", "she sells sea shells")
_ALPHABETS = (2, 8)


@final
@dataclass(frozen=True)
class _Size:
    longest: int
    """The longest period d of the random strings."""
    totients: int
    """The largest d for which the remark's bound sqrt(d) / 2 is compared with phi(d)."""


_SIZES = {"smoke": _Size(16, 2_000), "laptop": _Size(40, 20_000), "paper": _Size(100, 200_000)}


def totients(largest: int) -> NDArray[np.int64]:
    """phi(0 … largest), Euler's totient, by a sieve; phi(0) stands for nothing.

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

    Each place of the state gets the symbol that is asked of it most often. Where two are asked of one place no W_y can do;
    the network is built all the same and run for two periods, so that the answer is what it writes.

    >>> replaying_powers(PeriodicString.of("00000111"))
    [1, 3, 5, 7]
    """
    d, n = string.period, len(string.alphabet)
    wanted = np.tile(string.codes, 2)
    found = []
    for power in range(1, max(d, 2)):
        W_h = np.roll(np.eye(d), power, axis=0)
        asked = np.zeros((n, d))
        np.add.at(asked, (string.codes, power * np.arange(d) % d), 1.0)
        h_0 = W_h.T @ np.eye(d)[0]
        network = LinearNetwork(string.alphabet, "", W_h, np.zeros((d, n)), asked, np.zeros(n), h_0)
        if np.array_equal(network.run(2 * d)[1], wanted):
            found.append(power)
    return found


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    counts = _random_counts(size.longest, np.random.default_rng([seed, 19]), progress)
    claims = (
        *(_named_claim(text) for text in NAMED),
        *_random_claims(counts, size.longest),
        _enough(size.totients),
    )
    return Outcome(claims, (_chart(counts, size.longest),))


def _random_counts(
    longest: int, rng: np.random.Generator, progress: Progress
) -> dict[int, list[tuple[int, int]]]:
    """For each alphabet size n: period d and number of powers that replay a random string, n <= d <= longest."""
    counts: dict[int, list[tuple[int, int]]] = {}
    with progress.stage("powers of the cycle", len(_ALPHABETS) * longest) as stage:
        for n in _ALPHABETS:
            counts[n] = []
            for d in range(n, longest + 1):
                string = _random_string(d, n, rng)
                counts[n].append((d, len(replaying_powers(string))))
                stage.advance()
    return counts


def _random_string(d: int, n: int, rng: np.random.Generator) -> PeriodicString:
    """A string of smallest period d that holds all n symbols."""
    alphabet = tuple(chr(ord("a") + k) for k in range(n))
    while True:
        codes = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, size=d - n)]))
        if smallest_period(codes) == d:
            return PeriodicString(codes, alphabet, "", d)


def _named_claim(text: str) -> Claim:
    string = PeriodicString.of(text)
    d, n = string.period, len(string.alphabet)
    phi = totients(d)
    return claim_near(
        f"{len(coprime_powers(d))} powers of the cycle replay {text!r}, of period d = {d} over n = {n} symbols: phi(d), "
        "not phi(n).",
        float(len(replaying_powers(string))),
        0.0,
        paper=float(phi[n]),
        corrected=float(phi[d]),
    )


def _random_claims(counts: dict[int, list[tuple[int, int]]], longest: int) -> list[Claim]:
    phi = totients(longest)
    cases = [(n, d, count) for n, rows in counts.items() for d, count in rows]
    agree = sum(count == phi[d] for _, d, count in cases)
    as_printed = sum(count == phi[n] for n, _, count in cases)
    return [
        claim_near(
            f"For random strings of 2 and of 8 symbols and every period up to {longest} the number of powers that replay is "
            f"phi(d). (Measured: in how many of {len(cases)} cases.)",
            float(agree),
            0.0,
            corrected=float(len(cases)),
        ),
        Claim(
            f"The printed phi(n) is their number only by chance. (Measured: in how many of {len(cases)} cases.)",
            float(len(cases)),
            None,
            float(as_printed),
            None,
            bool(as_printed < len(cases) / 2),
        ),
    ]


def _enough(largest: int) -> Claim:
    d = np.arange(1, largest + 1)
    ratio = float((totients(largest)[1:] / (np.sqrt(d) / 2)).min())
    return Claim(
        f"There are at least sqrt(d) / 2 such powers, for every d up to {largest:,}. (Measured: the smallest ratio, which "
        "is the square root of 2, at d = 2.)",
        1.0,
        None,
        ratio,
        None,
        ratio >= 1.0,
    )


def _chart(counts: dict[int, list[tuple[int, int]]], longest: int) -> Chart:
    periods = np.arange(2, longest + 1)
    measured = [
        line(f"random strings of {n} symbols", *zip(*rows, strict=True), style="markers")
        for n, rows in counts.items()
    ]
    phi = totients(max(longest, *counts))
    printed = [
        line(f"as printed: phi({n}) = {phi[n]}", [n, longest], [phi[n], phi[n]], style="dashed")
        for n in counts
    ]
    return Chart(
        name="powers",
        title="How many powers of the cyclic permutation replay a string of period d",
        x_label="period d = hidden units",
        y_label="powers c^j that replay the string",
        x_scale="linear",
        y_scale="linear",
        lines=(*measured, line("phi(d)", periods, phi[periods], style="dashed"), *printed),
        caption="Each marker is one random string; W_h = c^j was tried for every j below d, each with the best W_y. As many "
        "powers replay the string as there are numbers below d that share no factor with it, phi(d); the size of the "
        "alphabet does not matter, and markers of the same period coincide.",
    )
