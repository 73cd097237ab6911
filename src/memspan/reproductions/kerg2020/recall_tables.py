"""Tables of accuracies by cell and delay: trained, evaluated, and set beside what was printed."""

from __future__ import annotations

from pathlib import Path

from memspan.progress import Progress
from memspan.reproductions.kerg2020.published import NAMES
from memspan.results import Chart, Claim, TrainingRun, line
from memspan.training.evaluating import evaluate_run

Accuracies = dict[str, dict[int, float]]
"""Between 0 and 1, by cell and delay."""
Published = dict[str, dict[int, float | None]]
"""In per cent, by cell and delay; None: out of memory there."""

NEAR = 0.05
"""How far a measured accuracy may be from the printed one."""
LEARNT = 0.9
"""Accuracy at the trained delay of a network that has learnt to recall."""


def updates_at(delay: int, updates: int) -> int:
    """As many as take as long as `updates` do at a delay of 100.

    >>> updates_at(100, 5_000), updates_at(220, 5_000)
    (5000, 2500)
    """
    return max(1, round(updates * 120 / (delay + 20)))


def transferred(
    runs: Path, names: list[str], delays: tuple[int, ...], published: Published, progress: Progress
) -> Accuracies:
    """Of networks in folders below `runs`, at other delays than they were trained at.

    Where the print says that memory was not enough, nothing is evaluated: there it takes time without end.
    """
    found: Accuracies = {}
    for name in names:
        possible = [delay for delay in delays if published[name].get(delay, 0.0) is not None]
        evaluation = evaluate_run(runs / name, possible, batches=2, size=100, device="cpu", progress=progress)
        found[name] = {one.delay or 0: one.accuracy or 0.0 for one in evaluation.transfer}
    return found


def row_claims(
    found: Accuracies,
    published: Published,
    trained: dict[str, TrainingRun],
    *,
    trained_at: int | None = None,
) -> list[Claim]:
    """One claim for each number that was printed and measured; `trained_at`: the delay that all networks were trained at."""
    claims = []
    for cell, row in found.items():
        learnt = trained_at is None or row.get(trained_at, 0.0) >= LEARNT
        for delay, measured in row.items():
            printed = published[cell].get(delay)
            if printed is None:
                continue
            run = trained.get(f"{cell}-{delay}", trained.get(cell))
            after = "" if run is None else f" after {run.updates:,} updates"
            name = f"{NAMES[cell]}, T = {delay:,}{after}"
            claims.append(_as_printed(name, printed / 100, measured, learnt or delay == trained_at))
    return claims


def _as_printed(name: str, paper: float, measured: float, learnt: bool) -> Claim:
    """What was printed as success is to be reached; what was printed as a part or a failure is to be that part here, too.

    A network that has not learnt its own delay tells nothing of others, whatever it gets there by guessing.
    """
    if paper > 0.5:
        words, near = "as high as printed", measured >= paper - NEAR
    else:
        words, near = "as printed", abs(measured - paper) <= NEAR
    why = "" if learnt else " (It has not learnt the delay that it was trained at.)"
    return Claim(
        f"{name}: the accuracy is {words}, within {NEAR:g}.{why}",
        paper,
        None,
        measured,
        NEAR,
        near and learnt,
    )


def row_chart(name: str, title: str, found: Accuracies, caption: str) -> Chart:
    """Accuracy against delay, a line for every cell."""
    return Chart(
        name=name,
        title=title,
        x_label="delay T (steps)",
        y_label="accuracy on the ten recalled symbols",
        x_scale="log",
        y_scale="linear",
        lines=tuple(line(NAMES[cell], list(row), list(row.values())) for cell, row in found.items()),
        caption=caption,
    )


def learning_chart(name: str, title: str, trained: dict[str, TrainingRun], caption: str) -> Chart:
    """Validation accuracy against updates, a line for every cell."""
    return Chart(
        name=name,
        title=title,
        x_label="updates",
        y_label="accuracy on the ten recalled symbols",
        x_scale="log",
        y_scale="linear",
        lines=tuple(
            line(NAMES[cell], run.validated, run.validation_accuracy) for cell, run in trained.items()
        ),
        caption=caption,
    )
