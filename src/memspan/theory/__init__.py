"""What a random recurrent network can remember before it is trained.

Four subjects, each a folder:

| folder | networks | method |
|---|---|---|
| `meanfield` | vanilla and minimal RNN, infinitely wide | fixed points of variance and correlation, solved numerically |
| `sampled` | any element-wise cell (LSTM, GRU, ...) | simulation of untied or tied random networks |
| `linear` | linear RNN with Gaussian output | exact covariances and mutual information |
| `attention` | RNN that attends to its own past | exact gradients, power laws and bounds |

`predict` joins them: it answers one question about one network with a result object.

Two copies of a wide random network with equal inputs approach or separate by the factor chi_1 per step. A signal then
lasts -1 / log chi steps, the *timescale*:

>>> field = VanillaField(sigma_w=1.3, sigma_v=0.5)
>>> print(f"chi_1 = {field.chi1:.3f}, {field.phase}: timescale {field.timescale():.1f} steps")
chi_1 = 0.825, ordered: timescale 5.2 steps
>>> round(critical_vanilla(sigma_v=0.5).sigma_w, 3)  # the edge of chaos
1.55

A gate achieves what no choice of sigma_w can: its bias sets the timescale, whatever the inputs are.

>>> gated = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=8.0, input_variance=0.46)
>>> round(gated.timescale()), round(gated.timescale(input_correlation=0.0))
(964, 950)
"""

import warnings
from typing import Any

from memspan.theory.attention import Additive as Additive
from memspan.theory.attention import AttentiveRNN as AttentiveRNN
from memspan.theory.attention import attention_prediction as attention_prediction
from memspan.theory.attention import dependency_depth as dependency_depth
from memspan.theory.attention import sparse_attention_bound as sparse_attention_bound
from memspan.theory.attention import uniform_attention_exponent as uniform_attention_exponent
from memspan.theory.diagrams import Axis as Axis
from memspan.theory.diagrams import phase_diagram as phase_diagram
from memspan.theory.linear import LinearRNN as LinearRNN
from memspan.theory.linear import Start as Start
from memspan.theory.meanfield.activations import Activation as Activation
from memspan.theory.meanfield.activations import Erf as Erf
from memspan.theory.meanfield.activations import Identity as Identity
from memspan.theory.meanfield.activations import Tanh as Tanh
from memspan.theory.meanfield.field import Field as Field
from memspan.theory.meanfield.field import FixedPoint as FixedPoint
from memspan.theory.meanfield.inverse import Answer as Answer
from memspan.theory.meanfield.inverse import critical_minimal as critical_minimal
from memspan.theory.meanfield.inverse import critical_vanilla as critical_vanilla
from memspan.theory.meanfield.inverse import feasible_range as feasible_range
from memspan.theory.meanfield.inverse import parameter_for as parameter_for
from memspan.theory.meanfield.minimal import MinimalField as MinimalField
from memspan.theory.meanfield.vanilla import VanillaField as VanillaField
from memspan.theory.sampled.cells import ElementwiseCell as ElementwiseCell
from memspan.theory.sampled.cells import GRUCell as GRUCell
from memspan.theory.sampled.cells import LSTMCell as LSTMCell
from memspan.theory.sampled.cells import MinimalCell as MinimalCell
from memspan.theory.sampled.cells import RandomNetwork as RandomNetwork
from memspan.theory.sampled.cells import VanillaCell as VanillaCell
from memspan.theory.sampled.gated import GatedPoint as GatedPoint
from memspan.theory.sampled.gated import gated_point as gated_point
from memspan.theory.sampled.simulation import Growth as Growth
from memspan.theory.sampled.simulation import Simulation as Simulation
from memspan.theory.sampled.simulation import growth as growth
from memspan.theory.sampled.simulation import simulate as simulate
from memspan.theory.sampled.singular_values import jacobian_singular_values as jacobian_singular_values
from memspan.theory.sampled.singular_values import jacobian_statistics as jacobian_statistics

_RENAMED = {"Network": "RandomNetwork"}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{__name__}.{name} is deprecated; use {_RENAMED[name]}", DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
