"""What the figure of a measurement shows: the axes' contents are compared with the result's numbers."""

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from memspan.decay.laws import LAWS
from memspan.presentation import plot, sentence
from memspan.presentation.curve import caution
from memspan.presentation.draw.curve import has_residuals, information_figure, residual_figure
from memspan.presentation.draw.style import drawing_style
from memspan.results import BenchReport, Curve, Measurement, Period, Reach, Span


def figure_of(measurement: Measurement, bits: bool = False) -> Figure:
    """The figure before it is laid out: that takes time and moves nothing within the axes."""
    with drawing_style():
        return information_figure(measurement, bits=bits)


def panels(measurement: Measurement, bits: bool = False) -> list[Axes]:
    return figure_of(measurement, bits).axes


def x_of(line: Line2D) -> np.ndarray:
    return np.asarray(line.get_xdata(), dtype=np.float64)


def y_of(line: Line2D) -> np.ndarray:
    return np.asarray(line.get_ydata(), dtype=np.float64)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def line_of(ax: Axes, beginning: str) -> Line2D:
    return next(line for line in ax.get_lines() if str(line.get_label()).startswith(beginning))


def points_of(ax: Axes, label: str) -> np.ndarray:
    container = next(c for c in ax.containers if c.get_label() == label)
    return np.asarray(container[0].get_xydata())


def with_curve(measurement: Measurement, **changes: object) -> Measurement:
    curve: Curve = dataclasses.replace(measurement.curve, **changes)  # pyright: ignore[reportArgumentType]
    return dataclasses.replace(measurement, curve=curve)


def test_the_two_panels_show_the_same_points_on_different_axes(examples):
    measurement = examples.measurement()
    left, right = panels(measurement)
    curve = measurement.curve
    expected = np.stack([curve.lags, curve.corrected], axis=1)[curve.significant]
    for ax, scale in ((left, "log"), (right, "linear")):
        assert (ax.get_xscale(), ax.get_yscale()) == (scale, "log")
        np.testing.assert_allclose(points_of(ax, "corrected, ± 2 standard errors"), expected)


def test_lags_that_are_not_significant_have_hollow_markers(examples):
    measurement = examples.measurement()
    ax = panels(measurement)[0]
    container = next(c for c in ax.containers if c.get_label() == "corrected, not significant")
    assert container[0].get_markerfacecolor() == "white"
    shown = np.asarray(container[0].get_xydata())[:, 0]
    assert set(shown) <= set(measurement.curve.lags[~measurement.curve.significant])
    assert shown.size > 0


def test_the_title_says_the_answer_and_the_axes_their_units(examples):
    figure = figure_of(examples.measurement())
    title = figure.get_suptitle()
    assert title.startswith("novel.txt: dependence visible to 8,228 characters with 1.1 M characters")
    assert "more may show more" in title
    assert "power law, exponent 0.81 [0.78, 0.84]" in title
    assert figure.axes[0].get_xlabel() == "lag, characters"
    assert figure.axes[0].get_ylabel() == "mutual information, nats"


def test_bits_scale_the_values_the_level_and_the_label(examples):
    measurement = examples.measurement()
    in_nats, in_bits = panels(measurement)[0], panels(measurement, bits=True)[0]
    assert in_bits.get_ylabel() == "mutual information, bits"
    label = "corrected, ± 2 standard errors"
    np.testing.assert_allclose(points_of(in_bits, label)[:, 1] * math.log(2), points_of(in_nats, label)[:, 1])
    assert "reach 246 at 0.00144 bits" in texts(in_bits)
    law = "power law"
    np.testing.assert_allclose(y_of(line_of(in_bits, law)) * math.log(2), y_of(line_of(in_nats, law)))


def test_laws_are_drawn_over_the_fitted_lags_only(examples):
    measurement = examples.measurement()
    fitted = measurement.curve.lags[(measurement.curve.lags >= 5) & (measurement.curve.lags <= 1000)]
    decay = dataclasses.replace(measurement.decay, lags=fitted)
    for ax in panels(dataclasses.replace(measurement, decay=decay)):
        drawn = line_of(ax, "power law")
        x = x_of(drawn)
        assert (x[0], x[-1]) == pytest.approx((fitted[0], fitted[-1]))
        np.testing.assert_allclose(y_of(drawn), LAWS["power"].value(x, decay["power"].parameters))


def test_the_best_law_is_solid_and_the_plain_ones_dashed(examples):
    ax = panels(examples.measurement())[0]
    assert line_of(ax, "power law").get_linestyle() == "-"
    assert "(best law)" in str(line_of(ax, "power law").get_label())
    assert line_of(ax, "exponential").get_linestyle() == "--"
    assert line_of(ax, "exponential").get_label() == "exponential, length 12 [11, 13]"


def test_a_best_law_that_does_not_fit_says_so_and_gives_no_parameters(examples):
    ax = panels(examples.without_law())[0]
    label = str(line_of(ax, "power law").get_label())
    assert label == "power law (best of the laws, but it does not fit)"


