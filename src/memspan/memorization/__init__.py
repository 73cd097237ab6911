"""Linear recurrent networks that replay a given string, of the smallest size.

A network without any nonlinearity can write a string for ever: its state walks around a closed orbit, and an arg max of
affine functions reads a symbol off each place. How few hidden units are enough?

>>> network = Rotation().build("00000111")
>>> network.hidden_size, network.replay(20)
(2, '00000111000001110000')
"""

from memspan.memorization.construction import Construction as Construction
from memspan.memorization.cyclic import Cyclic as Cyclic
from memspan.memorization.cyclic import coprime_powers as coprime_powers
from memspan.memorization.rotation import Rotation as Rotation
from memspan.memorization.strings import PeriodicString as PeriodicString
