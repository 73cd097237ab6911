"""The numbers printed in Cao and Xu 2020."""

from __future__ import annotations

# Values of `bmi.name` and the paper's names. Its baseline is the AWD-LSTM with a mixture of softmaxes.
VARIANTS = {"none": "Baseline", "base": "BMI-base", "full": "BMI-full"}
# Our control: the extra segments of BMI-full with equal weights. The paper has no such variant.
CONTROL = "uniform"
LABELS = {**VARIANTS, CONTROL: "Uniform control"}
# Key of the training text itself in tables that compare it with generated text.
REAL = "real"

# Pairs of variants, the better one first (section 5.1).
BETTER = (("base", "none"), ("full", "none"), ("full", "base"))
# Whether the extra segments help by themselves, and whether the importance weights do.
CONTROLLED = ((CONTROL, "base"), ("full", CONTROL))

MEASURES = {
    "valid": "validation perplexity",
    "test": "test perplexity",
    "reverse_valid": "reverse validation perplexity",
    "reverse_test": "reverse test perplexity",
}

# Table 1, by data set, fine-tuning and variant, in the order of `MEASURES`.
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

# Table 2: mutual information in nats of two segments of 40 tokens with a gap of 10, in generated and in real text.
SEGMENTS: dict[str, dict[str, float]] = {
    "ptb": {"none": 0.25, "base": 0.47, "full": 0.48, REAL: 1.18},
    "wikitext-2": {"none": 0.76, "base": 0.88, "full": 1.01, REAL: 2.14},
}
# The ± values of Table 2. The paper does not say which kind of error they are.
SEGMENT_ERRORS: dict[str, dict[str, float]] = {
    "ptb": {"none": 0.03, "base": 0.03, "full": 0.03, REAL: 0.08},
    "wikitext-2": {"none": 0.03, "base": 0.05, "full": 0.06, REAL: 0.07},
}


def variant_name(variant: str) -> str:
    """The name of a variant within a sentence."""
    return LABELS[variant].replace("Baseline", "the baseline").replace("Uniform", "the uniform")


def printed_perplexity(data: str, tuned: bool, variant: str, measure: str) -> float | None:
    """Return a number of Table 1, or None for a data set or a variant that the paper does not have."""
    if data not in PERPLEXITY or variant not in VARIANTS:
        return None
    return PERPLEXITY[data][tuned][variant][list(MEASURES).index(measure)]
