"""Every failure memspan explains: what was got, what was expected, what to do.

The command line prints the message of a `MemspanError` as one line, `error: …`, and exits with status 2.

>>> raise InputError("lag 5000 is longer than the longest document (1,024 symbols); use --max-lag 1023")
Traceback (most recent call last):
    ...
memspan.errors.InputError: lag 5000 is longer than the longest document (1,024 symbols); use --max-lag 1023
"""

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


def check_models(what: str) -> None:
    """What the extra `models` brings is there, or the message that it is missing; nothing is imported yet."""
    for module, package in _MODELS.items():
        if find_spec(module) is None:
            raise MissingExtraError(what, package, "models")
