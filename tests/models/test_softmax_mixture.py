"""A mixture of softmaxes is the plain equation, in values and gradients, and never all of it at a time."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from memspan.errors import InputError
from memspan.models.softmax_mixture import SoftmaxMixture, mixed_log_softmax

TOKENS, EXPERTS, SIZE, VOCABULARY = 7, 3, 4, 11
THREE_TOKENS = 3 * VOCABULARY + 1
"""Logits at once so that the last part is not full."""


def plain(log_priors: Tensor, latents: Tensor, embedding: Tensor, bias: Tensor) -> Tensor:
    """log sum_k pi_k softmax(E z_k + b), with all numbers (tokens, experts, vocabulary) at once."""
    q = (latents @ embedding.T + bias).softmax(dim=-1)
    return (log_priors.exp().unsqueeze(-1) * q).sum(dim=1).log()


def leaves(
    tokens: int = TOKENS,
    experts: int = EXPERTS,
    size: int = SIZE,
    vocabulary: int = VOCABULARY,
    dtype: torch.dtype = torch.float64,
) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = [(tokens, experts), (tokens, experts, size), (vocabulary, size), (vocabulary,)]
    log_priors, *rest = (torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)
    return [tensor.requires_grad_() for tensor in (log_priors.log_softmax(dim=1), *rest)]


def some_gradient(tokens: int = TOKENS, vocabulary: int = VOCABULARY) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(tokens, vocabulary, generator=generator, dtype=torch.float64)


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision, a dozen numbers added in another order."""
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("chunk", [1, THREE_TOKENS, 10_000])
def test_values_and_gradients_are_those_of_the_plain_equation(chunk):
    given = leaves()
    ours, theirs = mixed_log_softmax(*given, chunk=chunk), plain(*given)
    assert_equal(ours, theirs)
    gradients, expected = (torch.autograd.grad(log_p, given, some_gradient()) for log_p in (ours, theirs))
    for one, other in zip(gradients, expected, strict=True):
        assert_equal(one, other)


def test_gradients_pass_gradcheck():
    given = leaves(tokens=4, vocabulary=5)
    assert torch.autograd.gradcheck(lambda *args: mixed_log_softmax(*args, chunk=10), given)


def test_probabilities_sum_to_one():
    log_p = mixed_log_softmax(*leaves())
    assert_equal(log_p.exp().sum(dim=1), torch.ones(TOKENS, dtype=torch.float64))


def test_one_expert_is_a_softmax():
    _, latents, embedding, bias = leaves(experts=1)
    log_p = mixed_log_softmax(torch.zeros(TOKENS, 1, dtype=torch.float64), latents, embedding, bias)
    assert_equal(log_p, (latents[:, 0] @ embedding.T + bias).log_softmax(dim=1))


def test_words_of_vanishing_probability_keep_their_digits():
    generator = torch.Generator().manual_seed(0)
    given = [300 * tensor.detach() if tensor.dim() == 3 else tensor.detach() for tensor in leaves()]
    exact = torch.logsumexp(given[0].unsqueeze(-1) + (given[1] @ given[2].T + given[3]).log_softmax(dim=-1), dim=1)
    assert exact.min() < -1000
    single = [tensor.float().requires_grad_() for tensor in given]
    assert plain(*single).isinf().any()
    log_p = mixed_log_softmax(*single)
    # Logits of some thousands have seven digits in single precision.
    torch.testing.assert_close(log_p.double(), exact, rtol=1e-5, atol=1e-3)
    log_p.backward(torch.randn(log_p.shape, generator=generator))
    assert all(tensor.grad is not None and tensor.grad.isfinite().all() for tensor in single)


def test_an_expert_of_prior_zero_has_no_say():
    _, latents, embedding, bias = leaves(experts=2)
    log_priors = torch.tensor([[0.0, -math.inf]], dtype=torch.float64).repeat(TOKENS, 1).requires_grad_()
    log_p = mixed_log_softmax(log_priors, latents, embedding, bias)
    assert_equal(log_p, (latents[:, 0] @ embedding.T + bias).log_softmax(dim=1))
    of_priors, of_latents = torch.autograd.grad(log_p, [log_priors, latents], some_gradient())
    assert (of_priors[:, 1] == 0).all()
    assert (of_latents[:, 1] == 0).all()
    assert of_latents[:, 0].isfinite().all()


