"""`AttentiveRNN`: a recurrent network that attends to its own past, and its exact gradients.

    s_t = h_t + sum_{i<=t} alpha_{i,t} h_i,    h_{t+1} = phi(V s_t + U x_{t+1} + b),

alpha_{.,t} = softmax of the scores a(s_{t-1}, h_i), i = 1, …, t (Kerg 2020, Eq. 1 and 2 with f(h, c) = h + c). Time
counts from 1, as in the paper: row t - 1 of an array belongs to step t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from memspan.errors import InputError
from memspan.theory.attention.sparse import Pattern, checked_pattern
from memspan.theory.meanfield.activations import Activation, Array, Tanh


class Alignment(ABC):
    """The scores e_{i,t} = a(s_{t-1}, h_i) of the states that step t can attend to."""

    @abstractmethod
    def scores(self, summary: Array, states: Array) -> Array:
        """e_{1,t}, …, e_{t,t} from s_{t-1} (`summary`) and h_1, …, h_t (`states`); -inf: not attended to."""

    @abstractmethod
    def slopes(self, summary: Array, states: Array) -> tuple[Array, Array]:
        """de_{i,t}/dh_i and de_{i,t}/ds_{t-1}, row i - 1 for state i: two arrays of t × n."""


@final
@dataclass(frozen=True, eq=False)
class Additive(Alignment):
    """a(s, h) = v_a . tanh(W_a s + U_a h), Kerg 2020, Remark 5. With W_a = 0 the scores depend on the states alone."""

    W_a: Array
    """Shape q × n."""
    U_a: Array
    """Shape q × n."""
    v_a: Array
    """Shape q."""

    def __post_init__(self) -> None:
        W_a, U_a, v_a = (np.asarray(part, np.float64) for part in (self.W_a, self.U_a, self.v_a))
        if W_a.ndim != 2 or U_a.shape != W_a.shape or v_a.shape != W_a.shape[:1]:
            raise InputError(f"W_a {W_a.shape}, U_a {U_a.shape}, v_a {v_a.shape}; expected q × n, q × n and q")
        for name, part in (("W_a", W_a), ("U_a", U_a), ("v_a", v_a)):
            object.__setattr__(self, name, part)

    def scores(self, summary: Array, states: Array) -> Array:
        """The scores of Eq. 95."""
        return np.tanh(self.W_a @ summary + states @ self.U_a.T) @ self.v_a

    def slopes(self, summary: Array, states: Array) -> tuple[Array, Array]:
        """v_a . diag(1 - tanh^2) times U_a and W_a (Eq. 96 and 97)."""
        inner = (1 - np.tanh(self.W_a @ summary + states @ self.U_a.T) ** 2) * self.v_a
        return inner @ self.U_a, inner @ self.W_a


@final
@dataclass(frozen=True)
class UniformAlignment(Alignment):
    """alpha_{i,t} = 1/t: equal weights for all states so far (Kerg 2020, section 3.2)."""

    def scores(self, summary: Array, states: Array) -> Array:  # noqa: ARG002
        """All equal."""
        return np.zeros(len(states))

    def slopes(self, summary: Array, states: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Zero: the weights are fixed."""
        return np.zeros_like(states), np.zeros_like(states)


