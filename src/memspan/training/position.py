"""Where a training stands, besides its tensors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final


@final
@dataclass(kw_only=True)
class Position:
    """What the loop counts and remembers; the metadata of a checkpoint."""

    update: int = 0
    """Updates done."""
    validated: list[int] = field(default_factory=list)
    """Updates after which there was a validation."""
    losses: list[float] = field(default_factory=list)
    """Of these validations."""
    accuracies: list[float | None] = field(default_factory=list)
    """Of these validations; None where the task has no such measure."""
    metrics_bytes: int = 0
    """Length of metrics.jsonl."""
    last_look: int = 0
    """Length of its last line, if that is of a validation that took place only because the training was over; else 0."""
    pending: dict[str, float] = field(default_factory=dict)
    """Sums since the last line of metrics.jsonl that tells of updates."""
    counted: dict[str, int] = field(default_factory=dict)
    """How many updates each of these sums is of."""
    averaging: bool = False
    """Whether validation has stopped improving as it did, so that nt-asgd averages and objectives have switched."""
    stopped: str | None = None
    """Why it is over; None while it is not."""
    lost: list[int] = field(default_factory=list)
    """Validated updates whose weights could not be read any more when the run was gone on with."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the result should know."""

    @property
    def best(self) -> int | None:
        """The update whose validation loss is the lowest, the first of several, if its weights are not lost.

        >>> Position(validated=[10, 20, 30], losses=[3.0, 1.0, 1.0]).best
        20
        """
        return next(iter(self.by_loss()), None)

    def by_loss(self) -> list[int]:
        """The validated updates, the best first.

        >>> Position(validated=[10, 20, 30], losses=[3.0, 1.0, 1.0], lost=[20]).by_loss()
        [30, 10]
        """
        looks = sorted(zip(self.losses, self.validated, strict=True))
        return [update for _, update in looks if update not in self.lost]

    def going_on(self) -> Position:
        """The same place in a training that is not over: as if there had been no last look."""
        before = -1 if self.last_look else None
        return replace(
            self,
            validated=self.validated[:before],
            losses=self.losses[:before],
            accuracies=self.accuracies[:before],
            metrics_bytes=self.metrics_bytes - self.last_look,
            last_look=0,
            pending=dict(self.pending),
            counted=dict(self.counted),
            lost=list(self.lost),
            notes=list(self.notes),
            stopped=None,
        )
