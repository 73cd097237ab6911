"""One file per command: `section(result) -> Section`. The table below says which result has which section."""

from __future__ import annotations

from memspan.report.section import Section
from memspan.report.sections import (
    bench,
    compare,
    diagnose,
    evaluate,
    gridworld,
    measure,
    memorize,
    predict,
    reproduce,
    train,
)
from memspan.report.sentences import Told
from memspan.results import (
    AgentEvaluation,
    AgentRun,
    AttentionPrediction,
    BenchReport,
    Comparison,
    Diagnosis,
    Evaluation,
    LinearPrediction,
    Measurement,
    Memorization,
    Prediction,
    Reproduction,
    TrainingRun,
)


def section_of(result: Told, *, bits: bool = False) -> Section:
    """The section of any result; `bits` shows mutual information in bits instead of nats."""
    match result:
        case Measurement():
            return measure.section(result, bits=bits)
        case Comparison():
            return compare.section(result, bits=bits)
        case Reproduction():
            return reproduce.section(result)
        case Memorization():
            return memorize.section(result)
        case BenchReport():
            return bench.section(result)
        case TrainingRun():
            return train.section(result)
        case Evaluation():
            return evaluate.section(result)
        case Diagnosis():
            return diagnose.section(result)
        case AgentRun():
            return gridworld.section(result)
        case AgentEvaluation():
            return gridworld.evaluation_section(result)
        case Prediction() | LinearPrediction() | AttentionPrediction():
            return predict.section(result, bits=bits)
