"""Lower bounds on mutual information as functions of a critic's scores, and the network that computes such scores.

`joint` are the scores T of pairs from the joint distribution, `product` those of independent pairs: flat tensors,
possibly of different lengths. Every bound holds for every critic; its tightness depends on the critic.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.errors import InputError

# `nwj` clips scores here: e^50 is finite in single precision, and min(T, 50) is a valid critic.
LARGEST_SCORE = 50.0


def donsker_varadhan(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[T] - log E_product[e^T].  Belghazi 2018 (MINE); Cao and Xu 2020, Eq. 4.

    >>> donsker_varadhan(torch.tensor([1.0, 1.0]), torch.tensor([1.0]))  # a constant critic
    tensor(0.)
    """
    _check_scores(joint, product)
    return joint.mean() - log_mean_exp(product)


def nwj(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[T] - E_product[e^(T - 1)].  Nguyen, Wainwright and Jordan 2010. Exact for T = 1 + the log density ratio.

    >>> nwj(torch.ones(2), torch.ones(3))
    tensor(0.)
    """
    _check_scores(joint, product)
    joint, product = joint.clamp(max=LARGEST_SCORE), product.clamp(max=LARGEST_SCORE)
    return joint.mean() - (product - 1).exp().mean()


def info_nce(scores: Tensor) -> Tensor:
    """log K + E[log softmax_j T(x_i, y_j)] at j = i, for scores (K, K) with joint pairs on the diagonal.

    At most log K.  van den Oord 2018.

    >>> info_nce(torch.zeros(4, 4))
    tensor(0.)
    """
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or len(scores) < 2:
        raise InputError(
            f"info_nce got scores of shape {tuple(scores.shape)}; expected (K, K) with K of 2 or more, "
            "every x with every y"
        )
    return math.log(len(scores)) + scores.log_softmax(dim=1).diagonal().mean()


def softplus_proxy(joint: Tensor, product: Tensor) -> Tensor:
    """E_joint[-softplus(-T)] - E_product[softplus(T)].  Cao and Xu 2020, Eq. 6.

    At most twice the Jensen-Shannon divergence of joint and product minus 2 log 2. It does not estimate mutual
    information, but its optimal critic, the log density ratio, is also optimal for `donsker_varadhan`, and its
    gradients are bounded.

    >>> softplus_proxy(torch.zeros(2), torch.zeros(2)) + 2 * math.log(2)
    tensor(0.)
    """
    _check_scores(joint, product)
    return -functional.softplus(-joint).mean() - functional.softplus(product).mean()


@final
class RunningDonskerVaradhan(nn.Module):
    """`donsker_varadhan` for training with small batches: the gradient uses a running mean of E_product[e^T].

    The logarithm of a mean over few pairs biases the plain gradient.  Belghazi 2018, section 3.2.
    """

    log_mean: Tensor
    """Logarithm of the running mean; NaN before the first batch"""

    def __init__(self, rate: float = 0.01) -> None:
        """`rate` is the weight of a new batch in the mean."""
        super().__init__()
        if not 0 < rate <= 1:
            raise InputError(f"rate is {rate}; expected a share above 0 and up to 1")
        self.rate = rate
        self.register_buffer("log_mean", torch.tensor(math.nan))

    def forward(self, joint: Tensor, product: Tensor) -> Tensor:
        """The bound of this batch; in training mode with the corrected gradient and an update of the running mean."""
        if not self.training:
            return donsker_varadhan(joint, product)
        _check_scores(joint, product)
        current = log_mean_exp(product)
        if self.log_mean.isnan():
            self.log_mean = current.detach()
        else:
            # The mean is stored as a logarithm because e^T overflows for large scores.
            old, new = math.log1p(-self.rate) if self.rate < 1 else -math.inf, math.log(self.rate)
            self.log_mean = torch.logaddexp(self.log_mean + old, current.detach() + new)
        # The first term has the corrected gradient; the detached difference restores the value of the bound.
        surrogate = joint.mean() - (current - self.log_mean).exp()
        return surrogate + (joint.mean() - current - surrogate).detach()


def log_mean_exp(scores: Tensor) -> Tensor:
    """log E[e^T], without overflow."""
    return scores.logsumexp(dim=0) - math.log(len(scores))


def _check_scores(joint: Tensor, product: Tensor) -> None:
    for name, scores in (("joint", joint), ("product", product)):
        if scores.dim() != 1 or not len(scores):
            raise InputError(
                f"{name} scores have shape {tuple(scores.shape)}; expected one number for each pair, one pair or more"
            )


@final
class Discriminator(nn.Module):
    """D(a, b) = w . relu(W [a, b, a - b, |a - b|, a * b] + c) + d, a score for each pair of vectors.

    Cao and Xu 2020, section 5: 500 hidden units. With `swapped`, a second network scores (b, a) and the mean of both
    is used, as in the authors' program.

    >>> Discriminator(4, 10)(torch.zeros(7, 4), torch.ones(7, 4)).shape
    torch.Size([7])
    """

    def __init__(
        self,
        width: int,
        hidden: int = 500,
        *,
        swapped: bool = False,
        input_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
    ) -> None:
        """`width` is the size of a and of b; dropout applies to the input and to the hidden layer."""
        super().__init__()
        for name, value in (("width", width), ("hidden", hidden)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"Discriminator: {name} is {value!r}; expected a whole number of 1 or more")
        self.width = width
        self.networks = nn.ModuleList(
            nn.Sequential(
                nn.Dropout(input_dropout),
                nn.Linear(5 * width, hidden),
                nn.ReLU(),
                nn.Dropout(hidden_dropout),
                nn.Linear(hidden, 1),
            )
            for _ in range(2 if swapped else 1)
        )
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_normal_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Scores (…) of vectors (…, width)."""
        if a.shape != b.shape or a.shape[-1] != self.width:
            raise InputError(f"pairs of shapes {tuple(a.shape)} and {tuple(b.shape)}; expected both (…, {self.width})")
        pairs = ((a, b), (b, a))
        scores = [
            network(_pair_features(*pair)).squeeze(-1) for network, pair in zip(self.networks, pairs, strict=False)
        ]
        # Under autocast scores are in half precision, in which importance weights would not sum to one.
        return torch.stack(scores).to(next(self.parameters()).dtype).mean(dim=0)


def _pair_features(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([a, b, a - b, (a - b).abs(), a * b], dim=-1)
