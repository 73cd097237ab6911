"""Kerg 2020, Proposition 1: the gradient through attention, exactly, and its parts by number of factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.attention import Additive, AttentiveRNN, AttentiveRun

STEP = 1e-4
"""Of the differences. With four points their error is STEP^4 times a fifth derivative, plus rounding of 1e-16 / STEP; with
two points a network that is sensitive to its past would need a smaller step, and rounding would then show."""
EXACT = 1e-6
"""How far recursion and differences may be apart, relative to the largest entry of the gradient."""
ROUNDING = 1e-12
"""How far two sums of the same terms may be apart, relative to the largest entry."""
VISIBLE = 1e-3
"""A part of the gradient, relative to the whole, that cannot be rounding."""


@final
@dataclass(frozen=True)
class _Size:
    networks: int
    width: int
    steps: int


_SIZES = {"smoke": _Size(3, 4, 14), "laptop": _Size(20, 8, 40), "paper": _Size(50, 16, 60)}
_DEPTHS = (0, 1, 2, 4, 8)


def random_run(
    width: int, steps: int, rng: np.random.Generator, *, recurrent: float = 0.9, query: float = 1.0
) -> AttentiveRun:
    """A tanh network with additive scores; `recurrent` scales V, `query` scales W_a, both Gaussian."""
    V, U, W_a, U_a = rng.normal(size=(4, width, width)) / np.sqrt(width)
    # Scores with a spread of about 2 at any width: attention is uneven, but does not settle on a single state.
    alignment = Additive(query * W_a, 2 * U_a, 4 * rng.normal(size=width) / np.sqrt(width))
    network = AttentiveRNN(recurrent * V, U, 0.1 * rng.normal(size=width), alignment)
    return network.run(rng.normal(size=(steps - 1, width)), np.tanh(rng.normal(size=width)))


def finite_differences(run: AttentiveRun, t: int, T: int) -> NDArray[np.float64]:
    """ds_T/dh_t = (8 (s(+1) - s(-1)) - (s(+2) - s(-2))) / 12, column by column, with h_t moved in units of `STEP`."""
    h_t = run.states[t - 1]

    def moved(shift: NDArray[np.float64]) -> NDArray[np.float64]:
        return run.replaced(t, h_t + shift).summaries[T - 1] - run.replaced(t, h_t - shift).summaries[T - 1]

    columns = [(8 * moved(shift) - moved(2 * shift)) / (12 * STEP) for shift in STEP * np.eye(h_t.size)]
    return np.stack(columns, axis=1)


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size, rng = _SIZES[scale], np.random.default_rng([seed, 1])
    differences: list[float] = []
    sums: list[float] = []
    with progress.stage("gradients by recursion and by differences", size.networks) as stage:
        for _ in range(size.networks):
            run = random_run(size.width, size.steps, rng)
            for t in (1, size.steps // 3, size.steps - 1, size.steps):
                gradient = run.gradient(t, size.steps)
                differences.append(_apart(gradient, finite_differences(run, t, size.steps)))
                sums.append(_apart(gradient, run.gradient_by_depth(t, size.steps).sum(axis=0)))
            stage.advance()
    claims = (*_equalities(size, max(differences), max(sums)), *_counted_factors(size, rng))
    return Outcome(claims, (_chart(size, rng),))


def _apart(gradient: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(gradient - other)) / np.max(np.abs(gradient)))


def _equalities(size: _Size, differences: float, sums: float) -> list[Claim]:
    return [
        claim_near(
            f"The recursion of Proposition 1 gives ds_T/dh_t of {size.networks} random tanh networks of {size.width} units "
            f"with additive scores, over up to {size.steps} steps. (Measured: the largest distance from central "
            "differences, relative to the largest entry.)",
            differences,
            EXACT,
            corrected=0.0,
        ),
        claim_near(
            "Its parts by number of factors F add up to the whole gradient (Eq. 41). (Measured: the largest relative "
            "distance.)",
            sums,
            ROUNDING,
            corrected=0.0,
        ),
    ]


def _counted_factors(size: _Size, rng: np.random.Generator) -> list[Claim]:
    """With V = 0 every Jacobian is zero, so only the part without factors could be left if factors were Jacobians."""
    with_query, without = (max(_indirect(size, rng, query) for _ in range(5)) for query in (1.0, 0.0))
    return [
        Claim(
            "The number of factors F is not the number of Jacobians where the scores read s_{t-1}: with V = 0 no Jacobian "
            "is left, but the parts with one factor or more are. (Measured: their norm, relative to the whole gradient's.)",
            0.0,
            None,
            with_query,
            None,
            with_query > VISIBLE,
        ),
        claim_near(
            "The two numbers are the same where the scores ignore s_{t-1} (W_a = 0): with V = 0 nothing is left of those "
            "parts.",
            without,
            ROUNDING,
            paper=0.0,
        ),
    ]


def _indirect(size: _Size, rng: np.random.Generator, query: float) -> float:
    """The norm of all parts but the direct one, relative to the whole, for V = 0."""
    parts = random_run(size.width, size.steps, rng, recurrent=0.0, query=query).gradient_by_depth(
        1, size.steps
    )
    return float(np.linalg.norm(parts[1:].sum(axis=0)) / np.linalg.norm(parts.sum(axis=0)))


def _chart(size: _Size, rng: np.random.Generator) -> Chart:
    run = random_run(size.width, size.steps, rng)
    distances = np.arange(1, size.steps)
    parts = [np.linalg.norm(run.gradient_by_depth(1, 1 + d), axis=(1, 2)) for d in distances.tolist()]
    whole = [float(np.linalg.norm(run.gradient(1, 1 + d))) for d in distances.tolist()]
    lines = [
        line(
            f"{depth} factors" if depth != 1 else "1 factor",
            distances[k:],
            [part[depth] for part in parts[k:]],
        )
        for depth in _DEPTHS
        if (k := max(depth - 1, 0)) < len(parts)
    ]
    return Chart(
        name="depths",
        title="Over many steps the gradient comes along paths of few factors",
        x_label="distance T - t (steps)",
        y_label="norm of the part of ds_T/dh_t",
        x_scale="linear",
        y_scale="log",
        lines=(
            line("the whole gradient", distances, whole, style="dashed"),
            *lines,
            line("T - t factors: step by step", distances, [part[-1] for part in parts], style="dashed"),
        ),
        caption=f"One random tanh network of {size.width} units with additive attention, t = 1. The gradient of s_T by h_t "
        "is split by the number of factors F that a path holds: none is a direct look back from step T to state t, each "
        "factor more is one stop on the way. Neighbouring steps are joined by the recurrence, far ones by attention.",
    )
