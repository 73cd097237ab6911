"""What `mutual_information` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.atomic import write_text
from memspan.results.encoding import dumps, from_plain, read_object, to_plain

if TYPE_CHECKING:
    import pandas

SIGNIFICANCE = 1e-3
"""The probability under the null below which a lag's information counts as significant."""


@final
@dataclass(frozen=True)
class Span:
    """How far dependence is visible at this amount of data.

    `lag` is the last significant lag of the chain that starts at 3 or less (0 if there is none);
    `censored` says that it is simply the largest lag measured.
    """

    lag: int
    censored: bool


@final
@dataclass(frozen=True)
class Reach:
    """Where the corrected information falls below `level` nats; does not depend on the amount of data.

    `lag` is 0 if the curve never is above the level; `interval` is its 95 % interval, None where it has none;
    `censored` says that the curve is still above the level at the largest lag measured.
    """

    lag: float
    level: float
    interval: tuple[float, float] | None
    censored: bool


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """I(tau) in nats at n lags, with its floor, errors and significance.

    | field | shape | meaning |
    |---|---|---|
    | `lags` | n | tau, in symbols, rising |
    | `information` | n | the estimator's value, nats |
    | `floor`, `floor_sd` | n | mean and standard deviation of the estimator under the null, nats |
    | `corrected` | n | `(information - floor) / (1 - floor / min(H(X), H(Y)))`, nats |
    | `stderr` | n | block-jackknife standard error, and a little more for dips by chance (see docs), nats |
    | `pairs` | n | pairs of symbols counted |
    | `p_value` | n | probability that the null reaches the plug-in information |
    | `replicates` | blocks x n | what leaving out one block changes, nats |
    """

    lags: NDArray[np.int64]
    information: NDArray[np.float64]
    floor: NDArray[np.float64]
    floor_sd: NDArray[np.float64]
    corrected: NDArray[np.float64]
    stderr: NDArray[np.float64]
    pairs: NDArray[np.int64]
    p_value: NDArray[np.float64]
    replicates: NDArray[np.float64]
    entropy: float
    """Entropy of single symbols by the same estimator, nats."""
    alphabet: int
    """Number of different symbols."""
    length: int
    """Number of symbols."""
    documents: int
    estimator: str
    null: str
    """`documents`, `shifts` or `independent`: how the floor was found."""
    span: Span
    reach: Reach
    notes: tuple[str, ...] = ()
    """What a reader should know before trusting the numbers."""

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Where the null reaches this information with probability under 0.001."""
        return self.p_value < SIGNIFICANCE

    @property
    def error(self) -> NDArray[np.float64]:
        """Standard error of `corrected`: sqrt(stderr^2 + floor_sd^2), nats."""
        return np.hypot(self.stderr, self.floor_sd)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per lag; needs pandas."""
        import pandas

        names = (
            "lags",
            "information",
            "floor",
            "floor_sd",
            "corrected",
            "stderr",
            "pairs",
            "p_value",
            "significant",
        )
        return pandas.DataFrame({name: getattr(self, name) for name in names})

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values."""
        return {"schema": 1, "command": "curve", **to_plain(self)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Curve:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the curve as JSON, atomically."""
        write_text(path, dumps(self.to_json()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Curve:
        """Read what `save` wrote."""
        return cls.from_json(read_object(Path(path)))
