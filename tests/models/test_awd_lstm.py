"""The AWD-LSTM with a mixture of softmaxes is the plain equations, and drops what it says, in training only."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models import AwdLstm, Dropouts
from memspan.models.awd_lstm import NO_DROPOUT

VOCABULARY, EMBEDDING, HIDDEN, LAST, EXPERTS = 13, 4, 6, 5, 3
STEPS, BATCH = 8, 3
NAMES = [field.name for field in fields(Dropouts)]


def model(layers: int = 3, experts: int = EXPERTS, dropouts: Dropouts = NO_DROPOUT, **options) -> AwdLstm:
    torch.manual_seed(0)
    return AwdLstm(
        VOCABULARY,
        embedding=EMBEDDING,
        hidden=HIDDEN,
        last=LAST,
        layers=layers,
        experts=experts,
        dropouts=dropouts,
        dtype=torch.float64,
        **options,
    )


def words(seed: int = 0) -> Tensor:
    return torch.randint(0, VOCABULARY, (STEPS, BATCH), generator=torch.Generator().manual_seed(seed))


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision, the same products in another order, some steps and layers."""
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def plain(of: AwdLstm, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities and states of the last layer, from the weights alone."""
    hidden = of.embedding.weight[inputs]
    for layer in of.stack:
        hidden, _ = layer.network(hidden)
    pi = (hidden @ of.head.prior.weight.T).softmax(dim=-1)
    z = (hidden @ of.head.latent.weight.T + of.head.latent.bias).tanh()
    z = z.reshape(*inputs.shape, of.head.experts, EMBEDDING)
    q = (z @ of.head.decoder.weight.T + of.head.decoder.bias).softmax(dim=-1)
    return (pi.unsqueeze(-1) * q).sum(dim=-2).log(), hidden


def test_the_published_model_has_the_published_number_of_parameters():
    published = AwdLstm(10_000, device="meta")
    assert published.parameter_count() == 21_500_620
    untied = AwdLstm(10_000, device="meta", tied=False)
    assert untied.parameter_count() == 21_500_620 + 280 * 10_000


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("layers", [1, 3])
def test_values_and_gradients_are_those_of_the_plain_equations(layers, tied):
    network = model(layers, tied=tied)
    log_p, hidden, _ = network(words())
    expected, states = plain(network, words())
    assert_equal(log_p, expected)
    assert_equal(hidden, states)
    parameters = list(network.parameters())
    outer = torch.randn(log_p.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours, theirs = (torch.autograd.grad(y, parameters, outer) for y in (log_p, expected))
    for one, other in zip(ours, theirs, strict=True):
        assert_equal(one, other)


def test_one_expert_is_a_plain_softmax():
    network = model(experts=1)
    log_p, hidden, _ = network(words())
    z = network.head.latent(hidden).tanh()
    assert_equal(log_p, network.head.decoder(z).log_softmax(dim=-1))


def test_one_symbol_at_a_time_is_the_whole_sequence():
    network, inputs = model(dropouts=Dropouts()).eval(), words()
    whole = network(inputs)
    state, pieces = network.start(BATCH), []
    for t in range(STEPS):
        output = network(inputs[t : t + 1], state)
        pieces.append(output.logits)
        state = output.state
    assert_equal(torch.cat(pieces), whole.logits)
    for one, other in zip(state, whole.state, strict=True):
        assert_equal(one, other)


def test_a_state_is_h_and_c_of_every_layer_with_the_batch_in_the_middle():
    network = model(layers=2)
    state = network(words()).state
    assert state._fields == ("h_1", "c_1", "h_2", "c_2")
    assert [tuple(tensor.shape) for tensor in state] == [(1, BATCH, HIDDEN)] * 2 + [(1, BATCH, LAST)] * 2
    start = network.start(BATCH)
    assert type(start) is type(state) is type(network.as_state(list(state)))
    assert all((tensor == 0).all() for tensor in start)
    assert_equal(network(words(), start).logits, network(words()).logits)


def test_after_a_reset_nothing_of_before_is_known():
    network, inputs = model(), words()
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[0, 0] = resets[5, 1] = True
    before = network(words(seed=1)).state
    found, unbroken = network(inputs, before, resets=resets), network(inputs, before)
    assert_equal(found.logits[:, 0], network(inputs).logits[:, 0])
    assert_equal(found.logits[:5, 1], unbroken.logits[:5, 1])
    assert_equal(found.logits[5:, 1], network(inputs[5:]).logits[:, 1])
    assert_equal(found.logits[:, 2], unbroken.logits[:, 2])


def test_only_what_is_scored_is_answered():
    network = model()
    whole, part = network(words()), network(words(), scored=3)
    assert part.logits.shape == (3, BATCH, VOCABULARY)
    assert_equal(part.logits, whole.logits[-3:])
    assert_equal(part.hidden, whole.hidden)


def test_a_probe_is_in_the_states_of_the_last_layer():
    network, inputs = model(), words()
    probe = torch.zeros(STEPS, BATCH, LAST, dtype=torch.float64, requires_grad=True)
    output = network(inputs, probe=probe)
    unprobed = network(inputs)
    assert_equal(output.logits, unprobed.logits)
    (total,) = torch.autograd.grad(output.logits[-1].sum(), probe)
    (of_last,) = torch.autograd.grad(unprobed.logits[-1].sum(), unprobed.hidden)
    assert_equal(total[-1], of_last[-1])
    assert (total[0] != 0).all()


def test_without_dropouts_training_is_evaluation():
    network = model()
    training = network(words()).logits
    assert torch.equal(training, network.eval()(words()).logits)


@pytest.mark.parametrize("name", NAMES)
def test_every_dropout_drops_in_training_and_not_in_evaluation(name):
    network = model(dropouts=replace(NO_DROPOUT, **{name: 0.5}))
    one, other = network(words()).logits, network(words()).logits
    assert not torch.allclose(one, other)
    assert torch.equal(network.eval()(words()).logits, model().eval()(words()).logits)


@pytest.mark.parametrize("name", ["input", "hidden", "output"])
def test_masks_of_what_layers_read_and_give_last_for_a_sequence(name):
    network = model(dropouts=replace(NO_DROPOUT, **{name: 0.5}))
    seen: list[Tensor] = []
    place = {"input": network.stack[0], "hidden": network.stack[1], "output": network.head}[name]
    handle = place.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    network(words())
    handle.remove()
    gone = seen[0] == 0
    assert gone.any()
    assert not gone.all()
    assert torch.equal(gone, gone[:1].expand_as(gone))


def test_outputs_are_what_each_layer_reads_and_what_the_last_gives():
    network = model(dropouts=Dropouts())
    read: list[Tensor] = []
    for layer in network.stack[1:]:
        layer.register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    outputs, state = network.outputs(words())
    assert [output.shape[-1] for output in outputs] == [HIDDEN, HIDDEN, LAST]
    assert all(torch.equal(one, other) for one, other in zip(outputs[:-1], read, strict=True))
    assert torch.equal(outputs[-1][-1], state[-2][0])
    steady = network.eval()
    assert torch.equal(steady.outputs(words())[0][-1], steady(words()).hidden)


@pytest.mark.parametrize("training", [True, False])
def test_regularization_is_large_states_as_dropped_and_changes_as_they_were(training):
    network = model(dropouts=Dropouts(), alpha=3.0, beta=5.0).train(training)
    dropped: list[Tensor] = []
    network.head.register_forward_pre_hook(lambda _, arguments: dropped.append(arguments[0]))
    output = network(words())
    h = output.hidden
    expected = 3 * (dropped[0] ** 2).mean() + 5 * ((h[1:] - h[:-1]) ** 2).mean()
    assert_equal(network.regularization(output), expected)
    assert bool((dropped[0] == 0).any()) is training


def test_one_step_alone_has_no_change():
    network = model(alpha=3.0)
    output = network(words()[:1])
    assert_equal(network.regularization(output), 3 * output.hidden.square().mean())


def test_a_network_in_training_can_be_copied_saved_and_put_back():
    network = model(dropouts=Dropouts())
    output = network(words())
    (output.logits.sum() + network.regularization(output)).backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    copied, other = copy.deepcopy(network).eval(), model(layers=3).eval()
    for parameter in other.parameters():
        nn.init.zeros_(parameter)
    other.load_state_dict(network.state_dict())
    expected = network.eval()(words()).logits
    assert torch.equal(copied(words()).logits, expected)
    assert torch.equal(other(words()).logits, expected)
    assert copied.head.decoder.weight is copied.embedding.weight


def test_all_parameters_learn_at_one_rate_and_tied_ones_once():
    (group,) = model().parameter_groups(20.0)
    assert group["lr"] == 20.0
    assert len(group["params"]) == len({id(parameter) for parameter in group["params"]}) == 3 * 4 + 1 + 1 + 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Dropouts(latent=1.0), "dropout latent is 1.0"),
        (lambda: model(layers=0), "layers is 0"),
        (lambda: model()(words()[0]), "words of shape"),
        (lambda: model()(words(), model(layers=2).start(BATCH)), "state of shapes"),
        (lambda: model()(words(), model().start(BATCH + 1)), "state of shapes"),
        (lambda: model()(words(), resets=torch.zeros(STEPS, dtype=torch.bool)), "resets have shape"),
        (lambda: model()(words(), probe=torch.zeros(STEPS, BATCH, HIDDEN)), "the probe has shape"),
    ],
)
def test_what_does_not_fit_is_rejected(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_regularization_of_another_call_is_rejected():
    network = model(dropouts=Dropouts())
    first = network(words())
    network(words()[:, :2])
    with pytest.raises(InputError, match="expected the output of the last call"):
        network.regularization(first)
