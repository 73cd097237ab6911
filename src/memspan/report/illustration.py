"""The figures of a result as elements of the page."""

from __future__ import annotations

from memspan.figures.drawing import Result, figures_of
from memspan.figures.saving import svg_text
from memspan.report.section import Illustration


def illustrations(
    result: Result, captions: dict[str, str], *, bits: bool = False
) -> tuple[Illustration, ...]:
    """Every figure of `result`, with the caption of its name; information in nats, or in bits."""
    return tuple(
        Illustration(name, svg_text(figure), captions[name])
        for name, figure in figures_of(result, bits=bits).items()
    )
