"""What a reader should know before an agent is compared with the one without memory."""

from __future__ import annotations

from memspan.results import Rewards
from memspan.training.agents.pairs import Pairs

Found = tuple[Rewards, ...]


def notes_on(pairs: Pairs, found: Found, memoryless: Found) -> tuple[str, ...]:
    """Who is left out, whether both were trained alike, where memory is not seen to be needed, and how many they are."""
    return (*pairs.notes, *_unequal(pairs), *_not_needed(found, memoryless), *_alone(pairs))


def _unequal(pairs: Pairs) -> list[str]:
    return [
        f"the agent of seed {one.config.seed} has done {one.update:,} updates, the one without memory {other.update:,}: "
        "they were not trained alike"
        for one, other in zip(pairs.agents, pairs.memoryless, strict=False)
        if one.update != other.update
    ]


def _not_needed(found: Found, memoryless: Found) -> list[str]:
    worlds = [one.world for one, other in zip(found, memoryless, strict=False) if not one.above(other)]
    if not worlds:
        return []
    return [
        f"in {', '.join(worlds)} the agent does not earn more than the one without memory, intervals apart: that memory was "
        "needed is not seen there"
    ]


def _alone(pairs: Pairs) -> list[str]:
    if len(pairs.agents) > 1:
        return []
    return ["one network: another seed may learn sooner, later or not at all; train with --seeds 3 to see"]
