"""`LinearRNN`: a linear recurrent network with Gaussian output, and the law `Start` of its first state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self, final

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.results.files import read_weights, write_bytes
from memspan.theory.linear.chain import Chain, Floats, chain_covariances, chain_information, checked_lags, minimal

_WEIGHTS = ("W_h", "U_h", "U_o")
# Largest asymmetry or negative eigenvalue of a covariance, relative to its largest entry, attributed to
# rounding.
_ASYMMETRY = 1e-10


@final
@dataclass(frozen=True, eq=False, init=False)
class Start:
    """p(h_0, x_0) = N(0, covariance), with h_0 first.  Shen 2019, Eq. 14; a mean would not change the information."""

    covariance: Floats
    """(hidden + visible, hidden + visible), symmetric and positive semidefinite."""

    def __init__(self, covariance: ArrayLike) -> None:
        matrix = _matrix("the start's covariance", covariance)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"the start's covariance has shape {matrix.shape}; expected a square matrix of (h_0, x_0)")
        allowed = _ASYMMETRY * np.abs(matrix).max()
        if np.abs(matrix - matrix.T).max() > allowed or np.linalg.eigvalsh(matrix)[0] < -allowed:
            raise InputError(
                "the start's covariance is not symmetric and positive semidefinite; give cov(h_0, x_0), or F @ F.T"
            )
        object.__setattr__(self, "covariance", matrix)

    @classmethod
    def at_rest(cls, network: LinearRNN) -> Self:
        """h_0 = 0 and x_0 pure noise, the usual initial state of a network."""
        return cls(np.diag([0.0] * network.hidden + [network.noise**2] * network.visible))

    @property
    def root(self) -> Floats:
        """F with F F^T = covariance, without columns that are only rounding errors."""
        # Scaled to a correlation matrix first, so that small variances are not lost next to large ones.
        scale = np.sqrt(np.maximum(np.diag(self.covariance), np.finfo(np.float64).tiny))
        value, vector = np.linalg.eigh(self.covariance / np.outer(scale, scale))
        significant = value > len(scale) * np.finfo(np.float64).eps
        return scale[:, None] * vector[:, significant] * np.sqrt(value[significant])


@final
@dataclass(frozen=True, eq=False, init=False)
class LinearRNN:
    """h_t = W_h x_{t-1} + U_h h_{t-1}, x_t ~ N(U_o h_{t-1}, noise^2 I).  Shen 2019, section 4.1, Eq. 3 and 4."""

    W_h: Floats
    """(hidden, visible)"""
    U_h: Floats
    """(hidden, hidden)"""
    U_o: Floats
    """(visible, hidden)"""
    noise: float
    """Standard deviation sigma of x_t given the past."""

    def __init__(self, W_h: ArrayLike, U_h: ArrayLike, U_o: ArrayLike, noise: float = 1.0) -> None:
        given = {name: _matrix(name, value) for name, value in zip(_WEIGHTS, (W_h, U_h, U_o), strict=True)}
        hidden, visible = given["W_h"].shape
        for name, expected in (("U_h", (hidden, hidden)), ("U_o", (visible, hidden))):
            if given[name].shape != expected:
                raise InputError(
                    f"{name} has shape {given[name].shape}; expected {expected}, because W_h of shape "
                    f"{(hidden, visible)} means {hidden} hidden and {visible} visible units"
                )
        if not (np.isfinite(noise) and noise > 0):
            raise InputError(f"noise is {noise}; expected a standard deviation above 0, such as 1.0")
        for name, value in (*given.items(), ("noise", float(noise))):
            object.__setattr__(self, name, value)

    @property
    def hidden(self) -> int:
        """The number m of hidden units."""
        return self.W_h.shape[0]

    @property
    def visible(self) -> int:
        """The number d of visible units."""
        return self.W_h.shape[1]

    @property
    def transition(self) -> Floats:
        """A = [[U_h, W_h], [U_o, 0]]: E[(h_t, x_t) | (h_{t-1}, x_{t-1})] = A (h_{t-1}, x_{t-1}).

        det(I - zA) = det(I - U_h z) det(I - U_o (I - U_h z)^{-1} W_h z^2), whose zeros are the poles of Eq. 7, corrected.
        """
        return np.block([[self.U_h, self.W_h], [self.U_o, np.zeros((self.visible, self.visible))]])

    @cached_property
    def spectral_radius(self) -> float:
        """The largest modulus of the eigenvalues of A."""
        return float(np.abs(np.linalg.eigvals(self.transition)).max())

    @cached_property
    def rate(self) -> float:
        """r = max |lambda| over the modes excited by the noise and observed in x; generically the spectral radius."""
        return float(np.abs(np.linalg.eigvals(minimal(self._chain()).A)).max())

    @property
    def correlation_length(self) -> float:
        """xi = -1 / (2 ln r): in the tail the information falls as exp(-tau / xi)."""
        self._check_stationary()
        return -0.5 / float(np.log(self.rate)) if self.rate > 0 else 0.0

    def stationary_covariance(self) -> Floats:
        """P = A P A^T + noise^2 diag(0, I), the stationary covariance of (h_t, x_t)."""
        self._check_stationary()
        excited = self._chain().B
        return _symmetric(scipy.linalg.solve_discrete_lyapunov(self.transition, excited @ excited.T))

    def covariances(self, lags: ArrayLike) -> Floats:
        """cov(x_tau, x_0) of the stationary network: the lower right block of A^tau P, of shape (lags, d, d)."""
        return chain_covariances(self._stationary, checked_lags(lags, least=0))

    def information(self, lags: ArrayLike, *, start: Start | None = None) -> Floats:
        """I(x_0; x_tau) in nats at each lag, accurate even where it is 1e-30.  Shen 2019, Eq. 8 and 41.

        For the stationary network, or for one with the initial law `start`, which allows any spectral radius.
        """
        distances = checked_lags(lags, least=1)
        chain = self._stationary if start is None else minimal(self._chain(start))
        return chain_information(chain, distances)

    def sample(
        self, documents: int, length: int, *, seed: int | np.random.Generator, start: Start | None = None
    ) -> Floats:
        """Samples x_0 … x_{length-1}, of shape (documents, length, visible), from the stationary law or from `start`."""
        if documents < 1 or length < 1:
            raise InputError(f"{documents} documents of {length} steps; expected at least one of each")
        begin = start or Start(self.stationary_covariance())
        self._check_size(begin)
        rng = np.random.default_rng(seed)
        value, vector = np.linalg.eigh(begin.covariance)
        # The symmetric square root is unique, so a seed gives the same samples on every machine.
        root = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
        h, x = np.split(rng.standard_normal((documents, len(root))) @ root, [self.hidden], axis=1)
        samples = np.empty((documents, length, self.visible))
        for t in range(length):
            samples[:, t] = x
            noise = rng.standard_normal(x.shape)
            h, x = h @ self.U_h.T + x @ self.W_h.T, h @ self.U_o.T + self.noise * noise
        return samples

    @classmethod
    def random(
        cls,
        hidden: int,
        visible: int,
        *,
        noise: float = 1.0,
        spectral_radius: float | None = None,
        seed: int | np.random.Generator,
    ) -> Self:
        """Independent Gaussian weights of variance 1 / fan-in, scaled together to the given spectral radius.

        >>> round(LinearRNN.random(8, 2, spectral_radius=0.95, seed=0).spectral_radius, 12)
        0.95
        """
        if hidden < 1 or visible < 1:
            raise InputError(f"{hidden} hidden and {visible} visible units; expected at least one of each")
        if spectral_radius is not None and not (np.isfinite(spectral_radius) and spectral_radius > 0):
            raise InputError(f"spectral radius {spectral_radius}; expected a number above 0, such as 0.95")
        rng = np.random.default_rng(seed)
        W_h, U_h, U_o = (
            rng.standard_normal(shape) / np.sqrt(shape[1])
            for shape in ((hidden, visible), (hidden, hidden), (visible, hidden))
        )
        network = cls(W_h, U_h, U_o, noise)
        if spectral_radius is None:
            return network
        scale = spectral_radius / network.spectral_radius
        return cls(scale * W_h, scale * U_h, scale * U_o, noise)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read the tensors W_h, U_h, U_o and optionally noise of a .safetensors file."""
        tensors, _ = read_weights(Path(path), _WEIGHTS, optional=("noise",), writer="LinearRNN.save")
        noise = tensors.get("noise", np.ones(1))
        if noise.size != 1:
            raise InputError(f"{path}: noise has shape {noise.shape}; expected one number")
        try:
            return cls(tensors["W_h"], tensors["U_h"], tensors["U_o"], float(noise.reshape(())))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `load` reads, atomically."""
        from safetensors.numpy import save

        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in _WEIGHTS}
        write_bytes(path, save({**tensors, "noise": np.array([self.noise])}))

    def _chain(self, start: Start | None = None) -> Chain:
        zeros = np.zeros((self.hidden, self.visible))
        excited = np.vstack([zeros, self.noise * np.eye(self.visible)])
        observed = np.hstack([zeros.T, np.eye(self.visible)])
        if start is None:
            return Chain(self.transition, excited, observed, np.zeros((len(excited), 0)))
        self._check_size(start)
        return Chain(self.transition, excited, observed, start.root)

    @cached_property
    def _stationary(self) -> Chain:
        """The minimal chain with its stationary initial law."""
        self._check_stationary()
        chain = minimal(self._chain())
        covariance = scipy.linalg.solve_discrete_lyapunov(chain.A, chain.B @ chain.B.T)
        return Chain(chain.A, chain.B, chain.C, Start(_symmetric(covariance)).root)

    def _check_size(self, start: Start) -> None:
        expected = self.hidden + self.visible
        if len(start.covariance) != expected:
            raise InputError(
                f"the start's covariance has {len(start.covariance)} rows; expected {expected}, for {self.hidden} hidden "
                f"and {self.visible} visible units"
            )

    def _check_stationary(self) -> None:
        if self.spectral_radius >= 1:
            raise InputError(
                f"the spectral radius is {self.spectral_radius:.6g}, not below 1, so the network has no stationary law and "
                "remembers only its initial condition; use information(lags, start=Start(…)) or scale the weights down"
            )


def _symmetric(matrix: NDArray[np.float64]) -> Floats:
    return (matrix + matrix.T) / 2


def _matrix(name: str, value: ArrayLike) -> Floats:
    array = np.array(value)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name} has shape {array.shape}; expected two dimensions of at least 1")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} holds {array.dtype.name} values; expected real numbers")
    if not np.isfinite(array).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name} holds {array[place]} at {place}; expected finite numbers")
    array = array.astype(np.float64)
    array.setflags(write=False)
    return array
