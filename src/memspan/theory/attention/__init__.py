"""Gradients through a recurrent network with attention (Kerg 2020).

A gradient from s_T to h_t can pass through the T - t Jacobians of the recurrence, or jump along attention weights.

| module | content |
|---|---|
| `network` | `AttentiveRNN`: ds_T/dh_t exactly for any weights, and by number of factors (Proposition 1) |
| `uniform` | uniform attention: the gradient is a power of the length (Theorem 1, corrected) |
| `sparse` | sparse attention: the shortest path bounds the gradient (Theorem 2, corrected) |

`attention_prediction` compares attention with the plain recurrence:

>>> decay = attention_prediction(0.3, steps=100)
>>> print(f"{decay.gradient[-1]:.2g} with uniform attention, {decay.without_attention[-1]:.2g} without")
0.14 with uniform attention, 5.2e-53 without
"""

from memspan.theory.attention.network import Additive as Additive
from memspan.theory.attention.network import Alignment as Alignment
from memspan.theory.attention.network import AttentiveRNN as AttentiveRNN
from memspan.theory.attention.network import AttentiveRun as AttentiveRun
from memspan.theory.attention.network import SparseAlignment as SparseAlignment
from memspan.theory.attention.network import UniformAlignment as UniformAlignment
from memspan.theory.attention.sparse import dependency_depth as dependency_depth
from memspan.theory.attention.sparse import printed_sparse_bound as printed_sparse_bound
from memspan.theory.attention.sparse import random_pattern as random_pattern
from memspan.theory.attention.sparse import sparse_attention_bound as sparse_attention_bound
from memspan.theory.attention.sparse import sparsity as sparsity
from memspan.theory.attention.uniform import attention_prediction as attention_prediction
from memspan.theory.attention.uniform import inverse_length_bound_holds as inverse_length_bound_holds
from memspan.theory.attention.uniform import measured_exponent as measured_exponent
from memspan.theory.attention.uniform import printed_exponent as printed_exponent
from memspan.theory.attention.uniform import uniform_attention_exponent as uniform_attention_exponent
from memspan.theory.attention.uniform import uniform_attention_gradient as uniform_attention_gradient
