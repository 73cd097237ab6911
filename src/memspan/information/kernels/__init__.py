"""Four ways of counting pairs, all giving identical integers; `choose_kernel` picks by alphabet and memory.

| kernel | for | cost |
|---|---|---|
| `Bits` | up to 4 symbols | 64 pairs per popcount |
| `Dense` | tables of V x V cells that fit | one increment per pair |
| `Sparse` | words, tokens | one dense row at a time |
| `spectral` | every lag up to L | FFT: does not grow with the number of lags |
"""

from memspan.information.kernels.bits import MOST_SYMBOLS, Bits
from memspan.information.kernels.dense import Dense
from memspan.information.kernels.kernel import Kernel as Kernel
from memspan.information.kernels.kernel import PairTable as PairTable
from memspan.information.kernels.kernel import Runs as Runs
from memspan.information.kernels.sparse import Sparse

# Bytes that the tables of one set of pair counts may take before sparse ones, or fewer lags at a time, are used.
TABLE_MEMORY = 1 << 27
CELL = 4
# Blocks of the jackknife: few where tables are large, most where there are many documents to share out.
FEWEST_BLOCKS, USUAL_BLOCKS, MOST_BLOCKS = 8, 16, 64
# Above this alphabet a dense table no longer fits any cache.
LARGEST_DENSE = 1024


def choose_kernel(alphabet: int) -> Kernel:
    """The kernel for this many symbols."""
    if alphabet <= MOST_SYMBOLS:
        return Bits(alphabet)
    if alphabet <= LARGEST_DENSE:
        return Dense(alphabet)
    return Sparse(alphabet)
