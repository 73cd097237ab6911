"""Linear recurrent networks that replay a given string, as small as possible.

A network without any nonlinearity can repeat a string forever: its state moves along a closed orbit, and an arg max of
affine functions reads one symbol off each point. How few hidden units are enough?

>>> net = memorize("abracadabra")
>>> net.hidden_size, net.method, net.replay(22)
(2, 'spectral', 'abracadabraabracadabra')
>>> memorize("00000111").method
'rotation'

| module | content |
|---|---|
| `methods` | `memorize`, which chooses a construction and verifies it |
| `constructions` | `Rotation` (two runs of two symbols) and `Cyclic` (one hidden unit per position) |
| `spectral`, `search`, `separation`, `harmonics` | `Spectral`: the fewest frequencies with a separable orbit |
| `feedback` | `Feedback`: one hidden unit that reads its own output |
| `rational` | sizes of rational matrices of a given order |
| `gradient_descent` | the same networks, trained |
| `verification`, `charts`, `files` | replay, drawings, and `.safetensors` files |
"""

from memspan.memorization.constructions import Construction as Construction
from memspan.memorization.constructions import Cyclic as Cyclic
from memspan.memorization.constructions import Rotation as Rotation
from memspan.memorization.constructions import coprime_powers as coprime_powers
from memspan.memorization.feedback import Feedback as Feedback
from memspan.memorization.feedback import capacity as capacity
from memspan.memorization.files import load_network as load_network
from memspan.memorization.files import save_memorization as save_memorization
from memspan.memorization.files import save_network as save_network
from memspan.memorization.gradient_descent import learn as learn
from memspan.memorization.harmonics import change_bound as change_bound
from memspan.memorization.harmonics import size_bound as size_bound
from memspan.memorization.harmonics import sufficient as sufficient
from memspan.memorization.methods import METHODS as METHODS
from memspan.memorization.methods import memorize as memorize
from memspan.memorization.rational import rational_matrix as rational_matrix
from memspan.memorization.rational import rational_orders as rational_orders
from memspan.memorization.rational import rational_size as rational_size
from memspan.memorization.spectral import Solution as Solution
from memspan.memorization.spectral import Spectral as Spectral
from memspan.memorization.strings import PeriodicString as PeriodicString
from memspan.memorization.verification import replay as replay
