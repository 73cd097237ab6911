"""Lower bounds on mutual information, each a function of the scores that a critic T gives to pairs.

`joint` are scores of pairs as they come, `product` those of pairs that have nothing to do with each other, flat tensors that
need not be equally long. Every bound holds for every critic; how close it comes is up to the critic.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.errors import InputError

HIGHEST = 50.0
"""Scores that `nwj` cuts off: e^50 is still a number in single precision, and min(T, 50) is a critic like any other."""


def donsker_varadhan(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[T] - log E_product[e^T].  Belghazi 2018 (MINE); Cao and Xu 2020, Eq. 4.

    >>> donsker_varadhan(torch.tensor([1.0, 1.0]), torch.tensor([1.0]))  # a critic that tells nothing apart
    tensor(0.)
    """
    _check(joint, product)
    return joint.mean() - log_mean_exp(product)


def nwj(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[T] - E_product[e^(T - 1)].  Nguyen, Wainwright and Jordan 2010. Exact for T = 1 + log of the density ratio.

    >>> nwj(torch.ones(2), torch.ones(3))
    tensor(0.)
    """
    _check(joint, product)
    joint, product = joint.clamp(max=HIGHEST), product.clamp(max=HIGHEST)
    return joint.mean() - (product - 1).exp().mean()


def info_nce(scores: Tensor) -> Tensor:
    """log K + E[log softmax_j T(x_i, y_j)] at j = i, of scores (K, K) whose diagonal is joint.  van den Oord 2018.

    At most log K, whatever the information is.

    >>> info_nce(torch.zeros(4, 4))
    tensor(0.)
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or len(scores) < 2:
        raise InputError(
            f"info_nce got scores of shape {tuple(scores.shape)}; expected (K, K) with K of 2 or more, every x with every y"
        )
    return math.log(len(scores)) + scores.log_softmax(dim=1).diagonal().mean()


def softplus_proxy(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[-softplus(-T)] - E_product[softplus(T)].  Cao and Xu 2020, Eq. 6.

    Twice the Jensen-Shannon divergence of joint and product less 2 log 2, at the most. It estimates no information, but its
    best critic, the log of the density ratio, is that of `donsker_varadhan`, and its gradients are tame.

    >>> softplus_proxy(torch.zeros(2), torch.zeros(2)) + 2 * math.log(2)
    tensor(0.)
    """
    _check(joint, product)
    return -functional.softplus(-joint).mean() - functional.softplus(product).mean()


@final
class RunningDonskerVaradhan(nn.Module):
    """`donsker_varadhan` for learning from small batches: in the gradient, E_product[e^T] is its running mean.

    The logarithm of a mean over few pairs makes the plain gradient biased.  Belghazi 2018, section 3.2.
    """

    log_mean: Tensor
    """log of the running mean; no number before the first batch"""

    def __init__(self, rate: float = 0.01) -> None:
        """`rate` is the weight of a new batch in the mean."""
        super().__init__()
        if not 0 < rate <= 1:
            raise InputError(f"rate is {rate}; expected a share above 0 and up to 1")
        self.rate = rate
        self.register_buffer("log_mean", torch.tensor(math.nan))

    def forward(self, joint: Tensor, product: Tensor) -> Tensor:
        """The bound of this batch; in training with the corrected gradient, and the running mean moves on."""
        if not self.training:
            return donsker_varadhan(joint, product)
        _check(joint, product)
        now = log_mean_exp(product)
        if self.log_mean.isnan():
            self.log_mean = now.detach()
        else:
            old, new = math.log1p(-self.rate) if self.rate < 1 else -math.inf, math.log(self.rate)
            self.log_mean = torch.logaddexp(self.log_mean + old, now.detach() + new)
        moved = joint.mean() - (now - self.log_mean).exp()
        return moved + (joint.mean() - now - moved).detach()


def log_mean_exp(scores: Tensor) -> Tensor:
    """log E[e^T], without overflow."""
    return scores.logsumexp(dim=0) - math.log(len(scores))


def _check(joint: Tensor, product: Tensor) -> None:
    for name, scores in (("joint", joint), ("product", product)):
        if scores.dim() != 1 or not len(scores):
            raise InputError(
                f"{name} scores have shape {tuple(scores.shape)}; expected one number for each pair, one pair or more"
            )
