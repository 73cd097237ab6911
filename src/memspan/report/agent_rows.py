"""Every quantity of an agent's training or evaluation with its value and what it means."""

from __future__ import annotations

from memspan.figures.agent_words import cell_words
from memspan.figures.training_words import percent
from memspan.report.agent_sentences import interval_words
from memspan.report.numbers import duration
from memspan.report.section import Row, Table
from memspan.results import AgentEvaluation, AgentRun, Rewards


def agent_rows(run: AgentRun) -> tuple[Row, ...]:
    """What was earned, then what it took."""
    rows: list[Row] = [
        ("reward", interval_words(run.found), f"Mean of {run.found.episodes:,} episodes, 95 % interval."),
        ("solved", percent(run.found.solved), "Share of episodes with any reward."),
        ("steps of an episode", f"{run.found.length:.1f}", "On average; the sooner, the more reward."),
    ]
    if run.memoryless is not None:
        what = "The same for an agent with nothing to remember with, trained as long."
        rows.append(("without memory", interval_words(run.memoryless), what))
    stopped = sorted({one.stopped for one in run.learning})
    return (
        *rows,
        ("parameters", f"{run.parameter_count:,}", "Numbers that are learnt."),
        ("updates", f"{run.updates:,}", "Rounds of living and learning."),
        ("frames", f"{run.frames:,}", "Steps lived through, in all worlds of a training together."),
        ("stopped because", "; ".join(stopped), "Why it is over."),
        ("time", duration(run.seconds), "Spent on training, of all agents together."),
        ("run", run.run, "The folder with configuration, metrics and checkpoints."),
    )


def agent_evaluation_rows(evaluation: AgentEvaluation) -> tuple[Row, ...]:
    """Which agent, and where from."""
    return (
        ("cell", cell_words(evaluation.cell), f"{evaluation.parameter_count:,} numbers were learnt."),
        ("trained in", evaluation.trained_world, "The world in which the weights were learnt."),
        ("weights", f"of update {evaluation.updates:,}", "The newest; nothing is learnt here."),
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
        " ".join(f"{reward:.2f}" for reward in rewards.seeds),
    )
