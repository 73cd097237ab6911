"""`memorize`: from a string to the smallest network that replays it, with verification."""

from __future__ import annotations

import time
from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError, suggestion
from memspan.memorization import gradient_descent
from memspan.memorization.constructions import Cyclic, Rotation, check_length, has_two_runs
from memspan.memorization.feedback import Feedback, code_of
from memspan.memorization.harmonics import size_bound
from memspan.memorization.rational import rational_size
from memspan.memorization.separation import LEAST_MARGIN
from memspan.memorization.spectral import Solution, Spectral
from memspan.memorization.strings import PeriodicString
from memspan.memorization.verification import NOISE_PERIODS, noise_tolerance, replay_length, verify
from memspan.progress import SILENT, Progress
from memspan.results import END, FrequencySearch, LinearNetwork, Memorization

METHODS = ("auto", "rotation", "cyclic", "spectral", "feedback")
# Seconds of search by default.
BUDGET = 60.0


def memorize(
    text: str | Several[str],
    *,
    method: str = "auto",
    terminate: bool = False,
    symbols: str | None = None,
    budget: float = BUDGET,
    seed: int = 0,
    learn: bool = False,
    remarks: tuple[str, ...] = (),
    progress: Progress = SILENT,
) -> Memorization:
    """The smallest linear network that repeats `text`, verified by a replay of at least 100,000 symbols.

    `text` is a string of characters or a list of symbols, whose kind `symbols` names (chars, words, …). `method` is auto,
    rotation, cyclic, spectral or feedback; auto chooses the smallest network that ignores its input (W_x = 0).
    `terminate` ends the string with the symbol <END>. `budget` limits the search for fewer hidden units, in seconds.
    `learn` also trains a network of the same size by gradient descent. `remarks` are added to the result's notes.

    >>> net = memorize("abracadabra")
    >>> net.hidden_size, net.minimal, net.replay(33)
    (2, True, 'abracadabraabracadabraabracadabra')
    """
    started = time.perf_counter()
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; {suggestion(method, METHODS)}")
    string = PeriodicString.of(text, terminate=terminate)
    check_length(string)
    if learn:
        gradient_descent.check_string(string, 1)  # before the search, which may take a minute
    built = _build(string, method, Spectral(budget, seed), progress)
    string, network = built.string, built.network
    symbols_replayed = replay_length(network, string.period) if built.repeats else string.period
    replay = verify(network, string.codes, symbols_replayed, progress=progress)
    periods = NOISE_PERIODS if built.repeats else 1
    noise = noise_tolerance(network, string.codes, periods=periods, seed=seed)
    trained = None
    if learn:
        progress.say(f"training a network of {network.hidden_size} hidden units by gradient descent")
        trained = gradient_descent.learn(string, hidden_size=network.hidden_size, seed=seed, progress=progress)
    return Memorization(
        text=string.text,
        symbols=symbols or ("chars" if isinstance(text, str) else "symbols"),
        length=string.given,
        period=string.period,
        terminated=terminate,
        method=built.method,
        network=network,
        frequencies=built.frequencies,
        minimal=built.minimal,
        statement=built.statement,
        size_bound=size_bound(string),
        rational_size=rational_size(string.period),
        margin=replay.margin,
        repeats=built.repeats,
        verified_symbols=replay.symbols,
        drift=replay.drift,
        noise=noise,
        search=built.search,
        learnt=trained,
        notes=(*remarks, *_remarks(string, terminate), *built.notes),
        seconds=time.perf_counter() - started,
    )


@final
@dataclass(frozen=True, eq=False)
class _BuiltNetwork:
    """A network and what is known about smaller ones."""

    string: PeriodicString
    method: str
    network: LinearNetwork
    minimal: bool
    statement: str
    frequencies: tuple[int, ...] = ()
    search: FrequencySearch | None = None
    repeats: bool = True
    notes: tuple[str, ...] = ()


_ONE = "no network has fewer than one hidden unit"
_ONE_SIGN = "one hidden unit that changes its sign at every step is enough; --method auto finds it"
_SIMPLE = "one hidden unit per position of the period is the simplest construction; --method auto searches for fewer"
_FORM = (
    "no linear network that ignores its input (W_x = 0), stays bounded "
    f"and, for states of size one, has a margin of {LEAST_MARGIN:g} of its largest weight or more"
)
_TWO_STATES = f"{_FORM} has fewer hidden units: with one hidden unit, at most two states recur"


def _build(string: PeriodicString, method: str, spectral: Spectral, progress: Progress) -> _BuiltNetwork:
    if method == "auto":
        method = _smallest_method(string)
    if method == "rotation":
        minimal = string.period > 2
        statement = _TWO_STATES if minimal else _ONE_SIGN
        return _BuiltNetwork(string, method, Rotation().build(string), minimal, statement, frequencies=(1,))
    if method == "cyclic":
        minimal = string.period == 1
        return _BuiltNetwork(string, method, Cyclic().build(string), minimal, _ONE if minimal else _SIMPLE)
    if method == "feedback":
        return _build_feedback(string)
    found = spectral.solve(string, progress=progress)
    return _BuiltNetwork(
        string, method, found.network, found.minimal, _statement(found), found.frequencies, found.search
    )


def _smallest_method(string: PeriodicString) -> str:
    """The construction with the fewest hidden units; the simplest of equal ones."""
    if string.period == 1:
        return "cyclic"
    return "rotation" if has_two_runs(string) and string.period > 2 else "spectral"


def _build_feedback(string: PeriodicString) -> _BuiltNetwork:
    """One hidden unit. A string that it can replay only once is used as given, not reduced to its period."""
    code = code_of(string)
    if not code.repeats and string.given > string.period:
        codes = np.tile(string.codes, string.given // string.period)
        string = PeriodicString(codes, string.alphabet, string.separator, string.given)
    network = Feedback().build(string)
    return _BuiltNetwork(string, "feedback", network, True, _ONE, repeats=code.repeats, notes=(code.reason,))


def _statement(solution: Solution) -> str:
    size, search = solution.network.hidden_size, solution.search
    if size == 1:
        return _ONE
    if solution.minimal:
        return f"{_FORM} has fewer hidden units: all smaller sets of frequencies were refuted"
    refuted = search.refuted_size
    ruled_out = f"{refuted} hidden units or fewer are ruled out" if refuted else "no smaller size is ruled out"
    return f"the smallest found in {search.seconds:.3g} seconds; {ruled_out}; a longer --budget may decide"


def _remarks(string: PeriodicString, terminate: bool) -> list[str]:
    """Notes about the string itself."""
    if string.period == 1 and string.given == 1:
        return ["a single symbol: the network repeats it forever"]
    if string.period == 1:
        return [f"one symbol {string.given:,} times: the network repeats it forever and does not count"]
    if string.period < string.given:
        return [
            f"the string is {string.text!r} {string.given // string.period:,} times, so its period of {string.period:,} "
            "symbols is memorized; --terminate makes it end where it was given"
        ]
    return [f"the string ends with {END}, after which it begins again"] if terminate else []
