"""The first lines of `train gridworld` and of `evaluate` after it: what is earned, and what is earned without memory."""

from __future__ import annotations

from memspan.figures.agent_words import cell_words
from memspan.results import AgentEvaluation, AgentRun, Rewards


def agent_sentence(run: AgentRun) -> str:
    """What a training in a grid world came to, in one line.

    `DoorKey-5x5, rel-lstm: reward 0.95 [0.94, 0.96] over 100 episodes after 614,400 frames; without memory 0.93 …`
    """
    after = f"after {run.frames:,} frames"
    return f"{run.world}, {cell_words(run.cell)}: {_earned(run.found)} {after}{_beside(run.memoryless)}"


def agent_evaluation_sentence(evaluation: AgentEvaluation) -> str:
    """What is earned in the last world, in one line.

    `DoorKey-16x16, rel-lstm trained in DoorKey-5x5: reward 0.44 [0.37, 0.51] over 100 episodes; without memory 0.31 …`
    """
    last = evaluation.transfer[-1]
    other = f" trained in {evaluation.trained_world}" if last.world != evaluation.trained_world else ""
    without = evaluation.memoryless[-1] if evaluation.memoryless else None
    return f"{last.world}, {cell_words(evaluation.cell)}{other}: {_earned(last)}{_beside(without)}"


def agent_notes(run: AgentRun) -> tuple[str, ...]:
    """What a reader should know before trusting the comparison."""
    notes = []
    if run.memoryless is not None:
        low, high = run.found.interval, run.memoryless.interval
        if low[0] <= high[1]:
            notes.append(
                "the agent without memory does as well within the intervals: that memory was needed is not seen here"
            )
    if len(run.found.seeds) == 1:
        notes.append("one seed: another may learn sooner, later or not at all; --seeds 3 tells more")
    return tuple(notes)


def interval_words(rewards: Rewards) -> str:
    """
    >>> one = Rewards("DoorKey-5x5", "lstm", 0.9, (0.85, 0.95), 1.0, 20.0, 100, (0.9,))
    >>> interval_words(one)
    '0.90 [0.85, 0.95]'
    """
    low, high = rewards.interval
    return f"{rewards.reward:.2f} [{low:.2f}, {high:.2f}]"


def _earned(rewards: Rewards) -> str:
    return f"reward {interval_words(rewards)} over {rewards.episodes:,} episodes"


def _beside(memoryless: Rewards | None) -> str:
    return "" if memoryless is None else f"; without memory {interval_words(memoryless)}"
