"""Kerg 2020, Proposition 1: the exact gradient through attention, and its parts by number of factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line
from memspan.theory.attention import Additive, AttentiveRNN, AttentiveRun

# Step of the finite differences. With four points their error is STEP^4 times a fifth derivative, plus rounding of
# 1e-16 / STEP. With two points a network that is sensitive to its past would need a smaller step and more rounding.
STEP = 1e-4
# Accepted difference of recursion and finite differences, relative to the largest entry of the gradient.
EXACT = 1e-6
# Accepted difference of two sums of the same terms, relative to the largest entry.
ROUNDING = 1e-12
# A relative part of the gradient that cannot be rounding.
VISIBLE = 1e-3
_DEPTHS = (0, 1, 2, 4, 8)


def run(*, seed: int, progress: Progress, networks: int, width: int, steps: int) -> Outcome:
    """Compare the gradient of random networks with finite differences, and its parts with their sum."""
    rng = np.random.default_rng([seed, 1])
    differences: list[float] = []
    sums: list[float] = []
    with progress.stage("gradients by recursion and by finite differences", networks) as stage:
        for _ in range(networks):
            attentive = random_run(width, steps, rng)
            for t in (1, steps // 3, steps - 1, steps):
                gradient = attentive.gradient(t, steps)
                differences.append(_distance(gradient, finite_differences(attentive, t, steps)))
                sums.append(_distance(gradient, attentive.gradient_by_depth(t, steps).sum(axis=0)))
            stage.advance()
    claims = (
        claim(
            f"The recursion of Proposition 1 gives ds_T/dh_t of {networks} random tanh networks of {width} units with "
            f"additive scores, over up to {steps} steps. (Measured: the largest distance from central differences, "
            "relative to the largest entry.)"
        ).near(max(differences), EXACT, corrected=0.0),
        claim(
            "Its parts by number of factors F add up to the whole gradient (Eq. 41). (Measured: the largest relative "
            "distance.)"
        ).near(max(sums), ROUNDING, corrected=0.0),
        *_factor_claims(width, steps, rng),
    )
    return Outcome(claims, (_chart(random_run(width, steps, rng)),))


def random_run(
    width: int, steps: int, rng: np.random.Generator, *, recurrent: float = 0.9, query: float = 1.0
) -> AttentiveRun:
    """A tanh network with additive scores; `recurrent` scales V, `query` scales W_a, both Gaussian."""
    V, U, W_a, U_a = rng.normal(size=(4, width, width)) / np.sqrt(width)
    # Scores with a spread of about 2 at any width: attention is uneven, but not on a single state.
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


def _distance(gradient: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(gradient - other)) / np.max(np.abs(gradient)))


def _factor_claims(width: int, steps: int, rng: np.random.Generator) -> list[Claim]:
    """With V = 0 every Jacobian is zero. If factors were Jacobians, only the part without factors would remain."""

    def indirect(query: float) -> float:
        """Norm of all parts but the direct one, relative to the whole."""
        run = random_run(width, steps, rng, recurrent=0.0, query=query)
        parts = run.gradient_by_depth(1, steps)
        return float(np.linalg.norm(parts[1:].sum(axis=0)) / np.linalg.norm(parts.sum(axis=0)))

    with_query, without_query = (max(indirect(query) for _ in range(5)) for query in (1.0, 0.0))
    return [
        claim(
            "The number of factors F is not the number of Jacobians where the scores read s_{t-1}: with V = 0 there "
            "are no Jacobians, but the parts with one or more factors remain.",
            measure="their norm, relative to the whole gradient's",
        ).holds_if(with_query, with_query > VISIBLE, paper=0.0),
        claim(
            "The two numbers are equal where the scores ignore s_{t-1} (W_a = 0): with V = 0 these parts vanish."
        ).near(without_query, ROUNDING, paper=0.0),
    ]


def _chart(run: AttentiveRun) -> Chart:
    steps, width = run.states.shape
    distances = np.arange(1, steps)
    parts = [np.linalg.norm(run.gradient_by_depth(1, 1 + d), axis=(1, 2)) for d in distances.tolist()]
    whole = [float(np.linalg.norm(run.gradient(1, 1 + d))) for d in distances.tolist()]
    lines = [
        line(
            "1 factor" if depth == 1 else f"{depth} factors", distances[first:], [part[depth] for part in parts[first:]]
        )
        for depth in _DEPTHS
        if (first := max(depth - 1, 0)) < len(parts)
    ]
    return chart(
        "depths",
        "Over many steps the gradient flows along paths of few factors",
        "distance T - t (steps)",
        "norm of the part of ds_T/dh_t",
        (
            dashed("whole gradient", distances, whole),
            *lines,
            dashed("T - t factors: step by step", distances, [part[-1] for part in parts]),
        ),
        f"One random tanh network of {width} units with additive attention, t = 1. The gradient of s_T with respect "
        "to h_t is split by the number of factors F on a path: a path without factors is direct attention from step "
        "T to state t, and each factor is one intermediate state. Near steps are connected by the recurrence, "
        "distant ones by attention.",
        log="y",
    )
