"""What a network looks at and what it holds, over time, as maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.figures.diagnosis_words import attention_words, steps_word
from memspan.figures.training_words import percent
from memspan.results import AttentionMap, Diagnosis, HeatMap, Line, RelevantSet, line

_NO_EDGE = np.zeros(0)


def attention_drawing(result: Diagnosis, seen: AttentionMap) -> HeatMap:
    """Attention of each step on each state before it."""
    places = _places(seen.steps, seen.block)
    of = "a state" if seen.block == 1 else f"{seen.block} states together"
    return HeatMap(
        name="attention",
        title=f"{result.name}: {attention_words(result)}",
        x_label="step of the state that is looked at",
        y_label="step that looks",
        value_label=f"share of attention on {of}",
        value_scale="log",
        x=places,
        y=places,
        values=_past(seen.weights),
        highest=1.0,
        edge=_NO_EDGE,
        edge_label="",
        lines=_answers(result),
        caption="Each row is a step and shows how its attention is shared among the states of the past, as a mean "
        f"over {seen.sequences:,} sequences; bright means much. The future, which no step can see, is hatched. "
        f"{_blocks(seen.block)}An answer's attention is shared by about as many states as the title says (exp of "
        "its entropy).",
    )


def relevant_drawing(result: Diagnosis, held: RelevantSet) -> HeatMap:
    """Which states are held in the relevant set at each step."""
    places = _places(held.steps, held.block)
    one = held.block == 1
    return HeatMap(
        name="relevant",
        title=f"{result.name}: {percent(held.share)} of an answer's attention is on its "
        f"{held.relevant:,} relevant states",
        x_label="step of the state that is held",
        y_label="step at which it is held",
        value_label="share of sequences that hold it" if one else f"of {held.block} states, held on average",
        value_scale="linear",
        x=places,
        y=places,
        values=_past(held.held),
        highest=float(held.block),
        edge=_NO_EDGE,
        edge_label="",
        lines=_answers(result),
        caption=f"A state stays in the short-term buffer for {steps_word(held.short_term)}; then it is kept in the "
        f"relevant set if it received more attention there than the least relevant of the {held.relevant:,} that "
        f"are held. A bright column is a state that is kept for long in most of {held.sequences:,} sequences; dark "
        f"ones are forgotten. {_blocks(held.block)}The future is hatched.",
    )


def _places(steps: int, block: int) -> NDArray[np.float64]:
    """The middles of the blocks, the first step being 1."""
    begins = np.arange(0, steps, block)
    return 0.5 + (begins + np.minimum(begins + block, steps)) / 2


def _past(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The future is no number."""
    return np.where(np.tril(np.ones_like(values, dtype=bool)), values, np.nan)


def _answers(result: Diagnosis) -> tuple[Line, ...]:
    place = result.answers_from - 0.5
    return (line("the answers begin", [0.5, result.steps + 0.5], [place, place], style="dashed"),)


def _blocks(block: int) -> str:
    return "" if block == 1 else f"One square is a block of {block} steps by {block} states. "
