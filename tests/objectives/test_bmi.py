"""Importance weights against enumeration, the two phases, policy gradients, warnings and errors."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from memspan.cells import CELLS
from memspan.errors import InputError
from memspan.models.model import SequenceModel
from memspan.objectives.bmi import (
    FLAT,
    PATIENCE,
    Bmi,
    BmiConfig,
    bmi_defaults,
    check_bmi,
    effective_size,
    importance_weights,
    raml_loss,
)
from memspan.objectives.bounds import Discriminator
from memspan.objectives.policy import continuation, policy_loss, program_policy_loss, sampled_policy_loss
from memspan.objectives.segments import Padded, Segments, draw_pairs, lines, log_likelihoods, pooled, windows
from memspan.sampling import Choice
from memspan.tasks import Batch

QUIET = BmiConfig(name="full", pairs=6, hidden=10, length=5, input_dropout=0.0, hidden_dropout=0.0)
BATCH = Batch(torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.int64), torch.ones(1, 1))


def model_of(symbols: int = 7) -> SequenceModel:
    torch.manual_seed(0)
    return SequenceModel(CELLS["lstm"](4, 8), symbols)


def text(count: int = 400, symbols: int = 7) -> np.ndarray:
    return np.random.default_rng(0).integers(0, symbols, count)


def bmi_of(config: BmiConfig = QUIET, segments: Segments | None = None) -> tuple[Bmi, SequenceModel]:
    model = model_of()
    return Bmi(config, windows(text(), 5) if segments is None else segments, model, seed=3), model


PROPOSAL = 0.3


def toy_corpus() -> tuple[Segments, SequenceModel, Discriminator]:
    """Twenty segments, the last three of one symbol, which the model likes: likelihoods differ along the text."""
    random, model = np.random.default_rng(0), model_of()
    place = np.linspace(0, 1, 80)
    symbols = np.where(place > 0.85, 0, random.integers(0, 7, 80))
    discriminator = Discriminator(8, 10)
    with torch.no_grad():
        model.head.weight.mul_(6)
        model.head.bias[0] += 3
        discriminator.networks[0][-1].weight.mul_(100)  # pyright: ignore[reportIndexIssue]
    return windows(symbols, 4), model, discriminator


def enumerated(D: np.ndarray, L: np.ndarray, *, beta: float = 1.0, cut: bool = True, weighted: bool = True) -> float:
    """sum e^r L / sum e^r over all X and all Y behind them, r = (D(X, Y) - D(X, Y*)) / beta.

    Also what is had by mistake: with a proposal that is not renormalised at the text's end, or samples of equal weight.
    """
    over = under = 0.0
    for x in range(len(D) - 1):
        after = slice(x + 1, len(D))
        proposal = PROPOSAL * (1 - PROPOSAL) ** np.arange(len(D) - x - 1)
        pay = np.exp((D[x, after] - D[x, x + 1]) / beta)
        pay = pay if cut else pay / proposal.sum()
        pay = pay if weighted else proposal / proposal.sum()
        over, under = over + (pay * L[x, after]).sum(), under + pay.sum()
    return over / under


def test_weighted_samples_agree_with_enumeration():
    segments, model, discriminator = toy_corpus()
    D, L = np.zeros((2, 20, 20))
    pairs = np.triu_indices(20, 1)
    x, y = (segments.take(which) for which in pairs)
    with torch.no_grad():
        D[pairs] = discriminator(pooled(model, x), pooled(model, y)).numpy()
        L[pairs] = log_likelihoods(model, x, y).numpy()
    drawn = draw_pairs(20, 150_000, np.random.default_rng(1), PROPOSAL)
    near, following = (torch.from_numpy(D[drawn.first, which]) for which in (drawn.near, drawn.next))
    for beta in (1.0, 2.0):
        with torch.no_grad():
            weights = importance_weights(near, following, torch.from_numpy(drawn.log_proposal), beta)
            loss = raml_loss(model, segments.take(drawn.first), segments.take(drawn.near), weights)
        assert weights.sum().item() == pytest.approx(1)
        assert 1 < effective_size(weights) < 150_000
        assert -loss.item() == pytest.approx(enumerated(D, L, beta=beta), rel=0.01)
    mistakes = (
        enumerated(D, L, beta=np.inf),
        enumerated(D, L, beta=2.0),
        enumerated(D, L, cut=False),
        enumerated(D, L, weighted=False),
    )
    assert all(abs(each / enumerated(D, L) - 1) > 0.015 for each in mistakes)  # which the 1 % tells apart


def test_large_scores_give_weights_that_add_up_to_one():
    weights = importance_weights(torch.tensor([1e4, 0.0]), torch.tensor([-1e4, 0.0]), torch.zeros(2))
    assert weights.tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="temperature is 0"):
        importance_weights(torch.zeros(1), torch.zeros(1), torch.zeros(1), 0.0)


def test_the_second_phase_adds_what_enumeration_of_its_parts_says_and_leaves_the_discriminator_alone():
    bmi, model = bmi_of()
    first, metrics = bmi.loss(model, BATCH, 5)
    assert set(metrics) == {"bound", "accuracy", "spread"}
    bmi.on_switch()
    both, more = bmi.loss(model, BATCH, 5)
    drawn = bmi.pairs(5)
    x, near, true = (bmi.segments.take(which) for which in (drawn.first, drawn.near, drawn.next))
    a, b, c = ((model.outputs(each.symbols)[0][0]).amax(0) for each in (x, near, true))
    D = bmi.discriminator
    weights = importance_weights(D(a, b), D(a, c), torch.from_numpy(drawn.log_proposal).float())
    expected = -(weights * log_likelihoods(model, x, near)).sum()
    assert (both - first).item() == pytest.approx(QUIET.second_weight * expected.item(), rel=1e-4)
    assert more["nearby"] == pytest.approx(expected.item(), rel=1e-5)
    assert more["effective"] == pytest.approx(effective_size(weights), rel=1e-5)
    alike = [
        torch.autograd.grad(each.loss(model, BATCH, 5)[0], list(each.discriminator.parameters()))
        for each in (bmi, _base(bmi))
    ]
    assert all(torch.allclose(*pair, atol=1e-7) for pair in zip(*alike, strict=True))


@pytest.mark.parametrize("weight", [0.1, 0.7])
def test_the_first_phase_is_the_proxy_by_its_weight_and_tells_what_the_scores_are_worth(weight):
    bmi, model = bmi_of(replace(QUIET, weight=weight))
    loss, metrics = bmi.loss(model, BATCH, 5)
    drawn = bmi.pairs(5)
    x, y, z = (
        model.outputs(bmi.segments.take(which).symbols)[0][0].amax(0)
        for which in (drawn.first, drawn.next, drawn.other)
    )
    joint, product = bmi.discriminator(x, y), bmi.discriminator(x, z)
    proxy = joint.sigmoid().log().mean() + (1 - product.sigmoid()).log().mean()
    assert loss.item() == pytest.approx(-weight * proxy.item(), rel=1e-5)
    right = [*(joint > 0).tolist(), *(product < 0).tolist()]
    assert 0 < sum(right) < len(right)
    assert metrics["accuracy"] == pytest.approx(sum(right) / len(right))
    assert metrics["bound"] == pytest.approx((joint.mean() - product.exp().mean().log()).item(), abs=1e-6)
    assert metrics["spread"] == pytest.approx(torch.cat([joint, product]).std().item(), rel=1e-5)


def _base(bmi: Bmi, *, switched: bool = False) -> Bmi:
    """The same with the base objective, with or without the switch."""
    twin = Bmi(replace(bmi.config, name="base"), bmi.segments, model_of(), bmi.seed)
    twin.load_state_dict(bmi.state_dict())
    if not switched:
        twin.on_switch()
        assert not twin.second_phase
    return twin


def test_a_base_goal_that_begins_with_one_that_has_switched_stays_a_base_goal():
    full, model = bmi_of()
    full.on_switch()
    twin = _base(full, switched=True)
    assert twin.second_phase
    assert set(twin.loss(model, BATCH, 5)[1]) == {"bound", "accuracy", "spread"}
    assert (full.left_out, twin.left_out) == (None, None)
    assert "the switch was never reached" in str(bmi_of()[0].left_out)
    assert "training ended before update 9" in str(bmi_of(replace(QUIET, switch_at=9))[0].left_out)


def test_the_bound_rises_if_adjacent_segments_are_dependent():
    """Segments of one symbol each; the next one has the same symbol, others rarely do."""
    runs = np.repeat(np.random.default_rng(1).integers(0, 7, 40), 2)
    segments = Segments(np.repeat(runs[:, None], 5, axis=1), np.full(80, 5))
    bmi, model = bmi_of(replace(QUIET, pairs=20, learning_rate=1e-2), segments)
    optimizer = torch.optim.Adam([*model.parameters(), *bmi.parameters()], lr=1e-2)
    bounds = []
    for index in range(60):
        optimizer.zero_grad()
        loss, metrics = bmi.loss(model, BATCH, index)
        loss.backward()
        optimizer.step()
        bounds.append(metrics["bound"])
    assert np.mean(bounds[:5]) < 0.1
    assert np.mean(bounds[-10:]) > np.mean(bounds[:5]) + 0.2


def test_one_discriminator_or_two():
    a, b = torch.randn(2, 3, 4)
    one, two = Discriminator(4, 6), Discriminator(4, 6, swapped=True)
    assert one(a, b).shape == (3,)
    assert sum(p.numel() for p in two.parameters()) == 2 * sum(p.numel() for p in one.parameters())
    there, back = two.networks
    swapped = Discriminator(4, 6, swapped=True)
    swapped.networks[0].load_state_dict(back.state_dict())
    swapped.networks[1].load_state_dict(there.state_dict())
    assert torch.allclose(two(a, b), swapped(b, a))
    with pytest.raises(InputError, match=r"expected both \(…, 4\)"):
        one(a, torch.zeros(3, 5))
    with pytest.raises(InputError, match="hidden is 0"):
        Discriminator(4, 0)


def test_flat_scores_are_reported_and_training_continues():
    bmi, model = bmi_of()
    with torch.no_grad():
        for parameter in bmi.discriminator.parameters():
            parameter.zero_()
    for index in range(PATIENCE):
        assert bmi.warning is None
        loss, metrics = bmi.loss(model, BATCH, index)
        assert loss.isfinite()
        assert metrics["spread"] < FLAT
    assert bmi.warning is not None
    assert "same score for 200 updates" in bmi.warning


def test_continuations_begin_at_each_segments_own_end_and_follow_the_models_law():
    model = model_of(symbols=3)
    first = Padded(torch.tensor([[0, 1], [1, 2], [2, 0]]), torch.tensor([3, 1]))
    many = Padded(first.symbols.repeat(1, 4_000), first.lengths.repeat(4_000))
    written = continuation(model, many, 2, Choice(), np.random.default_rng(0)).symbols.reshape(2, 4_000, 2)
    for column, x in enumerate(([0, 1, 2], [1])):
        law = model(torch.tensor([x]).T).logits[-1, 0].softmax(-1)
        for symbol in range(3):
            mine = written[0, :, column] == symbol
            assert mine.float().mean().item() == pytest.approx(law[symbol].item(), abs=0.03)
            then = model(torch.tensor([[*x, symbol]]).T).logits[-1, 0].softmax(-1)
            seen = torch.bincount(written[1, mine, column], minlength=3) / mine.sum()
            assert seen.tolist() == pytest.approx(then.tolist(), abs=0.06)


TINY_SYMBOLS, TINY_LENGTH = 2, 2
START = torch.tensor([0, 0])
SEQUENCES = [torch.tensor(each) for each in itertools.product(range(TINY_SYMBOLS), repeat=TINY_LENGTH)]
"""Every segment of a tiny language."""


def tiny() -> tuple[SequenceModel, Discriminator]:
    """A model and a discriminator in double precision, with likelihoods and rewards that differ."""
    model, discriminator = model_of(symbols=TINY_SYMBOLS).double(), Discriminator(8, 6).double().eval()
    with torch.no_grad():
        model.head.weight.mul_(8)
        discriminator.networks[0][-1].weight.mul_(30)  # pyright: ignore[reportIndexIssue]
    return model, discriminator


def log_probabilities(model: SequenceModel) -> torch.Tensor:
    """log Q(X, Y) after the start symbol, (X, Y), read symbol by symbol."""
    pairs = torch.stack([torch.cat([START[:1], x, y]) for x in SEQUENCES for y in SEQUENCES], dim=1)
    steps = model(pairs[:-1]).logits.log_softmax(-1).gather(-1, pairs[1:, :, None])
    return steps.sum((0, 2)).reshape(len(SEQUENCES), len(SEQUENCES))


def scores(model: SequenceModel, discriminator: Discriminator) -> torch.Tensor:
    """D(X, Y) of every pair."""
    with torch.no_grad():
        phi = model.outputs(torch.stack(SEQUENCES, dim=1))[0][0].amax(0)
        return torch.stack([discriminator(x.expand_as(phi), phi) for x in phi])


def enumerated_gradient(model: SequenceModel, discriminator: Discriminator) -> list[torch.Tensor]:
    """The gradient of E_{Q_XY} R+ - E_{Q_X Q_Y} R- through Q alone, with Q_Y the marginal of Q_XY: Eq. 9."""
    q, D = log_probabilities(model).exp(), scores(model, discriminator)
    reward = (q * D.sigmoid().log()).sum() - (q.sum(1)[:, None] * q.sum(0) * (1 + D.exp()).log()).sum()
    return list(torch.autograd.grad(reward, list(model.parameters())))


def batch_of(*columns: torch.Tensor) -> Padded:
    return Padded(torch.stack(columns, dim=1), torch.full((len(columns),), TINY_LENGTH))


def test_the_mean_of_the_policy_gradient_over_all_samples_is_equation_9():
    """Every batch of two pairs of segments, with its probability: no sampling error is left."""
    model, discriminator = tiny()
    parameters = list(model.parameters())
    q = log_probabilities(model).exp().detach()
    pairs = [(x, y) for x in range(len(SEQUENCES)) for y in range(len(SEQUENCES))]
    mean = [torch.zeros_like(parameter) for parameter in parameters]
    for (x, y), (other_x, other_y) in itertools.product(pairs, pairs):
        first, second = (batch_of(*(SEQUENCES[n] for n in numbers)) for numbers in ((x, other_x), (y, other_y)))
        loss, _ = sampled_policy_loss(model, discriminator, START, first, second)
        for total, gradient in zip(mean, torch.autograd.grad(loss, parameters), strict=True):
            total += q[x, y] * q[other_x, other_y] * gradient
    exact = enumerated_gradient(model, discriminator)
    assert max(float(each.abs().max()) for each in exact) > 1e-2
    for found, expected in zip(mean, exact, strict=True):
        assert torch.allclose(-found, expected, atol=1e-6)  # log-likelihoods are summed in single precision


def test_the_sampled_policy_gradient_and_its_reward_are_those_of_enumeration():
    model, discriminator = tiny()
    count = 20_000
    start, head = START[:1].repeat(count), model.head.bias
    loss, mean = policy_loss(model, discriminator, start, TINY_LENGTH, np.random.default_rng(0))
    (found,) = torch.autograd.grad(loss, head, retain_graph=True)
    q, D = log_probabilities(model).exp().detach(), scores(model, discriminator)
    expected = (q * D.sigmoid().log()).sum() - (q.sum(1)[:, None] * q.sum(0) * (1 + D.exp()).log()).sum()
    spread = float((1 + D.exp()).log().std() + D.sigmoid().log().std())
    assert mean == pytest.approx(expected.item(), abs=5 * spread / math.sqrt(count))
    exact = dict(zip(model.parameters(), enumerated_gradient(model, discriminator), strict=True))[head]
    # A sum of 4 scores of at most 1, three rewards each: 5 standard errors.
    assert (-found).tolist() == pytest.approx(exact.tolist(), abs=5 * 4 * spread / math.sqrt(count))
    untouched = torch.autograd.grad(loss, list(discriminator.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in untouched)


def test_a_real_first_segment_alone_is_not_equation_9():
    """What the estimate would be without the gradient of log Q(X): the enumeration tells them apart."""
    model, discriminator = tiny()
    log_q, D = log_probabilities(model), scores(model, discriminator)
    first = log_q.logsumexp(1).exp().detach()
    q = first[:, None] * (log_q - log_q.logsumexp(1, keepdim=True)).exp()
    reward = (q * D.sigmoid().log()).sum() - (first[:, None] * q.sum(0) * (1 + D.exp()).log()).sum()
    partial = torch.autograd.grad(reward, list(model.parameters()))
    exact = enumerated_gradient(model, discriminator)
    assert max(float((a - b).abs().max()) for a, b in zip(partial, exact, strict=True)) > 1e-2


def test_the_programs_policy_gradient_has_means_per_symbol_and_no_gradient_from_y_into_the_reading_of_x():
    model, discriminator = tiny()
    start, random = START[:1].repeat(16), np.random.default_rng(4)
    loss, reward = program_policy_loss(model, discriminator, start, TINY_LENGTH, random)
    random, first = np.random.default_rng(4), Padded(start[None], torch.ones(16, dtype=torch.int64))
    x, other = (continuation(model, first, TINY_LENGTH, Choice(), random) for _ in range(2))
    y = continuation(model, first.followed_by(x), TINY_LENGTH, Choice(), random)
    greedy = Choice(temperature=0)
    best = continuation(model, first, TINY_LENGTH, greedy, random)
    after = continuation(model, first.followed_by(best), TINY_LENGTH, greedy, random)
    with torch.no_grad():
        phi = [model.outputs(each.symbols)[0][0].amax(0) for each in (x, y, other, best, after)]
        gain, penalty = discriminator(phi[0], phi[1]).sigmoid().log(), (1 + discriminator(phi[0], phi[2]).exp()).log()
        least = discriminator(phi[3], phi[4]).sigmoid().log(), (1 + discriminator(phi[3], phi[3]).exp()).log()
    log_x, log_y, log_other = (
        log_likelihoods(model, *each) for each in ((first, x), (first.followed_by(x), y), (first, other))
    )
    expected = -((gain - least[0]) * (log_x + log_y) - (penalty - least[1]) * (log_x + log_other)).mean()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert reward == pytest.approx((gain - penalty).mean().item())
    recurrent = dict(model.named_parameters())["cell.layers.0.network.weight_hh_l0"]
    (head, own), (through_head, through) = (
        torch.autograd.grad(each, (model.head.weight, recurrent), retain_graph=True) for each in (loss, expected)
    )
    assert torch.allclose(head, through_head)  # the output layer reads the same states
    assert (own - through).norm() > 0.01 * through.norm()  # in one of them log Q(Y | X) reaches the reading of X


@pytest.mark.parametrize(("second", "length"), [("policy", 18), ("policy-program", 15)])
def test_the_second_phase_can_be_a_policy_gradient(second, length, monkeypatch):
    bmi, model = bmi_of(replace(QUIET, second=second, length=18), lines(np.tile([1, 2, 0], 20), end=0, length=18))
    bmi.on_switch()
    generated = []

    def noted(model, first, length, choice, random):
        generated.append((first.symbols[0].tolist(), length))
        return continuation(model, first, length, choice, random)

    monkeypatch.setattr("memspan.objectives.policy.continuation", noted)
    loss, metrics = bmi.loss(model, BATCH, 0)
    assert loss.isfinite()
    assert -math.inf < metrics["reward"] < 0
    assert generated == [([0] * QUIET.pairs, length)] * 5  # after the end of a line


def test_uniform_weights_are_a_control_with_the_same_segments():
    bmi, model = bmi_of(replace(QUIET, weights="uniform"))
    first, _ = bmi.loss(model, BATCH, 5)
    bmi.on_switch()
    both, metrics = bmi.loss(model, BATCH, 5)
    drawn = bmi.pairs(5)
    x, near = (bmi.segments.take(which) for which in (drawn.first, drawn.near))
    expected = -log_likelihoods(model, x, near).mean().item()
    assert metrics["nearby"] == pytest.approx(expected, rel=1e-5)
    assert metrics["effective"] == pytest.approx(QUIET.pairs)
    assert (both - first).item() == pytest.approx(QUIET.second_weight * expected, rel=1e-4)


def test_the_defaults_of_a_text_are_those_of_the_published_program():
    """config.py of the program: weight1, weight2 and bsz2; weight2 multiplies a mean per symbol over the pairs."""
    for data, weight, weight2, pairs in (("ptb", 0.1, 1.0, 12), ("wikitext-2", 0.02, 0.05, 10)):
        expected = {"weight": weight, "second_weight": weight2 / pairs, "pairs": pairs}
        assert bmi_defaults(data) == pytest.approx(expected)
        check_bmi(BmiConfig(name="full", **bmi_defaults(data)))  # type: ignore[arg-type]
    assert bmi_defaults("python") == {}


@pytest.mark.parametrize("second", ["raml", "policy"])
def test_padding_is_pooled_up_to_the_length_of_a_segment_however_short_all_are(second, monkeypatch):
    segments = lines(np.tile([1, 2, 0], 20), end=0, length=5, filler=6)
    bmi, model = bmi_of(replace(QUIET, padding=True, second=second), segments)
    bmi.on_switch()
    read = []

    def noted(model, taken, *, padding):
        read.append(taken.symbols[:, 0].tolist())
        return pooled(model, taken, padding=padding)

    monkeypatch.setattr("memspan.objectives.bmi.pooled", noted)
    loss, _ = bmi.loss(model, BATCH, 0)
    assert loss.isfinite()
    assert {len(symbols) for symbols in read} == {5}
    assert read[0] == [1, 2, 0, 6, 6]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 0.0}, "bmi.weight is 0.0; expected a finite number above 0"),
        ({"second_weight": -1.0}, "bmi.second_weight is -1.0"),
        ({"pairs": 1}, "bmi.pairs is 1; expected a whole number of 2 or more"),
        ({"proposal": 1.0}, "bmi.proposal is 1.0; expected a probability between 0 and 1"),
        ({"hidden_dropout": 1.0}, "bmi.hidden_dropout is 1.0"),
        ({"weight_decay": -1.0}, "bmi.weight_decay is -1.0"),
        ({"switch_at": 0}, "bmi.switch_at is 0"),
    ],
)
def test_invalid_settings_are_rejected(settings, message):
    with pytest.raises(InputError, match=message):
        check_bmi(BmiConfig(**settings))
