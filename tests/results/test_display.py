"""What an interpreter and a notebook show of a result."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from memspan import results
from memspan.memorization import memorize
from memspan.presentation import notebook_html
from memspan.presentation.presenter import sentence
from memspan.results import Sample, Span
from memspan.results.display import Displayed, Notebook
from memspan.theory import predict
from memspan.theory.linear import LinearRNN


def module(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / "presentation" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"memspan_display_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


EXAMPLES, TRAINED, AGENTS = module("examples"), module("training_examples"), module("agent_examples")


def every_result() -> dict[str, object]:
    measurement, reproduction = EXAMPLES.measurement(), EXAMPLES.reproduction()
    sample = Sample("run:a", "an LSTM", 500, 2, 250, 500, 1.0, None, None, None, 0, None, None, "Once <b>", 0.1)
    return {
        "measurement": measurement,
        "curve": measurement.curve,
        "decay": measurement.decay,
        "comparison": EXAMPLES.comparison(),
        "reproduction": reproduction,
        "chart": reproduction.figures[0],
        "bench": EXAMPLES.bench_report(),
        "training": TRAINED.training(),
        "evaluation": TRAINED.evaluation(),
        "memorization": memorize("abracadabra"),
        "prediction": predict.predict_cell("rnn", predict.DEFAULTS["rnn"], predict.PredictionRequest()),
        "linear": predict.predict_linear(LinearRNN.random(4, 2, spectral_radius=0.9, seed=0)),
        "attention": predict.predict_attention(0.3 + 0j, 100),
        "sample": sample,
    }


RESULTS = every_result()
TYPES = [
    kind
    for kind in vars(results).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__.startswith("memspan.")
]


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_told_in_one_or_two_lines(name):
    shown = repr(RESULTS[name])
    assert shown.startswith(f"{type(RESULTS[name]).__name__}(")
    assert len(shown) < 300
    assert shown.count("\n") <= 1
    assert "array" not in shown


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_type_that_holds_arrays_is_short_and_every_result_has_html(kind):
    holds = any("NDArray" in str(field.type) or str(field.type) == "Numbers" for field in dataclasses.fields(kind))
    assert not holds or issubclass(kind, Displayed)
    assert not hasattr(kind, "to_json") or issubclass(kind, Notebook)
    if issubclass(kind, Displayed):
        assert kind.__repr__ is Displayed.__repr__


def test_a_curve_says_its_lags_reach_span_and_symbols():
    curve = EXAMPLES.measurement().curve
    assert repr(curve) == ("Curve(49 lags 1-10,000, reach 246 at 0.001 nats, span 8,228, 1.1 M symbols of 96 kinds)")
    marked = dataclasses.replace(curve, span=Span(464, False, (316, 681)), undersampled=np.arange(curve.lags.size) > 45)
    assert "span 464 [316, 681]" in repr(marked)
    assert "3 lags undersampled" in repr(marked)


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_the_answer_a_small_table_and_the_figure(name):
    result = RESULTS[name]
    assert isinstance(result, Notebook)
    html = result._repr_html_()
    assert html.startswith("<div><p><strong>")
    assert html.count("<tr>") <= 9
    if name not in ("decay", "sample", "prediction"):  # the last has figures only where they were asked for
        assert html.count("<svg") == 1
    if name != "chart":
        assert "<table>" in html


def test_the_answer_in_a_notebook_is_the_sentence_of_the_command():
    measurement = EXAMPLES.measurement()
    assert f"<strong>{sentence(measurement)}</strong>" in measurement._repr_html_()


def test_names_are_escaped():
    html = EXAMPLES.measurement(path="<script>alert(1)</script>&.txt")._repr_html_()
    assert "<script" not in html
    assert "<b>" not in RESULTS["sample"]._repr_html_()  # type: ignore[attr-defined]


def test_two_figures_on_one_page_share_no_names():
    first, second = (EXAMPLES.measurement(seed=seed)._repr_html_() for seed in (0, 1))
    names = [{part.split('"', 1)[0] for part in html.split(' id="')[1:]} for html in (first, second)]
    assert names[0]
    assert not names[0] & names[1]


def test_what_is_no_result_is_refused():
    with pytest.raises(Exception, match="cannot present a int; expected a result of memspan"):
        notebook_html(3)  # type: ignore[arg-type]


def test_results_do_not_load_what_shows_them():
    code = "import sys, memspan.results; print('matplotlib' in sys.modules, 'memspan.presentation' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
