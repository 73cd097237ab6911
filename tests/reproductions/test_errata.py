"""The sources of the errata are what the recipes say they are."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.reproductions.shen2019.noise_floor_text import CORRECTED, LAGS
from memspan.reproductions.shen2019.power_law_constant import AMPLITUDE, EXACT, EXPANDED, EXPONENT, PRINTED

LAG_LIST = np.array([1, 2, 10, 1_000])


def test_the_printed_constant_of_equation_47_is_the_one_that_is_drawn() -> None:
    printed = np.sqrt(AMPLITUDE / (2 * np.pi)) * LAG_LIST ** (-EXPONENT / 2)
    assert PRINTED.correlation(LAG_LIST) == pytest.approx(printed, rel=1e-12)


def test_the_corrected_constant_of_equation_47_is_the_one_that_is_drawn() -> None:
    corrected = np.pi * np.sqrt(AMPLITUDE / 2) * LAG_LIST ** (-EXPONENT / 2)
    assert EXPANDED.correlation(LAG_LIST) == pytest.approx(corrected, rel=1e-12)


def test_the_exact_inversion_has_the_law_at_every_lag() -> None:
    assert EXACT.information(LAG_LIST) == pytest.approx(AMPLITUDE * LAG_LIST**-EXPONENT, rel=1e-12)


def test_the_lags_of_the_erratum_are_measured() -> None:
    assert set(CORRECTED) <= set(LAGS.tolist())