@final
@dataclass(frozen=True)
class SparseAlignment(Alignment):
    """alpha_{i,t} = 1/|A_t| for i in A_t, else 0 (Kerg 2020, Remark 18); A_t is `pattern[t - 1]`."""

    pattern: Pattern

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", checked_pattern(self.pattern))

    def scores(self, summary: Array, states: Array) -> Array:  # noqa: ARG002
        """0 for the attended states, -inf for the others."""
        if len(states) > len(self.pattern):
            raise InputError(
                f"a run of {len(states)} steps or more; expected at most {len(self.pattern)}, the steps of the pattern"
            )
        scores = np.full(len(states), -np.inf)
        scores[[i - 1 for i in self.pattern[len(states) - 1]]] = 0.0
        return scores

    def slopes(self, summary: Array, states: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Zero: the weights are fixed."""
        return np.zeros_like(states), np.zeros_like(states)


@final
@dataclass(frozen=True, eq=False)
class AttentiveRNN:
    """s_t = h_t + sum_i alpha_{i,t} h_i, h_{t+1} = phi(V s_t + U x_{t+1} + b).  Kerg 2020, Eq. 1 and 2.

    >>> network = AttentiveRNN(V=np.array([[0.5]]), U=np.zeros((1, 1)), b=np.zeros(1), alignment=UniformAlignment())
    >>> run = network.run(x=np.zeros((3, 1)), h_1=np.array([0.2]))
    >>> run.steps, run.summaries[0].tolist()
    (4, [0.4])
    >>> run.gradient(1, 1).tolist()
    [[2.0]]
    """

    V: Array
    """Shape n × n."""
    U: Array
    """Shape n × m, m the size of an input."""
    b: Array
    """Shape n."""
    alignment: Alignment
    activation: Activation = Tanh()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        V, U, b = (np.asarray(part, np.float64) for part in (self.V, self.U, self.b))
        if b.ndim != 1 or V.shape != (b.size, b.size) or U.ndim != 2 or len(U) != b.size:
            raise InputError(f"V {V.shape}, U {U.shape}, b {b.shape}; expected n × n, n × m and n")
        if isinstance(self.alignment, Additive) and self.alignment.W_a.shape[1] != b.size:
            raise InputError(f"scores of {self.alignment.W_a.shape[1]} units; expected {b.size}, as the network has")
        for name, part in (("V", V), ("U", U), ("b", b)):
            object.__setattr__(self, name, part)

    def run(self, x: ArrayLike, h_1: ArrayLike) -> AttentiveRun:
        """The states from h_1 on, under the inputs x_2, …, x_T: `x` has shape (T - 1) × m."""
        inputs, first = np.asarray(x, np.float64), np.asarray(h_1, np.float64)
        if inputs.ndim != 2 or inputs.shape[1] != self.U.shape[1] or first.shape != self.b.shape:
            raise InputError(
                f"x {inputs.shape}, h_1 {first.shape}; expected (T - 1) × {self.U.shape[1]} and {self.b.size}"
            )
        return self._unrolled(inputs, first[None])

    def _unrolled(self, inputs: Array, given: Array) -> AttentiveRun:
        """The run whose first states are `given`; later ones follow from the previous summary."""
        steps, n = len(inputs) + 1, self.b.size
        states, summaries = np.zeros((steps, n)), np.zeros((steps, n))
        weights, slopes = np.zeros((steps, steps)), np.zeros((steps, n))
        states[: len(given)] = given
        for k in range(steps):
            if k >= len(given):
                before = self.V @ summaries[k - 1] + self.U @ inputs[k - 1] + self.b
                states[k], slopes[k] = self.activation.value(before), self.activation.slopes(before)[0]
            # A single state has weight 1 whatever its score, so any value will do for s_0, which does not exist.
            previous = summaries[k - 1] if k else np.zeros(n)
            weights[k, : k + 1] = _softmax(self.alignment.scores(previous, states[: k + 1]))
            summaries[k] = states[k] + weights[k] @ states
        return AttentiveRun(self, inputs, states, summaries, weights, slopes)


@final
@dataclass(frozen=True, eq=False)
class AttentiveRun:
    """One run of an `AttentiveRNN` over T steps, and the gradients ds_k/dh_t along it."""

    network: AttentiveRNN
    inputs: Array
    """x_2, …, x_T: shape (T - 1) × m."""
    states: Array
    """h_1, …, h_T: shape T × n."""
    summaries: Array
    """s_1, …, s_T: shape T × n."""
    weights: Array
    """alpha_{i,t} in row t - 1, column i - 1: shape T × T, each row summing to 1."""
    slopes: Array
    """phi' at each unit and step: shape T × n; zero for given states."""

    @property
    def steps(self) -> int:
        """T."""
        return len(self.states)

    def replaced(self, t: int, h_t: ArrayLike) -> AttentiveRun:
        """The run with state t replaced by `h_t`, as in a finite difference with respect to h_t."""
        self._check(t, self.steps)
        given = np.vstack([self.states[: t - 1], np.asarray(h_t, np.float64)[None]])
        return self.network._unrolled(self.inputs, given)

    def gradient(self, t: int, T: int) -> Array:
        """ds_T/dh_t, n × n, by C_k = E_k + sum_{j<k} F_{k,j} C_j.  Kerg 2020, Proposition 1 (Eq. 19), C_k = ds_{t+k}/dh_t.

        E_k = ds_{t+k}/dh_t and F_{k,j} = ds_{t+k}/dh_{t+j+1} J_{t+j} (+ ds_{t+k}/ds_{t+k-1} for j = k - 1) hold partial
        derivatives: through everything that s_k depends on directly, including the weights.
        """
        self._check(t, T)
        totals = np.zeros((T - t + 1, *self.network.V.shape))
        for k, (E, F) in enumerate(self._factors(t, T)):
            totals[k] = E + np.einsum("jab,jbc->ac", F, totals[:k])
        return totals[-1]

    def gradient_by_depth(self, t: int, T: int) -> Array:
        """xi(s), s = 0, …, T - t: the part of ds_T/dh_t with exactly s factors F; shape (T - t + 1) × n × n.

        Kerg 2020, Eq. 42, by the recursion xi_k(0) = E_k, xi_k(s + 1) = sum_j F_{k,j} xi_j(s). The paper calls s the number
        of Jacobian matrices. That is correct only if the scores do not depend on s_{t-1}: otherwise F_{k,k-1} also contains
        ds_k/ds_{k-1}, which passes through the scores and no Jacobian (errata 11).
        """
        self._check(t, T)
        parts = np.zeros((T - t + 1, T - t + 1, *self.network.V.shape))
        for k, (E, F) in enumerate(self._factors(t, T)):
            parts[k, 0] = E
            # A chain that ends at step j has at most j factors, so at step k only the first k + 1 parts are nonzero.
            parts[k, 1 : k + 1] = np.einsum("jab,jsbc->sac", F, parts[:k, :k], optimize=True)
        return parts[-1]

    def _factors(self, t: int, T: int) -> Iterator[tuple[Array, Array]]:
        """E_k and the stack F_{k,0}, …, F_{k,k-1} for k = 0, …, T - t."""
        jacobians = self.slopes[:, :, None] * self.network.V
        for step in range(t, T + 1):
            by_state, by_summary = self._partials(step)
            F = by_state[t:] @ jacobians[t:step]
            if step > t:
                F[-1] += by_summary
            yield by_state[t - 1], F

    def _partials(self, step: int) -> tuple[Array, Array]:
        """ds_k/dh_1, …, ds_k/dh_k (k × n × n) and ds_k/ds_{k-1} (n × n).  Kerg 2020, Lemma 5 and 6.

        ds_k/dh_j = 1[j = k] I + alpha_j (I + X_j), X_j = (h_j - c_k) de_j/dh_j, and ds_k/ds_{k-1} is the sum over i of
        alpha_i Y_i = alpha_i h_i (de_i/ds - mean of de/ds), the same as alpha_i (h_i - c_k) de_i/ds.
        """
        states, alpha = self.states[:step], self.weights[step - 1, :step]
        previous = self.summaries[step - 2] if step > 1 else np.zeros_like(states[0])
        by_key, by_query = self.network.alignment.slopes(previous, states)
        weighted = alpha[:, None] * (states - alpha @ states)
        identity = np.eye(states.shape[1])
        by_state = alpha[:, None, None] * identity + weighted[:, :, None] * by_key[:, None, :]
        by_state[-1] += identity
        return by_state, weighted.T @ by_query

    def _check(self, t: int, T: int) -> None:
        if not 1 <= t <= T <= self.steps:
            raise InputError(f"t = {t}, T = {T}; expected 1 <= t <= T <= {self.steps}, the steps of this run")


def _softmax(scores: Array) -> Array:
    """exp(e_i) / sum_j exp(e_j)."""
    # Subtracting the maximum avoids overflow; -inf gives weight 0.
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()
