"""The networks of Fig. 1 of the mean-field source: sigma_w = 6.88, sigma_v = 1.39, R = 0.46, no spread of biases."""

from __future__ import annotations

from scipy import optimize

from memspan.theory.field import Numbers
from memspan.theory.minimal import MinimalField

PAPER = "Chen, Pennington and Schoenholz 2018"
SIGMA_W, SIGMA_V, INPUT_VARIANCE = 6.88, 1.39, 0.46


def published(bias_mean: Numbers) -> MinimalField:
    """The minimal RNN of Fig. 1 with this mean of the gate's bias (a number or an array).

    >>> round(published(0.0).chi1, 4)
    0.9988
    """
    return MinimalField(sigma_w=SIGMA_W, sigma_v=SIGMA_V, bias_mean=bias_mean, input_variance=INPUT_VARIANCE)


def edge_of_chaos(low: float, high: float) -> float:
    """The bias mean between `low` and `high` at which chi_1 passes 1, to six digits.

    >>> round(edge_of_chaos(-0.5, 0.5), 4)
    0.0136
    """
    return optimize.root_scalar(lambda mu: published(mu).chi1 - 1, bracket=(low, high), xtol=1e-6).root
