"""Random networks by simulation, for every cell that acts neuron by neuron.

Given the states and inputs, the sums W h + V x + b of a network with fresh Gaussian weights are exactly Gaussian. They can
be drawn from that law without any matrix, in O(width) per step, so that thousands of neurons are cheap to simulate. Real
weight matrices, tied or untied, are available for comparison.

| module | content |
|---|---|
| `cells` | vanilla, minimal, LSTM and GRU cells as element-wise maps; `RandomNetwork` |
| `ensemble` | many networks at once, with or without weight matrices |
| `simulation` | `simulate` (correlation over time) and `growth` (chi_1) |
| `gated` | `gated_point`: fixed point and timescale of cells without a closed theory |
| `singular_values` | singular values of the Jacobian over several steps |

>>> from memspan.theory.sampled.cells import GRUCell, RandomNetwork
>>> from memspan.theory.sampled.simulation import growth
>>> growth(RandomNetwork(cell=GRUCell()), width=100, steps=20, networks=2).chaotic
False
"""
