"""Speed and memory next to what a user would pick instead, as ratios of times taken in one run.

Both sides do the same job on the same data, in turns, several times over; the best time of each counts, so that a
busy moment of the machine does not decide. A ratio above 1 means that memspan is better.

>>> from memspan.bench import BENCHMARKS
>>> list(BENCHMARKS)
['measure', 'theory', 'cells', 'cell-sizes', 'train', 'settings', 'objective', 'gridworld', 'sample', 'mixture', 'large']
"""

from memspan.bench.running import BENCHMARKS as BENCHMARKS
from memspan.bench.running import DEFAULT as DEFAULT
from memspan.bench.running import run as run
