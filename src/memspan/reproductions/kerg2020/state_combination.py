"""Erratum 13 (Kerg 2020, Eq. 2): the published program uses s_t = (h + c) / 2, the paper h + c; the head reads h_t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, line

if TYPE_CHECKING:
    from torch import Tensor

# Difference of two ways to the same sums in double precision, of states within 1.
SAME = 1e-10
# Relative amount by which a norm that cannot grow may seem to grow after some hundred steps.
ROUNDING = 1e-9
FEATURES = 6


def run(*, seed: int, progress: Progress, networks: int, hidden: int, steps: int) -> Outcome:
    """Compare mean and sum in random networks."""
    check_models("errata-13")
    results: list[CombinationResult] = []
    with progress.stage("networks", networks) as stage:
        for number in range(networks):
            results.append(_compare(seed * networks + number, hidden, steps))
            stage.advance()
    claims = (*_equality_claims(results), *_growth_claims(results, steps))
    return Outcome(claims, (_chart(results, hidden),), (_NOTE,))


@final
@dataclass(frozen=True)
class CombinationResult:
    """Results of one random network."""

    halved: float
    """Difference of the outputs of the sum with halved weights from those of the mean, for RelRNN or RelLSTM."""
    to_h: float
    """|output - h| after the last step."""
    to_s: float
    """|output - s| after the last step."""
    echoes: dict[str, NDArray[np.float64]]
    """|h_t| / |h_1| without further input, V orthogonal, no activation; for the mean and for the sum."""


def _compare(seed: int, hidden: int, steps: int) -> CombinationResult:
    import torch

    from memspan.cells import RelRNN

    with torch.random.fork_rng(devices=()), torch.no_grad():
        torch.manual_seed(seed)
        inputs = torch.randn(steps, 1, FEATURES, dtype=torch.float64)
        halved = max(_halved_weights(hidden, inputs, gated=gated) for gated in (False, True))
        output, state = RelRNN(FEATURES, hidden, dtype=torch.float64)(inputs)
        to_h, to_s = (float((output[-1] - state[place][0]).abs().max()) for place in (0, 1))
        echoes = {combine: _echo(hidden, steps, combine) for combine in ("mean", "sum")}
    return CombinationResult(halved, to_h, to_s, echoes)


def _halved_weights(hidden: int, inputs: Tensor, *, gated: bool) -> float:
    """Difference of the sum with V / 2 and W_a / 2 from the mean with V and W_a."""
    from memspan.cells import RelLSTM, RelRNN

    kind = RelLSTM if gated else RelRNN
    mean, total = (kind(FEATURES, hidden, combine=combine, dtype=inputs.dtype) for combine in ("mean", "sum"))
    total.load_state_dict(mean.state_dict())
    for name in ("V", "W_a"):
        total.first.get_parameter(name).mul_(0.5)
    return float((mean(inputs)[0] - total(inputs)[0]).abs().max())


def _echo(hidden: int, steps: int, combine: str) -> NDArray[np.float64]:
    """|h_t| / |h_1| of a linear RelRNN with an orthogonal V and an input at the first step only."""
    import torch

    from memspan.cells import RelRNN

    cell = RelRNN(FEATURES, hidden, combine=combine, nonlinearity="identity", dtype=torch.float64)
    cell.first.get_parameter("b").zero_()
    inputs = torch.zeros(steps, 1, FEATURES, dtype=torch.float64)
    inputs[0] = torch.randn(FEATURES, dtype=torch.float64)
    norms = torch.linalg.vector_norm(cell(inputs)[0][:, 0], dim=1).numpy()
    return norms / norms[0]


def _equality_claims(results: list[CombinationResult]) -> list[Claim]:
    return [
        claim(
            "The sum with V and W_a halved equals the mean: both describe the same networks, RelRNN and RelLSTM, and "
            "differ in the initialization and the effective step size of training. (Measured: the largest difference "
            "of outputs.)"
        ).near(max(result.halved for result in results), SAME, corrected=0.0),
        claim("The output, which the head reads, is h_t. (Measured: the largest difference.)").near(
            max(result.to_h for result in results), 0.0, corrected=0.0
        ),
        claim(
            "The output is not s_t, which only the next step reads.",
            measure="the smallest difference of a network's last output and s",
        ).above(min(result.to_s for result in results), SAME),
    ]


def _growth_claims(results: list[CombinationResult], steps: int) -> list[Claim]:
    mean = max(float(result.echoes["mean"].max()) for result in results)
    return [
        claim(
            "With the mean and an orthogonal V, as at the published initialization, an echo never grows: s_t is an "
            "average of states.",
            measure="the largest |h_t| / |h_1| of linear networks",
        ).holds_if(mean, mean <= 1 + ROUNDING, corrected=1.0, tolerance=ROUNDING),
        claim(
            "With the printed sum it grows from the same initialization.",
            measure=f"the smallest |h_T| / |h_1| of linear networks at T = {steps}",
        ).above(min(float(result.echoes["sum"][-1]) for result in results), 1.0),
    ]


def _chart(results: list[CombinationResult], hidden: int) -> Chart:
    def echo(label: str, combine: str) -> Line:
        norms = np.stack([result.echoes[combine] for result in results])
        mean = np.exp(np.log(norms).mean(0))
        return line(label, np.arange(1, norms.shape[1] + 1), mean, band=(norms.min(0), norms.max(0)))

    return chart(
        "echo",
        "With the printed sum, states grow from the published initialization",
        "step t",
        "|h_t| / |h_1|",
        (echo("sum, as printed", "sum"), echo("mean, as in the program", "mean")),
        f"{len(results)} linear RelRNNs of {hidden} units with an orthogonal V and an input at the first step only. "
        "Lines are geometric means, bands the range. A tanh would stop the growth by saturation, and gradients with "
        "it.",
        log="y",
    )


_NOTE = (
    "Which of the two learns faster is a question of training, which this recipe does not address. The cells offer both as "
    'combine="mean", the default, and combine="sum".'
)
