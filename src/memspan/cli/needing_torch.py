"""Commands that run networks say at once which extra they need."""

from __future__ import annotations

from importlib.util import find_spec

from memspan.errors import MissingExtraError

_NEEDED = {"torch": "PyTorch", "accelerate": "accelerate"}


def check_models(what: str) -> None:
    """What the extra `models` brings is there, or the message that it is missing; nothing is imported yet."""
    for module, package in _NEEDED.items():
        if find_spec(module) is None:
            raise MissingExtraError(what, package, "models")
