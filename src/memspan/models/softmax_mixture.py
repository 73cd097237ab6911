"""log p = log sum_k pi_k softmax(E z_k + b): a mixture of softmaxes over one vocabulary.  Yang 2018 (MoS).

By the plain equation, autograd stores several tensors (tokens, experts, vocabulary): half a gigabyte each for a batch of the
Penn Treebank. Here they are computed for one expert and some tokens at a time, and again in the backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.base.autograd import Scan
from memspan.cells.base.layer import Device, Dtype
from memspan.errors import InputError
from memspan.models.variational import locked_dropout

# Logits computed at a time: few enough for the processor's cache, with enough rows for efficient matrix products.
CHUNK = 2**21


@final
class SoftmaxMixture(nn.Module):
    """log p(h) with pi = softmax(P h) and z_k = tanh(L_k h + l_k): an output layer.

    With one expert it is the softmax of E tanh(L h + l) + b. In training, dropout is applied to z, with one mask for all
    steps of a sequence.
    """

    def __init__(
        self,
        hidden: int,
        embedding: int,
        vocabulary: int,
        experts: int,
        *,
        dropout: float = 0.0,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        """`prior` is P, without bias; `latent` is L and l; `decoder` is E and b."""
        super().__init__()
        self.experts, self.dropout = experts, dropout
        self.prior = nn.Linear(hidden, experts, bias=False, device=device, dtype=dtype)
        self.latent = nn.Linear(hidden, experts * embedding, device=device, dtype=dtype)
        self.decoder = nn.Linear(embedding, vocabulary, device=device, dtype=dtype)

    def forward(self, hidden: Tensor) -> Tensor:
        """Log-probabilities (time, batch, vocabulary) of states (time, batch, hidden)."""
        z = locked_dropout(self.latent(hidden).tanh(), self.dropout, training=self.training)
        # Under autocast the product is in half precision, in which the priors would not add up to one.
        log_priors = self.prior(hidden).to(self.prior.weight.dtype).log_softmax(dim=-1)
        log_p = mixed_log_softmax(
            log_priors.flatten(0, 1),
            z.unflatten(-1, (self.experts, -1)).flatten(0, 1),
            self.decoder.weight,
            self.decoder.bias,
        )
        return log_p.unflatten(0, hidden.shape[:2])


def mixed_log_softmax(
    log_priors: Tensor, latents: Tensor, embedding: Tensor, bias: Tensor, *, chunk: int = CHUNK
) -> Tensor:
    """log sum_k exp(log pi_k) softmax(E z_k + b), (tokens, vocabulary), in the precision of E.

    From log pi (tokens, experts), z (tokens, experts, size), E (vocabulary, size) and b (vocabulary). About `chunk` logits
    are computed at a time, at least those of one token.
    """
    tokens, experts, size = latents.shape
    if log_priors.shape != (tokens, experts):
        raise InputError(
            f"log_priors have shape {tuple(log_priors.shape)}; expected (tokens, experts) = {(tokens, experts)}, "
            "as the latents"
        )
    if embedding.shape != (*bias.shape, size):
        raise InputError(
            f"the embedding has shape {tuple(embedding.shape)}; expected (vocabulary, size) = {(*bias.shape, size)}, "
            "as the bias and the latents"
        )
    rows = max(1, chunk // len(embedding))
    return _Mixture.apply(log_priors.to(embedding), latents.to(embedding), embedding, bias, rows)


class _Mixture(Scan):
    """The mixture, `rows` tokens at a time, expert by expert."""

    @staticmethod
    def forward(ctx: Any, log_priors: Tensor, latents: Tensor, embedding: Tensor, bias: Tensor, rows: int) -> Tensor:
        log_p = log_priors.new_full((len(latents), len(bias)), -torch.inf)
        for part in _chunks(len(latents), rows):
            for k in range(latents.shape[1]):
                log_q = _log_softmax(latents[part, k], embedding, bias)
                log_q += log_priors[part, k, None]
                torch.logaddexp(log_p[part], log_q, out=log_p[part])
        ctx.save_for_backward(log_priors, latents, embedding, bias, log_p)
        ctx.rows = rows
        return log_p

    @staticmethod
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """With the share r_k = pi_k q_k / p of expert k: d log pi_k = sum r_k d, d logits_k = r_k d - q_k d log pi_k."""
        log_priors, latents, embedding, bias, log_p = ctx.saved_tensors
        d_priors, d_latents = torch.empty_like(log_priors), torch.empty_like(latents)
        d_embedding, d_bias = torch.zeros_like(embedding), torch.zeros_like(bias)
        for part in _chunks(len(latents), ctx.rows):
            for k in range(latents.shape[1]):
                log_q = _log_softmax(latents[part, k], embedding, bias)
                shared = (log_q + log_priors[part, k, None]).sub_(log_p[part]).exp_().mul_(outer[part])
                d_prior = shared.sum(dim=1)
                d_logits = shared.addcmul_(log_q.exp_(), d_prior.unsqueeze(1), value=-1)
                d_priors[part, k] = d_prior
                d_latents[part, k] = d_logits @ embedding
                d_embedding.addmm_(d_logits.T, latents[part, k])
                d_bias += d_logits.sum(dim=0)
        return d_priors, d_latents, d_embedding, d_bias, None


def _chunks(tokens: int, rows: int) -> Iterator[slice]:
    return (slice(first, first + rows) for first in range(0, tokens, rows))


def _log_softmax(latents: Tensor, embedding: Tensor, bias: Tensor) -> Tensor:
    """log q of one expert: (tokens, vocabulary)."""
    return functional.log_softmax(torch.addmm(bias, latents, embedding.T), dim=1)
