"""What `mutual_information` returns."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Notebook, amount
from memspan.results.encoding import dumps, from_plain, read_object, to_plain
from memspan.results.files import write_text

if TYPE_CHECKING:
    import pandas

# Fewer documents than the first, and a length of fewer spans than the second, cannot determine a law.
#
# Chosen on 100 samples of a binary power law (amplitude 0.1, exponent 0.4) in one document of 300,000 symbols, after a first
# value of 100 had let 21 of them pass.
FEW_DOCUMENTS, FEW_SPANS = 10, 300
ONE_DOCUMENT = (
    "the dependence extends over more than 1/300 of the data, which are one document or few: their own average hides "
    "the slowest part of the dependence, so the curve is too low at long lags and its law cannot be determined; "
    "use many documents"
)
# The probability under the null below which a lag's information counts as significant.
SIGNIFICANCE = 1e-3


@final
@dataclass(frozen=True)
class Span:
    """Detection limit: the largest lag at which this amount of data shows dependence.

    `lag` is 0 if there is no dependence; `censored` means that the span is the largest lag measured. `interval` is its
    95 % interval, None where it has none (span 0, censored, or a result of an earlier version).
    """

    lag: int
    censored: bool
    interval: tuple[int, int] | None = None


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
@dataclass(frozen=True, eq=False, repr=False)
class Curve(Notebook):
    """I(tau) in nats at n lags, with its floor, errors and significance.

    | field | shape | meaning |
    |---|---|---|
    | `lags` | n | tau, in symbols, rising |
    | `information` | n | the estimator's value, nats |
    | `floor`, `floor_sd` | n | mean and standard deviation of the estimator under the null, nats |
    | `corrected` | n | `(information - floor) / (1 - floor / min(H(X), H(Y)))`, nats |
    | `stderr` | n | total standard error of `corrected`: sampling, floor and bias, nats |
    | `stderr_bias` | n | the part of `stderr` that stands for the remaining bias of undersampled tables, nats |
    | `undersampled` | n | whether `corrected` still changes with the amount of data by more than its sampling error |
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
    """`blocks` or `independent` (version 0.1 also `documents` and `shifts`): how the floor was found."""
    span: Span
    reach: Reach
    stderr_bias: NDArray[np.float64]
    undersampled: NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    """What a reader should know before trusting the numbers."""

    def _summary(self) -> str:
        n, symbols = self.lags.size, f"{amount(self.length)} symbols of {self.alphabet:,} kinds"
        if not n:
            return f"no lags, {symbols}"
        lags = f"lag {self.lags[0]:,}" if n == 1 else f"{n:,} lags {self.lags[0]:,}-{self.lags[-1]:,}"
        reach = f"reach {'≥ ' if self.reach.censored else ''}{self.reach.lag:.4g} at {self.reach.level:g} nats"
        interval = "" if self.span.interval is None else f" [{self.span.interval[0]:,}, {self.span.interval[1]:,}]"
        span = f"span {'≥ ' if self.span.censored else ''}{self.span.lag:,}{interval}"
        under = int(self.undersampled.sum())
        return f"{lags}, {reach}, {span}, {symbols}{f', {under:,} lags undersampled' if under else ''}"

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Where the null reaches this information with probability under 0.001."""
        return self.p_value < SIGNIFICANCE

    @property
    def error(self) -> NDArray[np.float64]:
        """Total standard error of `corrected`, nats; the same as `stderr`."""
        return self.stderr

    @property
    def sampling_error(self) -> NDArray[np.float64]:
        """The part of `stderr` without `stderr_bias`, nats."""
        return np.sqrt(np.maximum(self.stderr**2 - self.stderr_bias**2, 0.0))

    @property
    def one_document(self) -> bool:
        """Whether dependence extends over so much of so few documents that the curve is a lower bound at long lags.

        A document has an average of its own. If the correlations fall slowly (as d^-b with b < 1/2) that average varies from
        document to document as much as the correlations at long lags are worth, and subtracting it hides them.
        """
        return self.documents < FEW_DOCUMENTS and FEW_SPANS * self.span.lag >= self.length

    def select(self, chosen: NDArray[np.bool_]) -> Curve:
        """The same curve at some of its lags; span and reach stay those of the whole curve."""
        along = {
            field.name: getattr(self, field.name)[chosen]
            for field in dataclasses.fields(self)
            if field.name != "replicates" and isinstance(getattr(self, field.name), np.ndarray)
        }
        return dataclasses.replace(self, **along, replicates=self.replicates[:, chosen])

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
            "stderr_bias",
            "pairs",
            "p_value",
            "significant",
            "undersampled",
        )
        return pandas.DataFrame({name: getattr(self, name) for name in names})

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values."""
        return {"schema": 1, "command": "curve", **to_plain(self)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Curve:
        """The inverse of `to_json`; curves saved by version 0.1 are converted."""
        if "stderr_bias" not in plain:
            stderr = np.hypot(_floats(plain["stderr"]), _floats(plain["floor_sd"]))
            nothing = np.zeros(len(stderr))
            plain = {**plain, "stderr": stderr, "stderr_bias": nothing, "undersampled": nothing.astype(bool)}
        return from_plain(cls, plain)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the curve as JSON, atomically."""
        write_text(path, dumps(self.to_json()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Curve:
        """Read what `save` wrote."""
        return cls.from_json(read_object(Path(path)))


def _floats(plain: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in plain], dtype=np.float64)
