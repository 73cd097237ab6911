"""Bounds on pairs of Gaussians, whose information and whose best critic are known, and on discrete pairs."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from memspan.errors import InputError
from memspan.objectives.bounds import RunningDonskerVaradhan, donsker_varadhan, info_nce, nwj, softplus_proxy

FRESH = 6_000
SHIFTS = 40
"""Product pairs for each joint one: every x with the y of this many others."""


def gaussians(dimension: int, nats: float, seed: int, count: int = FRESH) -> tuple[Tensor, Tensor, float]:
    """x and y (count, dimension), each coordinate with correlation rho, so that they share `nats` together."""
    rho = math.sqrt(-math.expm1(-2 * nats / dimension))
    generator = torch.Generator().manual_seed(seed)
    x, noise = torch.randn(2, count, dimension, dtype=torch.float64, generator=generator)
    return x, rho * x + math.sqrt(1 - rho * rho) * noise, rho


def log_ratio(x: Tensor, y: Tensor, rho: float) -> Tensor:
    """log p(x, y) / (p(x) p(y)), the best critic."""
    square = (x * x + y * y) * rho * rho - 2 * rho * x * y
    return (-square / (2 * (1 - rho * rho)) - 0.5 * math.log(1 - rho * rho)).sum(dim=-1)


def all_log_ratios(x: Tensor, y: Tensor, rho: float) -> Tensor:
    """The same of every x with every y."""
    square = (x.square().sum(1, keepdim=True) + y.square().sum(1)) * rho * rho - 2 * rho * x @ y.T
    return -square / (2 * (1 - rho * rho)) - 0.5 * x.shape[1] * math.log(1 - rho * rho)


def scores(dimension: int, nats: float, seed: int) -> tuple[Tensor, Tensor]:
    x, y, rho = gaussians(dimension, nats, seed)
    joint = log_ratio(x, y, rho)
    return joint, torch.cat([log_ratio(x, y.roll(shift, 0), rho) for shift in range(1, SHIFTS + 1)])


def error_of_mean(values: Tensor) -> float:
    return float(values.std() / math.sqrt(len(values)))


@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
@pytest.mark.parametrize("nats", [0.5, 1.0, 2.0, 4.0])
def test_with_the_best_critic_no_bound_is_above_the_truth_and_the_exact_ones_are_near(dimension, nats):
    joint, product = scores(dimension, nats, seed=1)
    ratio = product.exp()
    error = math.hypot(error_of_mean(joint), error_of_mean(ratio.view(SHIFTS, -1).mean(dim=0)))
    for bound in (donsker_varadhan(joint, product), nwj(joint + 1, product + 1)):
        assert bound.item() < nats + 3 * error
        if nats <= 2:
            assert bound.item() == pytest.approx(nats, rel=0.1)


@pytest.mark.parametrize("size", [128, 500])
@pytest.mark.parametrize("dimension", [1, 5, 20])
@pytest.mark.parametrize("nats", [0.5, 1.0, 2.0, 4.0])
def test_info_nce_is_near_where_there_are_enough_pairs_and_never_above_its_ceiling(dimension, nats, size):
    bounds = []
    x, y, rho = gaussians(dimension, nats, seed=2)
    for start in range(0, FRESH - size + 1, size):
        a, b = x[start : start + size], y[start : start + size]
        bounds.append(info_nce(all_log_ratios(a, b, rho)))
        assert bounds[-1] <= math.log(size)
    found = torch.stack(bounds)
    assert found.mean().item() < nats + 3 * error_of_mean(found)
    if nats <= 2:
        assert found.mean().item() == pytest.approx(nats, rel=0.1)


def test_the_proxy_is_twice_the_jensen_shannon_divergence_less_two_log_two_and_no_estimate():
    """Of two discrete laws, where the divergence is a sum: p joint, q the product of its marginals, m their mean."""
    p = torch.tensor([[0.25, 0.125], [0.125, 0.5]], dtype=torch.float64)
    q = p.sum(1, keepdim=True) * p.sum(0)
    m = (p + q) / 2
    twice_divergence = float((p * (p / m).log() + q * (q / m).log()).sum())
    critic, whole = (p / q).log().flatten(), 64
    joint, product = (critic.repeat_interleave((whole * law).round().long().flatten()) for law in (p, q))
    assert (len(joint), len(product)) == (whole, whole)  # every pair as often as its law says
    found = softplus_proxy(joint, product).item()
    assert found == pytest.approx(twice_divergence - 2 * math.log(2), abs=1e-12)
    assert found < 0 < float((p * critic.view(2, 2)).sum())  # no estimate: it is below zero where information is not


def test_no_other_critic_has_a_larger_proxy_than_the_log_of_the_density_ratio():
    joint, product = scores(3, 1.0, seed=4)
    best = softplus_proxy(joint, product)
    for factor, shift in ((0.8, 0.0), (1.25, 0.0), (1.0, 0.3), (1.0, -0.3)):
        assert softplus_proxy(factor * joint + shift, factor * product + shift) < best


@pytest.mark.parametrize("nats", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("dimension", [1, 5, 20])
def test_a_critic_trained_with_the_proxy_is_optimal_for_the_other_bounds(dimension, nats):
    """a sum(x^2 + y^2) + b sum(x y) + c holds the best critic; trained on some pairs, tested on others."""
    factors = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def critic(x: Tensor, y: Tensor) -> Tensor:
        return factors[0] * (x * x + y * y).sum(1) + factors[1] * (x * y).sum(1) + factors[2]

    def learnt() -> Tensor:
        optimizer.zero_grad()
        loss = -softplus_proxy(critic(x, y), torch.cat([critic(x, y.roll(shift, 0)) for shift in range(1, 9)]))
        loss.backward()
        return loss

    optimizer = torch.optim.LBFGS([factors], max_iter=100, line_search_fn="strong_wolfe")
    x, y, _ = gaussians(dimension, nats, seed=5)
    optimizer.step(learnt)
    x, y, _ = gaussians(dimension, nats, seed=6)
    with torch.no_grad():
        joint = critic(x, y)
        product = torch.cat([critic(x, y.roll(shift, 0)) for shift in range(1, SHIFTS + 1)])
    assert donsker_varadhan(joint, product).item() == pytest.approx(nats, rel=0.1)
    assert nwj(joint + 1, product + 1).item() == pytest.approx(nats, rel=0.1)


def test_discrete_pairs_whose_information_is_a_sum():
    p = torch.tensor([[0.3, 0.1, 0.0], [0.05, 0.15, 0.4]], dtype=torch.float64)
    apart = p.sum(1, keepdim=True) * p.sum(0)
    nats = float(torch.special.xlogy(p, p / apart).sum())
    drawn = torch.multinomial(p.flatten(), 20_000, True, generator=torch.Generator().manual_seed(0))
    x, y = drawn // 3, drawn % 3
    table = (p.clamp(min=1e-9) / apart).log()
    joint, product = table[x, y], table[x, y.roll(1)]
    assert donsker_varadhan(joint, product).item() == pytest.approx(nats, rel=0.05)
    assert nwj(joint + 1, product + 1).item() == pytest.approx(nats, rel=0.05)


def test_scores_that_overflow_an_exponential_give_numbers_and_gradients():
    joint, product = torch.tensor([200.0, 1e4]), torch.tensor([200.0, -1e4, 150.0], requires_grad=True)
    for bound in (donsker_varadhan, nwj, softplus_proxy, RunningDonskerVaradhan()):
        product.grad = None
        value = bound(joint, product)
        value.backward()
        assert value.isfinite()
        assert product.grad is not None
        assert product.grad.isfinite().all()
    assert info_nce(torch.tensor([[1e4, 0.0], [0.0, 1e4]])).item() == pytest.approx(math.log(2))
    running = RunningDonskerVaradhan()
    running(torch.zeros(2), torch.zeros(2))
    assert running.eval()(joint, product).item() == donsker_varadhan(joint, product).item()


def test_the_running_mean_takes_the_bias_of_small_batches_out_of_the_gradient():
    """d/da of E[T] - log E[e^T] for T = a z, z standard normal under the product, at a = 1: E[z] - a over small batches."""
    generator = torch.Generator().manual_seed(0)
    plain, corrected = [], []
    running = RunningDonskerVaradhan(rate=0.003)
    for step in range(5_000):
        a = torch.ones((), requires_grad=True)
        z = torch.randn(4, generator=generator)
        for bound, gradients in ((donsker_varadhan, plain), (running, corrected)):
            (gradient,) = torch.autograd.grad(bound(torch.zeros(1) * a, a * z), a)
            if step >= 1_000:
                gradients.append(gradient.item())
    truth = -1.0
    assert abs(sum(corrected) / len(corrected) - truth) < 0.1
    assert sum(plain) / len(plain) - truth > 0.2


def test_the_running_bound_has_the_value_of_the_plain_one_and_moves_in_training_only():
    joint, product = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    running = RunningDonskerVaradhan(rate=0.5)
    assert running(joint, product).item() == pytest.approx(donsker_varadhan(joint, product).item())
    before = running.log_mean.clone()
    running.eval()
    running(joint, product + 1)
    assert running.log_mean == before
    running.train()
    running(joint, product + 1)
    expected = torch.logaddexp(before, before + 1) - math.log(2)
    assert running.log_mean.item() == pytest.approx(expected.item())


@pytest.mark.parametrize("bound", [donsker_varadhan, nwj, softplus_proxy])
def test_scores_must_be_one_number_for_each_pair(bound):
    with pytest.raises(InputError, match=r"joint scores have shape \(2, 2\)"):
        bound(torch.zeros(2, 2), torch.zeros(2))
    with pytest.raises(InputError, match="product scores have shape"):
        bound(torch.zeros(2), torch.zeros(0))
    with pytest.raises(InputError, match=r"expected \(K, K\)"):
        info_nce(torch.zeros(3, 2))
    with pytest.raises(InputError, match="rate is 0"):
        RunningDonskerVaradhan(0)
