"""Erratum 13: the published program takes s_t = (h + c) / 2 where the paper has h + c; the head reads h_t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line

SAME = 1e-10
"""Two ways to the same sums in double precision, of states within 1."""
ROUNDING = 1e-9
"""By how much a norm that cannot grow may seem to, relative, after some hundred steps."""
FEATURES = 6


@final
@dataclass(frozen=True)
class _Size:
    steps: int
    hidden: int
    networks: int


_SIZES = {"smoke": _Size(30, 16, 3), "laptop": _Size(100, 128, 20), "paper": _Size(100, 128, 100)}


@final
@dataclass(frozen=True)
class _Found:
    """Of one random network."""

    apart: float
    """Outputs of the sum with halved weights from those of the mean, the larger of RelRNN's and RelLSTM's."""
    head: float
    """|output - h| after the last step."""
    mixture: float
    """|output - s| after the last step."""
    norms: dict[str, NDArray[np.float64]]
    """|h_t| / |h_1| without further input, V orthogonal, no activation; for the mean and for the sum."""


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    check_models("errata-13")
    size = _SIZES[scale]
    found: list[_Found] = []
    with progress.stage("networks", size.networks) as stage:
        for number in range(size.networks):
            found.append(_network(size, seed * size.networks + number))
            stage.advance()
    return Outcome((*_equalities(found), *_growth(found, size)), (_chart(found, size),), (_NOTE,))


def _network(size: _Size, seed: int) -> _Found:
    import torch

    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        inputs = torch.randn(size.steps, 1, FEATURES, dtype=torch.float64)
        with torch.no_grad():
            apart = max(_halved(size, inputs, gated=gated) for gated in (False, True))
            head, mixture = _read(size, inputs)
            norms = {combine: _echo(size, combine) for combine in ("mean", "sum")}
    return _Found(apart, head, mixture, norms)


def _halved(size: _Size, inputs: object, *, gated: bool) -> float:
    """How far the sum with V / 2 and W_a / 2 is from the mean with V and W_a."""
    import torch

    from memspan.cells import RelLSTM, RelRNN

    assert isinstance(inputs, torch.Tensor)
    kind = RelLSTM if gated else RelRNN
    mean, total = (
        kind(FEATURES, size.hidden, combine=combine, dtype=torch.float64) for combine in ("mean", "sum")
    )
    total.load_state_dict(mean.state_dict())
    for name in ("V", "W_a"):
        total.first.get_parameter(name).mul_(0.5)
    return float((mean(inputs)[0] - total(inputs)[0]).abs().max())


def _read(size: _Size, inputs: object) -> tuple[float, float]:
    """How far the last output is from h and from s of the state."""
    import torch

    from memspan.cells import RelRNN

    assert isinstance(inputs, torch.Tensor)
    output, state = RelRNN(FEATURES, size.hidden, dtype=torch.float64)(inputs)
    h, s = state[0][0], state[1][0]
    return float((output[-1] - h).abs().max()), float((output[-1] - s).abs().max())


def _echo(size: _Size, combine: str) -> NDArray[np.float64]:
    """|h_t| / |h_1| of a linear RelRNN with an orthogonal V that was given something at the first step only."""
    import torch

    from memspan.cells import RelRNN

    cell = RelRNN(FEATURES, size.hidden, combine=combine, nonlinearity="identity", dtype=torch.float64)
    cell.first.get_parameter("b").zero_()
    inputs = torch.zeros(size.steps, 1, FEATURES, dtype=torch.float64)
    inputs[0] = torch.randn(FEATURES, dtype=torch.float64)
    norms = torch.linalg.vector_norm(cell(inputs)[0][:, 0], dim=1).numpy()
    return norms / norms[0]


def _equalities(found: list[_Found]) -> list[Claim]:
    mixture = min(one.mixture for one in found)
    return [
        claim_near(
            "The sum with V and W_a halved is the mean: both describe the same networks, RelRNN and RelLSTM, and differ in "
            "where training starts and how far its steps go. (Measured: the largest distance of outputs.)",
            max(one.apart for one in found),
            SAME,
            corrected=0.0,
        ),
        claim_near(
            "The output, which the head reads, is h_t. (Measured: the largest distance.)",
            max(one.head for one in found),
            0.0,
            corrected=0.0,
        ),
        Claim(
            "The output is not s_t, which only the next step reads. (Measured: the smallest distance of a network's last "
            "output and s.)",
            None,
            None,
            mixture,
            None,
            mixture > SAME,
        ),
    ]


def _growth(found: list[_Found], size: _Size) -> list[Claim]:
    mean = max(float(one.norms["mean"].max()) for one in found)
    total = min(float(one.norms["sum"][-1]) for one in found)
    return [
        Claim(
            "With the mean and an orthogonal V, as at the published start, an echo never grows: s_t is an average of "
            "states. (Measured: the largest |h_t| / |h_1| of linear networks.)",
            None,
            1.0,
            mean,
            ROUNDING,
            mean <= 1 + ROUNDING,
        ),
        Claim(
            "With the sum as printed it does grow from the same start. (Measured: the smallest |h_T| / |h_1| of linear "
            f"networks at T = {size.steps}.)",
            None,
            None,
            total,
            None,
            total > 1,
        ),
    ]


def _chart(found: list[_Found], size: _Size) -> Chart:
    steps = np.arange(1, size.steps + 1)

    def shown(label: str, combine: str) -> object:
        norms = np.stack([one.norms[combine] for one in found])
        middle = np.exp(np.log(norms).mean(0))
        return line(label, steps, middle, band=(norms.min(0), norms.max(0)))

    return Chart(
        name="echo",
        title="As printed, the published start makes states grow",
        x_label="step t",
        y_label="|h_t| / |h_1|",
        x_scale="linear",
        y_scale="log",
        lines=(shown("sum, as printed", "sum"), shown("mean, as in the program", "mean")),  # type: ignore[arg-type]
        caption=f"{len(found)} linear RelRNNs of {size.hidden} units with an orthogonal V, given one input at the first "
        "step and none afterwards; the line is the geometric mean, the band holds all of them. A tanh would stop the growth "
        "by saturating, and gradients with it.",
    )


_NOTE = (
    "Which of the two learns faster is a question of training, which this recipe does not do; the cells offer both as "
    'combine="mean", the default, and combine="sum".'
)
