"""What runs networks needs torch, which the core of memspan does without."""

from __future__ import annotations

from importlib.util import find_spec

from memspan.errors import MissingExtraError


def check_torch(what: str) -> None:
    """torch is there, or the message which extra brings it; nothing is imported yet."""
    if find_spec("torch") is None:
        raise MissingExtraError(what, "torch", "models")
