"""Predictions made by hand, for the tests of figures, reports and tables."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from memspan.results import (
    AttentionPrediction,
    Branch,
    Chart,
    HeatMap,
    JacobianMoments,
    LinearPrediction,
    Prediction,
    TimescaleTarget,
    line,
)


def heat_map(name: str = "phase-diagram", cells: int = 61) -> HeatMap:
    """A timescale with a ridge above `highest`, a blank corner, a critical line and one network."""
    bias, sigma = np.linspace(-4, 8, cells), np.linspace(0.5, 10, cells - 10)
    slope = 1 / (1 + np.exp(-(bias[None, :] + 3) / 2)) * (0.7 + 0.04 * sigma[:, None])
    values = np.where(slope < 1, -1 / np.log(np.minimum(slope, 1 - 1e-9)), 30.0)
    values[(bias[None, :] > 6.5) & (sigma[:, None] > 9)] = np.nan
    edge = -2 * np.log(np.where(sigma > 7.6, 0.04 * sigma - 0.3, np.nan)) - 3
    return HeatMap(
        name=name,
        title="How long signals last: longest along the edge of chaos, where the biases are large",
        x_label="bias mean",
        y_label="sigma_w",
        value_label="timescale in steps",
        value_scale="log",
        x=bias,
        y=sigma,
        values=values,
        highest=1000.0,
        edge=bias - edge[:, None],
        edge_label="edge of chaos, chi_1 = 1",
        lines=(
            line("three fixed points", [4.6, 4.6], [5.0, 9.0], style="dashed"),
            line("your network", [6.0], [6.88], style="markers"),
        ),
        caption="Bright means long. Hatched: no fixed point was found.",
    )


def dynamics() -> Chart:
    """A correlation that settles."""
    steps = np.arange(70.0)
    return Chart(
        name="dynamics",
        title="Two copies under the same inputs become equal",
        x_label="step",
        y_label="correlation of the pre-activations",
        x_scale="linear",
        y_scale="linear",
        lines=(line("theory", steps, 1 - 0.5 * np.exp(-steps / 20)),),
        caption="The distance to 1 falls by the same factor in every step.",
    )


def _jacobian(chi1: float) -> JacobianMoments:
    return JacobianMoments(steps=10, weights="gaussian", mean=chi1**10, variance=0.0191)


def ordered(*, wanted: TimescaleTarget | None = None) -> Prediction:
    """The minimalRNN at bias mean 6: timescale 139."""
    return Prediction(
        cell="minimal-rnn",
        settings={
            "sigma_w": 6.88,
            "sigma_v": 1.39,
            "sigma_b": 0.0,
            "bias_mean": 6.0,
            "input_variance": 0.46,
            "input_correlation": 1.0,
        },
        q=0.9213,
        Q=0.00068,
        c=1.0,
        chi=math.exp(-1 / 138.9),
        chi1=math.exp(-1 / 138.9),
        timescale=138.9,
        timescale_kind="finite",
        variance_timescale=112.0,
        phase="ordered",
        branches=(Branch(0.9213, 0.00068, 0.9911, True, True, 0.99283),),
        jacobian=_jacobian(0.99283),
        error=3e-12,
        wanted=wanted,
        notes=("the input variance is that of z = tanh(W_x x)",),
        figures=(dynamics(),),
        maps=(heat_map(),),
        seconds=1.2,
    )


def critical() -> Prediction:
    """The published critical point."""
    return dataclasses.replace(
        ordered(),
        settings={**ordered().settings, "bias_mean": 0.0},
        q=15.94,
        Q=0.318,
        chi=0.9988,
        chi1=0.9988,
        timescale=833.0,
        phase="critical",
        jacobian=_jacobian(0.9988),
    )


def endless() -> Prediction:
    """Exactly at the edge."""
    return dataclasses.replace(critical(), chi=1.0, chi1=1.0, timescale=None, timescale_kind="infinite")


def chaotic(*, wanted: TimescaleTarget | None = None) -> Prediction:
    """Three fixed points, the reached one chaotic."""
    return dataclasses.replace(
        ordered(wanted=wanted),
        settings={**ordered().settings, "bias_mean": 2.0},
        c=0.7712,
        chi=0.91,
        chi1=1.1213,
        timescale=10.6,
        phase="chaotic",
        branches=(
            Branch(2.61, 0.036, 0.94, True, False, 0.997),
            Branch(3.02, 0.051, 1.08, False, False, 1.012),
            Branch(3.71, 0.076, 0.89, True, True, 1.1213),
        ),
        jacobian=_jacobian(1.1213),
    )


def forgetful() -> Prediction:
    """A slope of zero: no timescale."""
    return dataclasses.replace(
        ordered(),
        cell="rnn",
        settings={**ordered().settings, "sigma_w": 0.0},
        chi=0.0,
        chi1=0.0,
        timescale=None,
        timescale_kind="undefined",
        variance_timescale=None,
    )


def simulated() -> Prediction:
    """An LSTM: no theory of its Jacobian's variance, and quantities that it does not have."""
    return dataclasses.replace(
        ordered(),
        cell="lstm",
        q=math.nan,
        jacobian=JacobianMoments(steps=10, weights="gaussian", mean=0.93, variance=math.nan),
        error=0.0021,
        notes=("simulated: 20 networks of 1,024 units with untied weights",),
        figures=(),
        maps=(),
    )


