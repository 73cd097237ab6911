"""The same networks found by gradient descent: which frequencies does training choose, and how near does it come?"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, isfinite, pi
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import EvidenceError, InputError
from memspan.memorization.strings import PeriodicString, Text
from memspan.progress import SILENT, Progress
from memspan.results import LinearNetwork
from memspan.results.memorization import TrainedLinearNetwork

LONGEST = 64
"""The longest period and the most hidden units that are trained: seconds to a minute of one core."""
TESTED_PERIODS = 100
CLIP = 1.0
"""The greatest norm of a gradient, over all weights of one network."""
GROWING = 0.6
"""The part of the updates in which the trained string grows from one period to all."""
SCORE_PENALTY = 1e-3
"""Cost of the scores' mean squared norm, halved. Cross-entropy alone is lowest for a state that grows without end."""


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
        """All weights, in the order in which they are given to the constructor."""
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
    """Train h_i = W_h h_{i-1}, y_i = W_y h_i + b_y to write `text`, and compare W_h with the roots of unity.

    Softmax cross-entropy over `periods` periods, all weights and h_0 learnt, Adam with a step that falls to zero. W_h
    starts orthogonal with angles drawn at random; the string grows from one period to all while it is learnt; of
    `restarts` networks the one of the lowest loss is kept. With `score_penalty=0` the angles still come near those of
    roots of unity, but the state grows: the greater the scores, the lower the cross-entropy.

    >>> learnt = learn("00000111", hidden_size=2, seed=0, updates=1000, restarts=4)
    >>> learnt.nearest_roots.tolist(), bool(learnt.distances.max() < 0.01), learnt.replayed_symbols > 64
    ([1, 7], True, True)
    """
    string = PeriodicString.of(text)
    check_string(string, hidden_size)
    _check_training(updates, learning_rate, periods, restarts, score_penalty)
    networks = random_networks(restarts, hidden_size, len(string.alphabet), np.random.default_rng(seed))
    # A learning rate that is too high makes weights overflow; the network that is kept is looked at below.
    with np.errstate(over="ignore", invalid="ignore"), progress.stage("training", total=updates) as stage:
        moments = networks.zeros(), networks.zeros()
        for update in range(1, updates + 1):
            trained = string.period * ceil(periods * min(1.0, update / (GROWING * updates)))
            _, gradient = loss_and_gradient(networks, np.resize(string.codes, trained), score_penalty)
            falling = learning_rate * (1 + cos(pi * update / updates)) / 2
            _descend(networks, gradient, moments, update, falling)
            stage.advance()
        losses, _ = loss_and_gradient(networks, np.tile(string.codes, periods), score_penalty)
    if not np.isfinite(losses).all(axis=0).any():
        raise EvidenceError(
            f"training diverged with learning rate {learning_rate:g}, whatever the start; use a lower one, such as 0.02"
        )
    best = int(np.nanargmin(losses.sum(axis=0)))
    return _examined(string, networks, best, float(losses[0, best]), updates, periods)


