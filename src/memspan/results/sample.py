"""What `sample` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.display import Notebook, amount, in_brief
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True, repr=False)
class Sample(Notebook):
    """Texts that a model wrote."""

    source: str
    """The model: a folder of a run or of a Hugging Face model"""
    model: str
    """In words: its cell or kind, and what it was trained on where that is known"""
    length: int
    """Symbols of all texts"""
    streams: int
    """Texts"""
    each: int
    """Symbols of one"""
    characters: int
    """Of all texts"""
    temperature: float
    top_k: int | None
    top_p: float | None
    context: int | None
    """How far back the model could look; None: as far as its state reaches"""
    seed: int
    path: str | None
    """The file; None where they were only shown"""
    documents: str | None
    """What `--documents` has to be to read the file again, each text as a document"""
    excerpt: str
    """How the first text begins"""
    seconds: float
    notes: tuple[str, ...] = ()

    def _summary(self) -> str:
        texts = f"{self.streams:,} texts, {amount(self.length)} symbols, from {in_brief(self.source)}"
        return f"{texts}, begins {self.excerpt[:40]!r}"

    def to_json(self) -> dict[str, Any]:
        """The object that `sample --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Sample:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)
