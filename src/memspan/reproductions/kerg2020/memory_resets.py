"""Erratum 14 (Kerg 2020, section 5.3): the published program clears the memory of an agent before every step.

It tests a tuple, one entry for each of the parallel worlds, for truth. A tuple that is not empty is always true, so agents
act, and are evaluated, with an empty memory. They use it within the windows of a PPO update only.
"""

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
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear

    from memspan.cells import RelLSTM

# The published agent: 16 parallel worlds, nu = rho = 5, windows of 16 steps.
WORLDS, MEMORY, WINDOW = 16, 5, 16
ACTIONS = 7
# Probability that an episode ends with a step.
ENDS = 0.02
# Difference of two ways to the same states in double precision.
SAME = 1e-10
# A difference of outputs, or of a probability ratio from 1, that matters.
MATTERS = 1e-3


def run(*, agents: int, hidden: int, steps: int, seed: int, progress: Progress) -> Outcome:
    """Compare random agents of `hidden` units that keep and that lose their memory, over `steps` steps."""
    check_models("errata-14")
    results: list[AgentResult] = []
    with progress.stage("agents", agents) as stage:
        for number in range(agents):
            results.append(_compare(seed * agents + number, hidden, steps))
            stage.advance()
    claims = (*_rule_claims(seed, steps), *_acting_claims(results), *_ratio_claims(results))
    return Outcome(claims, (_difference_chart(results), _ratio_chart(results)), (_NOTE,))


@final
@dataclass(frozen=True, eq=False)
class AgentResult:
    """What one random agent does with its memory, and with an empty one."""

    to_lstm: float
    """Largest difference of the outputs with an empty memory from those of an LSTM with the same weights."""
    other_attention: float
    """The same from an agent with other attention weights, its memory empty as well."""
    difference: NDArray[np.float64]
    """(steps,): largest difference of the outputs with memory from those with an empty one."""
    ratios: dict[str, NDArray[np.float64]]
    """(windows x window, worlds) by `published` and `described`: the probability of the actions when learning / when
    acting, before the weights change."""


def cleared_by_program(dones: tuple[bool, ...]) -> bool:
    """`if done:`, as in the published program.

    >>> cleared_by_program((False, False, False))
    True
    """
    return bool(dones)


def _compare(seed: int, hidden: int, steps: int) -> AgentResult:
    import torch

    from memspan.cells import LSTM, RelLSTM

    options = {"short_term": MEMORY, "relevant": MEMORY, "combine": "mean", "dtype": torch.float64}
    with torch.random.fork_rng(devices=()), torch.no_grad():
        torch.manual_seed(seed)
        agent, other = RelLSTM(hidden, hidden, **options), RelLSTM(hidden, hidden, **options)
        head = torch.nn.Linear(hidden, ACTIONS, dtype=torch.float64)
        head.weight.mul_(4)  # so that the probabilities of actions differ visibly
        inputs = torch.randn(steps, WORLDS, hidden, dtype=torch.float64)
        actions = torch.randint(0, ACTIONS, (steps, WORLDS, 1))
        plain = LSTM(hidden, hidden, dtype=torch.float64)
        for ours, name in (("weight_ih_l0", "U"), ("weight_hh_l0", "V"), ("bias_ih_l0", "b")):
            weights = agent.first.get_parameter(name)
            plain.first.get_parameter(f"network.{ours}").copy_(weights)
            other.first.get_parameter(name).copy_(weights)
        plain.first.get_parameter("network.bias_hh_l0").zero_()
        empty, kept = (act(agent, inputs, clear=clear) for clear in (True, False))
        ratios = {
            name: _ratios(agent, head, inputs, actions, acted)
            for name, acted in (("published", empty), ("described", kept))
        }
        return AgentResult(
            float((empty.outputs - plain(inputs)[0]).abs().max()),
            float((empty.outputs - act(other, inputs, clear=True).outputs).abs().max()),
            (empty.outputs - kept.outputs).abs().amax((1, 2)).numpy(),
            ratios,
        )


@final
@dataclass(frozen=True, eq=False)
class Acted:
    """The outputs of an agent that acts step by step, and its state before each step."""

    outputs: Tensor
    states: list[tuple[Tensor, ...]]


def act(agent: RelLSTM, inputs: Tensor, *, clear: bool) -> Acted:
    """One step at a time; with `clear`, only h and c survive a step, as in the published program."""
    import torch

    start = agent.start(inputs.shape[1])
    state, states, outputs = start, [], []
    for x in inputs:
        if clear:
            state = (*state[:2], *start[2:])
        states.append(tuple(state))
        output, state = agent(x.unsqueeze(0), state)
        outputs.append(output[0])
    return Acted(torch.stack(outputs), states)


