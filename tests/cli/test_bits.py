"""`--bits` changes every number that a person sees, and never the object."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from memspan.presentation import figures_of
from memspan.presentation.numbers import note_in_unit
from memspan.presentation.presenter import section_of, sentence
from memspan.theory.linear import LinearRNN
from memspan.theory.predict import predict_linear


def without_the_factor(page: str) -> str:
    """The page without drawings and without the sentence that explains both units."""
    text = re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)
    return text.replace("(1 nat is 1.44 bits)", "")


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_terminal_and_report_have_no_number_in_nats(memspan, novel, twin, tmp_path, command):
    sources = [novel] if command == "measure" else [f"a={novel}", f"b={twin}"]
    ran = memspan(command, *sources, "--max-lag", 20, "--bits", "--out", tmp_path)
    page = without_the_factor((tmp_path / "report.html").read_text())
    for text in (ran.out, page):
        assert "bits" in text
        assert "nats" not in text
    plain = json.loads((tmp_path / "result.json").read_text())
    assert plain["unit"] == "nats"


def test_the_reach_is_told_at_its_level_in_bits(memspan, novel):
    level = f"{1e-3 / math.log(2):.3g} bits"
    assert level in memspan("measure", novel, "--max-lag", 20, "--bits").out


def test_a_pair_of_different_sources_is_explained_in_bits(memspan, novel, stranger):
    words = ("compare", f"a={novel}", f"b={stranger}", "--max-lag", 5)
    nats, bits = (memspan(*words, *extra).out for extra in ((), ("--bits",)))
    pattern = r"([\d.]+)\s+against\s+([\d.]+)"
    in_nats, in_bits = (re.search(pattern, " ".join(text.split())) for text in (nats, bits))
    if in_nats is None or in_bits is None:  # the table wraps the explanation within its column
        pytest.fail(f"no explanation in {nats}")
    assert float(in_bits[1]) == pytest.approx(float(in_nats[1]) / math.log(2), rel=0.01)


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        ("found 0.5 nats there", "found 0.721 bits there"),
        ("less than 4e-05 nats would not be seen", "less than 5.77e-5 bits would not be seen"),
        ("3 of 50 lags", "3 of 50 lags"),
    ],
)
def test_only_values_in_nats_are_converted(remark, expected):
    assert note_in_unit(remark, bits=True) == expected
    assert note_in_unit(remark, bits=False) == remark


def test_the_report_of_a_folder_can_be_made_in_bits(memspan, novel, tmp_path):
    memspan("measure", novel, "--max-lag", 20, "--out", tmp_path / "run")
    memspan("report", tmp_path, "--bits")
    assert "nats" not in without_the_factor((tmp_path / "report.html").read_text())


def test_the_prediction_of_a_linear_network_can_be_told_in_bits(memspan, tmp_path):
    ran = memspan("predict", "linear", "--bits", "--out", tmp_path)
    assert "information (bits)" in ran.out
    assert "nats" not in ran.out
    assert json.loads((tmp_path / "result.json").read_text())["unit"] == "nats"
    assert "nats" not in without_the_factor((tmp_path / "report.html").read_text())


def test_the_figure_of_a_linear_network_is_drawn_in_bits():
    result = predict_linear(LinearRNN(W_h=[[1.0]], U_h=[[0.0]], U_o=[[0.81]]), longest=20)
    nats, bits = (figures_of(result, bits=chosen)["information"].axes[0] for chosen in (False, True))
    assert (nats.get_ylabel(), bits.get_ylabel()) == ("mutual information (nats)", "mutual information (bits)")
    first, second = (np.asarray(ax.lines[0].get_ydata(), dtype=float) for ax in (nats, bits))
    np.testing.assert_allclose(second, first / math.log(2))
    assert section_of(result, bits=True).answer == sentence(result, bits=True)


def test_bits_of_a_network_that_has_no_information_are_refused(memspan):
    assert "--bits does not apply to rnn; it is for linear" in memspan("predict", "rnn", "--bits").error
