"""Erratum 12: the state that may become relevant is the one that leaves the short-term buffer, h_{t-nu}, not h_{t-rho}."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line

if TYPE_CHECKING:
    from memspan.reproductions.kerg2020.screening import Screened

SAME = 1e-10
"""Two orders of the same sums in double precision; the states lie within 1."""
VISIBLE = 1e-3
"""A difference of outputs that is not rounding."""
SMALL, LARGE = 3, 8
"""The two values that nu and rho take."""
FEATURES = 6


@final
@dataclass(frozen=True)
class _Size:
    steps: int
    hidden: int
    sequences: int


_SIZES = {"smoke": _Size(40, 12, 3), "laptop": _Size(100, 64, 20), "paper": _Size(400, 128, 50)}


@final
@dataclass(frozen=True)
class _Case:
    """One nu and rho: the largest distance from `RelRNN` and the sequences, with promotion at nu and at rho."""

    apart: float
    printed_apart: float
    left: list[Screened]
    printed: list[Screened]


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    check_models("errata-12")
    size = _SIZES[scale]
    pairs = ((SMALL, LARGE), (LARGE, SMALL), (SMALL, SMALL))
    with progress.stage("sequences", len(pairs) * size.sequences) as stage:
        later, earlier, equal = (_case(size, seed, nu, rho, stage.advance) for nu, rho in pairs)
    claims = (*_outputs(later, earlier, equal), _absence(later), _twice(earlier))
    return Outcome(claims, (_chart(later, "later", SMALL, LARGE), _chart(earlier, "earlier", LARGE, SMALL)))


def _case(size: _Size, seed: int, nu: int, rho: int, advance: Callable[[], object]) -> _Case:
    import torch

    from memspan.cells import RelRNN
    from memspan.reproductions.kerg2020.screening import screened

    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        cell = RelRNN(FEATURES, size.hidden, short_term=nu, relevant=rho, dtype=torch.float64)
        inputs = torch.randn(size.sequences, size.steps, FEATURES, dtype=torch.float64)
    apart, left, printed = [0.0, 0.0], [], []
    for sequence in inputs:
        ours = cell(sequence)[0].detach()
        for k, (age, found) in enumerate(((nu, left), (rho, printed))):
            found.append(screened(cell, sequence, age))
            apart[k] = max(apart[k], float((found[-1].outputs - ours).abs().max()))
        advance()
    return _Case(apart[0], apart[1], left, printed)


def _outputs(later: _Case, earlier: _Case, equal: _Case) -> list[Claim]:
    wrong = min(later.printed_apart, earlier.printed_apart)
    return [
        claim_near(
            "Promoting the state that leaves the short-term buffer, h_{t-nu}, gives the outputs of memspan's RelRNN. "
            "(Measured: the largest distance.)",
            max(case.apart for case in (later, earlier, equal)),
            SAME,
            corrected=0.0,
        ),
        claim_near(
            f"For nu = rho = {SMALL}, h_{{t-rho}} is that state and the printed algorithm is right. (Measured: the "
            "largest distance.)",
            equal.printed_apart,
            SAME,
            paper=0.0,
        ),
        Claim(
            "Otherwise the printed algorithm is another network. (Measured: the largest distance of its outputs from "
            "RelRNN's, for rho below or above nu, whichever is smaller.)",
            0.0,
            None,
            wrong,
            None,
            wrong > VISIBLE,
        ),
    ]


def _absence(later: _Case) -> Claim:
    """Steps from the last look at a state in the buffer to the first in the relevant set."""
    corrected, printed = (max(map(_longest_gap, found)) for found in (later.left, later.printed))
    gap = LARGE - SMALL
    return Claim(
        f"With rho = {LARGE} above nu = {SMALL} the printed algorithm forgets a state when it leaves the buffer and brings "
        f"it back {gap} steps later; as corrected, a state once forgotten is never seen again. (Measured: the longest "
        "absence, as printed.)",
        0.0,
        float(gap),
        float(printed),
        0.0,
        printed == gap and corrected == 0,
    )


def _longest_gap(found: Screened) -> int:
    copies = found.copies.numpy()
    longest = 0
    for held in copies.T:
        seen = np.flatnonzero(held)
        longest = max(longest, int(np.diff(seen).max(initial=1)) - 1)
    return longest


def _twice(earlier: _Case) -> Claim:
    corrected, printed = (
        max(int(one.copies.max()) for one in found) for found in (earlier.left, earlier.printed)
    )
    return Claim(
        f"With rho = {SMALL} below nu = {LARGE} the printed algorithm promotes states that are still in the buffer, on part "
        "of their score, and the memory holds them twice; as corrected, once. (Measured: copies of a state, as printed.)",
        1.0,
        2.0,
        float(printed),
        0.0,
        printed == 2 and corrected == 1,
    )


def _by_age(found: list[Screened]) -> NDArray[np.float64]:
    """Copies of a state in memory so many steps after it, from 1 on, on average."""
    steps = len(found[0].copies)
    mean = np.mean([one.copies.numpy() for one in found], axis=0)
    return np.array([np.diagonal(mean, -age).mean() for age in range(1, min(steps, 3 * LARGE))])


def _chart(case: _Case, name: str, nu: int, rho: int) -> Chart:
    corrected, printed = _by_age(case.left), _by_age(case.printed)
    ages = np.arange(1, len(corrected) + 1)
    seen = (
        f"As printed, every state is out of memory from age {nu + 1} to {rho}, and some then come back."
        if rho > nu
        else f"As printed, the memory holds some states twice from age {rho + 1} to {nu}."
    )
    return Chart(
        name=name,
        title="As printed, states come back from oblivion"
        if rho > nu
        else "As printed, states are remembered twice",
        x_label="age of a state (steps)",
        y_label="copies of it in memory, on average",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("as corrected: h_{t-nu} is promoted", ages, corrected),
            line("as printed: h_{t-rho} is promoted", ages, printed, style="dashed"),
        ),
        caption=f"Random RelRNNs on noise, nu = {nu}, rho = {rho}. A state is in the short-term buffer for its first {nu} "
        f"steps and afterwards only if it was relevant. {seen}",
    )
