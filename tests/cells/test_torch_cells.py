"""LSTM, GRU and Transformer are those of torch, given equal weights."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from memspan.cells.attentive.transformer import Transformer, nonfinite_sources, sinusoids
from memspan.cells.base.cell import Cell
from memspan.cells.gated.gru import GRU
from memspan.cells.gated.lstm import LSTM
from memspan.errors import InputError

FEATURES, HIDDEN, BATCH, STEPS = 5, 8, 4, 30


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision, the same products in another order, thirty steps."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def data(features: int = FEATURES, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(STEPS, BATCH, features, dtype=torch.float64, generator=generator)


def some_resets() -> Tensor:
    return torch.rand(STEPS, BATCH, generator=torch.Generator().manual_seed(2)) < 0.1


@pytest.mark.parametrize(("ours", "theirs"), [(LSTM, nn.LSTM), (GRU, nn.GRU)])
def test_two_layers_are_those_of_torch_in_values_and_gradients(ours, theirs):
    torch.manual_seed(0)
    cell = ours(FEATURES, HIDDEN, num_layers=2, dtype=torch.float64)
    network = theirs(FEATURES, HIDDEN, num_layers=2, dtype=torch.float64)
    for number, layer in enumerate(cell.layers):
        for name, weights in layer.network.named_parameters():
            getattr(network, name.replace("l0", f"l{number}")).data.copy_(weights.data)
    inputs = data().requires_grad_()
    output, state = cell(inputs)
    expected, end = network(inputs)
    assert_equal(output, expected)
    for one, other in zip(state, end if isinstance(end, tuple) else (end,), strict=True):
        assert_equal(one, other)
    weights = data(HIDDEN, seed=1)
    gradients = torch.autograd.grad((weights * output).sum(), [inputs, *cell.parameters()])
    theirs = torch.autograd.grad((weights * expected).sum(), [inputs, *network.parameters()])
    for one, other in zip(gradients, theirs, strict=True):
        assert_equal(one, other)


@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_a_probe_of_zeros_changes_nothing(kind):
    torch.manual_seed(0)
    cell, resets = kind(FEATURES, HIDDEN, num_layers=2, dtype=torch.float64), some_resets()
    output, state = cell(data(), resets=resets)
    probed, end = cell(data(), resets=resets, probe=torch.zeros(STEPS, BATCH, HIDDEN, dtype=torch.float64))
    assert_equal(probed, output)
    for one, other in zip(state, end, strict=True):
        assert_equal(one, other)


@pytest.mark.parametrize("kind", [LSTM, GRU, Transformer])
def test_a_reset_forgets_non_finite_values(kind):
    torch.manual_seed(0)
    cell, inputs, resets = kind(FEATURES, HIDDEN), data().float(), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    inputs[3, 1, 0], resets[10, 1] = torch.nan, True
    output, _ = cell(inputs, resets=resets)
    assert output[3:10, 1].isnan().any(dim=1).all()
    assert not output[10:].isnan().any()


def encoder_layer(layer: nn.Module) -> nn.TransformerEncoderLayer:
    """torch's layer with the weights of ours."""
    theirs = nn.TransformerEncoderLayer(HIDDEN, 4, 12, dropout=0.0, dtype=torch.float64)
    named = {
        "self_attn.in_proj_weight": "W_qkv",
        "self_attn.in_proj_bias": "b_qkv",
        "self_attn.out_proj.weight": "W_o",
        "self_attn.out_proj.bias": "b_o",
        "linear1.weight": "W_1",
        "linear1.bias": "b_1",
        "linear2.weight": "W_2",
        "linear2.bias": "b_2",
        "norm1.weight": "gain_a",
        "norm1.bias": "shift_a",
        "norm2.weight": "gain_h",
        "norm2.bias": "shift_h",
    }
    theirs.load_state_dict({name: getattr(layer, ours).detach() for name, ours in named.items()})
    return theirs


def stack_of_torch(cell: Cell, inputs: Tensor) -> Tensor:
    codes = sinusoids(torch.arange(len(inputs)).unsqueeze(1), HIDDEN)
    mask = nn.Transformer.generate_square_subsequent_mask(len(inputs), dtype=torch.float64)
    outputs = inputs + codes
    for layer in cell.layers:
        outputs = encoder_layer(layer)(outputs, src_mask=mask, is_causal=True)
    return outputs


def transformer(features: int = HIDDEN, **options) -> Transformer:
    torch.manual_seed(0)
    cell = Transformer(features, HIDDEN, heads=4, feedforward=12, dtype=torch.float64, **options)
    for parameter in cell.parameters():
        # Biases and gains away from 0 and 1, so that each of them is seen.
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    return cell


