"""What verbs and commands return: frozen dataclasses of numpy arrays and floats that validate themselves.

`to_json` gives plain values and `from_json` restores the same result exactly; files of earlier versions are still read.
`schema(type)` is the JSON Schema of a result type. Results compute nothing, except that a `LinearNetwork` can be run.
Types load on first use, so that a measurement does not load those of trainings.

>>> sorted(schema(JacobianMoments)["properties"])
['mean', 'steps', 'variance', 'weights']
"""

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memspan.results.agent import AgentEvaluation as AgentEvaluation
    from memspan.results.agent import AgentRun as AgentRun
    from memspan.results.agent import Episode as Episode
    from memspan.results.agent import EvaluatedAgent as EvaluatedAgent
    from memspan.results.agent import LearningCurve as LearningCurve
    from memspan.results.agent import Rewards as Rewards
    from memspan.results.benchmark import Benchmark as Benchmark
    from memspan.results.benchmark import BenchReport as BenchReport
    from memspan.results.benchmark import PeerEstimate as PeerEstimate
    from memspan.results.benchmark import SourceCalibration as SourceCalibration
    from memspan.results.charts import Chart as Chart
    from memspan.results.charts import HeatMap as HeatMap
    from memspan.results.charts import Line as Line
    from memspan.results.charts import line as line
    from memspan.results.curve import Curve as Curve
    from memspan.results.curve import Reach as Reach
    from memspan.results.curve import Span as Span
    from memspan.results.decay import DecayFit as DecayFit
    from memspan.results.decay import LawFit as LawFit
    from memspan.results.decay import LocalExponent as LocalExponent
    from memspan.results.diagnosis import AttentionMap as AttentionMap
    from memspan.results.diagnosis import ContextLoss as ContextLoss
    from memspan.results.diagnosis import Diagnosis as Diagnosis
    from memspan.results.diagnosis import GradientNorms as GradientNorms
    from memspan.results.diagnosis import JacobianSpectrum as JacobianSpectrum
    from memspan.results.diagnosis import RelevantSet as RelevantSet
    from memspan.results.diagnosis import TrainingCosts as TrainingCosts
    from memspan.results.json_schema import RESULT_TYPES as RESULT_TYPES
    from memspan.results.json_schema import schema as schema
    from memspan.results.measurement import Comparison as Comparison
    from memspan.results.measurement import Influence as Influence
    from memspan.results.measurement import Measurement as Measurement
    from memspan.results.measurement import PairVerdict as PairVerdict
    from memspan.results.measurement import Period as Period
    from memspan.results.memorization import END as END
    from memspan.results.memorization import FrequencySearch as FrequencySearch
    from memspan.results.memorization import LinearNetwork as LinearNetwork
    from memspan.results.memorization import Memorization as Memorization
    from memspan.results.memorization import Orbit as Orbit
    from memspan.results.memorization import TrainedLinearNetwork as TrainedLinearNetwork
    from memspan.results.prediction import AnyPrediction as AnyPrediction
    from memspan.results.prediction import AttentionPrediction as AttentionPrediction
    from memspan.results.prediction import Branch as Branch
    from memspan.results.prediction import JacobianMoments as JacobianMoments
    from memspan.results.prediction import LinearPrediction as LinearPrediction
    from memspan.results.prediction import Prediction as Prediction
    from memspan.results.prediction import TimescaleTarget as TimescaleTarget
    from memspan.results.prediction import read_prediction as read_prediction
    from memspan.results.reproduction import Claim as Claim
    from memspan.results.reproduction import MeasuredRow as MeasuredRow
    from memspan.results.reproduction import MeasuredTable as MeasuredTable
    from memspan.results.reproduction import MeasuredValue as MeasuredValue
    from memspan.results.reproduction import Reproduction as Reproduction
    from memspan.results.reproduction import claim_near as claim_near
    from memspan.results.reproduction import count_claims as count_claims
    from memspan.results.training import AuxiliaryObjective as AuxiliaryObjective
    from memspan.results.training import Evaluation as Evaluation
    from memspan.results.training import GeneratedSegments as GeneratedSegments
    from memspan.results.training import ReversePerplexity as ReversePerplexity
    from memspan.results.training import Sample as Sample
    from memspan.results.training import SegmentInformation as SegmentInformation
    from memspan.results.training import TrainingRun as TrainingRun
    from memspan.results.training import Transfer as Transfer

_MODULES = {
    "agent": "AgentEvaluation AgentRun Episode EvaluatedAgent LearningCurve Rewards",
    "benchmark": "Benchmark BenchReport PeerEstimate SourceCalibration",
    "charts": "Chart HeatMap Line line",
    "curve": "Curve Reach Span",
    "decay": "DecayFit LawFit LocalExponent",
    "diagnosis": "AttentionMap ContextLoss Diagnosis GradientNorms JacobianSpectrum RelevantSet TrainingCosts",
    "json_schema": "RESULT_TYPES schema",
    "measurement": "Comparison PairVerdict Influence Measurement Period",
    "memorization": "END FrequencySearch LinearNetwork Memorization Orbit TrainedLinearNetwork",
    "prediction": "AnyPrediction AttentionPrediction Branch JacobianMoments LinearPrediction Prediction TimescaleTarget"
    " read_prediction",
    "reproduction": "Claim MeasuredRow MeasuredTable MeasuredValue Reproduction claim_near count_claims",
    "training": "AuxiliaryObjective Evaluation GeneratedSegments ReversePerplexity Sample SegmentInformation TrainingRun"
    " Transfer",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}
_RENAMED = {
    "Learning": "LearningCurve",
    "Learnt": "TrainedLinearNetwork",
    "Measured": "MeasuredValue",
    "SecondGoal": "AuxiliaryObjective",
    "TriedNetwork": "EvaluatedAgent",
    "Wanted": "TimescaleTarget",
    "WrittenSegments": "GeneratedSegments",
}

__all__ = list(_PUBLIC)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(f"{__name__}.{name} is deprecated; use {_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
