"""`predict_cell`: the fixed point of a random network and how long signals last in it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping

import numpy as np

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import Branch, Chart, HeatMap, Prediction, Wanted
from memspan.theory.field import Field
from memspan.theory.inverse import SEARCHED, Parameter, parameter_for
from memspan.theory.minimal import MinimalField
from memspan.theory.parameters import check_correlation
from memspan.theory.predictions.dynamics import dynamics_charts
from memspan.theory.predictions.phase_diagram import phase_diagram
from memspan.theory.predictions.question import DEFAULTS, Asked, finite
from memspan.theory.predictions.sampled import SAMPLED, predict_sampled
from memspan.theory.timescale import kind_of, phase_of, timescale_of
from memspan.theory.vanilla import VanillaField

_BIASES = (2.0, 4.0, 6.0, 8.0)


def field_of(cell: str, settings: Mapping[str, float]) -> Field:
    """The mean field of `rnn` or `minimal-rnn`."""
    return {"rnn": VanillaField, "minimal-rnn": MinimalField}[cell](**settings)


def predict_cell(
    cell: str, settings: Mapping[str, float], asked: Asked, *, seed: int = 0, progress: Progress = SILENT
) -> Prediction:
    """The fixed point of a random network of this cell and how long signals last in it.

    >>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 6.0}, Asked())
    >>> found.phase, round(found.timescale)
    ('ordered', 139)
    """
    if cell not in DEFAULTS:
        raise InputError(f"there is no theory of the cell {cell!r}; expected {', '.join(DEFAULTS)}")
    check_correlation(asked.input_correlation)
    if cell in SAMPLED:
        return predict_sampled(cell, dict(settings), asked, seed, progress)
    return _solved(cell, dict(settings), asked, seed, progress)


def _solved(cell: str, settings: dict[str, float], asked: Asked, seed: int, progress: Progress) -> Prediction:
    start, field = time.perf_counter(), field_of(cell, settings)
    point, branches = field.fixed_point(asked.input_correlation), field.branches()
    notes = [*_branch_notes(branches), *_bias_notes(cell, field, asked)]
    variance = timescale_of(abs(point.variance_slope))
    wanted = _wanted(cell, field, asked)
    charts: tuple[Chart, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    if asked.axes is not None:
        progress.say("computing the phase diagram")
        maps = (phase_diagram(field, *asked.axes, input_correlation=asked.input_correlation),)
    if asked.dynamics:
        charts = dynamics_charts(field, seed=seed, progress=progress)
    return Prediction(
        cell=cell,
        settings={**settings, "input_correlation": asked.input_correlation},
        q=point.q,
        Q=point.Q,
        c=point.c,
        chi=point.chi,
        chi1=point.chi1,
        timescale=finite(timescale_of(point.chi)),
        timescale_kind=kind_of(point.chi),
        variance_timescale=finite(variance),
        phase=phase_of(point.chi1),
        branches=branches,
        jacobian=field.jacobian_moments(asked.steps, weights=asked.weights),
        error=point.error,
        wanted=wanted,
        notes=tuple(notes),
        figures=charts,
        maps=maps,
        seconds=time.perf_counter() - start,
    )


def _branch_notes(branches: tuple[Branch, ...]) -> list[str]:
    stable = [branch for branch in branches if branch.stable]
    if len(stable) < 2:
        return []
    each = "; ".join(
        f"q = {b.q:.4g} with chi_1 = {b.chi1:.4g}{' (reached)' if b.reached else ''}" for b in stable
    )
    return [
        f"the variance has {len(stable)} stable fixed points ({each}); the answer is for a network started at h = 0"
    ]


def _bias_notes(cell: str, field: Field, asked: Asked) -> list[str]:
    """What other bias means would give: gating makes the bias the handle to turn."""
    if cell != "minimal-rnn":
        return []
    point = dataclasses.replace(field, bias_mean=np.array(_BIASES)).fixed_point(asked.input_correlation)
    each = zip(timescale_of(point.chi), _BIASES, phase_of(point.chi1), strict=True)
    lasting = (
        f"{_count(t)} at {bias:g}{' (chaotic)' if phase == 'chaotic' else ''}" for t, bias, phase in each
    )
    return [f"timescale at other bias means, in steps: {', '.join(lasting)}"]


def _wanted(cell: str, field: Field, asked: Asked) -> Wanted | None:
    if asked.timescale is None:
        return None
    parameter: Parameter = asked.parameter or ("sigma_w" if cell == "rnn" else "bias_mean")
    answer = parameter_for(
        field, asked.timescale, parameter=parameter, input_correlation=asked.input_correlation
    )
    low, high = SEARCHED[parameter]
    return Wanted(
        timescale=asked.timescale,
        parameter=parameter,
        value=answer.value,
        reached=finite(answer.timescale),
        low=answer.region.low if answer.region.low > low else None,
        high=None if answer.region.open else answer.region.high,
        searched=(low, high),
        source=asked.timescale_source,
    )


def _count(timescale: float) -> str:
    return f"{timescale:,.0f}" if np.isfinite(timescale) else "endless"