def wanted_bias(source: str = "novel.txt", timescale: float = 340.0) -> TimescaleTarget:
    """Every bias mean above 7.09 will do."""
    return TimescaleTarget(timescale, "bias_mean", 7.0934, timescale, 7.0934, None, (-10.0, 20.0), source)


def wanted_sigma() -> TimescaleTarget:
    """A narrow region."""
    return TimescaleTarget(340.0, "sigma_w", 0.98, 412.0, 0.97, 0.99, (0.0, 20.0), "--timescale")


def wanted_endless() -> TimescaleTarget:
    """A bias mean at which nothing fades."""
    return TimescaleTarget(5000.0, "bias_mean", 40.0, None, 9.6, None, (-10.0, 40.0), "--timescale")


def linear() -> LinearPrediction:
    """Rate 0.95."""
    lags = np.array([1, 2, 3, 5, 10, 20, 50, 100])
    information = 0.4 * 0.95 ** (2.0 * lags)
    chart = dataclasses.replace(
        dynamics(), name="information", y_scale="log", lines=(line("exact", lags, information),)
    )
    return LinearPrediction(
        cell="linear",
        settings={"hidden": 3.0, "visible": 2.0, "noise": 1.0},
        spectral_radius=0.95,
        rate=0.95,
        correlation_length=-1 / (2 * math.log(0.95)),
        lags=lags,
        information=information,
        stationary=True,
        notes=(),
        figures=(chart,),
        seconds=0.02,
    )


def exploding() -> LinearPrediction:
    """Spectral radius above 1."""
    return dataclasses.replace(
        linear(), spectral_radius=1.02, rate=1.02, correlation_length=None, stationary=False, notes=("grows",)
    )


def attention(eigenvalue: complex = 0.3) -> AttentionPrediction:
    """Gradients that follow their corrected exponent exactly."""
    distances = np.array([1, 2, 5, 10, 100, 1000])
    exponent = (eigenvalue / (1 - eigenvalue)).real - 1
    gradient = 2.0 * distances**exponent
    plain = np.abs(eigenvalue) ** distances.astype(float)
    lines = (line("with attention", distances, gradient), line("without", distances, plain, style="dashed"))
    chart = dataclasses.replace(dynamics(), name="gradient", x_scale="log", y_scale="log", lines=lines)
    value = complex(eigenvalue)
    return AttentionPrediction(
        cell="attention",
        settings={"eigenvalue_real": value.real, "eigenvalue_imaginary": value.imag, "steps": 1000.0},
        exponent=exponent,
        printed_exponent=value.real - 1,
        distances=distances,
        gradient=gradient,
        without_attention=plain,
        sparse_bound=None,
        notes=(),
        figures=(chart,),
        seconds=0.05,
    )


def every() -> dict[str, Prediction | LinearPrediction | AttentionPrediction]:
    """One of each case, by name."""
    return {
        "ordered": ordered(),
        "critical": critical(),
        "endless": endless(),
        "chaotic": chaotic(),
        "forgetful": forgetful(),
        "simulated": simulated(),
        "wanted-bias": ordered(wanted=wanted_bias()),
        "wanted-sigma": ordered(wanted=wanted_sigma()),
        "wanted-endless": ordered(wanted=wanted_endless()),
        "linear": linear(),
        "exploding": exploding(),
        "attention": attention(),
        "attention-complex": attention(complex(0.4, 0.6928)),
    }