def test_no_law_is_drawn_through_a_period(examples):
    periodic = dataclasses.replace(examples.measurement(), period=Period(3, 0.05, (0.04, 0.06), 15, 1e-6))
    for ax in panels(periodic):
        assert not any("law" in str(line.get_label()) for line in ax.get_lines())
    assert not has_residuals(periodic)


def test_residuals_are_in_standard_errors_from_the_best_law(examples):
    measurement = examples.measurement()
    curve, decay = measurement.curve, measurement.decay
    with drawing_style():
        (ax,) = residual_figure(measurement).axes
    fitted = np.asarray(line_of(ax, "fitted").get_xydata())
    law = LAWS["power"].value(decay.lags, decay["power"].parameters)
    use = np.isin(curve.lags, decay.lags)
    expected = (curve.corrected[use] - law) / curve.error[use]
    inside = np.abs(expected) <= 6
    np.testing.assert_allclose(fitted, np.stack([decay.lags[inside], expected[inside]], axis=1))
    band = next(patch for patch in ax.patches if patch.get_label() == "± 2 standard errors")
    extent = band.get_extents().transformed(ax.transData.inverted())
    assert (extent.y0, extent.y1) == pytest.approx((-2, 2))


def test_residuals_beyond_the_axis_are_marked_at_its_edge(examples):
    measurement = examples.measurement()
    corrected = measurement.curve.corrected.copy()
    corrected[[0, 3]] += np.array([1.0, -1.0])
    with drawing_style():
        (ax,) = residual_figure(with_curve(measurement, corrected=corrected)).axes
    assert x_of(line_of(ax, "above the axis")).tolist() == [1]
    assert x_of(line_of(ax, "below the axis")).tolist() == [4]
    assert np.abs(y_of(line_of(ax, "above the axis"))).max() < ax.get_ylim()[1]


def test_both_plain_laws_stand_beside_another_best_law(examples):
    measurement = examples.measurement()
    laws = dict(measurement.decay.laws)
    laws["cutoff-power"] = dataclasses.replace(laws["cutoff-power"], weight=1.0)
    laws["power"] = dataclasses.replace(laws["power"], weight=0.0)
    ax = panels(dataclasses.replace(measurement, decay=dataclasses.replace(measurement.decay, laws=laws)))[0]
    assert line_of(ax, "power law with a cutoff").get_linestyle() == "-"
    assert line_of(ax, "power law, exponent").get_linestyle() == "--"
    assert line_of(ax, "exponential").get_linestyle() == "--"


def test_span_and_reach_stand_at_their_lags(examples):
    measurement = examples.measurement()
    ax = panels(measurement)[0]
    verticals = {float(x_of(line)[0]) for line in ax.get_lines() if len(set(x_of(line))) == 1}
    assert {measurement.curve.span.lag, measurement.curve.reach.lag} <= verticals
    assert texts(ax) == ["span 8,228", "reach 246 at 0.001 nats"]


def test_censored_span_and_reach_are_lower_bounds(examples):
    measurement = with_curve(examples.measurement(last=60), reach=Reach(60.0, 1e-3, None, True))
    figure = figure_of(measurement)
    assert texts(figure.axes[0]) == ["span ≥ 60 (largest lag)", "reach ≥ 60 at 0.001 nats"]
    assert "at least 60 characters, the largest lag measured" in figure.get_suptitle()


def test_nothing_significant_still_gives_a_figure_that_says_so(examples):
    measurement = examples.independent()
    figure = figure_of(measurement)
    assert "no dependence visible" in figure.get_suptitle()
    left = figure.axes[0]
    assert texts(left) == ["no span"]
    assert "corrected, ± 2 standard errors" not in left.get_legend_handles_labels()[1]


def test_values_below_a_logarithmic_axis_are_marked_at_its_edge(examples):
    measurement = examples.independent()
    ax = panels(measurement)[0]
    under = line_of(ax, "corrected, below the axis")
    assert np.all(y_of(under) < 0.05)
    assert under.get_transform() == ax.get_xaxis_transform()
    lags = measurement.curve.lags[~(measurement.curve.corrected > ax.get_ylim()[0])]
    np.testing.assert_array_equal(x_of(under), lags)


@pytest.mark.parametrize("value", [np.nan, 0.0, -1e-3])
def test_a_curve_of_unusable_values_is_drawn_without_a_warning(examples, value):
    measurement = examples.independent()
    bad = np.full(measurement.curve.lags.size, value)
    names = ("information", "corrected", "floor", "floor_sd", "stderr", "p_value")
    figure = Figure()
    plot(with_curve(measurement, **dict.fromkeys(names, bad)), figure.subplots())
    figure.draw_without_rendering()


def test_one_unusable_value_does_not_change_the_limits(examples):
    measurement = examples.measurement()
    corrected = measurement.curve.corrected.copy()
    corrected[-1], corrected[-2] = np.nan, 1e-30
    p_value = measurement.curve.p_value.copy()
    p_value[-2:] = np.nan
    changed = with_curve(measurement, corrected=corrected, p_value=p_value)
    assert panels(changed)[0].get_ylim() == pytest.approx(panels(measurement)[0].get_ylim())


