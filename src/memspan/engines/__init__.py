"""Where work runs: threads for kernels that release the interpreter's lock, processes of their own for training."""

from memspan.engines.engine import Engine as Engine
from memspan.engines.engine import Threads as Threads
from memspan.engines.engine import available_cores as available_cores
from memspan.engines.processes import Processes as Processes