def kept_numbers(make, given: list[Tensor]) -> int:
    """Number of values that autograd stores for the backward pass."""
    stored = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        stored[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        held = make(*given)  # alive, so that no address is used twice
    assert held.shape == (len(given[0]), len(given[3]))
    return sum(stored.values())


def test_nothing_is_kept_for_the_way_back_but_what_came_in_and_went_out():
    tokens, experts, vocabulary = 20, 15, 200
    given = leaves(tokens, experts, SIZE, vocabulary)
    in_and_out = sum(tensor.numel() for tensor in given) + tokens * vocabulary
    assert kept_numbers(mixed_log_softmax, given) == in_and_out
    assert kept_numbers(plain, given) > tokens * experts * vocabulary


class Largest(TorchDispatchMode):
    """The most numbers that any operation made, on the way there and back."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else (made,):
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return made


@pytest.mark.parametrize(("make", "most"), [(mixed_log_softmax, 20 * 200), (plain, 20 * 15 * 200)])
def test_nothing_larger_than_the_result_is_ever_made(make, most):
    given = leaves(20, 15, SIZE, 200)
    with Largest() as largest:
        make(*given).sum().backward()
    assert largest.numbers == most


def test_a_second_derivative_is_rejected():
    given = leaves()
    log_p = mixed_log_softmax(*given)
    first = torch.autograd.grad(log_p.square().sum(), given, create_graph=True)
    for gradient, leaf in zip(first, reversed(given), strict=True):
        with pytest.raises(InputError, match="second derivative"):
            torch.autograd.grad(gradient.sum(), leaf, retain_graph=True)


@pytest.mark.parametrize(
    ("number", "shape", "message"),
    [(0, (TOKENS, 2), "log_priors have shape"), (3, (VOCABULARY + 1,), "the embedding has shape")],
)
def test_shapes_that_do_not_fit_are_rejected(number, shape, message):
    given = leaves()
    given[number] = torch.zeros(shape, dtype=torch.float64)
    with pytest.raises(InputError, match=message):
        mixed_log_softmax(*given)


def head(dropout: float = 0.0) -> SoftmaxMixture:
    torch.manual_seed(0)
    return SoftmaxMixture(6, SIZE, VOCABULARY, EXPERTS, dropout=dropout, dtype=torch.float64)


def test_the_output_layer_mixes_by_its_priors_and_latents():
    mixture = head()
    hidden = torch.randn(5, 2, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    log_p = mixture(hidden)
    for t in range(5):
        pi = (hidden[t] @ mixture.prior.weight.T).softmax(dim=1)
        z = (hidden[t] @ mixture.latent.weight.T + mixture.latent.bias).tanh().reshape(2, EXPERTS, SIZE)
        expected = plain(pi.log(), z, mixture.decoder.weight, mixture.decoder.bias)
        assert_equal(log_p[t], expected)


def test_a_dropped_coordinate_of_the_latents_is_dropped_at_all_steps_of_its_sequence():
    mixture, alike = head(dropout=0.5), torch.ones(5, 2, 6, dtype=torch.float64)
    log_p = mixture(alike)
    assert_equal(log_p[1:], log_p[:1].expand(4, -1, -1))
    assert not torch.allclose(log_p[:, 0], log_p[:, 1])
    assert not torch.allclose(log_p, mixture(alike))
    log_p = mixture.eval()(alike)
    assert_equal(log_p, log_p[:1, :1].expand_as(log_p))
    assert_equal(log_p, head()(alike))


def test_under_autocast_the_mixture_has_the_precision_of_its_weights():
    mixture, hidden = head().float(), torch.ones(2, 2, 6)
    with torch.autocast("cpu", torch.bfloat16):
        log_p = mixture(hidden)
    log_p.sum().backward()
    assert log_p.dtype == torch.float32
    torch.testing.assert_close(log_p.exp().sum(dim=-1), torch.ones(2, 2))
