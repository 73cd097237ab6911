"""The first lines of `train gridworld` and of `evaluate` after it: what is earned, and what is earned without memory."""

from __future__ import annotations

from memspan.figures.agent_words import cell_words
from memspan.results import AgentEvaluation, AgentRun, Rewards


def agent_sentence(run: AgentRun) -> str:
    """What a training in a grid world came to, in one line.

    `DoorKey-5x5, rel-lstm: reward 0.95 [0.94, 0.96] over 300 episodes of 3 networks after 614,400 frames; without memory …`
    """
    lived = sorted({int(one.frames[-1]) for one in run.learning if one.cell == run.cell and one.frames.size})
    after = f"after {f'{lived[0]:,} to {lived[-1]:,}' if len(lived) > 1 else f'{run.frames:,}'} frames"
    return f"{run.world}, {cell_words(run.cell)}: {_earned(run.found)} {after}{_beside(run.memoryless)}"


def agent_evaluation_sentence(evaluation: AgentEvaluation) -> str:
    """What is earned in the last world, in one line.

    `DoorKey-16x16, rel-lstm trained in DoorKey-5x5: reward 0.44 [0.37, 0.51] over 100 episodes of one network; without …`
    """
    last = evaluation.transfer[-1]
    other = f" trained in {evaluation.trained_world}" if last.world != evaluation.trained_world else ""
    without = evaluation.memoryless[-1] if evaluation.memoryless else None
    return f"{last.world}, {cell_words(evaluation.cell)}{other}: {_earned(last)}{_beside(without)}"


def interval_words(rewards: Rewards) -> str:
    """
    >>> many = Rewards("DoorKey-5x5", "lstm", 0.9, (0.85, 0.95), 1.0, 20.0, 100, (0.9,))
    >>> one = Rewards("DoorKey-5x5", "lstm", 0.9, None, 1.0, 20.0, 1, (0.9,))
    >>> interval_words(many), interval_words(one)
    ('0.90 [0.85, 0.95]', '0.90 (no interval)')
    """
    if rewards.interval is None:
        return f"{rewards.reward:.2f} (no interval)"
    low, high = rewards.interval
    return f"{rewards.reward:.2f} [{low:.2f}, {high:.2f}]"


def tries_words(rewards: Rewards) -> str:
    """How many episodes, and of how many networks.

    >>> tries_words(Rewards("DoorKey-5x5", "lstm", 0.9, (0.85, 0.95), 1.0, 20.0, 100, (0.9,)))
    '100 episodes of one network'
    """
    episodes = "one episode" if rewards.episodes == 1 else f"{rewards.episodes:,} episodes"
    networks = len(rewards.seeds)
    return f"{episodes} of {'one network' if networks == 1 else f'{networks} networks'}"


def _earned(rewards: Rewards) -> str:
    return f"reward {interval_words(rewards)} over {tries_words(rewards)}"


def _beside(memoryless: Rewards | None) -> str:
    return "" if memoryless is None else f"; without memory {interval_words(memoryless)}"
