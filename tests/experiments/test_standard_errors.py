"""Claims about values with errors."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.experiments.standard_errors import MANY, claim_within_errors, deviation


def test_the_worst_of_all_values_decides() -> None:
    assert deviation([[1.0, 2.0], [3.0, 4.0]], 2.0, [[1.0, 1.0], [0.5, 4.0]]) == 2.0


@pytest.mark.parametrize(("off", "holds"), [(MANY - 0.01, True), (MANY + 0.01, False), (-MANY - 0.01, False)])
def test_a_claim_holds_up_to_five_standard_errors_on_either_side(off: float, holds: bool) -> None:
    claim = claim_within_errors("It is so.", 1.0 + off * 0.1, 1.0, 0.1)
    assert claim.holds is holds
    assert claim.tolerance == MANY
    assert claim.measured == pytest.approx(abs(off))


def test_a_value_that_is_not_a_number_does_not_hold() -> None:
    assert not claim_within_errors("It is so.", [1.0, np.nan], [1.0, 1.0], [0.1, 0.1]).holds
