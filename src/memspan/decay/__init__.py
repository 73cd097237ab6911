"""By which law memory fades, and whether two sequences remember alike.

>>> from memspan.decay import LAWS
>>> list(LAWS)
['exponential', 'power', 'exponential+constant', 'cutoff-power', 'exponential+power', 'stretched']
"""

from memspan.decay.comparison import compare as compare
from memspan.decay.fit import fit_decay as fit_decay
from memspan.decay.laws import LAWS as LAWS
from memspan.decay.laws import Law as Law
from memspan.decay.measurement import measure as measure
from memspan.decay.structure import find_period as find_period
