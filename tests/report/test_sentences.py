"""The first line of every answer, in every case."""

import dataclasses

import numpy as np

from memspan.presentation import sentence
from memspan.presentation.presenter import span_caution
from memspan.results import BenchReport, Period, Span


def test_a_measurement_says_how_far_with_how_much_and_which_law(examples):
    assert sentence(examples.measurement()) == (
        "novel.txt: reach 246 [221, 276] characters at 0.001 nats; "
        "dependence visible to 8,228 characters (1.1 M symbols); "
        "power law, exponent 0.81 [0.78, 0.84]"
    )


def test_the_span_is_told_to_be_a_detection_limit(examples):
    said = "The span is a detection limit with 1.1 M characters; more data may show more."
    assert span_caution(examples.measurement()) == said


def test_a_censored_span_is_a_lower_bound(examples):
    said = (
        "novel.txt: reach 60 [54, 67] characters at 0.001 nats; "
        "dependence visible to at least 60 characters, the largest lag measured (1.1 M symbols);"
    )
    assert sentence(examples.measurement(last=60)).startswith(said)


def test_no_dependence_is_said_plainly(examples):
    assert sentence(examples.independent()) == "noise.txt: no dependence visible (20 k symbols)"


def test_too_few_lags_for_a_law_are_counted(examples):
    measurement = examples.independent()
    p_value = measurement.curve.p_value.copy()
    p_value[:2] = 1e-9
    curve = dataclasses.replace(measurement.curve, p_value=p_value, span=Span(2, False))
    said = (
        "noise.txt: below 0.001 nats at every lag; dependence visible to 2 bytes (20 k symbols); "
        "no law: 2 lags above the floor"
    )
    assert sentence(dataclasses.replace(measurement, curve=curve)) == said


def test_a_law_that_does_not_fit_is_not_the_answer(examples):
    said = sentence(examples.without_law())
    assert said.endswith(
        "; no simple law fits; local exponent 1.8 at lags 1-10, 0.92 at lags 10-100, 0.41 at lags 100-1,000"
    )
    assert "power law" not in said


def test_a_curve_that_does_not_fall_has_no_decay(examples):
    found = examples.without_law(decays=False)
    assert sentence(found).endswith(f"; no decay between lags 1 and {found.decay.lags[-1]:,}")


def test_a_period_is_named_instead_of_a_law(examples):
    found = examples.measurement()
    period = Period(3, 0.0512, (0.05, 0.0524), 15, 1e-6)
    said = sentence(dataclasses.replace(found, period=period))
    assert said.endswith("; period 3: I is 0.051 nats higher at multiples")
    exact = dataclasses.replace(period, exact=True)
    said = sentence(dataclasses.replace(found, period=exact))
    assert said.endswith("; periodic with period 3: I = 3.02 nats at multiples, 0.051 less at other lags")
    flat = dataclasses.replace(exact, length=2, contrast=0.0)
    curve = dataclasses.replace(found.curve, corrected=np.full(found.curve.lags.size, np.log(2)))
    said = sentence(dataclasses.replace(found, curve=curve, period=flat, decay=None))
    assert said.endswith("; periodic with period 2: I = 0.693 nats at every lag")


def test_a_span_of_one_is_in_the_singular(examples):
    measurement = examples.measurement(lags=np.array([1, 2]))
    curve = dataclasses.replace(measurement.curve, span=Span(1, False))
    assert "visible to 1 character (" in sentence(dataclasses.replace(measurement, curve=curve))


def test_lags_apart_from_the_beginning_are_not_called_silence(examples):
    measurement = examples.independent()
    p_value = measurement.curve.p_value.copy()
    p_value[-3:] = 1e-9
    curve = dataclasses.replace(measurement.curve, p_value=p_value)
    said = sentence(dataclasses.replace(measurement, curve=curve))
    assert "at the shortest lags, but 3 longer lags are above the floor" in said


def test_a_comparison_says_who_differs_where_and_how_sure(examples):
    assert sentence(examples.comparison(("train", "valid", "test"))) == (
        "train and valid differ at a distance of 1 to 3 characters (p < 0.0001); "
        "train and test are alike (p = 0.41); valid and test are alike (p = 0.41); 1.1 M symbols of each"
    )


def test_an_undecided_comparison_says_so(examples):
    comparison = examples.comparison()
    pair = dataclasses.replace(comparison.pairs[0], verdict="undecided", p_value=0.03, different_lags=())
    said = sentence(dataclasses.replace(comparison, pairs=(pair,)))
    assert said == "train and valid: undecided (p = 0.03); 1.1 M symbols of each"


def test_a_reproduction_names_what_does_not_hold(examples):
    reproduction = examples.reproduction()
    assert sentence(reproduction) == (
        "shen-fig5 (laptop scale): 2 of 3 claims hold; "
        "does not hold: training reaches 99 % within 8,000 updates"
    )
    held = dataclasses.replace(reproduction, claims=reproduction.claims[:2])
    assert sentence(held) == "shen-fig5 (laptop scale): all 2 claims hold"
    alone = dataclasses.replace(reproduction, claims=reproduction.claims[:1])
    assert sentence(alone) == "shen-fig5 (laptop scale): the claim holds"
    assert sentence(dataclasses.replace(reproduction, claims=())).endswith("no claims to check")


def test_benchmarks_are_counted_and_the_best_is_named(examples):
    report = examples.bench_report()
    assert sentence(report) == (
        "memspan is better than its peer in 2 of 3 benchmarks, "
        "most in every lag: 1,400 times automutualinformation"
    )
    assert sentence(BenchReport("machine", (), 1.0)) == "no benchmarks were run"
    lost = dataclasses.replace(report, benchmarks=report.benchmarks[1:2])
    assert sentence(lost) == "memspan is better than its peer in 0 of 1 benchmarks"
