"""Cao and Xu 2020: claims on hand-made numbers hold or fail, and one folder of trainings serves several recipes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.presentation.training_examples import training

from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.cao2020 import gradient_variance, learning_curves, tables, text_amount
from memspan.reproductions.cao2020.generated_text import reverse_perplexities, segment_informations
from memspan.reproductions.cao2020.gradient_variance import GradientMoments, Share
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.reproductions.cao2020.next_lines import TextLines, paragraph_claims, sentence_claims
from memspan.reproductions.cao2020.published import BETTER, MEASURES, PERPLEXITY, SEGMENTS, VARIANTS, printed_perplexity
from memspan.reproductions.cao2020.tables import measured_table
from memspan.reproductions.cao2020.text_amount import AmountKey, amount_config
from memspan.results import SegmentInformation, TrainingRun
from memspan.tasks import WordText

SEEDS = range(3)


def table(**losses: float) -> dict[ModelKey, dict[str, float]]:
    """Every variant with one loss for all measures, and a seed that adds to all of them."""
    return {
        ModelKey("ptb", variant, seed): dict.fromkeys(MEASURES, loss + seed)
        for variant, loss in losses.items()
        for seed in SEEDS
    }


def test_a_variant_is_better_only_if_its_perplexity_is_lower():
    found = table(none=4.0, base=3.9, full=3.95)
    base, both, full = (tables.lower_perplexity("ptb", False, *pair, "test", found) for pair in BETTER)
    assert (base.holds, both.holds, full.holds) == (True, True, False)
    assert "BMI-full has a lower test perplexity than the baseline" in both.claim
    assert both.paper == pytest.approx(54.65 / 55.97)
    assert base.measured == pytest.approx(np.exp(-0.1))
    assert base.paper == pytest.approx(55.02 / 55.97)
    assert "3 seeds, of which 3 agree" in base.claim
    assert "of which 0 agree" in full.claim


def test_a_difference_within_the_scatter_of_seeds_does_not_count():
    found = table(none=4.0, base=3.99)
    for seed, shift in zip(SEEDS, (-0.03, 0.0, 0.03), strict=True):
        key = ModelKey("ptb", "base", seed)
        found[key] = {measure: loss + shift for measure, loss in found[key].items()}
    claim = tables.lower_perplexity("ptb", False, "base", "none", "test", found)
    assert claim.measured is not None
    assert claim.measured < 1
    assert not claim.holds
    values = {"none": (0.1, 0.2, 0.3), "base": (0.2, 0.3, 0.25)}
    segments = {
        ModelKey("ptb", variant, seed): SegmentInformation(nats, (0, 1), (nats, nats))
        for variant, row in values.items()
        for seed, nats in enumerate(row)
    }
    assert not tables.more_information("ptb", "none", "base", segments).holds


def test_three_seeds_must_agree_by_more_than_two_standard_errors():
    found = table(none=4.0, base=3.97)
    for seed, shift in zip(SEEDS, (-0.02, 0.0, 0.02), strict=True):  # a standard error of 0.0115: 2.6 of them apart
        key = ModelKey("ptb", "base", seed)
        found[key] = {measure: loss + shift for measure, loss in found[key].items()}
    assert not tables.lower_perplexity("ptb", False, "base", "none", "test", found).holds
    values = {"none": (0.18, 0.2, 0.22), "base": (0.22, 0.24, 0.26)}  # 2.4 of them apart
    segments = {
        ModelKey("ptb", variant, seed): SegmentInformation(nats, (0, 1), (nats, nats))
        for variant, row in values.items()
        for seed, nats in enumerate(row)
    }
    assert not tables.more_information("ptb", "none", "base", segments).holds


def test_printed_perplexities_decrease_by_variant_and_by_fine_tuning():
    for data, rows in PERPLEXITY.items():
        for tuned in (False, True):
            values = np.array([rows[tuned][variant] for variant in VARIANTS])
            assert values.shape == (3, len(MEASURES))
            assert (np.diff(values, axis=0) < 0).all()
        assert all((np.array(rows[True][variant]) < rows[False][variant]).all() for variant in VARIANTS)
        assert list(SEGMENTS[data].values()) == sorted(SEGMENTS[data].values())
    assert printed_perplexity("ptb", True, "full", "reverse_test") == 71.81
    assert printed_perplexity("python", True, "full", "test") is None


def test_segments_share_more_information_or_do_not():
    nats = {"none": 0.2, "base": 0.4, "full": 0.3, "real": 1.2}
    found = {
        ModelKey("ptb", variant, seed): SegmentInformation(value, (value - 0.1, value + 0.1), (value,))
        for variant, value in nats.items()
        for seed in ((0,) if variant == "real" else SEEDS)
    }
    claims = [
        tables.more_information("ptb", *pair, found) for pair in (("none", "base"), ("base", "full"), ("full", "real"))
    ]
    assert [claim.holds for claim in claims] == [True, False, True]
    assert [claim.measured for claim in claims] == pytest.approx([0.2, -0.1, 0.9])
    assert [claim.paper for claim in claims] == pytest.approx([0.22, 0.01, 0.7])
    (near,) = tables.real_text_claims("ptb", found)
    assert near.holds
    assert (near.paper, near.measured) == (1.18, pytest.approx(1.2))
    assert tables.real_text_claims("python", found) == []


def validated(losses: list[float], switch_at: int | None, nonmonotone: int = 2) -> TrainingRun:
    config = {"bmi": {"switch_at": switch_at}, "training": {"nonmonotone": nonmonotone}}
    updates = 10 * np.arange(1, len(losses) + 1)
    return dataclasses.replace(
        training(),
        validated=updates,
        validation_loss=np.array(losses),
        validation_accuracy=np.ones(len(losses)),
        config=config,
    )


def test_curves_start_at_the_fixed_or_detected_switch():
    losses = [5.0, 4.0, 4.5, 4.4, 4.3, 3.0]
    at_20 = learning_curves.after_switch(validated(losses, 20))
    assert at_20.tolist() == [[0, 10, 20, 30, 40], losses[1:]]
    found = learning_curves.after_switch(validated(losses, None))  # 4.3 is above the best of those before 4.5
    assert found.tolist() == [[0, 10], [4.3, 3.0]]
    never = learning_curves.after_switch(validated([5.0, 4.0, 3.0, 2.0], None))
    assert never.tolist() == [[0], [2.0]]


def test_a_curve_is_consistently_lower_or_only_at_the_end():
    curves = {
        ModelKey("ptb", "none", 0): np.array([[0, 10, 20], [5.0, 4.5, 4.4]]),
        ModelKey("ptb", "base", 0): np.array([[0, 10, 20], [5.0, 4.4, 4.3]]),
        ModelKey("ptb", "full", 0): np.array([[0, 10, 20], [5.0, 4.6, 4.2]]),
    }
    base, full = (learning_curves.falls_faster("ptb", variant, curves) for variant in ("base", "full"))
    below, lowest = (learning_curves.consistently_lower("ptb", curves), learning_curves.falls_further("ptb", curves))
    assert [claim.holds for claim in (base, full, below, lowest)] == [True, True, False, True]
    assert [claim.measured for claim in (base, full, below, lowest)] == pytest.approx([0.1, 0.05, 0.5, 0.1])


def test_curves_that_are_lower_within_the_scatter_of_seeds_do_not_count():
    shifts = {"none": (0.0, 0.0, 0.0), "base": (-0.03, 0.0, 0.02), "full": (-0.05, -0.01, 0.02)}
    curves = {
        ModelKey("ptb", variant, seed): np.array([[0, 10, 20], [5.0, 4.5 + shift, 4.4 + shift]])
        for variant, row in shifts.items()
        for seed, shift in enumerate(row)
    }
    claims = (
        *(learning_curves.falls_faster("ptb", variant, curves) for variant in ("base", "full")),
        learning_curves.falls_further("ptb", curves),
    )
    assert [claim.measured is not None and claim.measured > 0 for claim in claims] == [True] * 3
    below = learning_curves.consistently_lower("ptb", curves)
    assert below.measured == 1
    assert not any(claim.holds for claim in (*claims, below))


def moments(draws: np.ndarray, blocks: int = 5) -> GradientMoments:
    found = GradientMoments(blocks)
    for row in draws:
        found.add([torch.from_numpy(row[:2]), torch.from_numpy(row[2:])])
    return found


def test_running_variances_agree_with_numpy_and_constant_gradients_are_left_out():
    draws = np.random.default_rng(0).normal(3, 2, (20, 5))
    assert moments(draws).variance() == pytest.approx(draws.var(axis=0, ddof=1))
    ratios = gradient_variance.variance_ratios(np.array([4.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    assert ratios.tolist() == [2.0]


def test_the_signal_share_is_free_of_scale_and_unbiased():
    """|mu|^2 / (|mu|^2 + 5 sigma^2) with mu = 0.3 and sigma = 1: 0.45 / 5.45."""
    random = np.random.default_rng(1)
    shares = [moments(random.normal(0.3, 1, (20, 5))).signal_share() for _ in range(400)]
    values = [share.value for share in shares]
    mean, error = float(np.mean(values)), float(np.std(values)) / 20
    assert mean == pytest.approx(0.45 / 5.45, abs=4 * error + 0.01)  # the ratio of two means has a small bias
    assert np.mean([share.error for share in shares]) == pytest.approx(20 * error, rel=0.3)
    draws = random.normal(0.3, 1, (20, 5))
    assert moments(7 * draws).signal_share() == pytest.approx(moments(draws).signal_share())
    same = moments(np.ones((20, 5))).signal_share()
    assert same == pytest.approx((1.0, 0.0))


def test_the_scale_of_the_program_divides_iw_raml_by_the_symbols_of_all_pairs():
    variances = {"policy": np.array([2.0]), "program": np.array([3.0]), "raml": np.array([4.0])}
    found = gradient_variance.scaled_ratios(variances, length=5, pairs=10)
    assert {name: values.tolist() for name, values in found.items()} == {"equations": [0.5], "program": [0.75 * 2_500]}


@pytest.mark.parametrize(
    ("ratios", "holds"),
    [
        (np.geomspace(10, 1e7, 100), [True, True, True, True]),
        (np.geomspace(1.1, 9, 100), [False, True, False, True]),
        (np.geomspace(1e-3, 1e2, 100), [False, False, False, False]),
    ],
)
def test_policy_gradients_have_a_higher_variance_as_printed_or_less_or_not(ratios, holds):
    claims = gradient_variance.ratio_claims(ratios, gradient_variance.SCALES["program"])
    assert [claim.holds for claim in claims] == holds
    assert claims[0].paper == 1e4
    assert claims[3].measured == pytest.approx(np.median(ratios))
    assert all(claim.claim.startswith("At the scale of the published program, ") for claim in claims)


def test_less_noise_must_be_outside_the_interval():
    shares = {"raml": Share(0.5, 0.05), "policy": Share(0.2, 0.05), "program": Share(0.4, 0.05)}
    holds = [gradient_variance.signal_claim(shares, name).holds for name in ("policy", "program")]
    assert holds == [True, False]


def test_one_table_has_every_variant_next_to_the_printed_numbers():
    found = table(none=4.0, base=3.9)
    found[ModelKey("ptb", "none", 0, tuned=True)] = dict.fromkeys(MEASURES, 3.5)
    segments = {
        ModelKey("ptb", "none", seed): SegmentInformation(0.2 + seed / 10, (0.1, 0.5), (0.2, 0.3)) for seed in SEEDS
    }
    segments[ModelKey("ptb", "real", 0)] = SegmentInformation(1.0, (0.9, 1.1), (0.9, 1.0, 1.1))
    whole = measured_table("ptb", found, segments)
    assert [row.name for row in whole.rows] == ["Baseline", "BMI-base", "Baseline (ft.)", "Real text"]
    assert whole.columns == (*MEASURES.values(), "segment information (nats)")
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
    only = measured_table("ptb", {}, segments)
    assert only.columns == ("segment information (nats)",)


def test_one_folder_serves_the_tables_and_the_curves(tmp_path: Path):
    size = LANGUAGE_MODELS["smoke"]
    first = RECIPES["bmi-fig2"].outcome("smoke", runs=tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(written) == 3
    table = RECIPES["bmi-table2"].outcome("smoke", runs=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")} == written
    assert RECIPES["bmi-fig2"].outcome("smoke", runs=tmp_path).claims == first.claims
    stored = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("segment-information.json"))
    assert stored == [
        *(f"python/{variant}-seed-0/segment-information.json" for variant in ("base", "full", "none")),
        *stored[3:],
    ]
    assert stored[3:] == ["python/segment-information.json"]
    (tmp_path / stored[0]).write_text((tmp_path / stored[1]).read_text())  # stored results are loaded
    found = segment_informations(size, size.keys(0), tmp_path, 0, SILENT)
    assert found[ModelKey("python", "base", 0)] == found[ModelKey("python", "full", 0)]
    other = dataclasses.replace(size, generated=3_000)  # but not those of other settings
    segment_informations(other, size.keys(0), tmp_path, 0, SILENT)
    assert {json.loads((tmp_path / name).read_text())["settings"]["written"] for name in stored} == {3_000}
    assert table.claims


def test_fine_tuning_continues_the_first_stage_with_averaged_sgd(tmp_path: Path):
    size, key = LANGUAGE_MODELS["smoke"], ModelKey("python", "full", 0)
    (run,) = size.train([key], tmp_path, SILENT).values()
    tuned = key._replace(tuned=True)
    config = size.config(tuned, tmp_path)
    assert (config.init.name, config.init.run) == ("run", str(tmp_path / key.folder))
    assert (config.training.optimizer, config.bmi.name, config.bmi.switch_at) == ("asgd", "full", 1)
    (second,) = size.train([tuned], tmp_path, SILENT).values()
    assert second.validation_loss[-1] == pytest.approx(run.validation_loss.min(), rel=0.2)
    (reverse,) = reverse_perplexities(size, [tuned], tmp_path, 0, SILENT).values()
    assert np.isfinite(reverse.test_loss)


def test_the_control_is_the_full_regularizer_with_uniform_weights(tmp_path: Path):
    size = LANGUAGE_MODELS["laptop"]
    full, control = (size.config(ModelKey("wikitext-2", variant, 0), tmp_path) for variant in ("full", "uniform"))
    assert control == dataclasses.replace(full, bmi=dataclasses.replace(full.bmi, weights="uniform"))
    assert (full.bmi.weight, full.bmi.pairs, full.bmi.learning_rate) == (0.02, 10, 2e-4)
    tuned = size.config(ModelKey("ptb", "uniform", 0, tuned=True), tmp_path)
    assert (tuned.bmi.name, tuned.bmi.weights, tuned.bmi.switch_at) == ("full", "uniform", 1)
    assert {key.variant for key in size.keys(0)} == set(VARIANTS)


def test_the_table_reports_the_control(tmp_path: Path):
    outcome = RECIPES["bmi-table1"].outcome("smoke", runs=tmp_path)
    assert [row.name for row in outcome.tables[0].rows] == [
        *("Baseline", "BMI-base", "BMI-full", "Uniform control"),
        *("Baseline (ft.)", "BMI-base (ft.)", "BMI-full (ft.)", "Uniform control (ft.)"),
        "Real text",
    ]
    told = " ".join(claim.claim for claim in outcome.claims)
    assert "BMI-full has a lower test perplexity than the uniform control" in told
    assert "the uniform control has a lower test perplexity than BMI-base" in told


def amount_runs(**losses: tuple[float, ...]) -> text_amount.Runs:
    """Test losses by variant and seed with a tenth of the text; with all of it every variant has that of the baseline."""
    return {
        AmountKey("ptb", fraction, 0.2, variant, seed): dataclasses.replace(
            training(), loss=loss if fraction < 1 else losses["none"][seed]
        )
        for fraction in (0.1, 1.0)
        for variant, row in losses.items()
        for seed, loss in enumerate(row)
    }


def test_a_gain_is_in_percent_of_the_perplexity_and_counts_beyond_the_scatter_of_seeds():
    found = amount_runs(none=(5.0, 5.1, 5.2), base=(4.9, 5.01, 5.09), full=(4.9, 5.1, 5.25), uniform=(5.0, 5.1, 5.2))
    assert text_amount.gains("ptb", 0.1, "base", "none", found) == pytest.approx(
        100 * (1 - np.exp([-0.1, -0.09, -0.11]))
    )
    base, full, control = (
        text_amount.lower_test_perplexity("ptb", 0.1, variant, "none", found) for variant in ("base", "full", "uniform")
    )
    assert [claim.holds for claim in (base, full, control)] == [True, False, False]
    assert control.measured == 0
    more = [text_amount.larger_gain_of_less_text("ptb", variant, (0.1, 1.0), found) for variant in ("base", "full")]
    assert [claim.holds for claim in more] == [True, False]


def test_a_training_that_still_improves_is_not_long_enough():
    long, short = [4.0, 3.0, 2.9, 2.899], [4.0, 3.0, 2.9, 2.8]
    keys = [AmountKey("ptb", 0.1, 0.2, "none", seed) for seed in range(2)]
    for rows, holds in (((long, long), True), ((long, short), False)):
        runs = {key: validated(row, None) for key, row in zip(keys, rows, strict=True)}
        assert text_amount.trained_enough("ptb", runs).holds == holds


def test_the_dropout_is_that_of_the_best_baseline_by_validation():
    losses = {0.0: [4.0, 3.9, 4.2], 0.2: [4.0, 3.8, 3.85], 0.4: [4.0, 3.9, 3.85]}
    swept = {AmountKey("ptb", 0.1, each, "none", 0): validated(row, None) for each, row in losses.items()}
    assert text_amount.best_dropout(("ptb", 0.1), swept) == 0.2


@pytest.mark.realdata
def test_amounts_are_trained_with_the_weights_of_the_text_until_they_overfit(
    tmp_path: Path, realdata: Callable[[str], Path]
):
    realdata("wikitext-2/wiki.train.tokens")
    realdata("ptb/ptb.train.txt")
    config = amount_config("laptop", AmountKey("wikitext-2", 0.1, 0.4, "full", 3), 40, tmp_path)
    assert isinstance(config.task, WordText)
    assert (config.task.fraction, config.model.dropout, config.seed) == (0.1, 0.4, 3)
    assert (config.bmi.weight, config.bmi.pairs, config.bmi.switch_at) == (0.02, 10, None)
    assert (config.training.optimizer, config.training.updates) == ("nt-asgd", 40 * config.training.validate_every)
    assert config.training.patience is not None
    assert config.training.patience > config.training.nonmonotone
    paper = amount_config("paper", AmountKey("ptb", 0.1, 0.5, "uniform", 0), 1_000, tmp_path)
    assert (paper.model.dropouts, paper.bmi.weights) == (0.5, "uniform")


def test_amounts_are_resumed_from_their_folder(tmp_path: Path):
    first = RECIPES["bmi-amount"].outcome("smoke", runs=tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(written) == 2 * (2 + 4 * 2 - 1)  # both dropouts of the baseline, and the variants with the better one
    (next(iter(written))).unlink()
    again = RECIPES["bmi-amount"].outcome("smoke", runs=tmp_path)
    assert again.claims == first.claims
    assert len(again.figures[0].lines) == 4


SENTENCE = "it is so"


def test_lines_of_one_sentence_are_consecutive_sentences_and_paragraphs_are_not():
    sentences = TextLines.of("\n".join([SENTENCE] * 10))
    assert (sentences.consecutive, sentences.adjacent, sentences.dropped) == (1.0, 1.0, 0.0)
    assert [claim.holds for claim in sentence_claims(sentences, "a text")] == [True]
    assert not all(claim.holds for claim in paragraph_claims(sentences, "a text"))
    paragraph = " . ".join([SENTENCE] * 20) + " ."
    paragraphs = TextLines.of("\n\n".join(["= A =", paragraph, paragraph] * 5))
    assert paragraphs.sentences.tolist() == [1, 20, 20] * 5
    assert paragraphs.headings.tolist() == [True, False, False] * 5
    assert paragraphs.dropped == pytest.approx(10 * (80 - 39) / (5 * 3 + 10 * 80))
    assert paragraphs.adjacent == pytest.approx(5 / 14)  # after a heading only
    assert all(claim.holds for claim in paragraph_claims(paragraphs, "a text"))
    assert [claim.holds for claim in sentence_claims(paragraphs, "a text")] == [False]


def test_claims_about_artificial_lines_say_so():
    claims = RECIPES["errata-17"].outcome("smoke").claims
    assert len(claims) == 7
    assert all("artificial" in claim.claim or "split into sentences" in claim.claim for claim in claims)
    assert not any("Treebank" in claim.claim or "WikiText" in claim.claim for claim in claims)
