"""Sources whose mutual information is known exactly at every lag; estimators are tested against them.

A `Source` draws documents and states I(tau) in nats, so an estimate can be compared with the truth. For example, the
correlation of a chain of 20 symbols that stays with probability 0.9 shrinks by (20 * 0.9 - 1) / 19 = 0.895 per step:

>>> from memspan.sequences.sources import MarkovChain
>>> chain = MarkovChain.lazy(20, stay=0.9)
>>> chain.information([1, 10, 100]).round(4).tolist()
[2.3762, 0.4635, 0.0]
>>> chain.sample(n_documents=3, length=1_000, seed=0).n_documents
3

Adding a source takes one file with a subclass of `Source` and one line here.
"""

from memspan.sequences.sources.exact import correlation_of_information, information_of_correlation
from memspan.sequences.sources.hidden_markov import HiddenMarkov, QuantizedAR1, repeated_pair_information
from memspan.sequences.sources.independent import Independent
from memspan.sequences.sources.markov import BigramChain, IsingChain, MarkovChain, StickyChain
from memspan.sequences.sources.power_law import PowerLawBinary
from memspan.sequences.sources.source import Source
from memspan.sequences.sources.tree_grammar import TreeGrammar

__all__ = [
    "BigramChain",
    "HiddenMarkov",
    "Independent",
    "IsingChain",
    "MarkovChain",
    "PowerLawBinary",
    "QuantizedAR1",
    "Source",
    "StickyChain",
    "TreeGrammar",
    "correlation_of_information",
    "information_of_correlation",
    "repeated_pair_information",
]
