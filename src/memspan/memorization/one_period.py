"""The states and symbols of one period, for pictures: zeros of W_h cost no time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from memspan.results import Memorization


def one_period(memorization: Memorization) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """h_1 … h_period, of shape (period, hidden units), and the symbols they emit: `LinearNetwork.run`, for sparse W_h."""
    network = memorization.network
    W_h, state = csr_array(network.W_h), network.h_0
    states = np.empty((memorization.period, network.hidden_size))
    symbols = np.empty(memorization.period, dtype=np.int64)
    read = np.zeros(network.hidden_size)
    for place in range(memorization.period):
        states[place] = state = W_h @ state + read
        symbols[place] = symbol = int(np.argmax(network.W_y @ state + network.b_y))
        read = network.W_x[:, symbol]
    return states, symbols
