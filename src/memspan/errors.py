"""Every failure memspan explains: what was got, what was expected, what to do.

The command line prints the message of a `MemspanError` as one line, `error: …`, and exits with status 2.

>>> raise InputError("lag 5000 is longer than the longest document (1,024 symbols); use --max-lag 1023")
Traceback (most recent call last):
    ...
memspan.errors.InputError: lag 5000 is longer than the longest document (1,024 symbols); use --max-lag 1023
"""

import contextlib
import difflib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec


class MemspanError(Exception):
    """The base of all errors that memspan raises on purpose."""


class InputError(MemspanError):
    """What came from outside (a file, an argument, an option) cannot be used as it is."""


class EvidenceError(MemspanError):
    """The data are sound but too few for the question, for example three lags for a four-parameter law."""


class CorruptError(MemspanError):
    """A file that memspan once wrote is damaged, of another version, or not memspan's at all."""


class MissingExtraError(MemspanError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}; install memspan[{extra}]")


_MODELS = {"torch": "PyTorch", "accelerate": "accelerate"}
_RL = {
    "gymnasium": "gymnasium",
    "minigrid": "MiniGrid",
    "stable_baselines3": "stable-baselines3",
    "sb3_contrib": "sb3-contrib",
}


def check_models(what: str) -> None:
    """What the extra `models` brings is there, or the message that it is missing; nothing is imported yet."""
    _check(what, _MODELS, "models")


def check_rl(what: str) -> None:
    """The same of the extra `rl`, which grid worlds need besides."""
    check_models(what)
    _check(what, _RL, "rl")


def _check(what: str, needed: dict[str, str], extra: str) -> None:
    for module, package in needed.items():
        if find_spec(module) is None:
            raise MissingExtraError(what, package, extra)


def suggestion(word: str, choices: Iterable[str]) -> str:
    """The end of a message about an unknown `word`: the closest choice, and all of them.

    >>> suggestion("trian", ["train", "valid", "test"])
    'did you mean train? (There are train, valid, test.)'
    """
    by_lower_case = {choice.lower(): choice for choice in choices}
    closest = difflib.get_close_matches(word.lower(), by_lower_case, n=1)
    everything = ", ".join(by_lower_case.values())
    if not closest:
        return f"choose one of {everything}"
    return f"did you mean {by_lower_case[closest[0]]}? (There are {everything}.)"


@contextlib.contextmanager
def interrupts_raised() -> Iterator[None]:
    """Raise an interrupt that arrives inside a compiled kernel as the `KeyboardInterrupt` it is.

    A signal is handled at the first Python call after it arrives. If numba makes that call while it converts a kernel's
    results, the interpreter reports `SystemError: … returned a result with an exception set`, caused by the interrupt.

    >>> try:
    ...     with interrupts_raised():
    ...         raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    interrupted
    """
    try:
        yield
    except SystemError as error:
        if not _interrupted(error):
            raise
        raise KeyboardInterrupt from error


def _interrupted(error: BaseException) -> bool:
    """Whether an error, or any error that led to it, is an interrupt."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
