"""Tasks that cannot be solved without memory: batches as pure functions of an index, losses and measures.

>>> from memspan.tasks import Copy
>>> task = Copy(delay=100)
>>> batch = task.batch(7, 10, seed=0)
>>> tuple(batch.inputs.shape)
(120, 10)
"""

from memspan.tasks.copying import Copy as Copy
from memspan.tasks.names import TASKS as TASKS
from memspan.tasks.task import Batch as Batch
from memspan.tasks.task import Task as Task
