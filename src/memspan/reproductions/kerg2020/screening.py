"""Erratum 12 (Kerg 2020, Algorithm 1): the state that may become relevant is h_{t-nu}, which leaves the short-term buffer.

The algorithm is printed with h_{t-rho}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from torch import Tensor

    from memspan.cells import RelRNN
    from memspan.cells.attentive.relevance import RelRNNLayer

# Difference of two orders of the same sums in double precision; states are within 1.
SAME = 1e-10
# A difference of outputs that is not rounding.
VISIBLE = 1e-3
# The two values of nu and rho.
SMALL, LARGE = 3, 8
FEATURES = 6


def run(*, seed: int, progress: Progress, sequences: int, steps: int, hidden: int) -> Outcome:
    """Compare RelRNN with Algorithm 1 as corrected and as printed, for rho above, below and equal to nu."""
    check_models("errata-12")
    pairs = ((SMALL, LARGE), (LARGE, SMALL), (SMALL, SMALL))
    cases: list[PromotionCase] = []
    with progress.stage("settings of nu and rho", len(pairs)) as stage:
        for nu, rho in pairs:
            cases.append(_case(seed, nu, rho, sequences, steps, hidden))
            stage.advance()
    later, earlier, equal = cases
    claims = (*_output_claims(later, earlier, equal), _absence_claim(later), _copies_claim(earlier))
    return Outcome(claims, (_chart(later, "later", SMALL, LARGE), _chart(earlier, "earlier", LARGE, SMALL)))


@final
@dataclass(frozen=True)
class PromotionCase:
    """One nu and rho, with promotion at age nu (corrected) and at age rho (printed)."""

    distance: float
    """Largest difference of corrected outputs from those of `RelRNN`."""
    printed_distance: float
    corrected: list[ScreeningRun]
    printed: list[ScreeningRun]


def _case(seed: int, nu: int, rho: int, sequences: int, steps: int, hidden: int) -> PromotionCase:
    import torch

    from memspan.cells import RelRNN

    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        cell = RelRNN(FEATURES, hidden, short_term=nu, relevant=rho, dtype=torch.float64)
        inputs = torch.randn(sequences, steps, FEATURES, dtype=torch.float64)
    results = {age: [run_screening(cell, sequence, age) for sequence in inputs] for age in {nu, rho}}
    expected = [cell(sequence)[0].detach() for sequence in inputs]
    distance, printed_distance = (
        max(float((result.outputs - ours).abs().max()) for result, ours in zip(results[age], expected, strict=True))
        for age in (nu, rho)
    )
    return PromotionCase(distance, printed_distance, results[nu], results[rho])


class ScreeningRun(NamedTuple):
    """Result of Algorithm 1 on one sequence."""

    outputs: Tensor
    """(time, hidden)"""
    copies: NDArray[np.int64]
    """(time, time): [t, i] is how often h_i was in the memory that step t attended to."""


def run_screening(cell: RelRNN, inputs: Tensor, age: int) -> ScreeningRun:
    """Run Algorithm 1 step by step on inputs (time, features) with the weights of a tanh cell of one layer.

    A state may enter the relevant set when it is `age` steps old. Its score is the attention that it has received in the
    short-term buffer until then.
    """
    import torch

    layer, steps = cast("RelRNNLayer", cell.first), len(inputs)
    nu, rho = layer.screening.short_term, layer.screening.relevant
    factor = {"mean": 0.5, "sum": 1.0}[layer.combine]
    copies = np.zeros((steps, steps), np.int64)
    h = s = inputs.new_zeros(layer.hidden_size)
    states, scores = inputs.new_zeros(steps, layer.hidden_size), inputs.new_zeros(steps)
    relevant: list[int] = []
    with torch.no_grad():
        for t, x in enumerate(inputs):
            recent = list(range(max(t - nu, 0), t))
            held = recent + relevant
            if held:
                memory = states[held]
                alpha = torch.softmax(torch.tanh(layer.W_a @ s + memory @ layer.U_a.T) @ layer.v, 0)
                s = factor * (h + alpha @ memory)
                scores[recent] += alpha[: len(recent)]
                copies[t] = np.bincount(held, minlength=steps)
            h = states[t] = torch.tanh(layer.U @ x + layer.V @ s + layer.b)
            if t >= age:
                _promote(t - age, relevant, scores, rho)
    return ScreeningRun(states, copies)


def _promote(candidate: int, relevant: list[int], scores: Tensor, rho: int) -> None:
    """Add a state to the relevant set; if that is full, in place of the (first) least relevant, if strictly better."""
    if len(relevant) < rho:
        relevant.append(candidate)
        return
    least = int(scores[relevant].argmin())
    if scores[candidate] > scores[relevant[least]]:
        relevant[least] = candidate


def _output_claims(later: PromotionCase, earlier: PromotionCase, equal: PromotionCase) -> list[Claim]:
    return [
        claim(
            "Promoting the state that leaves the short-term buffer, h_{t-nu}, gives the outputs of memspan's RelRNN. "
            "(Measured: the largest difference.)"
        ).near(max(case.distance for case in (later, earlier, equal)), SAME, corrected=0.0),
        claim(
            f"For nu = rho = {SMALL}, h_{{t-rho}} is that state and the printed algorithm is correct. (Measured: the "
            "largest difference.)"
        ).near(equal.printed_distance, SAME, paper=0.0),
        claim(
            "Otherwise the printed algorithm is a different network.",
            measure="the largest difference of its outputs from RelRNN's, for rho below or above nu, whichever is smaller",
        ).above(min(later.printed_distance, earlier.printed_distance), VISIBLE, paper=0.0),
    ]


def _absence_claim(later: PromotionCase) -> Claim:
    """Steps from the last attention to a state in the buffer to the first in the relevant set."""
    corrected, printed = (max(map(_longest_gap, found)) for found in (later.corrected, later.printed))
    gap = LARGE - SMALL
    return claim(
        f"With rho = {LARGE} above nu = {SMALL} the printed algorithm drops a state that leaves the buffer and "
        f"restores it {gap} steps later; as corrected, a dropped state never returns.",
        measure="the longest absence, as printed",
    ).holds_if(printed, printed == gap and corrected == 0, paper=0.0, corrected=gap, tolerance=0.0)


def _longest_gap(result: ScreeningRun) -> int:
    """Longest absence of a state from memory between two steps that attend to it."""
    gaps = [int(np.diff(np.flatnonzero(column)).max(initial=1)) - 1 for column in result.copies.T]
    return max(0, *gaps)


def _copies_claim(earlier: PromotionCase) -> Claim:
    corrected, printed = (
        max(int(result.copies.max()) for result in found) for found in (earlier.corrected, earlier.printed)
    )
    return claim(
        f"With rho = {SMALL} below nu = {LARGE} the printed algorithm promotes states that are still in the buffer, "
        "with a part of their score, and the memory holds them twice; as corrected, once.",
        measure="copies of a state, as printed",
    ).holds_if(printed, printed == 2 and corrected == 1, paper=1.0, corrected=2.0, tolerance=0.0)


def _chart(case: PromotionCase, name: str, nu: int, rho: int) -> Chart:
    ages = np.arange(1, min(len(case.printed[0].copies), 3 * LARGE))

    def by_age(results: list[ScreeningRun]) -> list[float]:
        """Mean number of copies of a state in memory, by its age."""
        mean = np.mean([result.copies for result in results], axis=0)
        return [float(np.diagonal(mean, -age).mean()) for age in ages.tolist()]

    title, effect = (
        ("restores dropped states", f"every state is missing from age {nu + 1} to {rho}, and some return.")
        if rho > nu
        else ("holds states twice", f"the memory holds some states twice from age {rho + 1} to {nu}.")
    )
    return chart(
        name,
        f"The printed algorithm {title}",
        "age of a state (steps)",
        "mean number of its copies in memory",
        (
            line("as corrected: h_{t-nu} is promoted", ages, by_age(case.corrected)),
            dashed("as printed: h_{t-rho} is promoted", ages, by_age(case.printed)),
        ),
        f"Random RelRNNs on noise, nu = {nu}, rho = {rho}. A state is in the short-term buffer for its first {nu} "
        f"steps and later only if it was relevant. As printed, {effect}",
    )
