"""The same networks by gradient descent: which frequencies does training find, and how close are they to roots of unity?"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, isfinite, pi
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import EvidenceError, InputError
from memspan.memorization.strings import PeriodicString, Text
from memspan.progress import SILENT, Progress
from memspan.results import LinearNetwork, TrainedLinearNetwork

# Longest period and most hidden units for training: seconds to a minute on one core.
LONGEST = 64
TESTED_PERIODS = 100
# Largest gradient norm, over all weights of one network.
CLIP = 1.0
# Share of the updates during which the training string grows from one period to all.
GROWING = 0.6
# Weight of half the mean squared norm of the scores: cross-entropy alone is lowest for a state that grows without bound.
SCORE_PENALTY = 1e-3


@final
@dataclass(frozen=True, eq=False)
class Networks:
    """Several networks h_i = W_h h_{i-1}, y_i = W_y h_i + b_y of one size; the first axis numbers them."""

    W_h: NDArray[np.float64]
    """(networks, d, d)"""
    W_y: NDArray[np.float64]
    """(networks, n, d)"""
    b_y: NDArray[np.float64]
    """(networks, n)"""
    h_0: NDArray[np.float64]
    """(networks, d)"""

    @property
    def arrays(self) -> tuple[NDArray[np.float64], ...]:
        """All weights, in the order of the fields."""
        return self.W_h, self.W_y, self.b_y, self.h_0

    def zeros(self) -> Networks:
        """Zeros in the same shapes."""
        return Networks(*(np.zeros_like(weights) for weights in self.arrays))


def learn(
    text: Text,
    *,
    hidden_size: int,
    seed: int | np.random.Generator,
    updates: int = 2000,
    learning_rate: float = 0.02,
    periods: int = 8,
    restarts: int = 16,
    score_penalty: float = SCORE_PENALTY,
    progress: Progress = SILENT,
) -> TrainedLinearNetwork:
    """Train h_i = W_h h_{i-1}, y_i = W_y h_i + b_y to emit `text`, and compare W_h with the roots of unity.

    Minimizes the softmax cross-entropy over `periods` periods in all weights and h_0, by Adam with a cosine schedule. W_h
    starts orthogonal with random angles. The string grows from one period to all during training. Of `restarts` networks
    the one with the lowest loss is returned. With `score_penalty=0` the angles still approach those of roots of unity, but
    the state grows: the larger the scores, the lower the cross-entropy.

    >>> trained = learn("00000111", hidden_size=2, seed=0, updates=1000, restarts=4)
    >>> trained.nearest_roots.tolist(), bool(trained.distances.max() < 0.01), trained.replayed_symbols > 64
    ([1, 7], True, True)
    """
    string = PeriodicString.of(text)
    check_string(string, hidden_size)
    _check_training(updates, learning_rate, periods, restarts, score_penalty)
    networks = random_networks(restarts, hidden_size, len(string.alphabet), np.random.default_rng(seed))
    # A learning rate that is too high makes weights overflow; the losses are checked below.
    with np.errstate(over="ignore", invalid="ignore"), progress.stage("training", total=updates) as stage:
        moments = networks.zeros(), networks.zeros()
        for update in range(1, updates + 1):
            # Long strings are hard to learn from scratch, short ones do not fix the eigenvalues precisely enough.
            trained = string.period * ceil(periods * min(1.0, update / (GROWING * updates)))
            _, gradient = loss_and_gradient(networks, np.resize(string.codes, trained), score_penalty)
            rate = learning_rate * (1 + cos(pi * update / updates)) / 2
            _descend(networks, gradient, moments, update, rate)
            stage.advance()
        losses, _ = loss_and_gradient(networks, np.tile(string.codes, periods), score_penalty)
    if not np.isfinite(losses).all(axis=0).any():
        raise EvidenceError(
            f"training diverged with learning rate {learning_rate:g} for every restart; use a lower one, such as 0.02"
        )
    best = int(np.nanargmin(losses.sum(axis=0)))
    return _evaluate(string, networks, best, float(losses[0, best]), updates, periods)


def random_networks(count: int, d: int, n: int, rng: np.random.Generator) -> Networks:
    """Networks whose W_h rotates d/2 random planes by angles uniform in (0, pi); an odd coordinate gets a random sign."""
    turns = np.zeros((count, d, d))
    angles = rng.uniform(0, np.pi, (count, d // 2))
    even, odd = np.arange(0, d - 1, 2), np.arange(1, d, 2)
    turns[:, even, even] = turns[:, odd, odd] = np.cos(angles)
    turns[:, odd, even] = np.sin(angles)
    turns[:, even, odd] = -np.sin(angles)
    if d % 2:
        turns[:, -1, -1] = rng.choice([-1.0, 1.0], count)
    # A random orthonormal basis for the planes.
    planes = np.linalg.qr(rng.standard_normal((count, d, d)))[0]
    W_h = planes @ turns @ planes.transpose(0, 2, 1)
    W_y = rng.standard_normal((count, n, d)) / np.sqrt(d)
    return Networks(W_h, W_y, np.zeros((count, n)), rng.standard_normal((count, d)))


def loss_and_gradient(
    networks: Networks, symbols: NDArray[np.int64], score_penalty: float
) -> tuple[NDArray[np.float64], Networks]:
    """The means over i of -log softmax(y_i)[s_i] and of score_penalty |y_i|^2 / 2, and the gradient of their sum.

    The losses have shape (2, networks). Back-propagation through time: where g_i is the gradient with respect to h_i,
    g_i = W_y^T dL/dy_i + W_h^T g_{i+1} and dL/dW_h = sum over i of g_i h_{i-1}^T.
    """
    steps = np.arange(len(symbols))
    states = _states(networks, len(symbols))
    scores = states[:, 1:] @ networks.W_y.transpose(0, 2, 1) + networks.b_y[:, None]
    log_probabilities = scores - scores.max(axis=2, keepdims=True)
    log_probabilities -= np.log(np.exp(log_probabilities).sum(axis=2, keepdims=True))
    cross_entropy = -log_probabilities[:, steps, symbols].mean(axis=1)
    penalty = score_penalty / 2 * (scores**2).sum(axis=2).mean(axis=1)
    by_score = np.exp(log_probabilities) + score_penalty * scores
    by_score[:, steps, symbols] -= 1
    by_score /= len(symbols)
    by_state = _through_time(networks, by_score @ networks.W_y)
    gradient = Networks(
        W_h=by_state[:, 1:].transpose(0, 2, 1) @ states[:, :-1],
        W_y=by_score.transpose(0, 2, 1) @ states[:, 1:],
        b_y=by_score.sum(axis=1),
        h_0=by_state[:, 0],
    )
    return np.array([cross_entropy, penalty]), gradient


def _states(networks: Networks, length: int) -> NDArray[np.float64]:
    """h_0 … h_length, of shape (networks, length + 1, d), by doubling: h_{i+k} = W_h^k h_i with k = 1, 2, 4, …"""
    states = np.empty((len(networks.h_0), length + 1, networks.h_0.shape[1]))
    states[:, 0] = networks.h_0
    known, power = 1, networks.W_h.transpose(0, 2, 1)
    while known <= length:
        new = min(known, length + 1 - known)
        states[:, known : known + new] = states[:, :new] @ power
        known, power = 2 * known, power @ power
    return states


def _through_time(networks: Networks, direct: NDArray[np.float64]) -> NDArray[np.float64]:
    """g_i = sum over j >= i of (W_h^T)^(j-i) direct_j for i = 0 … length with direct_0 = 0, also by doubling."""
    by_state = np.concatenate([np.zeros_like(direct[:, :1]), direct], axis=1)
    reach, power = 1, networks.W_h
    while reach < by_state.shape[1]:
        by_state[:, :-reach] += by_state[:, reach:] @ power
        reach, power = 2 * reach, power @ power
    return by_state


def _descend(
    networks: Networks, gradient: Networks, moments: tuple[Networks, Networks], update: int, learning_rate: float
) -> None:
    """One step of Adam (Kingma and Ba 2015) for each network separately; weights and moments are updated in place."""
    flat = [by_weight.reshape(len(by_weight), -1) for by_weight in gradient.arrays]
    norm = np.sqrt(sum((part**2).sum(axis=1) for part in flat))
    scale = CLIP / np.maximum(norm, CLIP)
    beta_1, beta_2 = 0.9, 0.999
    for weights, by_weight, mean, square in zip(
        networks.arrays, gradient.arrays, moments[0].arrays, moments[1].arrays, strict=True
    ):
        clipped = by_weight * scale.reshape(-1, *[1] * (by_weight.ndim - 1))
        mean += (1 - beta_1) * (clipped - mean)
        square += (1 - beta_2) * (clipped**2 - square)
        unbiased = mean / (1 - beta_1**update), square / (1 - beta_2**update)
        weights -= learning_rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)


def _evaluate(
    string: PeriodicString, networks: Networks, best: int, loss: float, updates: int, periods: int
) -> TrainedLinearNetwork:
    """How long the best network replays the string, and where its eigenvalues lie."""
    W_h, W_y, b_y, h_0 = (weights[best] for weights in networks.arrays)
    W_x = np.zeros((len(h_0), len(string.alphabet)))
    network = LinearNetwork(string.alphabet, string.separator, W_h, W_x, W_y, b_y, h_0)
    tested = TESTED_PERIODS * string.period
    eigenvalues = np.linalg.eigvals(W_h).astype(np.complex128)
    eigenvalues = eigenvalues[np.argsort(-np.abs(eigenvalues), kind="stable")]
    nearest, distances = nearest_roots(eigenvalues, string.period)
    return TrainedLinearNetwork(
        hidden_size=len(h_0),
        updates=updates,
        loss=loss,
        trained_symbols=periods * string.period,
        replayed_symbols=correct_symbols(network, string.codes, tested),
        tested_symbols=tested,
        eigenvalues=eigenvalues,
        nearest_roots=nearest,
        distances=distances,
    )


def nearest_roots(eigenvalues: NDArray[np.complex128], period: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k of the root of unity exp(2 pi i k / period) nearest to each eigenvalue, and the distance to it.

    >>> nearest, distances = nearest_roots(np.array([1j, -0.9]), 8)
    >>> nearest.tolist(), distances.round(9).tolist()
    ([2, 4], [0.0, 0.1])
    """
    nearest = np.rint(np.angle(eigenvalues) * period / (2 * np.pi)).astype(np.int64) % period
    roots = np.exp(2j * np.pi * nearest / period)
    return nearest, np.abs(eigenvalues - roots)


