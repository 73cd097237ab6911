"""The recipe on LSTM and GRU timescales, at smoke scale."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.recipe import Outcome
from memspan.results.encoding import to_plain


@pytest.fixture(scope="module")
def smoke() -> Outcome:
    return RECIPES["meanfield-gated"].outcome("smoke", 0, SILENT)


def test_sampling_and_fresh_matrices_agree(smoke: Outcome) -> None:
    assert len(smoke.claims) == 3
    assert [claim.claim for claim in smoke.claims if not claim.holds] == []
    assert all(claim.measured is not None and np.isfinite(claim.measured) for claim in smoke.claims)


def test_the_lines_pass_through_the_markers_of_fresh_matrices(smoke: Outcome) -> None:
    charts = {chart.name: chart for chart in smoke.figures}
    assert list(charts) == ["lstm", "gru", "factors"]
    sampled, fresh, _ = charts["gru"].lines
    assert sampled.x[0] == fresh.x[0] == 0
    assert sampled.y[0] == pytest.approx(fresh.y[0], rel=0.05)  # what the recipe claims


def test_the_outcome_can_be_written_as_json(smoke: Outcome) -> None:
    json.dumps([to_plain(chart) for chart in smoke.figures], allow_nan=False)
    assert all(len(chart.caption) > 80 for chart in smoke.figures)
    assert "with fresh matrices" in smoke.notes[0]


@pytest.mark.slow
def test_every_claim_holds_at_width_2000() -> None:
    outcome = RECIPES["meanfield-gated"].outcome("laptop", 0, SILENT)
    assert len(outcome.claims) == 8
    assert [claim.claim for claim in outcome.claims if not claim.holds] == []
