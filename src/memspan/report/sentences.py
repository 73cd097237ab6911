"""The first line of every answer, the same on the command line and in the report."""

from __future__ import annotations

from typing import TypeAlias

from memspan.figures.words import caution, law_sentence, memory_words, symbols_word
from memspan.report.agent_sentences import agent_evaluation_sentence, agent_sentence
from memspan.report.diagnosis_sentences import diagnosis_sentence
from memspan.report.memorization_sentences import memorization_sentence
from memspan.report.numbers import count, lag_list, number, probability, share
from memspan.report.prediction_sentences import prediction_sentence
from memspan.report.training_sentences import evaluation_sentence, training_sentence
from memspan.results import (
    AgentEvaluation,
    AgentRun,
    AnyPrediction,
    AttentionPrediction,
    BenchReport,
    Comparison,
    Diagnosis,
    Evaluation,
    LinearPrediction,
    Measurement,
    Memorization,
    PairVerdict,
    Prediction,
    Reproduction,
    TrainingRun,
)

Trained: TypeAlias = TrainingRun | Evaluation | Diagnosis | AgentRun | AgentEvaluation
Told: TypeAlias = (
    Measurement | Comparison | Reproduction | Memorization | BenchReport | AnyPrediction | Trained
)


def sentence(result: Told, *, bits: bool = False) -> str:
    """What was found, in one line; `bits` gives mutual information in bits instead of nats.

    `novel.txt: reach 40 [36, 43] characters at 0.001 nats; dependence visible to 340 [261, 464] characters (1.1 M symbols);
    power law, exponent 0.41 [0.38, 0.44]`
    """
    match result:
        case Measurement():
            return _measured(result, bits)
        case Comparison():
            return _compared(result)
        case Reproduction():
            return _reproduced(result)
        case Memorization():
            return memorization_sentence(result)
        case BenchReport():
            return _benched(result)
        case TrainingRun():
            return training_sentence(result)
        case Evaluation():
            return evaluation_sentence(result)
        case Diagnosis():
            return diagnosis_sentence(result)
        case AgentRun():
            return agent_sentence(result)
        case AgentEvaluation():
            return agent_evaluation_sentence(result)
        case Prediction() | LinearPrediction() | AttentionPrediction():
            return prediction_sentence(result, bits=bits)


def span_caution(measurement: Measurement) -> str:
    """The line that belongs under every span: it is a detection limit, and more data may show more."""
    return f"The span is {caution(measurement.curve, measurement.symbols)}."


def _measured(measurement: Measurement, bits: bool) -> str:
    curve = measurement.curve
    memory = memory_words(curve, measurement.symbols, bits=bits)
    found = f"{measurement.name}: {memory} ({count(curve.length)} symbols)"
    nothing = measurement.decay is None and not curve.significant.any()
    return found if nothing else f"{found}; {law_sentence(measurement, bits=bits)}"


def _compared(comparison: Comparison) -> str:
    verdicts = "; ".join(pair_words(pair, comparison) for pair in comparison.pairs)
    return f"{verdicts or 'one source, nothing to compare'}; {count(comparison.size)} symbols of each"


def pair_words(pair: PairVerdict, comparison: Comparison) -> str:
    """One pair's verdict, with where the two differ and how sure that is."""
    names, sure = f"{pair.a} and {pair.b}", probability(pair.p_value)
    if pair.verdict == "different":
        where = lag_list(pair.different_lags, tuple(pair.lags.tolist()))
        word = symbols_word(comparison.sources[pair.a].symbols) if pair.a in comparison.sources else "symbols"
        return (
            f"{names} differ at a distance of {where} {word} ({sure})"
            if where
            else f"{names} differ ({sure})"
        )
    if pair.verdict == "alike":
        return f"{names} are alike ({sure})"
    return f"{names}: {pair.verdict} ({sure})"


def _reproduced(reproduction: Reproduction) -> str:
    claims, failed = reproduction.claims, [claim for claim in reproduction.claims if not claim.holds]
    start = f"{reproduction.id} ({reproduction.scale} scale): "
    if not claims:
        return start + "no claims to check"
    if not failed:
        return start + ("the claim holds" if len(claims) == 1 else f"all {len(claims)} claims hold")
    held = f"{len(claims) - len(failed)} of {len(claims)} claims hold"
    rest = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{start}{held}; does not hold: {failed[0].claim}{rest}"


def _calibrated(report: BenchReport) -> str:
    """False alarms and coverage, every lag of every source counted once."""
    rows = report.calibration
    found = f"{len(rows)} {'source' if len(rows) == 1 else 'sources'} calibrated"
    far = [row for row in rows if row.far_lags]
    if far:
        n = sum(row.seeds * row.far_lags for row in far)
        at_05 = sum(row.seeds * row.far_lags * row.false_alarms_05 for row in far) / n
        at_001 = sum(row.seeds * row.far_lags * row.false_alarms_001 for row in far) / n
        found += f"; {share(at_05)} of far lags at p < 0.05, {share(at_001)} at p < 0.001"
    covered = sum(row.seeds * row.lags * row.coverage for row in rows) / sum(
        row.seeds * row.lags for row in rows
    )
    return f"{found}; truth within 2 errors at {share(covered)} of lags"


def _benched(report: BenchReport) -> str:
    if report.calibration:
        return _calibrated(report)
    if not report.benchmarks:
        return "no benchmarks were run"
    better = [benchmark for benchmark in report.benchmarks if benchmark.ratio > 1]
    found = f"memspan is better than its peer in {len(better)} of {len(report.benchmarks)} benchmarks"
    if not better:
        return found
    best = max(better, key=lambda benchmark: benchmark.ratio)
    return f"{found}, most in {best.name}: {number(best.ratio, 2)} times {best.peer}"
