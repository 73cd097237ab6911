"""Kerg 2020, trained networks: claims on hand-made trainings hold for one outcome and fail for another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.presentation.training_examples import training

from memspan.reproductions import RECIPES
from memspan.reproductions.kerg2020 import gradient_norms, recall_tables
from memspan.reproductions.kerg2020.gradient_norms import DenoiseRun
from memspan.reproductions.kerg2020.published import COPY, DENOISE, NAMES, PERMUTED_DIGITS, TRANSFER_COPY
from memspan.reproductions.trainings import training_config
from memspan.results import GradientNorms


def norms(largest: float) -> GradientNorms:
    """Gradients that grow evenly from 1 to the largest."""
    mean = np.geomspace(1, largest, 40)
    return GradientNorms("recalled", 10, 5, np.arange(40), mean, mean, mean, mean)


def test_a_printed_success_must_be_reached_and_a_printed_failure_must_be_one() -> None:
    row = {
        "rel-rnn": {100: 0.96, 200: 0.90},
        "orthogonal-rnn": {100: 1.0, 200: 0.05, 400: 0.95},
        "lstm": {400: 0.46, 2_000: 0.05},  # 48 and 19 % were printed
    }
    claims = recall_tables.table_claims(row, TRANSFER_COPY, {})
    assert [claim.holds for claim in claims] == [True, False, True, True, False, True, True]
    assert "as high as printed" in claims[0].claim
    assert "fails" in claims[3].claim


def test_the_row_of_exprnn_is_compared_with_both_definitions_of_accuracy() -> None:
    over_all = {100: 1.0, 200: 0.85, 400: 0.7}
    assert recall_tables.definition_claim({100: 1.0, 200: 0.1, 400: 0.1}, over_all).holds
    assert not recall_tables.definition_claim(over_all, {100: 1.0, 200: 0.1, 400: 0.1}).holds


@pytest.mark.parametrize(("recipe", "task"), [("table1", "copy"), ("table2", "denoise"), ("table5", "copy")])
def test_every_cell_of_a_table_is_trained_for_its_default_updates(recipe: str, task: str) -> None:
    for cell, updates in RECIPES[f"relevance-{recipe}"].sizes["laptop"].size["updates"].items():
        assert updates == training_config(task, cell, 0).training.updates, cell


def test_a_network_that_has_not_learned_its_own_delay_does_not_count_at_others() -> None:
    row = {"orthogonal-rnn": {100: 0.5, 400: 0.16}, "lstm": {100: 0.99, 5_000: 0.12}}
    claims = recall_tables.table_claims(row, TRANSFER_COPY, {}, trained_at=100)
    assert [claim.holds for claim in claims] == [False, False, True, True]
    assert "has not learned the delay" in claims[1].claim


def test_there_is_no_claim_where_the_paper_ran_out_of_memory() -> None:
    assert recall_tables.table_claims({"mem-rnn": {5_000: 0.9}}, TRANSFER_COPY, {}) == []


@pytest.mark.parametrize(("largest", "holds"), [(20.0, True), (1e6, False)])
def test_gradients_are_even_or_not(largest: float, holds: bool) -> None:
    found = {
        DenoiseRun("rel-lstm", 0): norms(2.0),
        DenoiseRun("rel-lstm", 1): norms(largest),
        DenoiseRun("rnn", 0): norms(1e4),
    }
    runs = dict.fromkeys(found, training())
    reach, first, every, *_, other = gradient_norms.cell_claims(found, found, runs)
    assert (reach.holds, first.holds, every.holds, other.holds) == (holds, True, holds, holds)
    assert (first.measured, every.measured) == (pytest.approx(2.0), pytest.approx(largest))


def test_gradients_may_reach_evenly_where_few_remain() -> None:
    left, reaching = ({DenoiseRun("rel-lstm", 0): norms(size)} for size in (1e3, 10.0))
    reach, first, *_ = gradient_norms.cell_claims(left, reaching, dict.fromkeys(left, training()))
    assert (reach.holds, first.holds) == (True, False)
    assert (reach.measured, first.measured) == (pytest.approx(10), pytest.approx(1e3))


def test_gradients_may_be_even_before_the_answers_only() -> None:
    mean = np.concatenate([np.full(20, 1e6), np.geomspace(1, 10, 20)])
    one = GradientNorms("recalled", 10, 5, np.arange(40), mean, mean, mean, np.sqrt(mean))
    found = {DenoiseRun("rel-lstm", 0): one}
    _, first, every, whole, before = gradient_norms.cell_claims(found, found, dict.fromkeys(found, training()))
    assert (first.holds, every.holds, whole.holds, before.holds) == (False, False, False, True)
    assert first.measured == pytest.approx(1e3)
    assert before.measured == pytest.approx(10)


def test_a_small_relevant_set_matters_only_if_gradients_differ() -> None:
    values = RECIPES["relevance-fig3"].sizes["laptop"].size["values"]
    matters = {f"short_term-{value}": norms(10) for value in values}
    matters |= {f"relevant-{value}": norms(10_000 if value == 3 else 10) for value in values}
    assert [claim.holds for claim in gradient_norms.sweep_claims(values, matters)] == [True, True]
    alike = {f"{varied}-{value}": norms(10) for varied in gradient_norms.SWEEPS for value in values}
    assert [claim.holds for claim in gradient_norms.sweep_claims(values, alike)] == [False, False]


@pytest.mark.parametrize("table", [TRANSFER_COPY, DENOISE, COPY])
def test_printed_tables_are_percentages_of_named_cells(table: dict[str, dict[int, float | None]]) -> None:
    assert set(table) <= set(NAMES)
    assert all(value is None or 0 <= value <= 100 for row in table.values() for value in row.values())
    assert set(PERMUTED_DIGITS) <= set(NAMES)


PRINTED = {
    "relevance-table1": TRANSFER_COPY,
    "relevance-table2": DENOISE,
    "relevance-table5": COPY,
    "relevance-table3-pmnist": PERMUTED_DIGITS,
}


@pytest.mark.parametrize("recipe", PRINTED)
def test_the_sizes_have_the_cells_and_delays_of_the_printed_tables(recipe: str) -> None:
    for scale in ("laptop", "paper"):
        assert set(RECIPES[recipe].sizes[scale].size["updates"]) == set(PRINTED[recipe])
    if recipe != "relevance-table3-pmnist":
        delays = {delay for row in PRINTED[recipe].values() for delay in row}
        assert set(RECIPES[recipe].sizes["paper"].size["delays"]) == delays


@pytest.mark.parametrize("recipe", ["relevance-fig2", "relevance-fig3"])
def test_finished_trainings_of_a_recipe_are_loaded(recipe: str, tmp_path: Path) -> None:
    found = RECIPES[recipe].outcome("smoke", runs=tmp_path)
    assert found.claims
    assert all(np.isfinite(claim.measured) for claim in found.claims if claim.measured is not None)
    assert all(len(drawing.caption) > 80 for drawing in (*found.figures, *found.maps))
    again = RECIPES[recipe].outcome("smoke", runs=tmp_path)
    assert again.claims == found.claims, "finished trainings must be loaded, not repeated"
