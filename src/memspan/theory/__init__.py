"""What a network can remember before it is trained: map, fixed point, slope, timescale.

A wide random network has few numbers that matter. Take the tanh RNN: pre-activations are Gaussian, and two copies of
the network with equal inputs come together or part by the factor chi_1 per step (the *slope* of the map that takes their
correlation from one step to the next, at its *fixed point*). A signal then lasts -1 / log chi steps, its *timescale*:

>>> field = VanillaField(sigma_w=1.3, sigma_v=0.5)
>>> print(f"chi_1 = {field.chi1:.3f}, {field.phase}: signals last {field.timescale():.1f} steps")
chi_1 = 0.825, ordered: signals last 5.2 steps
>>> round(critical_vanilla(sigma_v=0.5).sigma_w, 3)  # the edge of chaos
1.55

A gate does what no choice of sigma_w can: it holds signals for as long as its bias says, whatever the inputs are.

>>> gated = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=8.0, input_variance=0.46)
>>> round(gated.timescale()), round(gated.timescale(input_correlation=0.0))
(964, 950)

Linear networks are solved exactly (`LinearRNN`), LSTM and GRU by sampling (`gated_point`), gradients through attention by
the recursion of their source (`AttentiveRNN`, `uniform_attention_exponent`).
"""

from memspan.theory.activations import Activation as Activation
from memspan.theory.activations import Erf as Erf
from memspan.theory.activations import Identity as Identity
from memspan.theory.activations import Tanh as Tanh
from memspan.theory.attention import Additive as Additive
from memspan.theory.attention import AttentiveRNN as AttentiveRNN
from memspan.theory.attention import attention_prediction as attention_prediction
from memspan.theory.attention import dependency_depth as dependency_depth
from memspan.theory.attention import sparse_attention_bound as sparse_attention_bound
from memspan.theory.attention import uniform_attention_exponent as uniform_attention_exponent
from memspan.theory.critical import critical_minimal as critical_minimal
from memspan.theory.critical import critical_vanilla as critical_vanilla
from memspan.theory.critical import feasible_range as feasible_range
from memspan.theory.elementwise import ElementwiseCell as ElementwiseCell
from memspan.theory.elementwise import GRUCell as GRUCell
from memspan.theory.elementwise import LSTMCell as LSTMCell
from memspan.theory.elementwise import MinimalCell as MinimalCell
from memspan.theory.elementwise import Network as Network
from memspan.theory.elementwise import VanillaCell as VanillaCell
from memspan.theory.field import Field as Field
from memspan.theory.field import FixedPoint as FixedPoint
from memspan.theory.gated import GatedPoint as GatedPoint
from memspan.theory.gated import gated_point as gated_point
from memspan.theory.growth import Growth as Growth
from memspan.theory.growth import growth as growth
from memspan.theory.inverse import Answer as Answer
from memspan.theory.inverse import parameter_for as parameter_for
from memspan.theory.jacobians import jacobian_singular_values as jacobian_singular_values
from memspan.theory.jacobians import jacobian_statistics as jacobian_statistics
from memspan.theory.linear import LinearRNN as LinearRNN
from memspan.theory.linear import Start as Start
from memspan.theory.minimal import MinimalField as MinimalField
from memspan.theory.predictions.phase_diagram import Axis as Axis
from memspan.theory.predictions.phase_diagram import phase_diagram as phase_diagram
from memspan.theory.simulation import Simulation as Simulation
from memspan.theory.simulation import simulate as simulate
from memspan.theory.vanilla import VanillaField as VanillaField
