"""Every quantity of an agent's training or evaluation with its value and what it means."""

from __future__ import annotations

from collections.abc import Sequence

from memspan.figures.agent_words import cell_words
from memspan.figures.training_words import percent
from memspan.report.agent_sentences import interval_words, tries_words
from memspan.report.numbers import duration
from memspan.report.section import Row, Table
from memspan.results import AgentEvaluation, AgentRun, EvaluatedAgent, LearningCurve, Rewards


def agent_rows(run: AgentRun) -> tuple[Row, ...]:
    """What was earned, then what it took."""
    agents = [one for one in run.learning if one.cell == run.cell]
    others = [one for one in run.learning if one.cell != run.cell]
    stopped = sorted({one.stopped for one in agents})
    frames = [(int(one.frames[-1]), one.seed) for one in agents if one.frames.size]
    return (
        ("reward", interval_words(run.found), f"Mean of {tries_words(run.found)}, 95 % interval."),
        *_each(run.found, "of each seed"),
        ("solved", percent(run.found.solved), "Share of episodes with any reward."),
        ("steps of an episode", f"{run.found.length:.1f}", "On average; the sooner, the more reward."),
        *_without(run.memoryless, _updates(others)),
        ("parameters", f"{run.parameter_count:,}", "Numbers that are learnt."),
        ("updates", _updates(agents) or f"{run.updates:,}", "Rounds of living and learning."),
        (
            "frames",
            _counts(frames) or f"{run.frames:,}",
            "Steps lived through, in all worlds of one training together.",
        ),
        ("stopped because", "; ".join(stopped), "Why it is over."),
        ("time", duration(run.seconds), "Spent on training, of all agents together."),
        ("run", run.run, "The folder with configuration, metrics and checkpoints."),
    )


def _without(memoryless: Rewards | None, updates: str) -> tuple[Row, ...]:
    if memoryless is None:
        return ()
    what = f"Agents with nothing to remember with, tried on the same episodes, after {updates} updates."
    return (("without memory", interval_words(memoryless), what), *_each(memoryless, "of each seed, without"))


def _each(rewards: Rewards, name: str) -> tuple[Row, ...]:
    """The networks of several seeds apart."""
    if len(rewards.seeds) < 2:
        return ()
    return ((name, _seeds(rewards), "Mean reward of each network."),)


def _updates(networks: Sequence[LearningCurve | EvaluatedAgent]) -> str:
    return _counts([(one.updates, one.seed) for one in networks])


def _counts(counts: Sequence[tuple[int, int]]) -> str:
    """Of all, where they are the same, else of each with its seed.

    >>> _counts([(300, 0), (300, 1)]), _counts([(1300, 0), (290, 1)])
    ('300', '1,300 (seed 0), 290 (seed 1)')
    """
    if len({count for count, _ in counts}) < 2:
        return "".join(f"{count:,}" for count, _ in counts[:1])
    return ", ".join(f"{count:,} (seed {seed})" for count, seed in counts)


def _weights(evaluation: AgentEvaluation) -> str:
    """Of which updates, with and without memory apart where these differ."""
    own, others = (
        _updates([one for one in evaluation.networks if (one.cell == evaluation.cell) == same])
        for same in (True, False)
    )
    without = f"; without memory of update {others}" if others and others != own else ""
    return f"of update {own or f'{evaluation.updates:,}'}{without}"


def agent_evaluation_rows(evaluation: AgentEvaluation) -> tuple[Row, ...]:
    """Which agent, and where from."""
    return (
        ("cell", cell_words(evaluation.cell), f"{evaluation.parameter_count:,} numbers were learnt."),
        ("trained in", evaluation.trained_world, "The world in which the weights were learnt."),
        ("weights", _weights(evaluation), "The newest; nothing is learnt here."),
        ("time", duration(evaluation.seconds), "Spent on the episodes."),
        ("run", evaluation.run, "The folder with configuration, metrics and checkpoints."),
    )


def rewards_table(found: tuple[Rewards, ...], memoryless: tuple[Rewards, ...]) -> Table:
    """One row for each world and agent, seeds apart."""
    header = ("world", "agent", "reward", "solved", "steps", "episodes", "seeds")
    return Table("Rewards", header, tuple(_row(one) for one in (*found, *memoryless)))


def _row(rewards: Rewards) -> Row:
    return (
        rewards.world,
        cell_words(rewards.cell),
        interval_words(rewards),
        percent(rewards.solved),
        f"{rewards.length:.1f}",
        f"{rewards.episodes:,}",
        _seeds(rewards),
    )


def _seeds(rewards: Rewards) -> str:
    return " ".join(f"{reward:.2f}" for reward in rewards.seeds)