def test_one_lag_is_enough(examples):
    measurement = examples.measurement(lags=np.array([7]))
    figure = figure_of(measurement)
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_xlim()
    assert low < 7 < high


def test_ten_thousand_lags_are_lines_instead_of_markers(examples):
    measurement = examples.measurement(lags=np.arange(1, 10_001))
    ax = panels(measurement)[0]
    assert not ax.containers
    strong = line_of(ax, "corrected, band")
    assert strong.get_marker() in ("", "None")
    shown = np.isfinite(y_of(strong))
    np.testing.assert_array_equal(shown, measurement.curve.significant)


def test_plot_draws_on_the_axes_given_and_returns_them(examples):
    ax = Figure().subplots()
    assert plot(examples.measurement(), ax) is ax
    assert ax.get_title(loc="left").startswith("novel.txt: dependence visible")
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text().startswith("corrected")


def test_plot_of_a_bare_curve_names_symbols(examples):
    ax = plot(examples.measurement().curve, Figure().subplots(), bits=True)
    assert ax.get_xlabel() == "lag, symbols"
    assert ax.get_title(loc="left") == "Dependence visible to 8,228 symbols (1.1 M symbols)"


def test_names_with_formula_signs_and_unknown_letters_are_drawn_as_text(examples):
    figure = figure_of(examples.measurement(path=r"_$\frac$ 文.txt"))
    figure.draw_without_rendering()
    assert any(rf"\$\frac\$ {name}.txt" in figure.get_suptitle() for name in ("文", "[U+6587]"))


def test_a_far_lag_alone_is_told_from_silence(examples):
    measurement = examples.independent()
    p_value = measurement.curve.p_value.copy()
    p_value[-1] = 1e-5
    changed = with_curve(measurement, p_value=p_value, span=Span(0, False))
    title = figure_of(changed).get_suptitle()
    assert "no dependence visible at the shortest lags, but one longer lag is above" in title


def test_the_linear_panel_shows_where_the_information_falls_and_points_at_a_far_span(examples):
    measurement = examples.measurement()
    right = panels(measurement)[1]
    assert measurement.curve.reach.lag < right.get_xlim()[1] < measurement.curve.span.lag
    assert texts(right) == ["span 8,228 →", "reach 246 at 0.001 nats"]


def test_a_floor_below_zero_is_told_in_the_legend(examples):
    measurement = examples.measurement()
    labels = panels(with_curve(measurement, floor=-measurement.curve.floor))[0].get_legend_handles_labels()[1]
    assert "noise floor: below the axis (zero or less)" in labels


def test_a_measurement_says_how_far_with_how_much_and_which_law(examples):
    assert sentence(examples.measurement()) == (
        "novel.txt: reach 246 [221, 276] characters at 0.001 nats; "
        "dependence visible to 8,228 characters (1.1 M symbols); "
        "power law, exponent 0.81 [0.78, 0.84]"
    )


def test_the_span_is_told_to_be_a_detection_limit(examples):
    said = "The span is a detection limit with 1.1 M characters; more data may show more."
    measurement = examples.measurement()
    assert f"The span is {caution(measurement.curve, measurement.symbols)}." == said


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
        "train and valid differ at lags of 1 to 3 characters (p < 0.0001); "
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
        "shen-fig5 (laptop scale): 2 of 3 published claims hold; does not hold: training reaches 99 % within 8,000 updates"
    )
    held = dataclasses.replace(reproduction, claims=reproduction.claims[:2])
    assert sentence(held) == "shen-fig5 (laptop scale): 2 of 2 published claims hold"
    alone = dataclasses.replace(reproduction, claims=reproduction.claims[:1])
    assert sentence(alone) == "shen-fig5 (laptop scale): 1 of 1 published claims holds"
    assert sentence(dataclasses.replace(reproduction, claims=())).endswith("no claims to check")


def test_claims_of_our_own_and_claims_that_cannot_be_tested_are_counted_apart(examples):
    published, other, fails = examples.reproduction().claims
    ours = dataclasses.replace(fails, ours=True)
    untestable = dataclasses.replace(fails, untestable="the source trains for 1,000 epochs")
    reproduction = dataclasses.replace(examples.reproduction(), claims=(published, other, ours, untestable))
    assert sentence(reproduction).startswith(
        "shen-fig5 (laptop scale): 2 of 2 published claims hold, 0 of 1 of our own, 1 cannot be tested at this scale; "
    )
    assert not reproduction.holds
    assert dataclasses.replace(reproduction, claims=(published, untestable)).holds


def test_benchmarks_are_counted_and_the_best_is_named(examples):
    report = examples.bench_report()
    assert sentence(report) == (
        "memspan is better than its peer in 2 of 3 benchmarks, most in every lag: 1,400 times automutualinformation"
    )
    assert sentence(BenchReport("machine", (), 1.0)) == "no benchmarks were run"
    lost = dataclasses.replace(report, benchmarks=report.benchmarks[1:2])
    assert sentence(lost) == "memspan is better than its peer in 0 of 1 benchmarks"
