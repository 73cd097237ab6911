"""What agents are called, in words that titles, sentences and tables share."""

from __future__ import annotations

WITHOUT = "without memory"


def cell_words(cell: str) -> str:
    """What an agent's cell is called.

    >>> cell_words("none"), cell_words("rel-lstm")
    ('without memory', 'rel-lstm')
    """
    return WITHOUT if cell == "none" else cell
