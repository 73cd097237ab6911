"""How a gradient travels through a recurrent network with attention.

A gradient from s_T to h_t may take one step after the other, through T - t Jacobians, or jump along attention weights.
Three answers, each in its file, from exact to simple:

- `AttentiveRNN`: any weights; ds_T/dh_t exactly, and its parts by number of factors (Kerg 2020, Proposition 1).
- `uniform_attention_exponent`: all states alike; the gradient is a power of the length (Theorem 1, corrected).
- `dependency_depth`, `sparse_attention_bound`: few states; the shortest path bounds the gradient (Theorem 2, corrected).

`attention_prediction` puts the last two next to the plain recurrence:

>>> decay = attention_prediction(0.3, steps=100)
>>> print(f"{decay.gradient[-1]:.2g} with uniform attention, {decay.without_attention[-1]:.2g} without")
0.14 with uniform attention, 5.2e-53 without
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.theory.attention_network import Additive as Additive
from memspan.theory.attention_network import Alignment as Alignment
from memspan.theory.attention_network import AttentiveRNN as AttentiveRNN
from memspan.theory.attention_network import AttentiveRun as AttentiveRun
from memspan.theory.attention_network import Sparse as Sparse
from memspan.theory.attention_network import Uniform as Uniform
from memspan.theory.attention_sparse import dependency_depth as dependency_depth
from memspan.theory.attention_sparse import printed_sparse_bound as printed_sparse_bound
from memspan.theory.attention_sparse import random_pattern as random_pattern
from memspan.theory.attention_sparse import sparse_attention_bound as sparse_attention_bound
from memspan.theory.attention_sparse import sparsity as sparsity
from memspan.theory.attention_uniform import inverse_length_bound_holds as inverse_length_bound_holds
from memspan.theory.attention_uniform import measured_exponent as measured_exponent
from memspan.theory.attention_uniform import printed_exponent as printed_exponent
from memspan.theory.attention_uniform import uniform_attention_exponent as uniform_attention_exponent
from memspan.theory.attention_uniform import uniform_attention_gradient as uniform_attention_gradient

_PER_DECADE = 12
"""Distances at which the gradient is given."""


@final
@dataclass(frozen=True, eq=False)
class AttentionDecay:
    """|ds_T/dh_1| along one eigenvector of V, against the distance T - 1: uniform attention and none.

    The recurrence is linear and V normal (Kerg 2020, appendix A.3); the gradient starts from the first state, t = 1.
    """

    eigenvalue: complex
    """The eigenvalue lambda of V, of modulus below 1."""
    steps: int
    """The largest distance."""
    distances: NDArray[np.int64]
    """T - t in steps, t = 1: from 1 to `steps`, all up to 12, then about 12 per decade."""
    gradient: NDArray[np.float64]
    """|ds_T/dh_1| under uniform attention, exactly, at each distance."""
    without_attention: NDArray[np.float64]
    """|dh_T/dh_1| = |lambda|^(T-1) of the plain recurrence, at each distance; 0 where it is below the smallest float."""
    exponent: float
    """The power of T that `gradient` follows in the end: Re(lambda / (1 - lambda)) - 1."""
    printed_exponent: float
    """The same as Kerg 2020 prints it: max(-1, Re(lambda) - 1); wrong (errata 11)."""
    sparse_bound: float | None
    """The least that sparse attention of the given kappa and depth passes on, at any distance; None if not asked for."""


def attention_prediction(
    eigenvalue: complex, steps: int, *, kappa: int | None = None, depth: int | None = None
) -> AttentionDecay:
    """How much of a gradient survives 1 to `steps` steps, with uniform attention, with sparse attention, and without.

    `kappa` (attended states per step) and `depth` (dependency depth) go together and ask for the bound of Theorem 2,
    which needs a positive real eigenvalue.

    >>> attention_prediction(0.5, 100, kappa=2, depth=1).sparse_bound
    0.125
    """
    if steps < 1:
        raise InputError(f"{steps} steps; expected at least 1")
    if (kappa is None) != (depth is None):
        raise InputError(
            f"kappa {kappa}, depth {depth}; expected both or neither, for the bound of sparse attention"
        )
    value, distances = complex(eigenvalue), _distances(steps)
    return AttentionDecay(
        eigenvalue=value,
        steps=steps,
        distances=distances,
        gradient=np.abs(uniform_attention_gradient([value], distances + 1)[:, 0]),
        without_attention=abs(value) ** distances.astype(np.float64),
        exponent=float(uniform_attention_exponent([value])[0]),
        printed_exponent=float(printed_exponent([value])[0]),
        sparse_bound=None if kappa is None or depth is None else sparse_attention_bound(value, kappa, depth),
    )


def _distances(steps: int) -> NDArray[np.int64]:
    count = int(_PER_DECADE * np.log10(steps)) + 2
    spaced = np.unique(np.rint(np.geomspace(1, steps, count)).astype(np.int64))
    return np.union1d(spaced, np.arange(1, min(steps, _PER_DECADE) + 1))
