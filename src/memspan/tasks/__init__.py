"""Tasks that cannot be solved without memory: batches as pure functions of an index, losses and measures.

>>> from memspan.tasks import Copy
>>> task = Copy(delay=100)
>>> batch = task.batch(7, 10, seed=0)
>>> tuple(batch.inputs.shape)
(120, 10)
"""

from memspan.tasks.adding import Adding as Adding
from memspan.tasks.binary_sequences import BinarySequences as BinarySequences
from memspan.tasks.copying import Copy as Copy
from memspan.tasks.denoising import Denoise as Denoise
from memspan.tasks.names import TASKS as TASKS
from memspan.tasks.noisy_digits import NoisyDigits as NoisyDigits
from memspan.tasks.sequential_digits import PermutedDigits as PermutedDigits
from memspan.tasks.sequential_digits import SequentialDigits as SequentialDigits
from memspan.tasks.task import Batch as Batch
from memspan.tasks.task import Task as Task
from memspan.tasks.text import CharacterText as CharacterText
from memspan.tasks.text import WordText as WordText
