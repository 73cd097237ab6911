"""What `fit_decay` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Notebook
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True)
class LawFit:
    """One law fitted to a curve.

    `parameters` by name; `intervals` are 95 % intervals from refits on jackknife replicates; `aicc` is from
    generalised least squares; `weight` is this law's share of the AICc weights of all laws fitted; `misfit` is the root
    mean square distance of the points from the law, in standard errors (about 1 for a law that holds).
    """

    parameters: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    aicc: float
    weight: float
    misfit: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class DecayFit(Notebook):
    """Every law fitted to one curve, by name, and the lags used."""

    laws: dict[str, LawFit]
    lags: NDArray[np.int64]

    def _summary(self) -> str:
        if not self.laws:
            return "no laws"
        best = self.laws[self.best]
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in best.parameters.items())
        return f"best {self.best}: {parameters}; {len(self.laws)} laws over {self.lags.size:,} lags"

    @property
    def best(self) -> str:
        """Name of the law with the largest AICc weight. A guide, not a proof."""
        return max(self.laws, key=lambda name: self.laws[name].weight)

    def __getitem__(self, name: str) -> LawFit:
        return self.laws[name]

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> DecayFit:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)