def _ratios(agent: RelLSTM, head: Linear, inputs: Tensor, actions: Tensor, acted: Acted) -> NDArray[np.float64]:
    """pi_new / pi_old of PPO in the first update: both have the same weights, so it should be 1.

    Learning runs through windows of 16 steps from the state at their start, with a memory in both programs.
    """
    import torch

    parts = []
    for first in range(0, len(inputs) - WINDOW + 1, WINDOW):
        window = slice(first, first + WINDOW)
        learned, _ = agent(inputs[window], acted.states[first])
        new, old = (
            torch.log_softmax(head(outputs), 2).gather(2, actions[window]).squeeze(2)
            for outputs in (learned, acted.outputs[window])
        )
        parts.append((new - old).exp())
    return torch.cat(parts).numpy()


def _rule_claims(seed: int, steps: int) -> list[Claim]:
    ended = np.random.default_rng([seed, 14]).random((steps, WORLDS)) < ENDS
    cleared = float(np.mean([cleared_by_program(tuple(row)) for row in ended.tolist()]))
    return [
        claim(
            f"The published program clears the memory before every step, where {ended.mean():.1%} of the steps end an "
            "episode: a tuple with an entry for each world is always true.",
            measure="the share of steps before which memory is cleared; by the text, where episodes end",
        ).near(cleared, 0.0, paper=ended.mean(), corrected=1.0)
    ]


def _acting_claims(results: list[AgentResult]) -> list[Claim]:
    return [
        claim(
            "With a memory that is cleared before every step, RelLSTM acts as an LSTM with the same weights does. "
            "(Measured: the largest difference of outputs.)"
        ).near(max(result.to_lstm for result in results), SAME, corrected=0.0),
        claim("Its attention weights then have no effect on its actions. (Measured: the largest difference.)").near(
            max(result.other_attention for result in results), SAME, corrected=0.0
        ),
        claim(
            "The described agent, whose memory persists, acts differently.",
            measure="the smallest, over agents, of the largest difference of outputs",
        ).above(min(float(result.difference.max()) for result in results), MATTERS),
    ]


def _ratio_claims(results: list[AgentResult]) -> list[Claim]:
    def error(name: str) -> list[float]:
        return [float(np.abs(result.ratios[name] - 1).max()) for result in results]

    return [
        claim(
            "In the published program the probability ratio of PPO compares two networks: it is not 1 although the "
            "weights are the same.",
            measure="the smallest, over agents, of the largest |ratio - 1|",
        ).above(min(error("published")), MATTERS, paper=0.0),
        claim("For the described agent it is 1 before the first update. (Measured: the largest |ratio - 1|.)").near(
            max(error("described")), SAME, corrected=0.0
        ),
    ]


def _difference_chart(results: list[AgentResult]) -> Chart:
    difference = np.array([result.difference for result in results])
    steps = np.arange(1, difference.shape[1] + 1)
    return chart(
        "actions",
        "An agent that loses its memory before every step is another agent",
        "step of the episode",
        "largest difference of outputs",
        [line("memory kept or cleared", steps, difference.mean(0), band=(difference.min(0), difference.max(0)))],
        f"{len(results)} random RelLSTMs with nu = rho = {MEMORY} in {WORLDS} worlds with random inputs: the outputs with "
        "the memory of the text, compared with those of the published program, which clears it. Mean and range over agents.",
    )


def _ratio_chart(results: list[AgentResult]) -> Chart:
    def by_step(name: str) -> NDArray[np.float64]:
        return np.mean(
            [np.abs(result.ratios[name] - 1).reshape(-1, WINDOW, WORLDS).mean((0, 2)) for result in results], 0
        )

    steps = np.arange(1, WINDOW + 1)
    return chart(
        "ratios",
        "The probability ratio of PPO before the weights change",
        "step of the window",
        "mean |ratio - 1|",
        [line(f"{name} agent", steps, by_step(name)) for name in ("published", "described")],
        "The probability of an action when learning, divided by that when acting, for the same weights. It should be 1. The "
        "published program acts with an empty memory and learns with one that fills up during a window.",
    )


_NOTE = (
    "These are random agents with random observations, so nothing here depends on a training. In the published update "
    "windows, ends of episodes are not masked either. The rewards of the described agents are measured by relevance-table4."
)
