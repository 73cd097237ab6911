"""Singular values of Jacobians along the trained network's states, next to mean-field theory."""

from __future__ import annotations

import numpy as np

from memspan.figures.diagnosis_words import jacobian_words
from memspan.figures.numbers import number
from memspan.results import Chart, Diagnosis, JacobianSpectrum, Line, line


def distance_drawing(result: Diagnosis, found: JacobianSpectrum) -> Chart:
    """Singular values of ds_T/ds_{T-k} against k."""
    rms = np.sqrt(found.mean_square)
    lines = [
        line(
            "root mean square; band: 80 % of the values",
            found.distances,
            rms,
            band=(found.quantiles[:, 1], found.quantiles[:, 3]),
        ),
        line("largest", found.distances, found.quantiles[:, 4], style="dashed"),
    ]
    if _known(found):
        lines.append(
            line("root mean square in theory", found.distances, np.sqrt(found.theory), style="dashed")
        )
    end = float(rms[-1])
    return Chart(
        name="jacobian",
        title=f"{result.name}: over {found.distances[-1]:,} steps a change of the state is multiplied by {number(end, 2)}",
        x_label="steps k between the two states",
        y_label=f"singular value of the Jacobian of {found.of}",
        x_scale="log",
        y_scale="log",
        lines=tuple(lines),
        caption=f"By how much a small change of the state {found.of} k steps before the end has grown or shrunk at "
        f"the end, in each direction, along {found.sequences:,} sequences at the trained weights. Values far below "
        f"1 vanish, far above 1 explode; both keep a network from learning over that distance.{_theory_words(found)}",
    )


def spectrum_drawing(result: Diagnosis, found: JacobianSpectrum) -> Chart:
    """The distribution of the singular values of single steps."""
    shares = np.linspace(0, 100, found.one_step.size)
    lines = [line("singular values of one step", found.one_step, shares)]
    lines.append(_upright(f"root mean square, {number(found.one_step_mean**0.5)}", found.one_step_mean))
    if _known(found):
        mean = float(found.theory[0])
        lines.append(_upright(f"root mean square in theory, {number(mean**0.5)}", mean))
    return Chart(
        name="spectrum",
        title=f"{result.name}: {jacobian_words(result)}",
        x_label=f"singular value of d{found.of} / d{found.of} one step before",
        y_label="share of the values that are smaller (%)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="In each direction a step multiplies a small change of the state by one singular value; the line "
        f"shows how they are distributed, at steps all along {found.sequences:,} sequences. Squared, they average "
        f"to the factor by which one step changes a squared gradient.{_theory_words(found)}",
    )


def _known(found: JacobianSpectrum) -> bool:
    return found.theory.size > 0 and bool(np.isfinite(found.theory[0]))


def _upright(label: str, mean_square: float) -> Line:
    place = mean_square**0.5
    return line(label, [place, place], [0, 100], style="dashed")


def _theory_words(found: JacobianSpectrum) -> str:
    if not _known(found):
        return ""
    return (
        f" Mean-field theory speaks of wide networks with random {found.theory_weights} weights of the same variances and "
        "random inputs; training has given the weights a structure of their own."
    )
