"""Quantized autoregression against the bivariate normal law by other routes."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from memspan.errors import InputError
from memspan.sequences.sources import QuantizedAR1, hidden_markov
from memspan.sequences.sources.exact import information_of_correlation


def rectangles(correlation: float, levels: int) -> np.ndarray:
    """The joint table from scipy's distribution function; +-9 stands for infinity."""
    edges = np.clip(norm.ppf(np.arange(levels + 1) / levels), -9, 9)
    law = multivariate_normal(np.zeros(2), np.array([[1, correlation], [correlation, 1]]))  # type: ignore[arg-type]
    cumulative = np.array([[law.cdf([h, k]) for k in edges] for h in edges])
    return np.diff(np.diff(cumulative, axis=0), axis=1)


@pytest.mark.parametrize(("coefficient", "levels"), [(0.9, 4), (0.5, 8), (-0.7, 3), (0.99, 4)])
def test_information_is_that_of_the_table_of_normal_rectangles(coefficient: float, levels: int) -> None:
    for lag in (1, 3):
        joint = rectangles(coefficient**lag, levels)
        plain = np.sum(joint * np.log(np.maximum(joint, 1e-300) * levels**2))
        # scipy's distribution function is good to about 1e-9 per corner of a rectangle.
        assert QuantizedAR1(coefficient, levels).information([lag])[0] == pytest.approx(plain, abs=1e-6)


def test_two_levels_are_signs_with_a_closed_form() -> None:
    lags = np.array([1, 2, 10, 100])
    np.testing.assert_allclose(
        QuantizedAR1(0.95, levels=2).information(lags), information_of_correlation(0.95**lags), rtol=1e-12
    )


def test_tiny_information_keeps_its_digits() -> None:
    # For small correlation c the deviation is c (difference of phi)_a (difference of phi)_b, so I = (c K S)^2/2.
    source = QuantizedAR1(0.5, levels=4)
    steps = np.diff(np.concatenate([[0.0], norm.pdf(source.thresholds), [0.0]]))
    lags = np.array([30, 100, 400])
    expected = 0.5 * (0.5**lags * 4 * np.sum(steps**2)) ** 2
    np.testing.assert_allclose(source.information(lags), expected, rtol=1e-8)


@pytest.mark.parametrize("coefficient", [0.5, 0.99, 0.9999])
def test_more_nodes_change_nothing(coefficient: float, monkeypatch: pytest.MonkeyPatch) -> None:
    source = QuantizedAR1(coefficient, levels=8)
    before = source.information([1, 10])
    monkeypatch.setattr(hidden_markov, "NODES", 4 * hidden_markov.NODES)
    np.testing.assert_allclose(source.information([1, 10]), before, atol=1e-12)


def test_levels_are_equally_likely_and_documents_independent() -> None:
    sequence = QuantizedAR1(0.9, levels=8).sample(20_000, 3, seed=0)
    documents = np.stack(list(sequence.documents())).astype(int)
    for column in documents.T:
        assert np.abs(np.bincount(column, minlength=8) / 20_000 - 1 / 8).max() < 5 * np.sqrt(1 / 8 / 20_000)
    assert abs(np.corrcoef(documents[:-1, 2], documents[1:, 0])[0, 1]) < 5 / np.sqrt(20_000)


def test_impossible_settings_are_refused() -> None:
    for coefficient in (1.0, -1.0, np.nan):
        with pytest.raises(InputError, match="coefficient"):
            QuantizedAR1(coefficient)
    with pytest.raises(InputError, match="1 levels"):
        QuantizedAR1(0.5, levels=1)
