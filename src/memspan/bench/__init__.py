"""Speed, memory and calibration next to what a user would pick instead, as ratios within one run.

Both sides do the same job on the same data, in turns, several times over; the best time of each counts, so that a
busy moment of the machine does not decide. A ratio above 1 means that memspan is better. `calibration` compares estimates
with exact answers instead of times.

>>> from memspan.bench import BENCHMARKS
>>> list(BENCHMARKS)  # doctest: +NORMALIZE_WHITESPACE
['measure', 'calibration', 'theory', 'cells', 'cell-sizes', 'train', 'settings', 'objective',
 'gridworld', 'sample', 'mixture', 'large']
"""

from memspan.bench.calibration import CalibrationPlan as CalibrationPlan
from memspan.bench.running import BENCHMARKS as BENCHMARKS
from memspan.bench.running import DEFAULT as DEFAULT
from memspan.bench.running import run as run
