"""Kerg 2020, Table 1: trained to copy over 100 steps, asked to over up to 5,000."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.published import NAMES, TRANSFER_COPY
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim

KEPT = 0.99
"""What an accuracy that does not fall is at least."""
COPYING = {
    "rel-rnn": 14_000,
    "rel-lstm": 24_000,
    "lstm": 36_000,
    "detach-lstm": 4_000,
    "orthogonal-rnn": 8_000,
    "exp-rnn": 6_000,
    "goru": 4_000,
    "mem-rnn": 3_000,
    "sab-lstm": 1_500,
}
"""Updates at laptop scale, at the most."""


@final
@dataclass(frozen=True)
class _Size:
    delay: int
    delays: tuple[int, ...]
    hidden: int
    updates: dict[str, int]
    """Of each cell."""


_ALL = (100, 200, 400, 2_000, 5_000)
_SIZES = {
    "smoke": _Size(3, (3, 6), 8, dict.fromkeys(("rel-rnn", "lstm"), 20)),
    "laptop": _Size(
        100,
        _ALL,
        128,
        {cell: updates for cell, updates in COPYING.items() if cell in TRANSFER_COPY},
    ),
    "paper": _Size(100, _ALL, 128, dict.fromkeys(TRANSFER_COPY, 200_000)),
}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-table1")
    from memspan.reproductions.kerg2020.recall_tables import row_chart, row_claims, transferred
    from memspan.reproductions.trainings import recall_config, train_all

    size = _SIZES[scale]
    configs = {
        cell: recall_config("copy", cell, seed, delay=size.delay, hidden=size.hidden, updates=updates)
        for cell, updates in size.updates.items()
    }
    trained = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    found = transferred(runs, list(configs), size.delays, TRANSFER_COPY, progress)
    caption = (
        f"Networks of {size.hidden} units that learnt to copy ten symbols over {size.delay} steps, on 200 new sequences for "
        "each delay. A guess among the eight symbols is right one time in eight. How many updates each had is in the "
        "claims; none is trained further at longer delays."
    )
    chart = row_chart(
        "transfer",
        "Copying over longer delays than were learnt",
        found,
        caption,
    )
    kept = [_keeps(found[cell], cell) for cell in ("rel-rnn", "rel-lstm") if cell in found]
    claims = row_claims(found, TRANSFER_COPY, trained, trained_at=size.delay)
    return Outcome((*kept, *claims), (chart,), (_NOTE,))


def _keeps(row: dict[int, float], cell: str) -> Claim:
    least = min(row.values())
    return Claim(
        f"{NAMES[cell]} recalls {KEPT:.0%} or more at every delay from {min(row):,} to {max(row):,}. (Measured: the least.)",
        0.99,
        None,
        least,
        None,
        least >= KEPT,
    )


_NOTE = (
    "Settings are the defaults of `memspan train copy` for each cell; validation chooses the weights that are evaluated. "
    "The sources train for 20,000 to 200,000 updates."
)
