"""What follows the sentence of an agent's training or evaluation: the facts, and what to type next."""

from __future__ import annotations

from rich.console import Console

from memspan.cli.tables import print_table, show_notes
from memspan.report.agent_rows import agent_evaluation_rows, agent_rows, rewards_table
from memspan.results import AgentEvaluation, AgentRun


def show_agent(console: Console, run: AgentRun) -> None:
    """Facts first, then where what was learnt can be tried."""
    facts = [(name, value) for name, value, _ in agent_rows(run)]
    print_table(console, (), [*facts, ("next", f"memspan evaluate {run.run} --world {_larger(run.world)}")])
    show_notes(console, run.notes)


def show_agent_evaluation(console: Console, evaluation: AgentEvaluation) -> None:
    """One row for each world and agent, then which agent it was."""
    table = rewards_table(evaluation.transfer, evaluation.memoryless)
    print_table(console, table.header, table.rows)
    print_table(console, (), [(name, value) for name, value, _ in agent_evaluation_rows(evaluation)])
    show_notes(console, evaluation.notes)


def _larger(world: str) -> str:
    """The world in which the sources try what was learnt in this one."""
    from memspan.tasks.gridworld import LARGER

    return LARGER.get(world, world)
