"""What every way of writing the weights has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from memspan.errors import InputError
from memspan.memorization.strings import PeriodicString, Text
from memspan.results import LinearNetwork
from memspan.results.memorization import LONGEST_PERIOD


class Construction(ABC):
    """A rule that turns a string into a network that replays it."""

    @abstractmethod
    def build(self, text: Text) -> LinearNetwork:
        """A network that writes `text`, and then again; refuses strings that the rule cannot do."""


def check_length(string: PeriodicString) -> None:
    """Refuse periods whose weights would not fit."""
    if string.period > LONGEST_PERIOD:
        raise InputError(
            f"a period of {string.period:,} symbols; networks are written for up to "
            f"{LONGEST_PERIOD:,}; give a shorter string"
        )


def without_input(
    string: PeriodicString, W_h: np.ndarray, W_y: np.ndarray, b_y: np.ndarray, h_1: np.ndarray
) -> LinearNetwork:
    """A network that ignores what it reads (W_x = 0) and whose W_h is orthogonal, so that h_0 = W_h^T h_1."""
    W_x = np.zeros((len(h_1), len(string.alphabet)))
    return LinearNetwork(string.alphabet, string.separator, W_h, W_x, W_y, b_y, W_h.T @ h_1)
