"""What a model writes: symbols drawn one after the other, many streams at once, as texts that can be measured.

>>> from memspan.cells import LSTM
>>> from memspan.models.cell_model import SequenceModel
>>> from memspan.models.vocabulary import Vocabulary
>>> from memspan.sampling import Choice, as_sequence, sample
>>> alphabet = Vocabulary("characters", ("a", "b", "\\n"))
>>> blocks = sample(SequenceModel(LSTM(4, 8), 3), streams=5, length=100, first=alphabet.end, seed=0)
>>> as_sequence(blocks, alphabet).n_documents
5
"""

from memspan.sampling.blocks import Block as Block
from memspan.sampling.blocks import in_turn as in_turn
from memspan.sampling.blocks import joined as joined
from memspan.sampling.choosing import Choice as Choice
from memspan.sampling.streams import sample as sample
from memspan.sampling.texts import Written as Written
from memspan.sampling.texts import as_sequence as as_sequence
from memspan.sampling.texts import texts as texts
from memspan.sampling.texts import write as write
