"""Sources whose information at every lag is known exactly: what estimators are tested against.

A `Source` draws documents and states I(tau) in nats, so an estimate can be compared with the truth. A chain
of 20 symbols that stays with probability 0.9 keeps (20 * 0.9 - 1) / 19 = 0.895 of its memory at every step:

>>> from memspan.sequences.sources import MarkovChain
>>> chain = MarkovChain.lazy(20, stay=0.9)
>>> chain.information([1, 10, 100]).round(4).tolist()
[2.3762, 0.4635, 0.0]
>>> chain.sample(n_documents=3, length=1_000, seed=0).n_documents
3
"""

from memspan.sequences.sources.autoregression import QuantizedAR1 as QuantizedAR1
from memspan.sequences.sources.fair_bits import (
    correlation_of_information as correlation_of_information,
)
from memspan.sequences.sources.fair_bits import (
    information_of_correlation as information_of_correlation,
)
from memspan.sequences.sources.hidden_markov import HiddenMarkov as HiddenMarkov
from memspan.sequences.sources.hidden_markov import (
    repeated_pair_information as repeated_pair_information,
)
from memspan.sequences.sources.independent import Independent as Independent
from memspan.sequences.sources.ising import IsingChain as IsingChain
from memspan.sequences.sources.markov import BigramChain as BigramChain
from memspan.sequences.sources.markov import MarkovChain as MarkovChain
from memspan.sequences.sources.markov import StickyChain as StickyChain
from memspan.sequences.sources.power_law import PowerLawBinary as PowerLawBinary
from memspan.sequences.sources.source import Source as Source
from memspan.sequences.sources.tree_grammar import TreeGrammar as TreeGrammar
