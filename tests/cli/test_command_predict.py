"""`memspan predict`: what it answers, draws and refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from safetensors.numpy import save_file

from memspan.results import read_prediction


def test_the_first_line_is_a_sentence_with_the_timescale(memspan):
    ran = memspan("predict", "minimal-rnn", "--bias-mean", 6)
    assert ran.status == 0
    first = ran.out.splitlines()[0]
    assert first.startswith("minimal-rnn, bias mean 6: signals fade by half every 96 steps (timescale 139 steps)")


def test_the_published_critical_point(memspan):
    plain = memspan("predict", "minimal-rnn", "--json").plain
    assert plain["chi1"] == pytest.approx(0.9988, abs=1e-4)
    assert plain["q"] == pytest.approx(15.94, abs=0.005)
    assert plain["Q"] == pytest.approx(0.318, abs=5e-4)
    assert plain["phase"] == "critical"


def test_both_stable_branches_are_listed_and_one_is_reached(memspan):
    plain = memspan("predict", "minimal-rnn", "--bias-mean", 4.59, "--json").plain
    stable = [branch for branch in plain["branches"] if branch["stable"]]
    assert [round(branch["Q"], 3) for branch in stable] == [0.036, 0.076]
    assert [branch["reached"] for branch in stable] == [True, False]
    assert any("2 stable fixed points" in note for note in plain["notes"])


def test_a_critical_network_lasts_for_ever(memspan):
    plain = memspan("predict", "rnn", "--critical", "--input-variance", 0.1, "--json").plain
    assert plain["timescale"] is None
    assert plain["timescale_kind"] == "infinite"
    assert plain["chi1"] == pytest.approx(1, abs=1e-6)


def test_the_jacobian_is_over_the_steps_asked_for(memspan):
    plain = memspan("predict", "minimal-rnn", "--bias-mean", 6, "--steps", 10, "--json").plain
    assert plain["jacobian"]["mean"] == pytest.approx(plain["chi1"] ** 10)
    orthogonal = memspan(
        "predict", "minimal-rnn", "--bias-mean", 6, "--steps", 10, "--weights", "orthogonal", "--json"
    ).plain
    assert orthogonal["jacobian"]["variance"] < plain["jacobian"]["variance"]


def test_a_wanted_timescale_is_answered_by_the_bias_mean(memspan):
    ran = memspan("predict", "minimal-rnn", "--bias-mean", 6, "--timescale", 1000)
    assert "you want 1,000 steps, these weights give 139, set the bias mean to 8.04" in ran.out.splitlines()[0]


def test_what_is_set_gives_what_was_wanted(memspan):
    wanted = memspan("predict", "rnn", "--timescale", 50, "--input-variance", 0.1, "--json").plain["wanted"]
    assert wanted["parameter"] == "sigma_w"
    again = memspan("predict", "rnn", "--sigma-w", wanted["value"], "--input-variance", 0.1, "--json").plain
    assert again["timescale"] == pytest.approx(50, rel=1e-3)
    assert wanted["low"] < wanted["high"]


def test_measured_data_say_how_long_signals_must_last(memspan, novel, tmp_path):
    measured = memspan("measure", novel, "--max-lag", 200, "--out", tmp_path / "run")
    assert measured.status == 0
    reach = json.loads((tmp_path / "run/result.json").read_text())["reach"]["lag"]
    ran = memspan("predict", "minimal-rnn", "--bias-mean", -4, "--timescale-of", tmp_path / "run")
    assert f"your data needs {round(reach, 1):g} steps (novel.txt)" in ran.out.splitlines()[0]
    assert "set the bias mean to" in ran.out.splitlines()[0]


def test_figures_are_written_and_the_result_reads_back(memspan, tmp_path):
    out = tmp_path / "drawn"
    words = ("--phase-diagram", "bias-mean=0:8", "sigma-w=1:8", "--dynamics", "--out", out)
    assert memspan("predict", "minimal-rnn", "--bias-mean", 6, *words, "--quiet").status == 0
    drawn = {path.stem for path in (out / "figures").glob("*.svg")}
    assert drawn == {"phase-diagram", "dynamics", "settled-correlation", "timescales"}
    plain = json.loads((out / "result.json").read_text())
    (plane,) = read_prediction(plain).maps  # type: ignore[union-attr]
    assert (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1]) == (0, 8, 1, 8)
    assert "edge of chaos" in (out / "report.html").read_text()


def test_figures_without_a_folder_go_to_one_that_is_named(memspan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = memspan("predict", "gru", "--dynamics", "--quiet")
    assert "memspan-predict/report.html" in ran.out
    assert (tmp_path / "memspan-predict/figures/dynamics.png").exists()


def test_the_phase_can_be_a_check(memspan):
    assert memspan("predict", "rnn", "--sigma-w", 3, "--sigma-v", 0.1, "--expect", "chaotic").status == 0
    assert memspan("predict", "rnn", "--expect", "chaotic").status == 1


def weights(tmp_path, **changed):
    tensors = {
        "W_h": np.array([[0.3], [0.1]]),
        "U_h": np.array([[0.7, 0.0], [0.2, 0.3]]),
        "U_o": np.array([[0.2, 0.5]]),
        **changed,
    }
    path = tmp_path / "weights.safetensors"
    save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, path)
    return path


def test_a_linear_network_from_a_file(memspan, tmp_path):
    plain = memspan("predict", "linear", "--file", weights(tmp_path), "--steps", 50, "--json").plain
    A = np.array([[0.7, 0.0, 0.3], [0.2, 0.3, 0.1], [0.2, 0.5, 0.0]])
    radius = np.abs(np.linalg.eigvals(A)).max()
    assert plain["spectral_radius"] == pytest.approx(radius)
    assert plain["correlation_length"] == pytest.approx(-1 / (2 * math.log(radius)))
    assert plain["lags"][-1] == 50
    assert plain["stationary"] is True


def test_a_linear_network_that_does_not_settle_is_answered_from_its_start(memspan, tmp_path):
    path = weights(tmp_path, U_h=np.array([[1.1, 0.0], [0.0, 0.2]]))
    ran = memspan("predict", "linear", "--file", path)
    assert "remembers only its initial condition" in ran.out
    plain = memspan("predict", "linear", "--file", path, "--json").plain
    assert (plain["stationary"], plain["correlation_length"]) == (False, None)


def test_attention_keeps_gradients_as_a_power(memspan):
    plain = memspan("predict", "attention", "--eigenvalue", 0.3, "--steps", 500, "--json").plain
    assert plain["exponent"] == pytest.approx(-4 / 7)
    assert plain["printed_exponent"] == pytest.approx(-0.7)
    assert plain["distances"][-1] == 500
    imaginary = memspan("predict", "attention", "--eigenvalue", "0.4+0.3i", "--json").plain
    assert imaginary["settings"]["eigenvalue_imaginary"] == 0.3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rnnn",), "did you mean rnn?"),
        (("rnn", "--sigma-w", "-1"), "sigma_w is -1; expected a finite number of 0 or more"),
        (("rnn", "--sigma-b", "nan"), "sigma_b is nan"),
        (("minimal-rnn", "--input-variance", "-0.1"), "because it is a variance"),
        (("minimal-rnn", "--bias-mean", "inf"), "bias_mean is not finite"),
        (("rnn", "--input-correlation", "1.5"), "expected a correlation from -1 to 1"),
        (("lstm", "--input-correlation", "-2"), "expected a correlation from -1 to 1"),
        (("minimal-rnn", "--critical", "--bias-mean", "2", "--q", "1"), "feasible are q from 4.815"),
        (("minimal-rnn", "--critical", "--sigma-w", "2"), "--critical sets --sigma-w itself"),
        (("rnn", "--critical", "--q", "2"), "use it with minimal-rnn --critical"),
        (("rnn", "--sigma-w", "1e7"), "the quadrature does not converge"),
        (("rnn", "--timescale", "100", "--input-correlation", "0.5"), "the longest is"),
        (("minimal-rnn", "--timescale", "-5"), "expected a positive number"),
        (("minimal-rnn", "--timescale", "5", "--timescale-of", "x"), "give one of them"),
        (("minimal-rnn", "--timescale-of", "nowhere"), "there is no nowhere"),
        (("minimal-rnn", "--vary", "sigma-w"), "add --timescale N"),
        (("minimal-rnn", "sigma-w=1:2"), "add --phase-diagram"),
        (("minimal-rnn", "--phase-diagram", "sigma-w=2:1", "--json"), "the smaller first"),
        (("minimal-rnn", "--phase-diagram", "sigma-w=2", "--json"), "expected NAME=LOW:HIGH"),
        (("minimal-rnn", "--phase-diagram", "width=1:2", "--json"), "is no axis of a phase diagram"),
        (("minimal-rnn", "--phase-diagram", "sigma-w=-1:2", "--json"), "sigma_w is -1"),
        (("lstm", "--phase-diagram", "--json"), "--phase-diagram does not apply to lstm"),
        (("lstm", "--weights", "orthogonal"), "Gaussian weights only"),
        (("rnn", "--file", "x"), "--file does not apply to rnn"),
        (("rnn", "--steps", "0"), "--steps"),
        (("attention", "--eigenvalue", "1.2"), "expected all below 1"),
        (("attention", "--eigenvalue", "much"), "expected one like 0.3"),
        (("attention", "--kappa", "2"), "expected both or neither"),
        (("attention", "--bias-mean", "2"), "--bias-mean does not apply to attention"),
        (("linear", "--file", "nowhere.safetensors"), "nowhere.safetensors"),
    ],
)
def test_what_cannot_be_predicted_is_refused_in_one_line(memspan, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in memspan("predict", *words).error


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"U_h": np.zeros((3, 3))}, "U_h has shape (3, 3); expected (2, 2)"),
        ({"U_o": np.zeros((2, 2))}, "U_o has shape (2, 2); expected (1, 2)"),
        ({"U_o": None}, "U_o"),
        ({"W_h": np.array([[np.nan], [0.0]])}, "W_h"),
        ({"noise": np.zeros(1)}, "noise"),
    ],
    ids=["square", "output", "missing", "nan", "noise"],
)
def test_weights_of_wrong_shapes_are_told(memspan, tmp_path, changed, message):
    assert message in memspan("predict", "linear", "--file", weights(tmp_path, **changed)).error


def test_data_without_memory_ask_for_none(memspan, tmp_path):
    (tmp_path / "noise.txt").write_bytes(np.random.default_rng(0).integers(97, 101, 20_000, dtype=np.uint8).tobytes())
    assert memspan("measure", tmp_path / "noise.txt", "--max-lag", 50, "--out", tmp_path / "run").status == 0
    error = memspan("predict", "minimal-rnn", "--timescale-of", tmp_path / "run").error
    assert "noise.txt has no reach" in error


def test_a_result_that_is_not_of_measure_is_told(memspan, tmp_path):
    assert memspan("predict", "rnn", "--out", tmp_path / "p", "--quiet").status == 0
    assert "is not a result of measure" in memspan("predict", "rnn", "--timescale-of", tmp_path / "p").error


def test_a_network_at_the_edge_already_has_nothing_to_change(memspan):
    ran = memspan("predict", "rnn", "--critical", "--timescale", 3000)
    assert ran.out.splitlines()[0].endswith("nothing to change")
