"""What commands and verbs return: frozen dataclasses of numpy arrays and floats, with exact JSON round trips.

A result computes nothing, but a network can be run. `to_json` gives plain values, `from_json` gives the same result back,
and a file is always written whole (`memspan.results.atomic`). Types load on first use: a measurement does not wait for the
others.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memspan.results.agent import AgentEvaluation as AgentEvaluation
    from memspan.results.agent import AgentRun as AgentRun
    from memspan.results.agent import Episode as Episode
    from memspan.results.agent import Learning as Learning
    from memspan.results.agent import Rewards as Rewards
    from memspan.results.agent import TriedNetwork as TriedNetwork
    from memspan.results.benchmark import Benchmark as Benchmark
    from memspan.results.benchmark import BenchReport as BenchReport
    from memspan.results.benchmark import PeerEstimate as PeerEstimate
    from memspan.results.benchmark import SourceCalibration as SourceCalibration
    from memspan.results.chart import Chart as Chart
    from memspan.results.chart import Line as Line
    from memspan.results.chart import line as line
    from memspan.results.comparison import Comparison as Comparison
    from memspan.results.comparison import PairVerdict as PairVerdict
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
    from memspan.results.evaluation import Evaluation as Evaluation
    from memspan.results.evaluation import Transfer as Transfer
    from memspan.results.heat_map import HeatMap as HeatMap
    from memspan.results.linear_network import END as END
    from memspan.results.linear_network import LinearNetwork as LinearNetwork
    from memspan.results.measured_table import Measured as Measured
    from memspan.results.measured_table import MeasuredRow as MeasuredRow
    from memspan.results.measured_table import MeasuredTable as MeasuredTable
    from memspan.results.measurement import Influence as Influence
    from memspan.results.measurement import Measurement as Measurement
    from memspan.results.measurement import Period as Period
    from memspan.results.memorization import FrequencySearch as FrequencySearch
    from memspan.results.memorization import Learnt as Learnt
    from memspan.results.memorization import Memorization as Memorization
    from memspan.results.orbit import Orbit as Orbit
    from memspan.results.prediction import AnyPrediction as AnyPrediction
    from memspan.results.prediction import AttentionPrediction as AttentionPrediction
    from memspan.results.prediction import Branch as Branch
    from memspan.results.prediction import JacobianMoments as JacobianMoments
    from memspan.results.prediction import LinearPrediction as LinearPrediction
    from memspan.results.prediction import Prediction as Prediction
    from memspan.results.prediction import Wanted as Wanted
    from memspan.results.prediction import read_prediction as read_prediction
    from memspan.results.reproduction import Claim as Claim
    from memspan.results.reproduction import Reproduction as Reproduction
    from memspan.results.reproduction import claim_near as claim_near
    from memspan.results.sample import Sample as Sample
    from memspan.results.second_goal import SecondGoal as SecondGoal
    from memspan.results.training import TrainingRun as TrainingRun
    from memspan.results.written_text import ReversePerplexity as ReversePerplexity
    from memspan.results.written_text import SegmentInformation as SegmentInformation
    from memspan.results.written_text import WrittenSegments as WrittenSegments

_MODULES = {
    "agent": "AgentEvaluation AgentRun Episode Learning Rewards TriedNetwork",
    "benchmark": "Benchmark BenchReport PeerEstimate SourceCalibration",
    "chart": "Chart Line line",
    "comparison": "Comparison PairVerdict",
    "curve": "Curve Reach Span",
    "decay": "DecayFit LawFit LocalExponent",
    "diagnosis": "AttentionMap ContextLoss Diagnosis GradientNorms JacobianSpectrum RelevantSet TrainingCosts",
    "evaluation": "Evaluation Transfer",
    "heat_map": "HeatMap",
    "linear_network": "END LinearNetwork",
    "measured_table": "Measured MeasuredRow MeasuredTable",
    "measurement": "Influence Measurement Period",
    "memorization": "FrequencySearch Learnt Memorization",
    "orbit": "Orbit",
    "prediction": "AnyPrediction AttentionPrediction Branch JacobianMoments LinearPrediction Prediction Wanted"
    " read_prediction",
    "reproduction": "Claim Reproduction claim_near",
    "sample": "Sample",
    "second_goal": "SecondGoal",
    "training": "TrainingRun",
    "written_text": "ReversePerplexity SegmentInformation WrittenSegments",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = list(_PUBLIC)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'memspan.results' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"memspan.results.{_PUBLIC[name]}"), name)
    globals()[name] = value  # found without this function next time
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
