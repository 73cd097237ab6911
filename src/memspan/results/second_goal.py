"""How the second goal of a training went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed


@final
@dataclass(frozen=True, eq=False, repr=False)
class SecondGoal(Displayed):
    """What the discriminator of neighbours told, along the updates; every number is a mean since the one before."""

    name: str
    """base or full"""
    pairs: int
    """Of each kind at every update"""
    logged: NDArray[np.int64]
    """Updates"""
    bound: NDArray[np.float64]
    """Nats that neighbours tell of each other, by the pairs that it learns from"""
    accuracy: NDArray[np.float64]
    """Share of pairs that it tells right; 0.5 is chance"""
    effective: NDArray[np.float64]
    """How many of the weights of segments nearby count; NaN where there are none"""
    switched: int | None
    """The update of the switch; 0: before the first one; None: there was none"""