def test_two_layers_are_the_encoder_layers_of_torch_in_values_and_gradients():
    cell = transformer(num_layers=2)
    ours, theirs = data(HIDDEN).requires_grad_(), data(HIDDEN).requires_grad_()
    output, expected = cell(ours)[0], stack_of_torch(cell, theirs)
    assert_equal(output, expected)
    weights = data(HIDDEN, seed=1)
    assert_equal(*(torch.autograd.grad((weights * y).sum(), x)[0] for y, x in ((output, ours), (expected, theirs))))


def test_pieces_with_resets_are_the_separate_sequences():
    cell, inputs, resets = transformer(FEATURES, num_layers=2), data(), some_resets()
    whole, _ = cell(inputs, resets=resets)
    first, state = cell(inputs[:11], resets=resets[:11])
    second, _ = cell(inputs[11:], state, resets[11:])
    assert_equal(torch.cat([first, second]), whole)
    for b in range(BATCH):
        last = int(resets[:, b].nonzero()[-1]) if resets[:, b].any() else 0
        assert_equal(cell(inputs[last:, b])[0], whole[last:, b])


def test_the_state_holds_no_more_than_the_longest_sequence():
    cell, resets = transformer(FEATURES), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[20, :2] = resets[25, 2:] = True
    _, state = cell(data(), resets=resets)
    assert state.keys.shape == (1, BATCH, 10, HIDDEN)
    assert state.seen.tolist() == [[10, 10, 5, 5]]


def test_attention_is_a_distribution_over_the_steps_since_the_reset():
    cell, resets = transformer(FEATURES), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[20, 1] = True
    weights = cell.attention(data(), resets=resets)
    assert weights.shape == (STEPS, BATCH, STEPS)
    assert_equal(weights.sum(-1), torch.ones(STEPS, BATCH, dtype=torch.float64))
    seen = weights > 0
    assert torch.equal(seen[:, 0], torch.ones(STEPS, STEPS, dtype=torch.bool).tril())
    assert torch.equal(seen[20:, 1, :20], torch.zeros(10, 20, dtype=torch.bool))
    _, state = cell(data())
    assert cell.attention(data(), state).shape == (STEPS, BATCH, 2 * STEPS)


def test_attention_is_that_of_torch():
    cell = transformer()
    (layer,) = cell.layers
    x = data(HIDDEN) + sinusoids(torch.arange(STEPS).unsqueeze(1), HIDDEN)
    mask = nn.Transformer.generate_square_subsequent_mask(STEPS, dtype=torch.float64)
    _, weights = encoder_layer(layer).self_attn(x, x, x, attn_mask=mask, need_weights=True)
    assert_equal(cell.attention(data(HIDDEN)), weights.transpose(0, 1))


def test_position_codes_have_no_repeats_and_the_rates_of_the_source():
    codes = sinusoids(torch.arange(5000), 6)
    assert codes.shape == (5000, 6)
    torch.testing.assert_close(codes[:, 0], torch.arange(5000).double().sin())
    torch.testing.assert_close(codes[:, 5], (torch.arange(5000).double() / 10_000 ** (4 / 6)).cos())
    assert sinusoids(torch.arange(3), 5).shape == (3, 5)


def test_dropped_attention_is_dropped_in_training_only():
    cell = transformer(FEATURES, attention_dropout=0.5)
    assert not torch.allclose(cell(data())[0], cell(data())[0])
    cell.eval()
    assert_equal(cell(data())[0], cell(data())[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 3}, "heads is 3 and hidden_size 8; expected heads to divide hidden_size"),
        ({"heads": 0}, "heads is 0"),
        ({"feedforward": 0}, "feedforward is 0"),
        ({"attention_dropout": 1.0}, "attention_dropout is 1.0"),
    ],
)
def test_a_wrong_shape_is_rejected(options, message):
    with pytest.raises(InputError, match=message):
        Transformer(FEATURES, HIDDEN, **options)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("which", [0, 1])
def test_every_nonfinite_vector_is_found(value, dtype, which):
    vectors = [torch.randn(2, 5, 3).to(dtype) for _ in range(2)]
    assert nonfinite_sources(*vectors) is None
    vectors[which][1, 3, 0] = value
    found = nonfinite_sources(*vectors)
    assert found is not None
    assert found.nonzero().tolist() == [[1, 3]]


def test_finite_values_whose_sum_overflows_are_finite():
    found = nonfinite_sources(torch.full((2, 3, 4), 3e38), torch.zeros(2, 3, 4))
    assert found is not None
    assert not found.any()
    assert nonfinite_sources(torch.full((2, 300, 4), 6e4, dtype=torch.float16)) is None  # summed in float32


def test_infinities_that_cancel_are_found():
    keys = torch.zeros(1, 2, 2)
    keys[0, 0, 0], keys[0, 1, 0] = math.inf, -math.inf
    found = nonfinite_sources(keys)
    assert found is not None
    assert found.all()
