"""`predict_attention`: how much of a gradient survives, with attention and without."""

from __future__ import annotations

import time

import numpy as np

from memspan.results import AttentionPrediction, Chart, line
from memspan.theory.attention import attention_prediction

_SMALLEST_SHOWN = 1e-12


def predict_attention(
    eigenvalue: complex, steps: int, *, kappa: int | None = None, depth: int | None = None
) -> AttentionPrediction:
    """How a gradient survives uniform attention over all past states, next to the plain recurrence.

    >>> round(predict_attention(0.3, 1000).exponent, 4)
    -0.5714
    """
    start = time.perf_counter()
    decay = attention_prediction(eigenvalue, steps, kappa=kappa, depth=depth)
    settings = {
        "eigenvalue_real": decay.eigenvalue.real,
        "eigenvalue_imaginary": decay.eigenvalue.imag,
        "steps": float(steps),
    }
    sparse = {name: float(value) for name, value in (("kappa", kappa), ("depth", depth)) if value is not None}
    plain = np.where(decay.without_attention >= _SMALLEST_SHOWN, decay.without_attention, np.nan)
    law = decay.gradient[-1] * (decay.distances / decay.distances[-1]) ** decay.exponent
    lines = [
        line("with uniform attention", decay.distances, decay.gradient),
        line(f"distance to the power {decay.exponent:.3g}", decay.distances, law, style="dashed"),
        line("without attention", decay.distances, plain),
    ]
    if decay.sparse_bound is not None:
        bound = np.full(decay.distances.size, decay.sparse_bound)
        lines.append(line("sparse attention passes on at least this", decay.distances, bound, style="dashed"))
    chart = Chart(
        name="gradient",
        title=f"How much of a gradient survives, for an eigenvalue of {_eigenvalue_text(decay.eigenvalue)}",
        x_label="distance (steps)",
        y_label="size of the gradient",
        x_scale="log",
        y_scale="log",
        lines=tuple(lines),
        caption="A straight line is a power of the distance. Without attention the gradient falls exponentially; it is not "
        f"drawn below {_SMALLEST_SHOWN:g}.",
    )
    return AttentionPrediction(
        cell="attention",
        settings={**settings, **sparse},
        exponent=decay.exponent,
        printed_exponent=decay.printed_exponent,
        distances=decay.distances,
        gradient=decay.gradient,
        without_attention=decay.without_attention,
        sparse_bound=decay.sparse_bound,
        notes=(),
        figures=(chart,),
        seconds=time.perf_counter() - start,
    )


def _eigenvalue_text(value: complex) -> str:
    return f"{value.real:g}" if value.imag == 0 else f"{value.real:g}{value.imag:+g}i"