def random_networks(count: int, d: int, n: int, rng: np.random.Generator) -> Networks:
    """Networks whose W_h turns d/2 random planes by angles uniform in (0, pi), and keeps or turns over what is left."""
    turns = np.zeros((count, d, d))
    angles = rng.uniform(0, np.pi, (count, d // 2))
    even, odd = np.arange(0, d - 1, 2), np.arange(1, d, 2)
    turns[:, even, even] = turns[:, odd, odd] = np.cos(angles)
    turns[:, odd, even] = np.sin(angles)
    turns[:, even, odd] = -np.sin(angles)
    if d % 2:
        turns[:, -1, -1] = rng.choice([-1.0, 1.0], count)
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
    logarithms = scores - scores.max(axis=2, keepdims=True)
    logarithms -= np.log(np.exp(logarithms).sum(axis=2, keepdims=True))
    surprise = -logarithms[:, steps, symbols].mean(axis=1)
    penalty = score_penalty / 2 * (scores**2).sum(axis=2).mean(axis=1)
    by_score = np.exp(logarithms) + score_penalty * scores
    by_score[:, steps, symbols] -= 1
    by_score /= len(symbols)
    by_state = _through_time(networks, by_score @ networks.W_y)
    gradient = Networks(
        W_h=by_state[:, 1:].transpose(0, 2, 1) @ states[:, :-1],
        W_y=by_score.transpose(0, 2, 1) @ states[:, 1:],
        b_y=by_score.sum(axis=1),
        h_0=by_state[:, 0],
    )
    return np.array([surprise, penalty]), gradient


def _states(networks: Networks, length: int) -> NDArray[np.float64]:
    """h_0 … h_length, of shape (networks, length + 1, d): h_{i+k} = W_h^k h_i with k = 1, 2, 4, … doubles what is known."""
    states = np.empty((len(networks.h_0), length + 1, networks.h_0.shape[1]))
    states[:, 0] = networks.h_0
    known, power = 1, networks.W_h.transpose(0, 2, 1)
    while known <= length:
        new = min(known, length + 1 - known)
        states[:, known : known + new] = states[:, :new] @ power
        known, power = 2 * known, power @ power
    return states


def _through_time(networks: Networks, direct: NDArray[np.float64]) -> NDArray[np.float64]:
    """g_i = sum over j >= i of (W_h^T)^(j-i) direct_j for i = 0 … length, where direct_0 = 0, by doubling as well."""
    by_state = np.concatenate([np.zeros_like(direct[:, :1]), direct], axis=1)
    reach, power = 1, networks.W_h
    while reach < by_state.shape[1]:
        by_state[:, :-reach] += by_state[:, reach:] @ power
        reach, power = 2 * reach, power @ power
    return by_state


def _descend(
    networks: Networks,
    gradient: Networks,
    moments: tuple[Networks, Networks],
    update: int,
    learning_rate: float,
) -> None:
    """One step of Adam (Kingma and Ba 2015), each network by itself; weights and moments are changed in place."""
    flat = [by_weight.reshape(len(by_weight), -1) for by_weight in gradient.arrays]
    norm = np.sqrt(sum((part**2).sum(axis=1) for part in flat))
    scale = CLIP / np.maximum(norm, CLIP)
    keep_mean, keep_square = 0.9, 0.999
    for weights, by_weight, mean, square in zip(
        networks.arrays, gradient.arrays, moments[0].arrays, moments[1].arrays, strict=True
    ):
        clipped = by_weight * scale.reshape(-1, *[1] * (by_weight.ndim - 1))
        mean += (1 - keep_mean) * (clipped - mean)
        square += (1 - keep_square) * (clipped**2 - square)
        unbiased = mean / (1 - keep_mean**update), square / (1 - keep_square**update)
        weights -= learning_rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)


def _examined(
    string: PeriodicString, networks: Networks, best: int, loss: float, updates: int, periods: int
) -> TrainedLinearNetwork:
    """What the best network does when it runs on, and how its eigenvalues lie."""
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
        replayed_symbols=right_symbols(network, string.codes, tested),
        tested_symbols=tested,
        eigenvalues=eigenvalues,
        nearest_roots=nearest,
        distances=distances,
    )


def nearest_roots(
    eigenvalues: NDArray[np.complex128], period: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k whose root of unity exp(2 pi i k / period) is nearest to each eigenvalue, and the distance to it.

    >>> nearest, distances = nearest_roots(np.array([1j, -0.9]), 8)
    >>> nearest.tolist(), distances.round(9).tolist()
    ([2, 4], [0.0, 0.1])
    """
    nearest = np.rint(np.angle(eigenvalues) * period / (2 * np.pi)).astype(np.int64) % period
    roots = np.exp(2j * np.pi * nearest / period)
    return nearest, np.abs(eigenvalues - roots)


def right_symbols(network: LinearNetwork, codes: NDArray[np.int64], limit: int) -> int:
    """Symbols that a network with W_x = 0 writes before one is wrong or its state has left the range of float64."""
    state = network.W_h @ network.h_0
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(limit):
            scores = network.W_y @ state + network.b_y
            if not np.isfinite(scores).all() or np.argmax(scores) != codes[step % len(codes)]:
                return step
            state = network.W_h @ state
    return limit


def check_string(string: PeriodicString, hidden_size: int) -> None:
    if string.period > LONGEST:
        raise InputError(
            f"a period of {string.period} symbols is too long to be learnt in good time; expected {LONGEST} or fewer"
        )
    if not 1 <= hidden_size <= LONGEST:
        raise InputError(f"{hidden_size} hidden units to train; expected 1 to {LONGEST}")


def _check_training(
    updates: int, learning_rate: float, periods: int, restarts: int, score_penalty: float
) -> None:
    for name, number in (("updates", updates), ("periods", periods), ("restarts", restarts)):
        if number < 1:
            raise InputError(f"{name} is {number}; expected 1 or more")
    if not (isfinite(learning_rate) and learning_rate > 0):
        raise InputError(f"the learning rate is {learning_rate}; expected a number above 0, such as 0.02")
    if not (isfinite(score_penalty) and score_penalty >= 0):
        raise InputError(
            f"the score penalty is {score_penalty}; expected 0 or more, such as {SCORE_PENALTY:g}"
        )
