"""The five parameters of a random network as flat arrays of one length, validated."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.theory.meanfield.activations import Array

# Squares of larger parameters, or the fourth power of a closed gate, would leave the range of double precision.
_LARGEST, _LARGEST_MEAN = 1e100, 300.0


@final
@dataclass(frozen=True, eq=False)
class Parameters:
    """Squares of sigma_w, sigma_v, sigma_b, the bias mean and R, each (points,); `shape` is that of the user's arrays."""

    w2: Array
    v2: Array
    b2: Array
    mean: Array
    R: Array
    shape: tuple[int, ...]

    @classmethod
    def of(cls, sigma_w: Any, sigma_v: Any, sigma_b: Any, bias_mean: Any, input_variance: Any) -> Parameters:
        """Broadcast the parameters against each other and flatten them."""
        given = (sigma_w, sigma_v, sigma_b, bias_mean, input_variance)
        arrays = np.broadcast_arrays(*(np.asarray(values, np.float64) for values in given))
        w, v, b, mean, R = (np.ravel(array) for array in arrays)
        return cls(w**2, v**2, b**2, mean, R, arrays[0].shape)

    @property
    def size(self) -> int:
        """Number of points."""
        return self.w2.size

    @property
    def drive(self) -> Array:
        """sigma_v^2 R + sigma_b^2: variance of the pre-activations at h = 0."""
        return self.v2 * self.R + self.b2

    def select(self, points: Any) -> Parameters:
        """Some of the points, as a flat list."""
        parts = [array[points] for array in (self.w2, self.v2, self.b2, self.mean, self.R)]
        return Parameters(*parts, shape=parts[0].shape)

    def blocks(self, most: int) -> list[Parameters]:
        """All points in blocks of about equal size, at most `most` points each."""
        count = max(1, -(-self.size // most))
        edges = np.linspace(0, self.size, count + 1).astype(np.intp)
        return [self.select(slice(a, b)) for a, b in itertools.pairwise(edges)]

    def repeated(self, times: int) -> Parameters:
        """One point, repeated."""
        return self.select(np.zeros(times, dtype=np.intp))

    def shaped(self, values: NDArray[Any]) -> Any:
        """`values` (points,) in the shape of the user's arrays; a plain number for a single point."""
        shaped = values.reshape(self.shape)
        return shaped[()].item() if shaped.ndim == 0 else shaped


def check_parameters(sigma_w: Any, sigma_v: Any, sigma_b: Any, bias_mean: Any, input_variance: Any) -> None:
    """Raise InputError unless standard deviations and input variance are finite and >= 0, and the bias mean is finite."""
    named = {"sigma_w": sigma_w, "sigma_v": sigma_v, "sigma_b": sigma_b, "input_variance": input_variance}
    for name, given in named.items():
        values = _floats(name, given)
        good = np.isfinite(values) & (values >= 0) & (values <= _LARGEST)
        if not good.all():
            what = "a variance" if name == "input_variance" else "a standard deviation"
            raise InputError(
                f"{name} is {values[~good].flat[0]:g}; expected a finite number of 0 or more, because it is {what} "
                f"(and at most {_LARGEST:g})"
            )
    means = _floats("bias_mean", bias_mean)
    if not np.all(np.abs(means) <= _LARGEST_MEAN):  # also False for NaN
        raise InputError(
            f"bias_mean is not finite or beyond ±{_LARGEST_MEAN:g}; expected a number such as 4: a gate of bias 40 is "
            "already open to 17 digits"
        )
    if any(np.size(given) == 0 for given in (*named.values(), bias_mean)):
        raise InputError("a parameter is an empty array; expected at least one number")
    try:
        np.broadcast_shapes(*(np.shape(given) for given in (*named.values(), bias_mean)))
    except ValueError:
        shapes = ", ".join(str(np.shape(given)) for given in (*named.values(), bias_mean))
        raise InputError(f"parameters have shapes {shapes}; expected shapes that broadcast") from None


def _floats(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; expected a number or an array of numbers") from None


def check_correlation(correlation: float, name: str = "input_correlation") -> None:
    """Raise InputError unless the value is between -1 and 1."""
    if not (math.isfinite(correlation) and -1 <= correlation <= 1):
        raise InputError(f"{name} is {correlation:g}; expected a correlation from -1 to 1")
