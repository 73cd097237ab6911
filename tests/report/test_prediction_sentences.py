"""The first line of what `predict` answers, in every case."""

import dataclasses
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from memspan.presentation import sentence
from memspan.results import Wanted


@pytest.fixture(scope="module")
def predictions() -> ModuleType:
    path = Path(__file__).parent.parent / "figures" / "prediction_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_prediction_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_ordered_network_says_how_fast_signals_fade(predictions):
    assert sentence(predictions.ordered()) == (
        "minimal-rnn, bias mean 6: signals fade by half every 96 steps (timescale 139 steps); "
        "ordered, on the safe side of the edge of chaos (chi_1 = 0.993)"
    )


def test_a_critical_network_is_at_the_edge_of_chaos(predictions):
    assert sentence(predictions.critical()) == (
        "minimal-rnn, bias mean 0: signals fade by half every 577 steps (timescale 833 steps); "
        "at the edge of chaos (chi_1 = 0.999, within 0.005 of 1)"
    )
    said = sentence(predictions.endless())
    assert said.startswith("minimal-rnn, bias mean 0: signals neither fade nor grow; at the edge of chaos")


def test_a_chaotic_network_says_how_fast_states_part_and_where_they_end(predictions):
    assert sentence(predictions.chaotic()) == (
        "minimal-rnn, bias mean 2: chaotic: two nearby states drift apart by a factor 1.059 every step "
        "(chi_1 = 1.12), and the correlation settles at c = 0.771; "
        "a difference of inputs is forgotten over a timescale of 10.6 steps"
    )


def test_the_distance_of_chaotic_states_grows_by_the_root_of_chi_1(predictions):
    said = sentence(dataclasses.replace(predictions.chaotic(), chi1=4.0))
    assert "drift apart by a factor 2 every step (chi_1 = 4)" in said


def test_a_network_that_forgets_at_once_has_no_timescale(predictions):
    said = sentence(predictions.forgetful())
    assert said.startswith(
        "rnn, sigma_w 0: signals have no timescale, because chi = 0 is not above 0; ordered"
    )


def test_what_data_need_is_set_against_what_the_weights_give(predictions):
    assert sentence(predictions.ordered(wanted=predictions.wanted_bias())) == (
        "minimal-rnn, bias mean 6: your data needs 340 steps (novel.txt), these weights give 139, "
        "set the bias mean to 7.1 (every value above it will do)"
    )
    said = sentence(predictions.ordered(wanted=predictions.wanted_bias("novel.txt, at least")))
    assert "your data needs at least 340 steps (novel.txt), these weights" in said


def test_a_narrow_region_is_told_with_both_ends(predictions):
    said = sentence(predictions.ordered(wanted=predictions.wanted_sigma()))
    assert said.endswith(
        "you want 340 steps, these weights give 139, set sigma_w to 0.98 (good from 0.97 to 0.99)"
    )
    assert said.startswith("minimal-rnn, sigma_w 6.88: ")


def test_weights_that_suffice_are_left_alone(predictions):
    enough = predictions.wanted_bias("--timescale", 138.0)
    said = "you want 138 steps, these weights already give 139: nothing to change"
    assert sentence(predictions.ordered(wanted=enough)).endswith(said)
    endless = dataclasses.replace(predictions.endless(), wanted=enough)
    assert sentence(endless).endswith("these weights already let nothing fade: nothing to change")


def test_a_chaotic_network_never_suffices(predictions):
    said = sentence(predictions.chaotic(wanted=predictions.wanted_bias("--timescale", 5.0)))
    assert "you want 5 steps, these weights are chaotic (chi_1 = 1.12), set the bias mean to 7.1" in said


def test_a_value_at_which_nothing_fades_is_told_like_any_other(predictions):
    assert sentence(predictions.ordered(wanted=predictions.wanted_endless())).endswith(
        "you want 5,000 steps, these weights give 139, set the bias mean to 40 (good from 9.6 on)"
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (7.0934, 7.0934, None, "to 7.1 (every value above it will do)"),
        (0.4571, None, 0.4571, "to 0.45 (every value below it will do)"),
        (8.0, 7.0934, None, "to 8 (good from 7.1 on)"),
        (3.0, None, 3.4999, "to 3 (good up to 3.49)"),
        (0.97123, 0.97123, 0.97131, "to 0.97123 (good from 0.97123 to 0.97131)"),
        (0.971234, 0.971234, 0.9893, "to 0.972 (good from 0.972 to 0.989)"),
        (1.0, None, None, "to 1 (every value from -10 to 20 will do)"),
        (1.23456, 1.23456, 1.23456, "to 1.23456 (no other value will do)"),
        (-0.001, -0.001, 0.5, "to 0 (good from 0 to 0.5)"),
    ],
)
def test_what_is_printed_to_set_lies_inside_the_good_region(predictions, value, low, high, said):
    wanted = Wanted(340.0, "bias_mean", value, 345.0, low, high, (-10.0, 20.0), "--timescale")
    text = sentence(predictions.ordered(wanted=wanted))
    assert text.endswith(said)
    printed = re.search(r"mean to (-?[\d.]+) ", text)
    assert printed is not None
    assert low is None or float(printed[1]) >= low
    assert high is None or float(printed[1]) <= high


def test_a_linear_network_says_how_fast_information_halves(predictions):
    assert sentence(predictions.linear()) == (
        "linear, 3 hidden and 2 visible: information halves every 6.8 steps in the tail "
        "(correlation length 9.75 steps, rate 0.95)"
    )
    assert sentence(predictions.exploding()) == (
        "linear, 3 hidden and 2 visible: this network remembers only its initial condition "
        "(spectral radius 1.02); started from h = 0, 1.40e-5 nats are left after 100 steps"
    )
    short = dataclasses.replace(predictions.linear(), rate=0.0, correlation_length=0.0)
    assert sentence(short).endswith("information ends after a few steps (rate 0)")


@pytest.mark.parametrize(
    ("eigenvalue", "said"),
    [
        (
            0.3,
            "attention, eigenvalue 0.3: gradients fall as T^-0.571, not exponentially (T^-0.7 as printed in the "
            "source); after 1,000 steps 0.0386 is left, nothing without attention",
        ),
        (
            0.5,
            "attention, eigenvalue 0.5: gradients neither fade nor grow with the distance T (T^-0.5 as printed in "
            "the source); after 1,000 steps the gradient is 2, nothing without attention",
        ),
        (
            0.7,
            "attention, eigenvalue 0.7: gradients grow as T^1.33 (T^-0.3 as printed in the source); "
            "after 1,000 steps the gradient is 20,000, 1.25e-155 without attention",
        ),
        (
            complex(0.4, -0.6928),
            "attention, eigenvalue 0.4 - 0.693i: gradients fall as T^-1.29, not exponentially (T^-0.6 as printed "
            "in the source); after 1,000 steps 0.000278 is left, 1.2e-97 without attention",
        ),
        (
            0.0,
            "attention, eigenvalue 0: gradients fall as T^-1, not exponentially; "
            "after 1,000 steps 0.002 is left, nothing without attention",
        ),
    ],
)
def test_attention_says_the_corrected_and_the_printed_exponent(predictions, eigenvalue, said):
    assert sentence(predictions.attention(eigenvalue)) == said
