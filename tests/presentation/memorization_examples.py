"""Memorized strings made by hand, for the tests of drawings, figures and reports."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from memspan.memorization import Cyclic, Feedback, PeriodicString, Rotation, harmonics
from memspan.memorization.constructions import Text, without_input
from memspan.memorization.separation import least_lead, widest
from memspan.results import FrequencySearch, LinearNetwork, Memorization, TrainedLinearNetwork

LONG_BINARY = "1001011011101000"
"""Period 16; frequencies 5, 7 and the sign tell its places apart, five hidden units in all."""


def found(
    string: PeriodicString, method: str, network: LinearNetwork, frequencies: tuple[int, ...] = ()
) -> Memorization:
    """What `memorize` would say, with the numbers that the tests do not look at made up."""
    states, symbols = network.run(string.period)
    assert (symbols == string.codes).all()
    several = len(string.alphabet) > 1
    margin = least_lead(states @ network.W_y.T + network.b_y, string.codes) if several else math.nan
    return Memorization(
        text=string.text,
        symbols="words" if string.separator else "chars",
        length=string.given,
        period=string.period,
        terminated=False,
        method=method,
        network=network,
        frequencies=frequencies,
        minimal=True,
        statement="no network of this form has fewer hidden units",
        size_bound=10,
        rational_size=10,
        margin=margin,
        repeats=True,
        verified_symbols=110_000,
        drift=3e-13,
        noise=0.012,
        search=None,
        learnt=None,
        notes=("a remark",),
        seconds=1.25,
    )


def spectral(text: Text, frequencies: tuple[int, ...], *, terminate: bool = False) -> Memorization:
    """Rotations by given frequencies, read with the widest margin."""
    string = PeriodicString.of(text, terminate=terminate)
    states = harmonics.table(string.period)[:, harmonics.columns(string.period, frequencies)]
    readout = widest(states, string.codes, len(string.alphabet))
    W_h = harmonics.rotation(string.period, frequencies)
    network = without_input(string, W_h, readout.W_y, readout.b_y, states[0])
    result = found(string, "spectral", network, frequencies)
    search = FrequencySearch(5, result.hidden_size - 1, True, 60.0, 0.5)
    return dataclasses.replace(result, search=search, terminated=terminate)


def rotation(text: str = "00000111") -> Memorization:
    string = PeriodicString.of(text)
    return found(string, "rotation", Rotation().build(string), (1,))


def cyclic(text: Text = "banana") -> Memorization:
    string = PeriodicString.of(text)
    result = found(string, "cyclic", Cyclic().build(string))
    return dataclasses.replace(result, minimal=False, statement="the simplest; others may be smaller")


def feedback(text: Text = "abracadabra", *, repeats: bool = True) -> Memorization:
    """`repeats` is what `Feedback` would say of the text."""
    string = PeriodicString.of(text)
    result = found(string, "feedback", Feedback().build(string))
    return result if repeats else dataclasses.replace(result, repeats=False, verified_symbols=string.period)


def abracadabra() -> Memorization:
    return spectral("abracadabra", (3,))


def trained() -> Memorization:
    """abracadabra next to what gradient descent made of two hidden units."""
    eigenvalues = (1.02 * np.exp(2j * np.pi * np.array([3.1, -3.1]) / 11)).astype(np.complex128)
    roots = np.exp(2j * np.pi * np.array([3, 8]) / 11)
    learnt = TrainedLinearNetwork(
        2, 2000, 0.0123, 88, 150, 1100, eigenvalues, np.array([3, 8]), np.abs(eigenvalues - roots)
    )
    return dataclasses.replace(abracadabra(), learnt=learnt)


def unfinished() -> Memorization:
    """A search that was ended by its budget."""
    search = FrequencySearch(1_234, 2, False, 60.0, 60.1)
    return dataclasses.replace(
        spectral(LONG_BINARY, (5, 7, 8)),
        minimal=False,
        statement="the smallest found in 60 seconds; 2 hidden units and fewer are ruled out, 3 to 4 are not",
        search=search,
    )


def words() -> Memorization:
    return spectral(["to", "be", "or", "not", "to", "be", "that"], (2,))


def letters() -> Memorization:
    """All letters once, then 14 again: period 40."""
    return cyclic("abcdefghijklmnopqrstuvwxyzvcegeuwpbcilqm")


def every() -> dict[str, Memorization]:
    """One of each kind."""
    return {
        "two runs": rotation(),
        "a star": abracadabra(),
        "trained": trained(),
        "two planes and a sign": unfinished(),
        "many planes": spectral("".join("ab"[i * i % 31 % 2] for i in range(31)), tuple(range(1, 16))),
        "a plane and a sign": spectral("aabbabab", (3, 4)),
        "one symbol": cyclic("aaaa"),
        "one sign": spectral("ab", (1,)),
        "half a turn": rotation("ab"),
        "two places": cyclic("ab"),
        "a permutation": cyclic(),
        "many letters": letters(),
        "words": words(),
        "a number that comes back": feedback(),
        "a number": feedback("aabbaabbab", repeats=False),
        "words as a number": feedback(["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]),
        "an end": spectral("to be\nor not", (4, 5), terminate=True),
        "hidden letters": cyclic(["\n", " ", "\t", "\x07", "$x$", "_", "漢", "", "antidisestablishment"]),
    }
