"""Where work runs: threads for kernels that release the GIL, separate processes for training."""

from memspan.engines.engine import Engine as Engine
from memspan.engines.engine import Processes as Processes
from memspan.engines.engine import Threads as Threads
from memspan.engines.engine import available_cores as available_cores
