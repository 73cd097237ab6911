"""Where work runs. Counting kernels release the interpreter's lock, so threads are enough for measuring."""

from memspan.engines.engine import Engine as Engine
from memspan.engines.engine import Threads as Threads
from memspan.engines.engine import available_cores as available_cores
