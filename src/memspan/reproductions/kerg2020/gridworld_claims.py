"""What Kerg 2020, Table 4, prints and is said to show, as claims about agents that were tried.

An agent earns more than another where the 95 % intervals of their rewards are apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from memspan.results import AgentEvaluation, Claim, Rewards

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "RedBlueDoors-6x6": {"lstm": (0.97, 0.95), "mem-lstm": (0.97, 0.95), "rel-lstm": (0.97, 0.95)},
    "GoToObject-6x6": {"lstm": (0.81, 0.66), "mem-lstm": (0.85, 0.66), "rel-lstm": (0.84, 0.74)},
    "MemoryS7": {"lstm": (0.96, 0.25), "mem-lstm": (0.4, 0.24), "rel-lstm": (0.94, 0.30)},
    "GoToDoor-5x5": {"lstm": (0.28, 0.13), "mem-lstm": (0.17, 0.11), "rel-lstm": (0.25, 0.15)},
    "Fetch-5x5": {"lstm": (0.48, 0.38), "mem-lstm": (0.42, 0.44), "rel-lstm": (0.5, 0.45)},
    "DoorKey-5x5": {"lstm": (0.94, 0.09), "mem-lstm": (0.94, 0.31), "rel-lstm": (0.93, 0.44)},
}
"""Mean rewards where an agent was trained, and in the larger world."""
CELLS = {"lstm": "LSTM", "mem-lstm": "MemLSTM", "rel-lstm": "RelLSTM", "none": "no memory"}
NEAR = 0.1
"""How far a measured reward may be from the printed one: 100 episodes of one network scatter by about half of it."""
HEADLINE = "DoorKey-5x5"
"""The world whose larger one the text names: 0.09 by LSTM, 0.31 by MemLSTM, 0.44 by RelLSTM."""

Found = dict[tuple[str, str], AgentEvaluation]
"""By world and cell."""


def claims(found: Found) -> tuple[Claim, ...]:
    """What the text says of the table, what memory is needed for, and every printed number."""
    return (
        *_in_larger_worlds(found, "mem-lstm"),
        *_in_larger_worlds(found, "lstm"),
        *_headline(found),
        *(_asks_for_memory(found, world) for world in _with_baseline(found) if decided(found, world)),
        *_as_printed(found),
    )


def undecided_notes(found: Found) -> tuple[str, ...]:
    """The worlds of which nothing can be said."""
    worlds = [world for world in _with_baseline(found) if not decided(found, world)]
    return tuple(
        f"Whether {world} asks for memory is undecided: nobody has learnt it. With memory {_best(found, world).reward:.2f} "
        f"is earned at the most, without {_rewards(found, world, 'none').reward:.2f}."
        for world in worlds
    )


def decided(found: Found, world: str) -> bool:
    """Whether memory is seen to help, or somebody earns what the best printed agent does; else nobody has learnt it."""
    best, without = _best(found, world), _rewards(found, world, "none")
    learnt = max(best.reward, without.reward) >= max(first for first, _ in PUBLISHED[world].values()) - NEAR
    return best.above(without) or learnt


def _in_larger_worlds(found: Found, other: str) -> Iterator[Claim]:
    both = [w for w in PUBLISHED if (w, "rel-lstm") in found and (w, other) in found]
    if not both:
        return
    pairs = [(_rewards(found, w, "rel-lstm", 1), _rewards(found, w, other, 1)) for w in both]
    better = sum(ours.above(theirs) for ours, theirs in pairs)
    worse = sum(theirs.above(ours) for ours, theirs in pairs)
    printed = sum(PUBLISHED[w]["rel-lstm"][1] > PUBLISHED[w][other][1] for w in both)
    yield Claim(
        f"In larger worlds RelLSTM earns more than {CELLS[other]} in most of {len(both)}. (Measured: in how many; "
        f"{CELLS[other]} earns more in {worse}, in {len(both) - better - worse} neither does.)",
        float(printed),
        None,
        float(better),
        None,
        2 * better > len(both),
    )


def _headline(found: Found) -> Iterator[Claim]:
    """LSTM < MemLSTM < RelLSTM in the largest world."""
    for less, more in (("lstm", "mem-lstm"), ("mem-lstm", "rel-lstm"), ("lstm", "rel-lstm")):
        if (HEADLINE, less) in found and (HEADLINE, more) in found:
            low, high = _rewards(found, HEADLINE, less, 1), _rewards(found, HEADLINE, more, 1)
            yield Claim(
                f"{high.world} after {HEADLINE}: {CELLS[more]} earns more than {CELLS[less]} ({low.reward:.2f}, printed "
                f"{PUBLISHED[HEADLINE][less][1]:.2f}).{_networks(low, high)}",
                PUBLISHED[HEADLINE][more][1],
                None,
                high.reward,
                None,
                high.above(low),
            )


def _asks_for_memory(found: Found, world: str) -> Claim:
    best, without = _best(found, world), _rewards(found, world, "none")
    return Claim(
        f"{world} asks for memory: the best with memory, {CELLS[best.cell]}, earns more than an agent without "
        f"({without.reward:.2f}).{_networks(best, without)}",
        None,
        None,
        best.reward,
        None,
        best.above(without),
    )


def _as_printed(found: Found) -> Iterator[Claim]:
    """One claim for each number that was printed and measured."""
    for (world, cell), evaluation in found.items():
        for place, printed in enumerate(PUBLISHED[world].get(cell, ())):
            measured = evaluation.transfer[place]
            where = measured.world if place == 0 else f"{measured.world} after {world}"
            yield Claim(
                f"{CELLS[cell]}, {where}: the reward is as printed, within {NEAR:g}.{_networks(measured)}",
                printed,
                None,
                measured.reward,
                NEAR,
                abs(measured.reward - printed) <= NEAR,
            )


def _networks(*rewards: Rewards) -> str:
    """A word of warning where a verdict is of one network."""
    return " Of one network." if any(len(one.seeds) == 1 for one in rewards) else ""


def _with_baseline(found: Found) -> list[str]:
    """Worlds with an agent without memory and others."""
    return [w for w, cell in found if cell == "none" and any(w == o and c != "none" for o, c in found)]


def _best(found: Found, world: str) -> Rewards:
    """Of the agents with memory the one that earns the most where it was trained."""
    cells = [cell for place, cell in found if place == world and cell != "none"]
    return max((_rewards(found, world, cell) for cell in cells), key=lambda rewards: rewards.reward)


def _rewards(found: Found, world: str, cell: str, place: int = 0) -> Rewards:
    return found[world, cell].transfer[place]
