"""The sections of agents in grid worlds: what they earn, what they would earn without memory, and one episode to watch."""

from __future__ import annotations

from memspan.figures.agent import episode_drawing, has_learnt, learning_drawing
from memspan.figures.agent_words import cell_words
from memspan.figures.episode import GIF_CAPTION, GIF_CAPTION_WITHOUT, episode_svg
from memspan.report.agent_rows import agent_evaluation_rows, agent_rows, rewards_table
from memspan.report.illustration import illustrations
from memspan.report.section import MEANING, Illustration, Section, Table
from memspan.report.sentences import sentence
from memspan.report.training_rows import config_tables
from memspan.results import AgentEvaluation, AgentRun, Episode

_WORLD = (
    "An agent walks on a grid and sees a small square in front of it. It is rewarded at the end of an episode if it did "
    "what was to be done: 1 less nine tenths of the share of the time that it took, and nothing where time ran out."
)
_WITHOUT = (
    "What an agent without memory earns shows how much of the reward asks for memory at all: it sees the same and was "
    "trained in the same way, but knows nothing of earlier steps."
)
_INTERVALS = (
    "Intervals are at 95 %. Of one network they are over episodes, and say nothing of networks of other seeds. Of several "
    "they are over networks and episodes; that a few agree does not exclude that the next one fails."
)
_LAYOUTS = (
    "Episodes are from seeds that training never had. Small worlds have few layouts all the same (DoorKey-5x5 48, MemoryS7 "
    "16), so that every one has been seen in training; only larger worlds show whether what was learnt carries over."
)


def section(run: AgentRun) -> Section:
    """One training, of one or more seeds."""
    memoryless = () if run.memoryless is None else (run.memoryless,)
    return Section(
        title=f"Training {cell_words(run.cell)} in {run.world}",
        answer=sentence(run),
        explanation=(_WORLD, _WITHOUT) if memoryless else (_WORLD,),
        table=Table("What was found", MEANING, agent_rows(run), stacked=True),
        figures=(*_film(run.episode), *illustrations(run, _captions(run))),
        details=(rewards_table((run.found,), memoryless), *config_tables(run.config)),
        notes=(*run.notes, _INTERVALS, _LAYOUTS),
    )


def evaluation_section(evaluation: AgentEvaluation) -> Section:
    """One agent in one or more worlds."""
    other = (
        "The weights were learnt in one world and are not changed here. A larger world asks for the same, but over longer "
        "ways: what was learnt carries over if it was the rule that was learnt, and if it can be remembered for long enough."
    )
    return Section(
        title=f"What {cell_words(evaluation.cell)} earns in other worlds",
        answer=sentence(evaluation),
        explanation=(_WORLD, other),
        table=Table("Which agent", MEANING, agent_evaluation_rows(evaluation), stacked=True),
        figures=(*_film(evaluation.episode), *illustrations(evaluation, _captions(evaluation))),
        details=(rewards_table(evaluation.transfer, evaluation.memoryless),),
        notes=(*evaluation.notes, _INTERVALS, _LAYOUTS),
    )


def _film(episode: Episode | None) -> tuple[Illustration, ...]:
    if episode is None:
        return ()
    caption = GIF_CAPTION if episode.attention.size else GIF_CAPTION_WITHOUT
    length = f" {episode.steps:,} steps, reward {episode.reward:.2f}."
    cut = "" if episode.shown == episode.steps else f" The first {episode.shown:,} are shown."
    return (Illustration("episode", episode_svg(episode), caption + length + cut),)


def _captions(result: AgentRun | AgentEvaluation) -> dict[str, str]:
    captions = {}
    if isinstance(result, AgentRun) and has_learnt(result):
        captions["learning"] = learning_drawing(result).caption
    if result.episode is not None and result.episode.attention.size:
        captions["attention"] = episode_drawing(result.episode).caption
    return captions
