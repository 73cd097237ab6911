"""Decay of known curves, ratios with their errors, and claims about networks trained on binary sequences."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.presentation import training_examples

from memspan.errors import InputError
from memspan.information import log_lags, mutual_information
from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.claims import claim
from memspan.reproductions.shen2019 import binary, gpt2
from memspan.reproductions.shen2019.decay import (
    UNKNOWN,
    CorrelationLength,
    CurveDecay,
    Ratio,
    information_ratio,
    largest,
    law_claim,
    length_ratio,
    mean_ratio,
    ratio_claim,
    total_ratio,
)
from memspan.reproductions.shen2019.generated import Generated, length_line
from memspan.reproductions.shen2019.sizes import BINARY, TEXT_LSTM, Architecture, ArchitectureGrid
from memspan.reproductions.shen2019.text import measured_text
from memspan.results import Claim, Curve, TrainingRun
from memspan.sequences.sources import Independent, MarkovChain, PowerLawBinary

GRID = ArchitectureGrid(("rnn", "lstm"), (4, 8), (1, 2), deep=8)
LAGS = np.arange(1, 21)
SEEDS = 40


def training(cell: str = "lstm", loss: float = 1.0) -> TrainingRun:
    return dataclasses.replace(training_examples.training(), cell=cell, loss=loss)


def curve_of(source: MarkovChain | PowerLawBinary, documents: int = 400) -> Curve:
    return mutual_information(source.sample(documents, 400, seed=1), log_lags(1, 200))


def sticky(stay: float) -> MarkovChain:
    """Two symbols; the information falls as (2 stay - 1)^(2 tau) once it is small."""
    return MarkovChain(np.array([[stay, 1 - stay], [1 - stay, stay]]))


def length_of(stay: float) -> float:
    return -1 / (2 * math.log(2 * stay - 1))


@pytest.fixture(scope="module")
def chain() -> CurveDecay:
    return CurveDecay.of(curve_of(sticky(0.95)), above=1e-3)


@pytest.fixture(scope="module")
def scaleless() -> CurveDecay:
    return CurveDecay.of(curve_of(PowerLawBinary(0.1, 0.4)), above=1e-3)


def test_a_chain_forgets_exponentially_with_the_length_of_its_second_eigenvalue(chain: CurveDecay):
    assert chain.tail_weight > 0.99
    assert chain.length == pytest.approx(length_of(0.95), rel=0.15)  # shorter: near lags are not small yet
    low, high = chain.interval
    assert low < chain.length < high


def test_what_has_no_scale_does_not(scaleless: CurveDecay):
    assert scaleless.exponential_weight < 0.01
    assert scaleless.tail_weight < 0.01
    assert scaleless.all is not None
    assert "power" in scaleless.all.best


def test_the_correlation_length_of_the_published_data_is_the_published_one():
    lags = np.arange(1, 501)
    curve = mutual_information(PowerLawBinary(0.1, 0.4).sample(60, 600, seed=0), lags)
    exact = dataclasses.replace(curve, corrected=0.1 * lags**-0.4, p_value=np.zeros(500))
    rising = dataclasses.replace(exact, corrected=0.1 + lags / 1e4)
    halved = dataclasses.replace(exact, corrected=0.1 * np.exp(-lags / 50))
    lengths = [CorrelationLength.of(each, above=1e-3) for each in (exact, halved, rising)]
    values = [None if length is None else length.value for length in lengths]
    assert values == [pytest.approx(420, rel=0.01), pytest.approx(50), None]  # Shen 2019, section 4.2.1: 420


def test_where_nothing_is_shared_there_is_no_law_and_no_claim_holds():
    coins = CurveDecay.of(curve_of(sticky(0.5), documents=20), above=1e-3)
    assert math.isnan(coins.length)
    assert math.isnan(coins.exponential_weight)
    assert "too few lags" in str(coins)
    nothing = law_claim("It decays exponentially.", coins.exponential_weight, "exponential")
    assert (nothing.measured, nothing.holds) == (None, False)
    assert not claim("It is shorter.").between(coins.length / 3, most=1.0).holds
    assert claim("Something.").between(1.0) == Claim("Something.", None, None, 1.0, None, True)
    assert length_line("coins", {4: coins}).x.size == 0


def generated(network: Architecture, laws: CurveDecay, curve: Curve | None = None) -> Generated:
    return Generated(network, training(), curve or curve_of(sticky(0.9), documents=60), laws, "0110")


def found_of(networks: list[Architecture], laws: CurveDecay, **others: CurveDecay) -> dict[Architecture, Generated]:
    return {network: generated(network, others.get(f"{network.cell}{network.label}", laws)) for network in networks}


def test_rnns_decay_exponentially_only_if_what_they_generate_does(chain: CurveDecay, scaleless: CurveDecay):
    for laws, holds in ((chain, True), (scaleless, False)):
        claims = binary.exponential_claims(GRID, found_of(list(GRID.architectures), laws))
        assert [claim.holds for claim in claims if "beyond" in claim.claim] == [holds] * 3


def test_lengths_grow_with_the_width_and_the_depth_or_do_not(chain: CurveDecay):
    longer = CurveDecay.of(curve_of(sticky(0.98)), above=1e-3)
    grows = found_of(list(GRID.architectures), chain, rnn8=longer, lstm8=longer, rnn8x2=longer, lstm8x2=longer)
    wider = binary.width_claims(GRID, grows, longer)
    assert [claim.holds for claim in wider] == [True, True, False, False]
    assert wider[0].measured == pytest.approx(longer.length / chain.length)
    assert [claim.holds for claim in binary.depth_claims(GRID, grows)] == [False, False]
    deeper = found_of(list(GRID.architectures), chain, rnn8x2=longer, lstm8x2=longer)
    assert [claim.holds for claim in binary.depth_claims(GRID, deeper)] == [True, True]
    assert not binary.deeper_claim(found_of(_lstms(), chain, lstm4x3=longer), 4, (1, 2, 3)).holds
    assert binary.deeper_claim(found_of(_lstms(), chain), 4, (1, 2, 3)).holds


def _lstms() -> list[Architecture]:
    return [Architecture("lstm", 4, depth) for depth in (1, 2, 3)]


def test_a_transformer_has_the_magnitude_of_the_data_or_has_not(scaleless: CurveDecay):
    network = Architecture("transformer", 16)
    right = generated(network, scaleless, curve_of(PowerLawBinary(0.1, 0.4)))
    wrong = generated(network, scaleless, curve_of(PowerLawBinary(0.05, 0.4)))
    assert [binary.magnitude_claim(each).holds for each in (right, wrong)] == [True, False]
    assert binary.magnitude_claim(wrong).measured == pytest.approx(0.5, rel=0.1)
    forgets = generated(network, scaleless, curve_of(sticky(0.8)))
    assert not binary.magnitude_claim(forgets).holds  # right near, and nothing is left far away


def test_the_published_parameter_counts_are_those_that_are_trained():
    from memspan.training.supervised.build import build_model

    counts = {
        (cell, width): build_model(
            binary.binary_config(BINARY["laptop"], Architecture(cell, width), 0)
        ).parameter_count()
        for cell, width in (("lstm", 4), ("rnn", 32))
    }
    assert counts == {("lstm", 4): 126, ("rnn", 32): 1190}  # Shen 2019, appendix E.1.1


def test_samples_of_a_model_are_told_apart_by_the_lines_between_them():
    text = "======== SAMPLE 1 ========\nIt was\n======== SAMPLE 2 ========\n= = a title = =\n\n"
    found = gpt2.split_samples(text)
    assert found.n_documents == 2
    assert found.beginning() == "It was"


def test_without_samples_and_model_it_says_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="put text files into MEMSPAN_DATA/gpt-2-samples, or a folder"):
        RECIPES["shen-fig3d"].outcome("laptop", 0, SILENT)
    (tmp_path / "gpt-2-samples").mkdir()
    chain = sticky(0.95).sample(60, 400, seed=0)
    text = "".join(f"== SAMPLE 1 ==\n{''.join('ab'[code] for code in d.tolist())}\n" for d in chain.documents())
    (tmp_path / "gpt-2-samples" / "large.txt").write_text(text)
    outcome = RECIPES["shen-fig3d"].outcome("laptop", 0, SILENT)
    (found,) = outcome.claims
    assert found.claim.startswith("What GPT-2 (large) generates")
    assert not found.holds
    assert "memspan data get wikitext-2" in outcome.notes[-1]


@pytest.mark.realdata
def test_the_user_may_name_the_model_that_generates(realdata, monkeypatch):
    model = realdata("models/stories260K/config.json").parent
    monkeypatch.setattr(gpt2, "SAMPLES", "no samples")
    sizes = {"texts": 6, "tokens": 150, "model": str(model)}
    outcome = RECIPES["shen-fig3d"].with_sizes("laptop", sizes).outcome("laptop", 0, SILENT)
    assert {claim.claim.split(" generates")[0] for claim in outcome.claims} == {"What stories260K"}
    assert outcome.figures[0].lines[0].label == "stories260K"


def test_the_text_that_networks_are_set_beside_is_the_one_they_read():
    size = TEXT_LSTM["smoke"]
    characters = measured_text(size, "characters", 0, SILENT)
    words = measured_text(size, "words", 0, SILENT)
    assert characters.documents == words.documents == size.plans["words"].streams
    assert words.entropy != pytest.approx(characters.entropy, abs=0.05)  # rare words are <unk>


def test_the_share_of_the_data_is_one_for_the_data_themselves():
    assert math.isnan(mean_ratio(curve_of(sticky(0.9), 20), np.ones(1), np.zeros(1, dtype=bool)))
    data, less = curve_of(PowerLawBinary(0.1, 0.4)), curve_of(PowerLawBinary(0.05, 0.4))
    assert information_ratio(data, data, (1, 10)).value == 1
    half = information_ratio(less, data, (1, 10))
    assert half.value == pytest.approx(0.5, rel=0.1)
    assert half.interval[0] < 0.5 < half.interval[1]
    assert math.isnan(information_ratio(data, data, (300, 400)).value)


def test_a_text_without_dependence_has_no_share_of_the_total_and_the_interval_shows_it():
    data, nothing = curve_of(PowerLawBinary(0.1, 0.4)), curve_of(sticky(0.5))
    assert total_ratio(data, data, (1, 10)).value == 1
    none = total_ratio(nothing, data, (5, 60))
    assert abs(none.value) < 0.05
    assert none.interval[0] < 0.01
    assert none.interval[1] < 0.2
    half = total_ratio(curve_of(PowerLawBinary(0.05, 0.4)), data, (1, 10))
    assert half.interval[0] < 0.5 < half.interval[1] < 0.6
    assert math.isnan(total_ratio(data, data, (300, 400)).value)


def decay_of(value: float, low: float, high: float) -> CurveDecay:
    return CurveDecay(None, None, CorrelationLength(value, (low, high)))


def test_the_interval_of_a_ratio_covers_the_truth_as_often_as_it_says():
    source = PowerLawBinary(0.1, 0.4)
    curves = [mutual_information(source.sample(100, 500, seed=seed), LAGS, seed=seed) for seed in range(SEEDS)]
    pairs = zip(curves[::2], curves[1::2], strict=True)
    found = [information_ratio(one, other, (1, 20)).interval for one, other in pairs]
    assert sum(low < 1 < high for low, high in found) >= 17  # of 20; 95 % are 19, and 16 or fewer come once in 60


def test_where_nothing_is_above_the_floor_an_interval_is_wide():
    source = PowerLawBinary(0.1, 0.4)
    read = mutual_information(source.sample(100, 500, seed=0), LAGS)
    blank = mutual_information(Independent(np.array([0.5, 0.5])).sample(100, 500, seed=0), LAGS)
    much, nothing = (information_ratio(curve, read, (1, 20)).interval for curve in (read, blank))
    assert math.log(nothing[1] / nothing[0]) > math.log(much[1] / much[0])
    assert nothing[1] < 0.5


def test_errors_of_both_lengths_count():
    exact, rough = decay_of(10, 9.99, 10.01), decay_of(5, 4, 6.5)
    one, both = length_ratio(rough, exact), length_ratio(rough, rough)
    assert (one.value, both.value) == (0.5, 1.0)
    assert one.interval == pytest.approx((0.4, 0.65), rel=1e-2)
    assert both.interval[0] < 0.8
    assert both.interval[1] > 1.3
    assert length_ratio(rough, decay_of(10, 5, math.inf)).interval[0] == 0
    assert math.isnan(length_ratio(rough, CurveDecay(None, None, None)).value)


def test_a_claim_holds_if_all_of_its_interval_does():
    near = Ratio(1.1, (0.9, 1.3))
    assert not ratio_claim("It is longer.", near, least=1.0).holds
    assert ratio_claim("It is alike.", near, least=2 / 3, most=1.5).holds
    assert not ratio_claim("It is not longer.", near, most=1.2).holds
    nothing = ratio_claim("It is short.", UNKNOWN, most=1.0)
    assert (nothing.measured, nothing.holds) == (None, False)
    assert largest([UNKNOWN, near, Ratio(0.5, (0.4, 2.0))]) == near
    assert largest([UNKNOWN]) is UNKNOWN
