"""Claims about the second goal, from numbers made by hand; and one folder of trainings that serves several recipes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.figures.training_examples import training

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.cao2020 import gradient_noise, learning_curves, perplexity, segment_information
from memspan.reproductions.cao2020.evaluation import reverse_all, segments_all
from memspan.reproductions.cao2020.gradient_variance import Variances
from memspan.reproductions.cao2020.published import BETTER, GOALS, MEASURES, PERPLEXITY, SEGMENTS, printed
from memspan.reproductions.cao2020.tables import table as one_table
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.results import SegmentInformation, TrainingRun

SEEDS = range(3)


def table(**losses: float) -> dict[Key, dict[str, float]]:
    """Every goal with one loss for all measures, and a seed that adds to all of them."""
    return {
        Key("ptb", goal, seed): dict.fromkeys(MEASURES, loss + seed)
        for goal, loss in losses.items()
        for seed in SEEDS
    }


def test_a_goal_is_better_only_if_its_perplexity_is_lower():
    found = table(none=4.0, base=3.9, full=3.95)
    base, both, full = (perplexity.compared("ptb", False, *pair, "test", found) for pair in BETTER)
    assert (base.holds, both.holds, full.holds) == (True, True, False)
    assert "BMI-full has a lower perplexity on test than the baseline" in both.claim
    assert both.paper == pytest.approx(54.65 / 55.97)
    assert base.measured == pytest.approx(np.exp(-0.1))
    assert base.paper == pytest.approx(55.02 / 55.97)
    assert "3 seeds, of which 3 agree" in base.claim
    assert "of which 0 agree" in full.claim


def test_a_difference_within_the_scatter_of_seeds_is_none():
    found = table(none=4.0, base=3.99)
    for seed, shift in zip(SEEDS, (-0.03, 0.0, 0.03), strict=True):
        key = Key("ptb", "base", seed)
        found[key] = {measure: loss + shift for measure, loss in found[key].items()}
    claim = perplexity.compared("ptb", False, "base", "none", "test", found)
    assert claim.measured is not None
    assert claim.measured < 1
    assert not claim.holds
    values = {"none": (0.1, 0.2, 0.3), "base": (0.2, 0.3, 0.25)}
    segments = {
        Key("ptb", goal, seed): SegmentInformation(nats, (0, 1), (nats, nats))
        for goal, row in values.items()
        for seed, nats in enumerate(row)
    }
    assert not segment_information.rises("ptb", "none", "base", segments).holds


def test_three_seeds_must_agree_by_more_than_two_standard_errors():
    found = table(none=4.0, base=3.97)
    for seed, shift in zip(
        SEEDS, (-0.02, 0.0, 0.02), strict=True
    ):  # a standard error of 0.0115: 2.6 of them apart
        key = Key("ptb", "base", seed)
        found[key] = {measure: loss + shift for measure, loss in found[key].items()}
    assert not perplexity.compared("ptb", False, "base", "none", "test", found).holds
    values = {"none": (0.18, 0.2, 0.22), "base": (0.22, 0.24, 0.26)}  # 2.4 of them apart
    segments = {
        Key("ptb", goal, seed): SegmentInformation(nats, (0, 1), (nats, nats))
        for goal, row in values.items()
        for seed, nats in enumerate(row)
    }
    assert not segment_information.rises("ptb", "none", "base", segments).holds


def test_printed_numbers_fall_from_goal_to_goal_and_by_fine_tuning():
    for data, rows in PERPLEXITY.items():
        for tuned in (False, True):
            values = np.array([rows[tuned][goal] for goal in GOALS])
            assert values.shape == (3, len(MEASURES))
            assert (np.diff(values, axis=0) < 0).all()
        assert all((np.array(rows[True][goal]) < rows[False][goal]).all() for goal in GOALS)
        assert list(SEGMENTS[data].values()) == sorted(SEGMENTS[data].values())
    assert printed("ptb", True, "full", "reverse_test") == 71.81
    assert printed("python", True, "full", "test") is None


def test_segments_tell_more_or_do_not():
    nats = {"none": 0.2, "base": 0.4, "full": 0.3, "real": 1.2}
    found = {
        Key("ptb", goal, seed): SegmentInformation(value, (value - 0.1, value + 0.1), (value,))
        for goal, value in nats.items()
        for seed in ((0,) if goal == "real" else SEEDS)
    }
    claims = [
        segment_information.rises("ptb", *pair, found)
        for pair in (("none", "base"), ("base", "full"), ("full", "real"))
    ]
    assert [claim.holds for claim in claims] == [True, False, True]
    assert [claim.measured for claim in claims] == pytest.approx([0.2, -0.1, 0.9])
    assert [claim.paper for claim in claims] == pytest.approx([0.22, 0.01, 0.7])
    (near,) = segment_information.as_printed("ptb", found)
    assert near.holds
    assert (near.paper, near.measured) == (1.18, pytest.approx(1.2))
    assert segment_information.as_printed("python", found) == []


def validated(losses: list[float], switch_at: int | None, nonmonotone: int = 2) -> TrainingRun:
    config = {"bmi": {"switch_at": switch_at}, "training": {"nonmonotone": nonmonotone}}
    updates = 10 * np.arange(1, len(losses) + 1)
    return dataclasses.replace(training(), validated=updates, validation_loss=np.array(losses), config=config)


def test_curves_begin_at_the_switch_set_or_found():
    losses = [5.0, 4.0, 4.5, 4.4, 4.3, 3.0]
    at_20 = learning_curves.after_switch(validated(losses, 20))
    assert at_20.tolist() == [[0, 10, 20, 30, 40], losses[1:]]
    found = learning_curves.after_switch(validated(losses, None))  # 4.3 is above the best of those before 4.5
    assert found.tolist() == [[0, 10], [4.3, 3.0]]
    never = learning_curves.after_switch(validated([5.0, 4.0, 3.0, 2.0], None))
    assert never.tolist() == [[0], [2.0]]


def test_a_curve_is_consistently_below_another_or_only_in_the_end():
    curves = {
        Key("ptb", "none", 0): np.array([[0, 10, 20], [5.0, 4.5, 4.4]]),
        Key("ptb", "base", 0): np.array([[0, 10, 20], [5.0, 4.4, 4.3]]),
        Key("ptb", "full", 0): np.array([[0, 10, 20], [5.0, 4.6, 4.2]]),
    }
    base, full = (learning_curves.faster("ptb", goal, curves) for goal in ("base", "full"))
    below, lowest = learning_curves.consistent("ptb", curves), learning_curves.further("ptb", curves)
    assert [claim.holds for claim in (base, full, below, lowest)] == [True, True, False, True]
    assert [claim.measured for claim in (base, full, below, lowest)] == pytest.approx([0.1, 0.05, 0.5, 0.1])


def test_curves_that_are_below_by_less_than_the_scatter_of_seeds_are_not_below():
    shifts = {"none": (0.0, 0.0, 0.0), "base": (-0.03, 0.0, 0.02), "full": (-0.05, -0.01, 0.02)}
    curves = {
        Key("ptb", goal, seed): np.array([[0, 10, 20], [5.0, 4.5 + shift, 4.4 + shift]])
        for goal, row in shifts.items()
        for seed, shift in enumerate(row)
    }
    claims = (
        *(learning_curves.faster("ptb", goal, curves) for goal in ("base", "full")),
        learning_curves.further("ptb", curves),
    )
    assert [claim.measured is not None and claim.measured > 0 for claim in claims] == [True] * 3
    below = learning_curves.consistent("ptb", curves)
    assert below.measured == 1
    assert not any(claim.holds for claim in (*claims, below))


def test_variances_are_those_of_numpy_and_ratios_leave_out_what_never_changed():
    random = np.random.default_rng(0)
    draws, running = random.normal(3, 2, (20, 5)), Variances()
    for row in draws:
        running.add([torch.from_numpy(row[:2]), torch.from_numpy(row[2:])])
    assert running.found() == pytest.approx(draws.var(axis=0, ddof=1))
    ratios = gradient_noise.compared(np.array([4.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    assert ratios.tolist() == [2.0]


@pytest.mark.parametrize(
    ("ratios", "holds"),
    [
        (np.geomspace(10, 1e7, 100), [True, True, True, True, True, True]),
        (np.geomspace(1.1, 9, 100), [False, True, False, True, False, True]),
        (np.geomspace(1e-3, 1e2, 100), [False, False, False, False, False, True]),
        (np.geomspace(1e-6, 1e-4, 100), [False, False, False, False, False, False]),
    ],
)
def test_policy_gradients_are_noisier_as_printed_or_by_less_or_not_at_all(ratios, holds):
    claims = gradient_noise.claims(ratios)
    assert [claim.holds for claim in claims] == holds
    assert claims[0].paper == 1e4
    assert claims[3].measured == pytest.approx(np.median(ratios))
    assert claims[5].measured == pytest.approx(144 * np.median(ratios))


def test_one_table_has_every_goal_next_to_the_printed_numbers():
    found = table(none=4.0, base=3.9)
    found[Key("ptb", "none", 0, tuned=True)] = dict.fromkeys(MEASURES, 3.5)
    segments = {
        Key("ptb", "none", seed): SegmentInformation(0.2 + seed / 10, (0.1, 0.5), (0.2, 0.3))
        for seed in SEEDS
    }
    segments[Key("ptb", "real", 0)] = SegmentInformation(1.0, (0.9, 1.1), (0.9, 1.0, 1.1))
    whole = one_table("ptb", found, segments)
    assert [row.name for row in whole.rows] == ["Baseline", "BMI-base", "Baseline (ft.)", "Real text"]
    assert whole.columns == (*MEASURES.values(), "information between segments (nats)")
    none, base, tuned, real = (row.entries for row in whole.rows)
    assert none[1] is not None
    assert none[1].value == pytest.approx(np.exp(5.0))
    assert none[1].each == pytest.approx(np.exp([4.0, 5.0, 6.0]))
    assert none[1].interval == pytest.approx(np.exp([5 - 2.4841, 5 + 2.4841]), rel=1e-3)
    assert none[1].paper == 55.97
    assert tuned[1] is not None
    assert (tuned[1].interval, tuned[1].paper) == (None, 54.44)
    assert none[4] is not None
    assert (none[4].value, none[4].paper, none[4].paper_error) == (pytest.approx(0.3), 0.25, 0.03)
    assert base[4] is None
    assert real[:4] == (None,) * 4
    assert real[4] is not None
    assert (real[4].each, real[4].paper) == ((0.9, 1.0, 1.1), 1.18)
    only = one_table("ptb", {}, segments)
    assert only.columns == ("information between segments (nats)",)


def test_one_folder_serves_the_tables_and_the_curves(tmp_path: Path):
    size = SIZES["smoke"]
    first = RECIPES["bmi-fig2"].outcome("smoke", 0, SILENT, tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(written) == 3
    table = RECIPES["bmi-table2"].outcome("smoke", 0, SILENT, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")} == written
    assert RECIPES["bmi-fig2"].outcome("smoke", 0, SILENT, tmp_path).claims == first.claims
    kept = sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("segment-information.json")
    )
    assert kept == [
        *(f"python/{goal}-seed-0/segment-information.json" for goal in ("base", "full", "none")),
        *kept[3:],
    ]
    assert kept[3:] == ["python/segment-information.json"]
    (tmp_path / kept[0]).write_text((tmp_path / kept[1]).read_text())  # what is there is read
    found = segments_all(size, size.keys(0), tmp_path, 0, SILENT)
    assert found[Key("python", "base", 0)] == found[Key("python", "full", 0)]
    other = dataclasses.replace(size, written=3_000)  # but not what was found otherwise
    segments_all(other, size.keys(0), tmp_path, 0, SILENT)
    assert {json.loads((tmp_path / name).read_text())["settings"]["written"] for name in kept} == {3_000}
    assert table.claims


def test_fine_tuning_goes_on_from_the_first_stage_by_averaged_sgd(tmp_path: Path):
    size, key = SIZES["smoke"], Key("python", "full", 0)
    (run,) = size.train([key], tmp_path, SILENT).values()
    tuned = key._replace(tuned=True)
    config = size.config(tuned, tmp_path)
    assert (config.init.name, config.init.run) == ("run", str(tmp_path / key.folder))
    assert (config.training.optimizer, config.bmi.name, config.bmi.switch_at) == ("asgd", "full", 1)
    (second,) = size.train([tuned], tmp_path, SILENT).values()
    assert second.validation_loss[-1] == pytest.approx(run.validation_loss.min(), rel=0.2)
    (reverse,) = reverse_all(size, [tuned], tmp_path, 0, SILENT).values()
    assert np.isfinite(reverse.test_loss)
