"""Claims about networks trained on WikiText-2, from artificial curves: each holds for one outcome, not for another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.presentation.training_examples import training

from memspan.information import log_lags, mutual_information
from memspan.reproductions import RECIPES
from memspan.reproductions.shen2019 import text_lstm, text_transformer
from memspan.reproductions.shen2019.decay import CorrelationLength, CurveDecay, exponential_between, power_between
from memspan.reproductions.shen2019.generated import Generated
from memspan.reproductions.shen2019.sizes import KINDS, TEXT_LSTM, TEXT_TRANSFORMER, Architecture, Kind, TextPlan
from memspan.reproductions.shen2019.text import ABOVE, KindResults, TextResults, text_config
from memspan.results import Claim, Curve
from memspan.sequences.sources import Independent
from memspan.tasks.text import TextTask
from memspan.training.supervised.config import TrainingConfig

Values = NDArray[np.float64]
Shape = Callable[[Values], Values]
LAGS = np.union1d(np.arange(1, 61), log_lags(1, 1_000))
FLOOR = 1e-3
EXACT, ROUGH = 1e-3, 0.3
"""What leaving out a block changes, as a share."""
NONE: Mapping[str, Shape] = {}
SIZES = {"lstm": TEXT_LSTM, "transformer": TEXT_TRANSFORMER}
COINS = Independent(np.array([0.5, 0.5])).sample(60, 1_200, seed=0)


def text(lags: Values) -> Values:
    """Near by letters of a word, far away a power law, as in WikiText-2."""
    return 0.5 * np.exp(-lags / 2) + 0.02 * lags**-0.6


def near(times: float) -> Shape:
    """So many times the text within words, the text itself beyond."""
    return lambda lags: np.where(lags <= 10, times, 1.0) * text(lags)


def times(number: float) -> Shape:
    return lambda lags: number * text(lags)


def ends(lags: Values) -> Values:
    """The text within words; from there on an exponential of it."""
    return text(lags) * np.exp(-np.maximum(lags - 10, 0) / 8)


def straight(amplitude: float, length: float) -> Shape:
    return lambda lags: amplitude * np.exp(-lags / length)


def power(exponent: float) -> Shape:
    """As the text within sentences; beyond, a power of the distance."""
    return lambda lags: np.where(lags < 50, text(lags), text(np.array(50.0)) * (lags / 50) ** -exponent)


@pytest.fixture(scope="module")
def blank() -> Curve:
    return mutual_information(COINS, LAGS)


def drawn(blank: Curve, shape: Shape, constant: float = FLOOR, error: float = EXACT) -> Curve:
    """A curve of this corrected information, known to such an error; on top is a constant, of which the floor is known."""
    values = shape(LAGS.astype(np.float64))
    noise = error * values * np.random.default_rng(0).standard_normal(blank.replicates.shape)
    full = np.full(len(LAGS), FLOOR)
    return dataclasses.replace(
        blank,
        corrected=values,
        information=values + constant,
        floor=full,
        floor_sd=full / 1e4,
        stderr=error * values,
        replicates=noise,
        p_value=np.where(values > 1e-7, 0.0, 1.0),
    )


def length(curve: Curve) -> CurveDecay:
    """The correlation length, and no laws, which no claim is about."""
    return CurveDecay(None, None, CorrelationLength.of(curve, ABOVE))


@dataclasses.dataclass(frozen=True)
class Results:
    """What every network generated, except `others` by kind and label."""

    blank: Curve
    cell: str
    scale: str = "laptop"
    error: float = EXACT

    def __call__(self, every: Shape, others: Mapping[str, Shape] = NONE) -> TextResults:
        plans = SIZES[self.cell][self.scale].plans
        return TextResults(self.cell, {kind: self._kind(kind, plan, every, others) for kind, plan in plans.items()})

    def _kind(self, kind: Kind, plan: TextPlan, every: Shape, others: Mapping[str, Shape]) -> KindResults:
        found = {
            network: self._one(network, others.get(f"{kind} {network.label}", every))
            for network in plan.grid.architectures
        }
        read = drawn(self.blank, text)
        return KindResults(plan, found, read, length(read))

    def _one(self, network: Architecture, shape: Shape) -> Generated:
        curve = drawn(self.blank, shape, error=self.error)
        return Generated(network, training(), curve, length(curve), "It was")


def held(claims: list[Claim], words: str) -> list[bool]:
    """Of the claims that say so."""
    found = [claim.holds for claim in claims if words in claim.claim]
    assert found, words
    return found


def widths(cell: str, kind: Kind, scale: str = "laptop") -> tuple[int, ...]:
    return SIZES[cell][scale].plans[kind].grid.widths


def test_laws_are_told_apart_between_two_distances(blank: Curve):
    both = drawn(blank, lambda lags: np.where(lags < 50, np.exp(-lags / 10), np.exp(-5) * (lags / 50) ** -0.7))
    assert exponential_between(both, (10, 49)) > 0.99
    assert exponential_between(both, (50, 1_000)) < 0.01
    law = power_between(both, (50, 1_000))
    assert law is not None
    assert law.parameters["exponent"] == pytest.approx(0.7, rel=1e-3)
    assert power_between(both, (50, 52)) is None


@pytest.mark.parametrize(("shape", "holds"), [(ends, True), (text, False)])
def test_what_lstms_trained_on_characters_generate_ends_within_sentences_or_does_not(
    blank: Curve, shape: Shape, holds: bool
):
    claims = text_lstm.character_claims(Results(blank, "lstm")(shape))
    assert set(held(claims, "no power law is left there")) == {holds}
    assert held(claims, "follows an exponential rather than a power law at lags 10 to 50") == [holds]


def test_lstms_trained_on_characters_spell_or_have_too_much_or_too_little(blank: Curve):
    results = Results(blank, "lstm")
    for number, spells, too_much in ((1.2, True, True), (0.9, True, False), (2.0, False, True)):
        claims = text_lstm.character_claims(results(near(number)))
        assert set(held(claims, "has the information of the text at lags 1 to 10")) == {spells}
        assert held(claims, "(the paper: 1,024 and 2,048) has more information than the text") == [too_much]


def test_the_paper_says_which_lstms_have_too_much_and_which_a_power_law(blank: Curve):
    results = Results(blank, "lstm", "paper")(times(2.0))
    too_much = [claim for claim in text_lstm.character_claims(results) if "has more information than" in claim.claim]
    assert [claim.claim.split()[3] for claim in too_much] == ["1,024", "2,048"]
    twice = [claim for claim in text_lstm.word_claims(results) if "about twice" in claim.claim]
    assert [(claim.claim.split()[3], claim.paper, claim.holds) for claim in twice] == [("2,048", 2.0, True)]
    assert not any("the paper:" in claim.claim for claim in (*too_much, *twice))


def test_what_lstms_trained_on_words_generate_has_a_tail_or_has_none(blank: Curve):
    results = Results(blank, "lstm")
    tail, middle = "at least half of the text's information at lags 50 to 150", "at lags 10 to 50"
    assert held(text_lstm.word_claims(results(times(2.0))), tail) == [True]
    assert held(text_lstm.word_claims(results(ends)), tail) == [False]
    assert set(held(text_lstm.word_claims(results(text)), middle)) == {True}
    assert set(held(text_lstm.word_claims(results(ends)), middle)) == {False}
    assert held(text_lstm.word_claims(results(text)), "about twice") == [False]


@pytest.mark.parametrize("kind", KINDS)
def test_the_constant_far_away_is_the_floor_or_is_not(blank: Curve, kind: Kind):
    results = Results(blank, "lstm")(ends)
    constant, floor = text_lstm.constant_claims(results, kind)
    assert (constant.holds, floor.holds) == (True, True)
    assert (constant.measured, floor.measured) == (pytest.approx(FLOOR), pytest.approx(1.0))
    kind_results = results.kinds[kind]
    network, one = next(iter(kind_results.found.items()))
    for level, holds in ((2 * FLOOR, (True, False)), (-FLOOR, (False, False))):
        other = dataclasses.replace(one, curve=drawn(blank, ends, level))
        found = dataclasses.replace(kind_results, found={**kind_results.found, network: other})
        claims = text_lstm.constant_claims(TextResults("lstm", {kind: found}), kind)
        assert tuple(claim.holds for claim in claims) == holds
    falls = dataclasses.replace(one, curve=drawn(blank, straight(1.0, 300)))
    found = dataclasses.replace(kind_results, found={**kind_results.found, network: falls})
    assert not text_lstm.constant_claims(TextResults("lstm", {kind: found}), kind)[0].holds


def test_lengths_of_lstms_by_width_and_depth_hold_or_fail(blank: Curve):
    results, narrow = Results(blank, "lstm"), f"words {widths('lstm', 'words')[0]}"
    short = text_lstm.length_claims(results(straight(0.5, 2), {narrow: text}))
    assert held(short, "do not reach lags within sentences") == [True]
    assert held(short, "trained on words does") == [True]
    assert set(held(short, "do not help an LSTM")) == {True}
    widest = f"characters {widths('lstm', 'characters')[-1]}"
    long = text_lstm.length_claims(results(straight(0.5, 2), {widest: straight(0.5, 30)}))
    assert held(long, "do not reach lags within sentences") == [False]
    assert held(long, "trained on words does") == [False]


@pytest.mark.parametrize("cell", ["lstm", "transformer"])
def test_every_depth_is_looked_at(blank: Curve, cell: str):
    results = Results(blank, cell, "paper")
    deep = [f"{kind} {SIZES[cell]['paper'].plans[kind].grid.deep}x5" for kind in KINDS]
    lengths = text_lstm.length_claims if cell == "lstm" else text_transformer.length_claims
    alike, helped = (lengths(results(straight(0.5, 2), one)) for one in (NONE, dict.fromkeys(deep, text)))
    words = "do not help an LSTM" if cell == "lstm" else "is closer to the text's"
    assert set(held(alike, words)) == {cell == "lstm"}
    assert set(held(helped, words)) == {cell != "lstm"}


def test_at_paper_scale_a_very_wide_lstm_reaches_sentences_or_does_not(blank: Curve):
    results = Results(blank, "lstm", "paper")
    for shape, holds in ((text, True), (straight(0.5, 2), False)):
        claims = text_lstm.length_claims(results(straight(0.5, 2), {"characters 2048": shape}))
        assert held(claims, "An LSTM of 2,048 units trained on characters does") == [holds]
        assert held(claims, "LSTMs of up to 1,024 units trained on characters do not reach") == [True]


def test_one_layer_trained_on_characters_has_too_heavy_a_tail_or_has_not(blank: Curve):
    results = Results(blank, "transformer")
    for shape, more, sentences in ((times(1.3), True, True), (times(0.7), False, True), (ends, False, False)):
        claims = text_transformer.character_claims(results(shape))
        assert held(claims, "has more information than the text") == [more]
        assert held(claims, "at lags 10 to 50") == [sentences]
        assert held(claims, "at lags 1 to 10") == [True]
    assert all("(the paper: 512)" in claim.claim for claim in claims)
    paper = text_transformer.character_claims(Results(blank, "transformer", "paper")(text))
    assert all("one layer of 512 units trained on" in claim.claim for claim in paper)


def test_tails_of_words_are_claimed_of_several_layers_only_and_need_another_exponent(blank: Curve):
    results = Results(blank, "transformer", "paper")
    for exponent, apart in ((0.3, True), (0.6, False), (1.2, True)):
        claims = text_transformer.word_claims(results(power(exponent)))
        assert held(claims, "at least half of the text's information") == [True, True]
        assert held(claims, "with a different exponent") == [apart, apart]
    layers = [claim.claim for claim in claims if "layers" in claim.claim]
    assert ["3 layers of 512 units trained on" in claim for claim in layers] == [True, True, False, False]
    assert ["5 layers of 512 units trained on" in claim for claim in layers] == [False, False, True, True]
    falls = text_transformer.word_claims(results(ends))
    assert held(falls, "at least half of the text's information") == [False, False]
    small = f"Even a Transformer of one layer of {widths('transformer', 'words', 'paper')[0]} units"
    assert held(falls, small) == [True, False]  # within words, within sentences
    assert held(claims, small) == [True, True]


def test_a_long_correlation_length_of_almost_no_information_is_reported(blank: Curve):
    results = Results(blank, "transformer")
    narrow = f"characters {widths('transformer', 'characters')[0]}"
    for shape, longer, little in (
        (straight(0.02, 40), True, True),
        (straight(0.5, 40), True, False),
        (times(0.4), False, True),
    ):
        claims = text_transformer.length_claims(results(text, {narrow: shape}))
        assert held(claims, "has a longer correlation length than the text") == [longer]
        assert held(claims, "nevertheless has much less information than the text") == [little]
        assert held(claims, "reaches lags within sentences") == [True]
    claims = text_transformer.length_claims(results(straight(0.5, 2)))
    assert held(claims, "reaches lags within sentences") == [False]


def test_nothing_holds_that_noise_could_have_made(blank: Curve):
    for error, holds in ((EXACT, True), (ROUGH, False)):
        lstm, transformer = Results(blank, "lstm", error=error), Results(blank, "transformer", error=error)
        assert held(text_lstm.character_claims(lstm(near(1.05))), "(the paper: 1,024 and 2,048) has more") == [holds]
        assert held(text_lstm.word_claims(lstm(times(1.6))), "about twice") == [holds]
        assert set(held(text_lstm.length_claims(lstm(text)), "do not help an LSTM")) == {holds}
        assert held(text_transformer.character_claims(transformer(times(1.05))), "has more information") == [holds]


@pytest.mark.parametrize(
    ("one", "other", "beyond"),
    [
        ((11, 10.5, 11.5), (20, 19, 21), True),
        ((9, 8.8, 9.2), (20, 19, 21), True),
        ((11, 5, 24), (20, 19, 21), False),  # one is not known well enough
        ((20, 19, 21), (11, 10.5, 11.5), False),
        ((8, 7.8, 8.2), (12.6, 12.4, 12.8), False),  # they lie on two sides of the text's, whose own error decides
    ],
)
def test_a_length_is_nearer_to_the_texts_beyond_the_error_of_all_three(one, other, beyond: bool):
    own, beside, read = (
        CurveDecay(None, None, CorrelationLength(value, (low, high)))
        for value, low, high in (one, other, (10, 9.5, 10.5))
    )
    assert (text_transformer.closeness(own, beside, read)[1] > 0) == beyond


class Splits(NamedTuple):
    """Symbols of a text."""

    train: int
    valid: int


WIKITEXT: dict[Kind, Splits] = {"characters": Splits(10_780_437, 1_120_192), "words": Splits(2_088_628, 217_646)}


def text_configs(scale: str) -> list[tuple[Splits, TextTask, TrainingConfig]]:
    """Every kind of network that is trained on a text."""
    found = []
    for size in (TEXT_LSTM[scale], TEXT_TRANSFORMER[scale]):
        for kind, plan in size.plans.items():
            config = text_config(plan, kind, "wikitext-2", plan.grid.architectures[0], 0)
            assert isinstance(config.task, TextTask)
            found.append((WIKITEXT[kind], config.task, config.training))
    return found


def windows(symbols: int, size: int, task: TextTask) -> int:
    """Full batches of a text."""
    return symbols // size // task.steps if task.carry else symbols // task.steps // size


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_texts_are_validated_on_all_of_their_split(scale: str):
    for symbols, task, settings in text_configs(scale):
        assert windows(symbols.valid, settings.validation_size, task) < settings.validation_batches


def test_at_paper_scale_networks_are_validated_after_every_pass():
    for symbols, task, settings in text_configs("paper"):
        assert windows(symbols.train, settings.batch, task) == settings.validate_every


NETWORKS = {
    **{("shen-fig1", scale): number for scale, number in (("smoke", 6), ("laptop", 12), ("paper", 22))},
    **{("shen-fig3a", scale): number for scale, number in (("smoke", 2), ("laptop", 4), ("paper", 5))},
    **{("shen-fig9", scale): number for scale, number in (("smoke", 3), ("laptop", 5), ("paper", 8))},
    **{
        (recipe, scale): len(size.plans["characters"].grid.architectures)
        for sizes, recipes in (
            (TEXT_LSTM, ("shen-fig2", "shen-fig8")),
            (TEXT_TRANSFORMER, ("shen-fig3bc", "shen-fig10")),
        )
        for recipe in recipes
        for scale, size in sizes.items()
    },
}


@pytest.mark.parametrize(("recipe", "scale"), NETWORKS, ids="-".join)
def test_recipes_state_how_many_networks_they_train(recipe: str, scale: str):
    assert RECIPES[recipe].scales[scale].startswith(f"{NETWORKS[recipe, scale]} ")


@pytest.mark.parametrize(("scale", "widths", "depths"), [("smoke", 1, 3), ("laptop", 3, 3), ("paper", 4, 5)])
def test_lstms_of_every_width_and_depth_are_trained(scale: str, widths: int, depths: int):
    size = RECIPES["shen-fig7"].sizes[scale].size
    assert (len(size["widths"]), len(size["depths"])) == (widths, depths)
