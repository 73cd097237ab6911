"""Initializations: orthogonal matrices, weights at the edge of chaos, gate biases for long timescales, and Keras's own.

>>> import torch
>>> V = henaff_(torch.empty(4, 4))
>>> bool(torch.allclose(V @ V.T, torch.eye(4), atol=1e-6))
True

`critical_(cell)` draws the weights of a `VanillaRNN` or `MinimalRNN` such that gradients neither vanish nor explode, and
returns a `verdict` on the result; `verdict(field)` takes any mean field.
"""

from memspan.init.critical import critical_ as critical_
from memspan.init.critical import critical_start as critical_start
from memspan.init.critical import verdict as verdict
from memspan.init.gates import GateBiases as GateBiases
from memspan.init.gates import Gated as Gated
from memspan.init.gates import LongShortTerm as LongShortTerm
from memspan.init.gates import chrono_ as chrono_
from memspan.init.gates import keras_ as keras_
from memspan.init.gates import open_gates_ as open_gates_
from memspan.init.mean_field import mean_field_ as mean_field_
from memspan.init.orthogonal import cayley_ as cayley_
from memspan.init.orthogonal import henaff_ as henaff_
from memspan.init.orthogonal import orthogonal_ as orthogonal_
