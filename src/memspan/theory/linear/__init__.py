"""Linear recurrent networks with Gaussian output (Shen 2019): their mutual information, exactly and without simulation.

(h, x) is a Markov chain with transition A = [[U_h, W_h], [U_o, 0]], so every covariance is a block of A^t P. `network`
holds `LinearRNN` and its `Start`; `chain` holds the recursions for Gaussian Markov chains.

The network below repeats 0.81 of its output of two steps ago. Its information falls as 0.9^(2 tau), at even lags only:

>>> network = LinearRNN(W_h=[[1.0]], U_h=[[0.0]], U_o=[[0.81]])
>>> round(network.rate, 6), round(network.correlation_length, 4)
(0.9, 4.7456)
>>> network.information([1, 2, 4]).round(4).tolist()
[0.0, 0.5337, 0.2815]
"""

from memspan.theory.linear.network import LinearRNN as LinearRNN
from memspan.theory.linear.network import Start as Start
