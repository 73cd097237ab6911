"""The numbers that Cao and Xu 2020 print."""

from __future__ import annotations

GOALS = {"none": "Baseline", "base": "BMI-base", "full": "BMI-full"}
"""Words of `bmi.name` and the source's names; its baseline is the AWD-LSTM with a mixture of softmaxes."""

BETTER = (("base", "none"), ("full", "none"), ("full", "base"))
"""Goals and those that they are better than: both than the baseline, and the full one than the base one (section 5.1)."""

MEASURES = {
    "valid": "perplexity on validation",
    "test": "perplexity on test",
    "reverse_valid": "reverse perplexity on validation",
    "reverse_test": "reverse perplexity on test",
}

PERPLEXITY: dict[str, dict[bool, dict[str, tuple[float, float, float, float]]]] = {
    "ptb": {
        False: {
            "none": (58.08, 55.97, 82.88, 77.57),
            "base": (57.16, 55.02, 80.64, 75.31),
            "full": (56.85, 54.65, 78.46, 73.73),
        },
        True: {
            "none": (56.54, 54.44, 80.29, 75.51),
            "base": (56.05, 53.97, 78.04, 73.35),
            "full": (55.61, 53.67, 75.81, 71.81),
        },
    },
    "wikitext-2": {
        False: {
            "none": (66.01, 63.33, 93.52, 88.79),
            "base": (64.24, 61.67, 90.95, 86.31),
            "full": (63.86, 61.37, 90.20, 85.11),
        },
        True: {
            "none": (63.88, 61.45, 91.32, 85.69),
            "base": (63.14, 60.61, 89.09, 84.01),
            "full": (62.99, 60.51, 88.27, 83.43),
        },
    },
}
"""Table 1, by data, by whether the networks were fine-tuned, by goal; in the order of `MEASURES`."""

SEGMENTS: dict[str, dict[str, float]] = {
    "ptb": {"none": 0.25, "base": 0.47, "full": 0.48, "real": 1.18},
    "wikitext-2": {"none": 0.76, "base": 0.88, "full": 1.01, "real": 2.14},
}
"""Table 2: nats that two segments of 40 tokens, 10 apart, tell of each other, in generated and in real text."""
SEGMENT_ERRORS: dict[str, dict[str, float]] = {
    "ptb": {"none": 0.03, "base": 0.03, "full": 0.03, "real": 0.08},
    "wikitext-2": {"none": 0.03, "base": 0.05, "full": 0.06, "real": 0.07},
}
"""What Table 2 has behind ±; of what kind these errors are is not said."""


def printed(data: str, tuned: bool, goal: str, measure: str) -> float | None:
    """A number of Table 1; None for data that the source does not have."""
    if data not in PERPLEXITY:
        return None
    return PERPLEXITY[data][tuned][goal][list(MEASURES).index(measure)]
