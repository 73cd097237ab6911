"""Masks last as long as they should: over a sequence, over all places of a word, over a call; and only in training."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from memspan.models.variational import WeightDropLSTMLayer, dropout_mask, embed, locked_dropout

STEPS, BATCH, FEATURES, HIDDEN = 9, 3, 4, 6
P = 0.4


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_a_mask_is_zero_with_the_given_probability_and_one_on_average():
    mask = dropout_mask((100_000,), P, torch.zeros((), dtype=torch.float64), seeded())
    assert set(mask.tolist()) == {0.0, 1 / (1 - P)}
    # Four standard errors of the share of a hundred thousand draws.
    assert (mask == 0).double().mean() == pytest.approx(P, abs=0.0062)
    assert mask.mean() == pytest.approx(1.0, abs=0.0104)


def test_a_locked_mask_is_one_for_all_steps_and_another_for_each_sequence():
    ones = torch.ones(STEPS, BATCH, 50, dtype=torch.float64)
    dropped = locked_dropout(ones, P, training=True, generator=seeded())
    assert set(dropped.flatten().tolist()) == {0.0, 1 / (1 - P)}
    assert torch.equal(dropped, dropped[:1].expand_as(dropped))
    assert not torch.equal(dropped[0, 0], dropped[0, 1])
    sequence = random(STEPS, BATCH, 50)
    assert torch.equal(locked_dropout(sequence, P, training=True, generator=seeded()), dropped * sequence)


def test_a_word_is_dropped_wherever_it_stands_or_nowhere():
    words = torch.randint(0, 20, (STEPS, BATCH), generator=seeded())
    weight = random(20, FEATURES).requires_grad_()
    rows = embed(words, weight, P, training=True, generator=seeded())
    gone = (rows == 0).all(dim=-1)
    assert gone.any()
    assert not gone.all()
    for word in words.unique():
        assert len(gone[words == word].unique()) == 1
    torch.testing.assert_close(rows[~gone], weight[words][~gone] / (1 - P))
    (gradient,) = torch.autograd.grad(rows.sum(), weight)
    dropped = {int(word) for word in words[gone]}
    unseen = set(range(20)) - set(words.flatten().tolist())
    assert {word for word in range(20) if (gradient[word] == 0).all()} == dropped | unseen


def test_nothing_is_dropped_or_drawn_outside_of_training_or_at_probability_zero():
    sequence, words, weight = random(STEPS, BATCH, FEATURES), torch.tensor([[0, 1]]), random(2, FEATURES)
    generator = seeded()
    before = generator.get_state()
    for p, training in ((P, False), (0.0, True)):
        assert locked_dropout(sequence, p, training=training, generator=generator) is sequence
        assert torch.equal(embed(words, weight, p, training=training, generator=generator), weight[words])
    assert torch.equal(generator.get_state(), before)


def layer(p: float = P) -> WeightDropLSTMLayer:
    torch.manual_seed(0)
    return WeightDropLSTMLayer(FEATURES, HIDDEN, p, dtype=torch.float64)


def state(seed: int = 5) -> tuple[Tensor, Tensor]:
    return random(BATCH, HIDDEN, seed=seed), random(BATCH, HIDDEN, seed=seed + 1)


def of_torch(weights: nn.LSTM | nn.GRU, U: Tensor, inputs: Tensor, before: tuple[Tensor, Tensor]) -> Tensor:
    """The outputs of `torch.nn.LSTM` with other recurrent weights."""
    network = nn.LSTM(FEATURES, HIDDEN, dtype=torch.float64)
    network.load_state_dict({**weights.state_dict(), "weight_hh_l0": U})
    return network(inputs, tuple(tensor.unsqueeze(0) for tensor in before))[0]


def recurrent(of: WeightDropLSTMLayer) -> nn.Parameter:
    return of.network.get_parameter("weight_hh_l0")


def mask_seen_by_gradient(of: WeightDropLSTMLayer, outputs: Tensor) -> Tensor:
    """1 / (1 - p) where the gradient of U is not zero."""
    (gradient,) = torch.autograd.grad(outputs.sum(), recurrent(of), retain_graph=True)
    return (gradient != 0).double() / (1 - of.p)


def test_in_training_the_recurrent_weights_are_masked_and_gradients_are_zero_exactly_there():
    dropping, inputs = layer(), random(STEPS, BATCH, FEATURES)
    outputs, _ = dropping(inputs, state())
    mask = mask_seen_by_gradient(dropping, outputs)
    # 144 draws: within four standard errors.
    assert (mask == 0).double().mean() == pytest.approx(P, abs=0.17)
    U = recurrent(dropping).detach()
    torch.testing.assert_close(outputs, of_torch(dropping.network, mask * U, inputs, state()))
    assert not torch.allclose(outputs, of_torch(dropping.network, U, inputs, state()))


def test_the_gradient_of_the_masked_weights_is_that_of_torch_times_the_mask():
    dropping, inputs = layer(), random(STEPS, BATCH, FEATURES)
    outputs, _ = dropping(inputs, state())
    (gradient,) = torch.autograd.grad(outputs.square().sum(), recurrent(dropping), retain_graph=True)
    mask = mask_seen_by_gradient(dropping, outputs)
    network = nn.LSTM(FEATURES, HIDDEN, dtype=torch.float64)
    network.load_state_dict({**dropping.network.state_dict(), "weight_hh_l0": mask * recurrent(dropping).detach()})
    expected, _ = network(inputs, tuple(tensor.unsqueeze(0) for tensor in state()))
    (whole,) = torch.autograd.grad(expected.square().sum(), network.get_parameter("weight_hh_l0"))
    torch.testing.assert_close(gradient, mask * whole)


def test_each_call_draws_a_mask_of_its_own_and_leaves_the_weights_as_they_were():
    dropping, inputs = layer(), random(STEPS, BATCH, FEATURES)
    before = {name: tensor.clone() for name, tensor in dropping.state_dict().items()}
    masks = [mask_seen_by_gradient(dropping, dropping(inputs, state())[0]) for _ in range(2)]
    assert not torch.equal(*masks)
    after = dropping.state_dict()
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    assert list(after) == [f"network.{name}" for name in names]
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert isinstance(recurrent(dropping), nn.Parameter)


def test_in_evaluation_the_recurrent_weights_are_whole():
    dropping, inputs = layer(), random(STEPS, BATCH, FEATURES)
    expected = of_torch(dropping.network, recurrent(dropping).detach(), inputs, state())
    assert torch.equal(dropping.scan_without_dropout(inputs, state(), None), expected)
    outputs, end = dropping.eval()(inputs, state())
    assert torch.equal(outputs, expected)
    assert torch.equal(end.h, expected[-1])
    assert (mask_seen_by_gradient(dropping, outputs) > 0).all()
    assert torch.equal(layer(p=0.0)(inputs, state())[0], expected)


def test_one_mask_serves_all_pieces_between_resets():
    dropping, inputs = layer(), random(STEPS, BATCH, FEATURES)
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[4, 1] = True
    outputs, _ = dropping(inputs, state(), resets)
    mask = mask_seen_by_gradient(dropping, outputs)
    U = mask * recurrent(dropping).detach()
    whole = of_torch(dropping.network, U, inputs, state())
    nothing = torch.zeros(BATCH, HIDDEN, dtype=torch.float64)
    afresh = of_torch(dropping.network, U, inputs[4:], (nothing, nothing))
    others = [0, 2]
    torch.testing.assert_close(outputs[:, others], whole[:, others])
    torch.testing.assert_close(outputs[:4, 1], whole[:4, 1])
    torch.testing.assert_close(outputs[4:, 1], afresh[:, 1])


def test_a_probe_goes_into_the_states_and_zeros_change_nothing():
    steady, inputs = layer().eval(), random(STEPS, BATCH, FEATURES)
    resets = torch.rand(STEPS, BATCH, generator=seeded()) < 0.2
    probe = torch.zeros(STEPS, BATCH, HIDDEN, dtype=torch.float64)
    outputs, end = steady(inputs, state(), resets)
    probed, end_probed = steady(inputs, state(), resets, probe)
    torch.testing.assert_close(probed, outputs)
    torch.testing.assert_close(end_probed, end)
    probe[3] = random(BATCH, HIDDEN)
    _, (h, c) = steady(inputs[:4], state(), resets[:4])
    expected, _ = steady(inputs[4:], (h + probe[3], c), resets[4:])
    torch.testing.assert_close(steady(inputs, state(), resets, probe)[0][4:], expected)
