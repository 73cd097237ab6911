"""Tree grammars against the law of all leaves, written out."""

import functools

import numpy as np
import pytest
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.sources import TreeGrammar
from memspan.sequences.sources.source import stationary

ROUNDING = 1e-12
"""Sums of a few hundred terms of order one."""
LOPSIDED = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.6, 0.0, 0.4]])
FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
BIASED = np.array([[0.8, 0.2], [0.5, 0.5]])


def plain_information(joint: NDArray[np.float64]) -> float:
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))


def law_of_leaves(p: NDArray[np.float64], branching: int, depth: int) -> NDArray[np.float64]:
    """p(leaves | root): first axis the root, one more axis for every leaf."""
    if depth == 0:
        return np.eye(len(p))
    below = np.tensordot(p, law_of_leaves(p, branching, depth - 1), axes=1)
    products = [functools.reduce(np.multiply.outer, [below[root]] * branching) for root in range(len(p))]
    return np.stack(products)


def pair_laws(grammar: TreeGrammar, lag: int) -> list[NDArray[np.float64]]:
    """The joint law of leaves t and t + lag, for every t, from the law of all leaves."""
    leaves = law_of_leaves(grammar.transition, grammar.branching, grammar.depth)
    leaves = np.tensordot(stationary(grammar.transition), leaves, axes=1)
    others = [
        tuple(leaf for leaf in range(grammar.length) if leaf not in (t, t + lag)) for t in range(grammar.length - lag)
    ]
    return [leaves.sum(axis=axes) for axes in others]


@pytest.mark.parametrize(
    ("branching", "transition", "depth"),
    [(2, LOPSIDED, 3), (2, FLIP, 3), (3, BIASED, 2), (2, BIASED, 1), (4, FLIP, 2), (3, LOPSIDED, 2)],
)
def test_information_is_that_of_all_leaves_pooled(branching: int, transition: NDArray[np.float64], depth: int) -> None:
    grammar = TreeGrammar(branching, transition, depth)
    lags = range(1, grammar.length)
    pooled = [plain_information(np.mean(pair_laws(grammar, lag), axis=0)) for lag in lags]
    np.testing.assert_allclose(grammar.information(lags), pooled, atol=ROUNDING)


def test_pooled_information_is_less_than_the_mean_of_informations() -> None:
    grammar = TreeGrammar(2, FLIP, 3)
    mean = np.mean([plain_information(law) for law in pair_laws(grammar, 1)])
    assert grammar.information([1])[0] < 0.95 * mean


def test_far_leaves_see_the_root_only() -> None:
    # The first and the last leaf of the tree: the root is their only common ancestor, 4 generations up.
    correlation = 0.8 ** (2 * 4)
    by_hand = 0.5 * sum((1 + u) * np.log(1 + u) for u in (correlation, -correlation))
    assert TreeGrammar(2, FLIP, 4).information([15])[0] == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("branching", [2, 3])
def test_information_falls_as_a_power_of_the_lag(branching: int) -> None:
    # One generation more multiplies the correlation by 0.8^2: I(b tau) / I(tau) = 0.8^4 in an endless tree.
    grammar = TreeGrammar(branching, FLIP, depth=35)
    lags = branching ** np.arange(8, 16)
    information = grammar.information(lags)
    # I = u^2/2 (1 + u^2/6 + …), and u is below 0.8^(2 * 8) at these lags.
    np.testing.assert_allclose(information[1:] / information[:-1], 0.8**4, rtol=0.8**32)


def test_leaves_of_siblings_agree_as_often_as_the_law_says() -> None:
    documents = np.stack(list(TreeGrammar(2, FLIP, 8).sample(400, 256, seed=0).documents()))
    # Siblings agree with probability 0.9^2 + 0.1^2, whatever their parent, so pairs are independent in this.
    five_sigma = 5 * np.sqrt(0.82 * 0.18 / (400 * 128))
    assert abs(np.mean(documents[:, 0::2] == documents[:, 1::2]) - 0.82) < five_sigma


def test_a_length_that_is_no_whole_tree_is_refused() -> None:
    with pytest.raises(InputError, match="8 leaves"):
        TreeGrammar(2, FLIP, 3).sample(1, 7, seed=0)


def test_a_lag_beyond_the_document_is_refused() -> None:
    with pytest.raises(InputError, match="8 symbols"):
        TreeGrammar(2, FLIP, 3).information([1, 8])


@pytest.mark.parametrize(("branching", "depth"), [(1, 3), (2, 0), (2, 63)])
def test_impossible_trees_are_refused(branching: int, depth: int) -> None:
    with pytest.raises(InputError, match="expected"):
        TreeGrammar(branching, FLIP, depth)
    with pytest.raises(InputError, match="reducible"):
        TreeGrammar(2, np.eye(2), 3)
