"""Claims about trainings, from trainings made by hand: each holds for one outcome and fails for another."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from tests.figures.training_examples import training

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.chen2018 import critical_training, trainability
from memspan.reproductions.kerg2020 import buffer_sizes, gradient_norms, recall_tables
from memspan.reproductions.kerg2020.gradient_norms import Network
from memspan.reproductions.kerg2020.published import COPY, DENOISE, NAMES, PERMUTED_DIGITS, TRANSFER_COPY
from memspan.reproductions.recipe import Trained
from memspan.results import GradientNorms, TrainingRun

FIG3 = critical_training._SIZES["laptop"]
FIG2 = trainability._SIZES["laptop"]
VANILLA = trainability._PANELS[0]


def learnt_after(updates: float) -> TrainingRun:
    """A training whose validation accuracy is 0.95 from one update on, and a guess before."""
    run = training()
    accuracy = np.where(run.validated >= updates, 0.95, 0.1)
    return dataclasses.replace(run, validation_accuracy=accuracy)


def digits(critical: float, other: float) -> dict[critical_training.Key, TrainingRun]:
    return {
        (steps, cell, start, weights): learnt_after(critical if start == "critical" else other)
        for steps in FIG3.updates
        for cell in critical_training.CELLS
        for start in critical_training.STARTS
        for weights in critical_training.WEIGHTS
    }


def norms(largest: float) -> GradientNorms:
    """Gradients that grow evenly from 1 to the largest."""
    mean = np.geomspace(1, largest, 40)
    return GradientNorms("recalled", 10, 5, np.arange(40), mean, mean, mean, mean)


def test_critical_weights_are_sooner_only_if_they_were():
    claims = [
        [critical_training._sooner(FIG3, found, 196, "rnn") for found in (digits(*pair),)]
        for pair in ((250, 500), (500, 250), (500, 500), (500, math.inf))
    ]
    assert [claim.holds for (claim,) in claims] == [True, False, False, True]
    assert claims[0][0].measured == 2
    assert "at least" in claims[3][0].claim


def test_a_network_fails_only_if_it_stays_near_chance():
    found = digits(250, math.inf)
    assert critical_training._fails(found, 784, "rnn").holds
    assert not critical_training._fails(digits(250, 250), 784, "rnn").holds


def test_what_is_learnt_ends_at_the_first_length_that_is_not():
    accuracy = np.array([[0.9, 0.9, 0.1], [0.9, 0.2, 0.1], [0.9, 0.9, 0.1], [0.9, 0.9, 0.1]])
    assert trainability._trainable(FIG2, accuracy).tolist() == [150, 10, 0]


@pytest.mark.parametrize(("agrees", "holds"), [(True, True), (False, False)])
def test_lengths_learnt_follow_the_timescale_or_do_not(agrees: bool, holds: bool):
    timescale = trainability._timescale(VANILLA, trainability._values(FIG2, VANILLA))
    shown = timescale if agrees else 1 / timescale * 100
    lengths = np.array(FIG2.lengths)[:, None]
    grids = {("vanilla", "untied"): np.where(lengths <= 6 * shown, 0.9, 0.1)}
    assert trainability._follows(FIG2, VANILLA, "untied", grids).holds == holds


def test_a_printed_success_must_be_reached_and_a_printed_part_must_be_that_part():
    row = {
        "rel-rnn": {100: 0.96, 200: 0.90},
        "orthogonal-rnn": {100: 1.0, 200: 0.05, 400: 0.60},
        "lstm": {400: 0.46, 2_000: 0.05},  # 48 and 19 % were printed
    }
    holds = [claim.holds for claim in recall_tables.row_claims(row, TRANSFER_COPY, {})]
    assert holds == [True, False, True, True, False, True, False]


def test_who_has_not_learnt_its_own_delay_tells_nothing_of_others():
    row = {"orthogonal-rnn": {100: 0.5, 400: 0.16}, "lstm": {100: 0.99, 5_000: 0.12}}
    claims = recall_tables.row_claims(row, TRANSFER_COPY, {}, trained_at=100)
    assert [claim.holds for claim in claims] == [False, False, True, True]
    assert "has not learnt the delay" in claims[1].claim


def test_where_memory_ran_out_there_is_no_claim():
    assert recall_tables.row_claims({"mem-rnn": {5_000: 0.9}}, TRANSFER_COPY, {}) == []


@pytest.mark.parametrize(("largest", "holds"), [(20.0, True), (1e6, False)])
def test_gradients_are_even_or_not(largest: float, holds: bool):
    found = {
        Network("rel-lstm", 0): norms(2.0),
        Network("rel-lstm", 1): norms(largest),
        Network("rnn", 0): norms(1e4),
    }
    runs = dict.fromkeys(found, training())
    reach, first, every, *_, beside = gradient_norms._claims(found, found, runs)
    assert (reach.holds, first.holds, every.holds, beside.holds) == (holds, True, holds, holds)
    assert (first.measured, every.measured) == (pytest.approx(2.0), pytest.approx(largest))


def test_gradients_may_reach_evenly_where_few_are_left():
    left, reaching = ({Network("rel-lstm", 0): norms(size)} for size in (1e3, 10.0))
    reach, first, *_ = gradient_norms._claims(left, reaching, dict.fromkeys(left, training()))
    assert (reach.holds, first.holds) == (True, False)
    assert (reach.measured, first.measured) == (pytest.approx(10), pytest.approx(1e3))


def test_gradients_may_be_even_before_the_answers_only():
    mean = np.concatenate([np.full(20, 1e6), np.geomspace(1, 10, 20)])
    one = GradientNorms("recalled", 10, 5, np.arange(40), mean, mean, mean, np.sqrt(mean))
    found = {Network("rel-lstm", 0): one}
    _, first, every, whole, before = gradient_norms._claims(found, found, dict.fromkeys(found, training()))
    assert (first.holds, every.holds, whole.holds, before.holds) == (False, False, False, True)
    assert first.measured == pytest.approx(1e3)
    assert before.measured == pytest.approx(10)


def test_a_small_relevant_set_matters_only_if_gradients_differ():
    sizes = buffer_sizes._SIZES["laptop"]
    matters = {f"short_term-{value}": norms(10) for value in sizes.values}
    matters |= {f"relevant-{value}": norms(10_000 if value == 3 else 10) for value in sizes.values}
    assert [claim.holds for claim in buffer_sizes._claims(sizes, matters)] == [True, True]
    alike = {f"{varied}-{value}": norms(10) for varied in buffer_sizes.SWEEPS for value in sizes.values}
    assert [claim.holds for claim in buffer_sizes._claims(sizes, alike)] == [False, False]


@pytest.mark.parametrize("table", [TRANSFER_COPY, DENOISE, COPY])
def test_printed_tables_are_per_cents_of_cells_with_a_name(table: dict[str, dict[int, float | None]]):
    assert set(table) <= set(NAMES)
    assert all(value is None or 0 <= value <= 100 for row in table.values() for value in row.values())
    assert set(PERMUTED_DIGITS) <= set(NAMES)


@pytest.mark.parametrize(
    "recipe", [RECIPES["relevance-fig2"], RECIPES["relevance-fig3"]], ids=lambda recipe: recipe.id
)
def test_trainings_of_a_recipe_that_are_finished_are_read_and_not_done_again(recipe: Trained, tmp_path: Path):
    assert RECIPES[recipe.id] is recipe
    found = recipe.outcome("smoke", 0, SILENT, tmp_path)
    assert found.claims
    assert all(np.isfinite(claim.measured) for claim in found.claims if claim.measured is not None)
    assert all(len(drawing.caption) > 80 for drawing in (*found.figures, *found.maps))
    again = recipe.outcome("smoke", 0, SILENT, tmp_path)
    assert again.claims == found.claims, "what is finished is read, not trained again"
