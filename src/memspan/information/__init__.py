"""How much x_t tells about x_{t + tau}: pair counts, entropy estimators, the floor, and the curve I(tau).

The chain is short: count pairs (exact integers), take entropies (an estimator), subtract what the same estimator sees
where there is no dependence (the floor), and say which lags stand above it.

>>> from memspan.information import log_lags, mutual_information
>>> curve = mutual_information(["ab" * 2000, "ba" * 2000], lags=log_lags(1, 100))
>>> curve.span
Span(lag=100, censored=True, interval=(100, 100))
"""

from memspan.information.counting import count_pairs as count_pairs
from memspan.information.counts import PairCounts as PairCounts
from memspan.information.counts import assemble as assemble
from memspan.information.curve import estimate as estimate
from memspan.information.curve import mutual_information as mutual_information
from memspan.information.estimators import ESTIMATORS as ESTIMATORS
from memspan.information.estimators import Digamma as Digamma
from memspan.information.estimators import EntropyEstimator as EntropyEstimator
from memspan.information.estimators import Grassberger as Grassberger
from memspan.information.estimators import MillerMadow as MillerMadow
from memspan.information.estimators import Plugin as Plugin
from memspan.information.lags import default_lags as default_lags
from memspan.information.lags import log_lags as log_lags
from memspan.information.lags import parse_lags as parse_lags
from memspan.information.null import NULLS as NULLS
