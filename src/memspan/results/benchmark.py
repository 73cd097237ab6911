"""What the command `bench` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True)
class Benchmark:
    """One figure next to a peer's, both from the same run; `ratio` is above 1 where we are better."""

    name: str
    peer: str
    ours: float
    theirs: float
    unit: str
    ratio: float


@final
@dataclass(frozen=True)
class BenchReport:
    """All benchmarks of one run and the machine they ran on."""

    machine: str
    benchmarks: tuple[Benchmark, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The object that `bench --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> BenchReport:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)
