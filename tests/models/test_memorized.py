"""Memorized strings come back from a standard torch RNN, for a thousand periods in single precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.memorization import Cyclic, Feedback, Rotation, Spectral
from memspan.memorization.strings import PeriodicString
from memspan.models import Memorized
from memspan.results import LinearNetwork

PERIODS = 1_000
SPECTRAL = [
    *("ab", "abc", "abca", "aabab", "abcabd", "abracadabra", "banana", "aabbcab", "abacabad", "0110100110010110"),
    *("hello ", "mississippi", "00010111", "abcdefgh"),
]
ROTATIONS = ["0011", "00000111", "0001111111111111"]
CYCLIC = ["a", "abracadabra", "to be or not "]


def networks() -> list[tuple[str, LinearNetwork]]:
    ways = itertools.chain(
        ((text, Spectral(budget=5)) for text in SPECTRAL),
        ((text, Rotation()) for text in ROTATIONS),
        ((text, Cyclic()) for text in CYCLIC),
    )
    return [(text, way.build(text)) for text, way in ways]


def first_mistake(written: str, text: str) -> int | None:
    expected = (text * PERIODS)[: len(written)]
    return next((place for place, pair in enumerate(zip(written, expected, strict=True)) if len({*pair}) > 1), None)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_twenty_strings_come_back_for_a_thousand_periods(activation):
    strings = networks()
    assert len(strings) == 20
    for text, network in strings:
        model = Memorized(network, activation)
        assert model.rnn.hidden_size == network.hidden_size
        assert model.rnn.weight_hh_l0.dtype == torch.float32
        assert first_mistake(model.replay(PERIODS * len(text)), text) is None, text


def test_whatever_is_read_is_ignored_and_the_state_goes_on():
    model = Memorized(Spectral().build("abracadabra"), "tanh")
    nothing, noise = torch.zeros(22, 3, 5), torch.randn(22, 3, 5, generator=torch.Generator().manual_seed(0))
    scores, _ = model(nothing)
    assert torch.equal(model(noise)[0], scores)
    first, state = model(nothing[:7])
    second, _ = model(nothing[7:], state)
    torch.testing.assert_close(torch.cat([first, second]), scores)
    torch.testing.assert_close(model(nothing[:, 0])[0], scores[:, 0])


def test_a_state_that_strays_comes_back_under_tanh():
    model = Memorized(Rotation().build("00000111"), "tanh")
    steps = 40_000
    with torch.no_grad():
        _, state = model(torch.zeros(steps, 1, 2), 1.1 * model.h_0.expand(1, 1, -1).contiguous())
    # A deviation of the amplitude a = 0.01 shrinks by exp(-a^2 / 2) a step: by exp(-2) in 40,000, of 10 % that leaves 1.4 %.
    assert float(state.norm() / model.h_0.norm()) == pytest.approx(1.0, abs=0.02)


def test_weights_come_back_from_a_state_dict():
    model, other = (Memorized(Spectral().build(text), "relu") for text in ("banana", "ananab"))
    other.load_state_dict(model.state_dict())
    assert other.replay(12) == "bananabanana"


def test_a_replay_reads_symbols_that_are_words():
    string = PeriodicString.of(["to", "be", "or"])
    assert Memorized(Spectral().build(string)).replay(4) == "to be or to"
    assert Memorized(Spectral().build(string)).replay(0) == ""


def linear(W_h: list[list[float]], h_0: list[float]) -> LinearNetwork:
    size = len(h_0)
    arrays = (np.zeros((size, 1)), np.zeros((1, size)), np.zeros(1), np.array(h_0))
    return LinearNetwork(("a",), "", np.array(W_h), *arrays)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Memorized(Feedback().build("abracadabra")), "W_x is not zero"),
        (lambda: Memorized(Rotation().build("0011"), "elu"), "expected relu or tanh"),
        (lambda: Memorized(linear([[0.9]], [1.0])), "neither of plane rotations nor of a permutation"),
        (lambda: Memorized(linear([[0.0, 0.5], [2.0, 0.0]], [1.0, 0.0])), "neither of plane rotations"),
        (lambda: Memorized(linear([[1.0, 1.0], [0.0, 1.0]], [1.0, 0.0]), "tanh"), "neither of plane rotations"),
        (
            lambda: Memorized(linear([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1.0, 2.0, 3.0]), "tanh"),
            "more than two values",
        ),
        (lambda: Memorized(Rotation().build("0011")).replay(-1), "length is -1"),
        (lambda: Memorized(Rotation().build("0011"))(torch.zeros(3, 1, 4)), "expected \\(time, batch, 2\\)"),
    ],
)
def test_what_cannot_be_embedded_is_rejected(make, message):
    with pytest.raises(InputError, match=message):
        make()
