"""What networks write, judged: laws of known curves, claims that hold for one outcome and fail for another."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.figures import training_examples

from memspan.errors import InputError
from memspan.information import log_lags, mutual_information
from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.shen2019 import binary_depth, binary_rnn, binary_transformer, gpt2, text_sizes
from memspan.reproductions.shen2019.binary import SIZES
from memspan.reproductions.shen2019.decay import Laws, Length, ratio_claim, settled, share_claim
from memspan.reproductions.shen2019.generated import Generated, Network, share
from memspan.reproductions.shen2019.generated_charts import length_line
from memspan.reproductions.shen2019.ratios import times_information
from memspan.results import Claim, Curve, TrainingRun
from memspan.sequences.sources import MarkovChain, PowerLawBinary


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
def chain() -> Laws:
    return Laws.of(curve_of(sticky(0.95)), above=1e-3)


@pytest.fixture(scope="module")
def scaleless() -> Laws:
    return Laws.of(curve_of(PowerLawBinary(0.1, 0.4)), above=1e-3)


def test_a_chain_forgets_exponentially_with_the_length_of_its_second_eigenvalue(chain: Laws):
    assert chain.tail_share > 0.99
    assert chain.length == pytest.approx(length_of(0.95), rel=0.15)  # shorter: near lags are not small yet
    low, high = chain.interval
    assert low < chain.length < high


def test_what_has_no_scale_does_not(scaleless: Laws):
    assert scaleless.exponential_share < 0.01
    assert scaleless.tail_share < 0.01
    assert scaleless.all is not None
    assert "power" in scaleless.all.best


def test_the_correlation_length_of_the_published_data_is_the_published_one():
    lags = np.arange(1, 501)
    curve = mutual_information(PowerLawBinary(0.1, 0.4).sample(60, 600, seed=0), lags)
    exact = dataclasses.replace(curve, corrected=0.1 * lags**-0.4, p_value=np.zeros(500))
    rising = dataclasses.replace(exact, corrected=0.1 + lags / 1e4)
    halved = dataclasses.replace(exact, corrected=0.1 * np.exp(-lags / 50))
    lengths = [Length.of(each, above=1e-3) for each in (exact, halved, rising)]
    values = [None if length is None else length.value for length in lengths]
    assert values == [pytest.approx(420, rel=0.01), pytest.approx(50), None]  # Shen 2019, section 4.2.1: 420


def test_where_nothing_is_shared_there_is_no_law_and_no_claim_holds():
    coins = Laws.of(curve_of(sticky(0.5), documents=20), above=1e-3)
    assert math.isnan(coins.length)
    assert math.isnan(coins.exponential_share)
    assert "too few lags" in str(coins)
    nothing = share_claim("It forgets exponentially.", coins.exponential_share, "exponential's")
    assert (nothing.measured, nothing.holds) == (None, False)
    assert not ratio_claim("It is shorter.", coins.length / 3, most=1.0).holds
    something = Claim("Something.", None, None, 1.0, None, True)
    assert settled(something) == something
    assert length_line("coins", {4: coins}).x.size == 0


def wrote(network: Network, laws: Laws, curve: Curve | None = None) -> Generated:
    return Generated(network, training(), curve or curve_of(sticky(0.9), documents=60), laws, "0110")


def found_of(networks: list[Network], laws: Laws, **others: Laws) -> dict[Network, Generated]:
    return {
        network: wrote(network, others.get(f"{network.cell}{network.label}", laws)) for network in networks
    }


def test_rnns_forget_exponentially_only_if_what_they_write_does(chain: Laws, scaleless: Laws):
    networks = binary_rnn._NETWORKS["smoke"]
    everyone = [*networks.of("rnn"), *networks.of("lstm")]
    for laws, holds in ((chain, True), (scaleless, False)):
        claims = binary_rnn._exponential(networks, found_of(everyone, laws))
        assert [claim.holds for claim in claims if "beyond" in claim.claim] == [holds] * 3


def test_lengths_grow_with_the_width_and_the_depth_or_do_not(chain: Laws):
    longer = Laws.of(curve_of(sticky(0.98)), above=1e-3)
    networks = binary_rnn._NETWORKS["smoke"]
    everyone = [*networks.of("rnn"), *networks.of("lstm")]
    grows = found_of(everyone, chain, rnn8=longer, lstm8=longer, rnn8x2=longer, lstm8x2=longer)
    wider = binary_rnn._widths(networks, grows, longer)
    assert [claim.holds for claim in wider] == [True, True, False, False]
    assert wider[0].measured == pytest.approx(longer.length / chain.length)
    assert [claim.holds for claim in binary_rnn._depths(networks, grows)] == [False, False]
    deeper = found_of(everyone, chain, rnn8x2=longer, lstm8x2=longer)
    assert [claim.holds for claim in binary_rnn._depths(networks, deeper)] == [True, True]
    assert not binary_depth._deeper(found_of(_lstms(), chain, lstm4x3=longer), 4, (1, 2, 3)).holds
    assert binary_depth._deeper(found_of(_lstms(), chain), 4, (1, 2, 3)).holds


def _lstms() -> list[Network]:
    return [Network("lstm", 4, depth) for depth in (1, 2, 3)]


def test_a_transformer_has_the_magnitude_of_the_data_or_has_not(scaleless: Laws):
    network = Network("transformer", 16)
    right = wrote(network, scaleless, curve_of(PowerLawBinary(0.1, 0.4)))
    wrong = wrote(network, scaleless, curve_of(PowerLawBinary(0.05, 0.4)))
    assert [binary_transformer._magnitude(each).holds for each in (right, wrong)] == [True, False]
    assert binary_transformer._magnitude(wrong).measured == pytest.approx(0.5, rel=0.1)
    forgets = wrote(network, scaleless, curve_of(sticky(0.8)))
    assert not binary_transformer._magnitude(forgets).holds  # right near, and nothing is left far away


def test_the_published_parameter_counts_are_those_that_are_trained():
    from memspan.training.building import build_model

    counts = {
        (cell, width): build_model(SIZES["laptop"].config(Network(cell, width), 0)).parameter_count()
        for cell, width in (("lstm", 4), ("rnn", 32))
    }
    assert counts == {("lstm", 4): 126, ("rnn", 32): 1190}  # Shen 2019, appendix E.1.1


def test_samples_of_a_model_are_told_apart_by_the_lines_between_them():
    text = "======== SAMPLE 1 ========\nIt was\n======== SAMPLE 2 ========\n= = a title = =\n\n"
    found = gpt2.parted(text)
    assert found.n_documents == 2
    assert found.beginning() == "It was"


def test_without_samples_and_model_it_says_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="put text files into MEMSPAN_DATA/gpt-2-samples, or a folder"):
        RECIPES["shen-fig3d"].outcome("laptop", 0, SILENT)
    (tmp_path / "gpt-2-samples").mkdir()
    chain = sticky(0.95).sample(60, 400, seed=0)
    text = "".join(
        f"== SAMPLE 1 ==\n{''.join('ab'[code] for code in d.tolist())}\n" for d in chain.documents()
    )
    (tmp_path / "gpt-2-samples" / "large.txt").write_text(text)
    outcome = RECIPES["shen-fig3d"].outcome("laptop", 0, SILENT)
    (claim,) = outcome.claims
    assert claim.claim.startswith("What GPT-2 (large) writes")
    assert not claim.holds
    assert "memspan data get wikitext-2" in outcome.notes[-1]


def test_the_text_that_networks_are_set_beside_is_the_one_they_read():
    size = text_sizes.SIZES["smoke"]
    characters, _ = size.measured("lstm", "characters", 0, SILENT)
    words, _ = size.measured("lstm", "words", 0, SILENT)
    assert characters.documents == words.documents == size.plans["lstm", "words"].streams
    assert words.entropy != pytest.approx(characters.entropy, abs=0.05)  # rare words are <unk>


def test_the_share_of_the_data_is_one_for_the_data_themselves():
    assert math.isnan(share(curve_of(sticky(0.9), 20), np.ones(1), np.zeros(1, dtype=bool)))
    data, less = curve_of(PowerLawBinary(0.1, 0.4)), curve_of(PowerLawBinary(0.05, 0.4))
    assert times_information(data, data, (1, 10)).value == 1
    half = times_information(less, data, (1, 10))
    assert half.value == pytest.approx(0.5, rel=0.1)
    assert half.interval[0] < 0.5 < half.interval[1]
    assert math.isnan(times_information(data, data, (300, 400)).value)
