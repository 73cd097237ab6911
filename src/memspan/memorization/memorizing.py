"""`memorize`: a string in, the smallest network out, with the proof that it replays."""

from __future__ import annotations

import time
from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError, suggestion
from memspan.memorization import feedback, learning, noise, rotation
from memspan.memorization.bounds import size_bound
from memspan.memorization.construction import check_length
from memspan.memorization.cyclic import Cyclic
from memspan.memorization.margin import LEAST
from memspan.memorization.rational import rational_size
from memspan.memorization.spectral import Solution, Spectral
from memspan.memorization.strings import PeriodicString
from memspan.memorization.verification import enough, verified
from memspan.progress import SILENT, Progress
from memspan.results import END, FrequencySearch, Learnt, LinearNetwork, Memorization

METHODS = ("auto", "rotation", "cyclic", "spectral", "feedback")
BUDGET = 60.0


@final
@dataclass(frozen=True, eq=False)
class _Written:
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
    """The smallest linear network that writes `text` over and over, replayed for 100,000 symbols or more.

    `text` is a string of characters or a list of symbols, which `symbols` names (chars, words, …). `method` is auto,
    rotation, cyclic, spectral or feedback; auto means the smallest that ignores what it reads (W_x = 0). `terminate` ends
    the string with the symbol <END>. `budget` is how many seconds the search for fewer hidden units may take; `learn` trains
    a network of the same size by gradient descent, for comparison; `remarks` are kept with the result's notes.

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
        learning.check_string(string, 1)  # before the search: that may take a minute
    written = _written(string, method, Spectral(budget, seed), progress)
    string = written.string
    replay = verified(
        written.network,
        string.codes,
        enough(written.network, string.period) if written.repeats else string.period,
        progress=progress,
    )
    periods = noise.PERIODS if written.repeats else 1
    return Memorization(
        text=string.text,
        symbols=symbols or ("chars" if isinstance(text, str) else "symbols"),
        length=string.given,
        period=string.period,
        terminated=terminate,
        method=written.method,
        network=written.network,
        frequencies=written.frequencies,
        minimal=written.minimal,
        statement=written.statement,
        size_bound=size_bound(string),
        rational_size=rational_size(string.period),
        margin=replay.margin,
        repeats=written.repeats,
        verified_symbols=replay.symbols,
        drift=replay.drift,
        noise=noise.survived(written.network, string.codes, periods=periods, seed=seed),
        search=written.search,
        learnt=_learnt(string, written.network.hidden_size, seed, progress) if learn else None,
        notes=(*remarks, *_remarks(string, terminate), *written.notes),
        seconds=time.perf_counter() - started,
    )


def _written(string: PeriodicString, method: str, spectral: Spectral, progress: Progress) -> _Written:
    if method == "auto":
        method = _smallest(string)
    match method:
        case "rotation":
            network = rotation.Rotation().build(string)
            minimal = string.period > 2
            statement = _TWO_STATES if minimal else _ONE_SIGN
            return _Written(string, method, network, minimal, statement, frequencies=(1,))
        case "cyclic":
            minimal = string.period == 1
            return _Written(string, method, Cyclic().build(string), minimal, _ONE if minimal else _SIMPLE)
        case "feedback":
            return _fed_back(string)
    solution = spectral.solve(string, progress=progress)
    statement = _statement(solution)
    return _Written(
        string, method, solution.network, solution.minimal, statement, solution.frequencies, solution.search
    )


def _smallest(string: PeriodicString) -> str:
    """The construction that gives the fewest hidden units; of equal ones the simplest."""
    if string.period == 1:
        return "cyclic"
    return "rotation" if rotation.fits(string) and string.period > 2 else "spectral"


def _fed_back(string: PeriodicString) -> _Written:
    """One hidden unit; a string that it can write only once is written as it was given, not reduced to its period."""
    code = feedback.code_of(string)
    if not code.repeats and string.given > string.period:
        codes = np.tile(string.codes, string.given // string.period)
        string = PeriodicString(codes, string.alphabet, string.separator, string.given)
    network = feedback.Feedback().build(string)
    return _Written(string, "feedback", network, True, _ONE, repeats=code.repeats, notes=(code.reason,))


_ONE = "no network has fewer than one hidden unit"
_ONE_SIGN = "one hidden unit, a sign that changes at every step, is enough; --method auto finds it"
_SIMPLE = "one hidden unit for each place of the period is the simplest; --method auto looks for fewer"
_FORM = (
    "no linear network that ignores what it reads (W_x = 0), stays bounded "
    f"and, for states of size one, leads by {LEAST:g} of its largest weight or more"
)
_TWO_STATES = f"{_FORM} has fewer hidden units: with one, no more than two states come back"


def _statement(solution: Solution) -> str:
    size, search = solution.network.hidden_size, solution.search
    if size == 1:
        return _ONE
    if solution.minimal:
        return f"{_FORM} has fewer hidden units: all smaller sets of frequencies were refuted"
    refuted = search.refuted_size
    ruled_out = (
        f"{refuted} hidden units or fewer are ruled out" if refuted else "no smaller size is ruled out"
    )
    return f"the smallest found in {search.seconds:.3g} seconds; {ruled_out}; a longer --budget may decide"


def _remarks(string: PeriodicString, terminate: bool) -> list[str]:
    """What a person should know about the string."""
    if string.period == 1 and string.given == 1:
        return ["a single symbol: the network repeats it for ever"]
    if string.period == 1:
        return [f"one symbol {string.given:,} times: the network repeats it for ever and does not count"]
    if string.period < string.given:
        return [
            f"the string is {string.text!r} {string.given // string.period:,} times, so its period of {string.period:,} "
            "symbols is memorized; --terminate makes it end where it was given"
        ]
    return [f"the string ends with {END}, after which it begins again"] if terminate else []


def _learnt(string: PeriodicString, hidden_size: int, seed: int, progress: Progress) -> Learnt:
    progress.say(f"training a network of {hidden_size} hidden units by gradient descent")
    return learning.learn(string, hidden_size=hidden_size, seed=seed, progress=progress)