def correct_symbols(network: LinearNetwork, codes: NDArray[np.int64], limit: int) -> int:
    """Correct symbols of a network with W_x = 0 before the first error or float64 overflow."""
    state = network.W_h @ network.h_0
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(limit):
            scores = network.W_y @ state + network.b_y
            if not np.isfinite(scores).all() or np.argmax(scores) != codes[step % len(codes)]:
                return step
            state = network.W_h @ state
    return limit


def check_string(string: PeriodicString, hidden_size: int) -> None:
    """Raise InputError for periods and sizes that take too long to train."""
    if string.period > LONGEST:
        raise InputError(f"a period of {string.period} symbols is too long to train; expected {LONGEST} or fewer")
    if not 1 <= hidden_size <= LONGEST:
        raise InputError(f"{hidden_size} hidden units to train; expected 1 to {LONGEST}")


def _check_training(updates: int, learning_rate: float, periods: int, restarts: int, score_penalty: float) -> None:
    for name, number in (("updates", updates), ("periods", periods), ("restarts", restarts)):
        if number < 1:
            raise InputError(f"{name} is {number}; expected 1 or more")
    if not (isfinite(learning_rate) and learning_rate > 0):
        raise InputError(f"the learning rate is {learning_rate}; expected a number above 0, such as 0.02")
    if not (isfinite(score_penalty) and score_penalty >= 0):
        raise InputError(f"the score penalty is {score_penalty}; expected 0 or more, such as {SCORE_PENALTY:g}")
