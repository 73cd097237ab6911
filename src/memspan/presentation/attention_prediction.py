"""The prediction of a recurrence with attention: how gradients fall with the distance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import final

from memspan.presentation.curve import MOST_ROWS
from memspan.presentation.numbers import duration, number, round_positions, trimmed
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.prediction import settings_table, steps_words
from memspan.presentation.presenter import Block, Presenter, facts, note_lines
from memspan.results import AttentionPrediction, Chart

# Exponents smaller than this are zero: eigenvalue 0.5 gives exactly 0 only up to rounding.
_ZERO_EXPONENT = 1e-9
# Below this a double-precision number has lost digits or underflowed to zero.
_UNDERFLOW = 1e-300


@final
class AttentionPredictionPresenter(Presenter[AttentionPrediction]):
    """One eigenvalue of a linear recurrence with attention."""

    result_type = AttentionPrediction

    def page_title(self) -> str:
        return f"{self.result.cell}: how far back can it remember?"

    def title(self) -> str:
        return "How gradients survive with attention"

    def sentence(self) -> str:
        result = self.result
        exponent, printed = trimmed(result.exponent), trimmed(result.printed_exponent)
        if abs(result.exponent) < _ZERO_EXPONENT:
            law = "gradients neither fade nor grow with the distance T"
        elif result.exponent > 0:
            law = f"gradients grow as T^{exponent}"
        else:
            law = f"gradients fall as T^{exponent}, not exponentially"
        source = f" (T^{printed} as printed in the source)" if printed != exponent else ""
        return f"attention, eigenvalue {eigenvalue_words(result.settings)}: {law}{source}{self._left()}"

    def _left(self) -> str:
        """The gradient at the largest distance, with attention and without it."""
        result = self.result
        if not result.distances.size or math.isnan(result.gradient[-1]):
            return ""
        size, plain = float(result.gradient[-1]), float(result.without_attention[-1])
        with_attention = f"{left_words(size)} is left" if size < 1 else f"the gradient is {left_words(size)}"
        without = "" if math.isnan(plain) else f", {left_words(plain)} without attention"
        return f"; after {steps_words(int(result.distances[-1]))} {with_attention}{without}"

    def explanation(self) -> tuple[str, ...]:
        distances = self.result.distances
        largest = steps_words(int(distances[-1])) if distances.size else "many steps"
        return (
            "Without attention a gradient is multiplied by the same eigenvalue at every step, so it falls exponentially. "
            "Attention over all past states with equal weights opens a shortcut from every step to every later one, and the "
            f"gradient follows a power of the distance T, here up to {largest}.",
            "The exponent is Re(lambda / (1 - lambda)) - 1 for the eigenvalue lambda of a linear recurrence; the source "
            "prints Re(lambda) - 1, which does not agree with the recursion it starts from.",
        )

    def rows(self) -> tuple[Row, ...]:
        result = self.result
        bound = (
            "bound under sparse attention",
            number(result.sparse_bound),
            "Lower bound of the gradient when few states are attended to: lambda^depth / kappa^(depth + 1).",
        )
        return (
            ("exponent", trimmed(result.exponent), "The gradient follows the distance T to this power."),
            (
                "exponent as printed",
                trimmed(result.printed_exponent),
                "What the source prints; the recursion itself gives the one above.",
            ),
            *self._gradient_rows(),
            *((bound,) if result.sparse_bound is not None else ()),
            ("time", duration(result.seconds), "Time of the prediction."),
        )

    def _gradient_rows(self) -> tuple[Row, ...]:
        result = self.result
        if not result.distances.size:
            return ()
        return (
            (
                f"gradient over {steps_words(int(result.distances[-1]))}",
                left_words(float(result.gradient[-1])),
                "Modulus of the derivative of the last state by the first, along the eigenvector.",
            ),
            (
                "without attention",
                left_words(float(result.without_attention[-1])),
                "The same for the plain recurrence: the eigenvalue to that power.",
            ),
        )

    def details(self) -> tuple[TextTable, ...]:
        size = self.result.distances.size
        table = TextTable("Values of the figure", self._header(), self._gradients(range(size)), folded=True)
        return (settings_table(self.result.settings), *((table,) if 0 < size <= MOST_ROWS else ()))

    def _header(self) -> tuple[str, ...]:
        return ("distance", "with attention", "without attention")

    def _gradients(self, positions: Sequence[int]) -> tuple[Row, ...]:
        result = self.result
        return tuple(
            (
                f"{result.distances[i]:,}",
                left_words(float(result.gradient[i])),
                left_words(float(result.without_attention[i])),
            )
            for i in positions
        )

    def drawings(self) -> Sequence[Chart]:
        return self.result.figures

    def blocks(self) -> Iterator[Block]:
        result, bound = self.result, self.result.sparse_bound
        yield facts(
            [
                ("eigenvalue", eigenvalue_words(result.settings)),
                ("exponent", f"{trimmed(result.exponent)} (printed {trimmed(result.printed_exponent)})"),
                *([("sparse attention", f"gradient at least {number(bound)}")] if bound is not None else []),
                ("time", duration(result.seconds)),
            ]
        )
        yield TextTable("", self._header(), self._gradients(round_positions(result.distances)))
        yield from note_lines(result.notes)


def eigenvalue_words(settings: dict[str, float]) -> str:
    """A real or complex number.

    >>> eigenvalue_words({"eigenvalue_real": 0.4, "eigenvalue_imaginary": -0.693})
    '0.4 - 0.693i'
    """
    real, imaginary = settings.get("eigenvalue_real", math.nan), settings.get("eigenvalue_imaginary", 0.0)
    if not imaginary or math.isnan(imaginary):
        return trimmed(real)
    return f"{trimmed(real)} {'+' if imaginary > 0 else '-'} {trimmed(abs(imaginary))}i"


def left_words(size: float) -> str:
    """What is left of a gradient.

    >>> left_words(0.01934), left_words(3e-12), left_words(0.0)
    ('0.0193', '3e-12', 'nothing')
    """
    return "nothing" if abs(size) < _UNDERFLOW else trimmed(size)
