"""How weights start: orthogonal, at the edge of chaos, or with gates that remember for as long as is needed.

>>> import torch
>>> V = henaff_(torch.empty(4, 4))
>>> bool(torch.allclose(V @ V.T, torch.eye(4), atol=1e-6))
True

`critical_(cell)` draws the weights of a `VanillaRNN` or `MinimalRNN` so that gradients neither vanish nor explode, and says
what came of it; `verdict(field)` says the same of any mean field.
"""

from memspan.init.chrono import GateBiases as GateBiases
from memspan.init.chrono import Gated as Gated
from memspan.init.chrono import chrono_ as chrono_
from memspan.init.critical import critical_ as critical_
from memspan.init.critical import critical_start as critical_start
from memspan.init.mean_field import mean_field_ as mean_field_
from memspan.init.open_gates import LongShortTerm as LongShortTerm
from memspan.init.open_gates import open_gates_ as open_gates_
from memspan.init.orthogonal import cayley_ as cayley_
from memspan.init.orthogonal import henaff_ as henaff_
from memspan.init.orthogonal import orthogonal_ as orthogonal_
from memspan.init.verdicts import verdict as verdict
