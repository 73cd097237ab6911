"""What a mean field means for training, in one line."""

from __future__ import annotations

from memspan.theory import Field
from memspan.theory.meanfield.field import phase_of

WORDS = {"ordered": "vanishing", "critical": "critical", "chaotic": "exploding"}
LONGEST = 100_000
"""No longer timescale is told: weights in single precision decide chi_1 to about seven digits."""


def verdict(field: Field, input_correlation: float = 1.0) -> str:
    """Whether gradients vanish, last or explode, by chi_1, and how long signals last: -1 / log chi steps.

    chi_1 is the factor per step of a gradient's squared norm; critical is within 0.005 of 1. How long signals last is said
    for inputs of the given correlation.

    >>> from memspan.theory import VanillaField, critical_vanilla
    >>> verdict(VanillaField(sigma_w=1.3, sigma_v=0.5))
    'vanishing: squared gradients change by chi_1 = 0.8252 a step; signals last 5.2 steps'
    >>> verdict(critical_vanilla(sigma_v=0.5))
    'critical: squared gradients change by chi_1 = 1.0000 a step; signals last more than 100,000 steps'
    """
    chi1 = field.chi1
    endless = input_correlation == 1 and abs(chi1 - 1) < 1 / LONGEST
    steps = LONGEST + 1 if endless else field.timescale(input_correlation)
    under = "" if input_correlation == 1 else f" under inputs of correlation {input_correlation:g}"
    return (
        f"{WORDS[phase_of(chi1)]}: squared gradients change by chi_1 = {chi1:.4f} a step; "
        f"signals last {_number(steps)} steps{under}"
    )


def _number(steps: float) -> str:
    if steps > LONGEST:
        return f"more than {LONGEST:,}"
    return f"{steps:,.0f}" if steps >= 100 else f"{steps:.1f}"
