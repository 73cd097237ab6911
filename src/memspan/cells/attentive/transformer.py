"""A causal Transformer as a cell: its state holds the keys and values of all steps so far."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple, cast, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.attentive.attention import steps_since_reset
from memspan.cells.base.autograd import Probe, Resets, States
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, Layer, empty_weights
from memspan.errors import InputError


@final
class Transformer(Cell):
    """a = norm(x + W_o attention(x)), h = norm(a + W_2 relu(W_1 a + b_1) + b_2), causal, after sinusoidal position codes.

    Vaswani 2017 as used by Shen 2019, appendix E.2; the latter does not name the activation of the inner layer, so the ReLU
    of Vaswani 2017 is used. `hidden_size` is the width, heads times the size of a head; `feedforward` (default
    4 hidden_size) the width of the inner layer; `attention_dropout` the dropout of attention weights in training. Inputs of
    another width are projected by a matrix without bias, which for one-hot inputs is the embedding. Positions count from 0
    at each reset.
    """

    label = "Transformer"
    description = "causal Transformer with a cache of keys and values"
    attends = True
    stores_past = True
    recurrent = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        heads: int = 4,
        feedforward: int | None = None,
        attention_dropout: float = 0.0,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(TransformerLayer, heads=heads, feedforward=feedforward, attention_dropout=attention_dropout)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )
        for upper in self.stack[1:]:
            cast(TransformerLayer, upper).positions = False


class TransformerState(NamedTuple):
    """The state of a Transformer: what later steps may attend to."""

    h: Tensor
    """(layers, batch, hidden): the last output"""
    keys: Tensor
    """(layers, batch, source, hidden)"""
    values: Tensor
    """(layers, batch, source, hidden)"""
    seen: Tensor
    """(layers, batch), int64: number of sources, the last ones, that belong to the current sequence"""


@final
class TransformerLayer(Layer):
    """a = norm(x + W_o attention(x)), h = norm(a + W_2 relu(W_1 a + b_1) + b_2); position codes are added to x first.

    Attention of each head: softmax(q_t . k_s / sqrt(head size)) over the steps s <= t since the last reset. Only the first
    layer of a cell adds `positions`. W_x exists only if inputs have another width than the layer.
    """

    State: ClassVar[type[tuple]] = TransformerState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        heads: int = 4,
        feedforward: int | None = None,
        attention_dropout: float = 0.0,
        positions: bool = True,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        inner = 4 * hidden_size if feedforward is None else feedforward
        _check_options(hidden_size, heads, inner, attention_dropout)
        self.heads, self.feedforward = heads, feedforward
        self.attention_dropout, self.positions = attention_dropout, positions

        weights = empty_weights(device, dtype)
        self.W_x = weights(hidden_size, input_size) if input_size != hidden_size else None
        self.W_qkv, self.b_qkv = weights(3 * hidden_size, hidden_size), weights(3 * hidden_size)
        self.W_o, self.b_o = weights(hidden_size, hidden_size), weights(hidden_size)
        self.W_1, self.b_1 = weights(inner, hidden_size), weights(inner)
        self.W_2, self.b_2 = weights(hidden_size, inner), weights(hidden_size)
        self.gain_a, self.shift_a = weights(hidden_size), weights(hidden_size)
        self.gain_h, self.shift_h = weights(hidden_size), weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Matrices uniform as in Glorot and Bengio 2010, biases zero, as in the program of Shen 2019."""
        matrices = [*self.W_qkv.chunk(3), self.W_o, self.W_1, self.W_2]
        for matrix in [*matrices, *([] if self.W_x is None else [self.W_x])]:
            nn.init.xavier_uniform_(matrix)
        for bias in (self.b_qkv, self.b_o, self.b_1, self.b_2, self.shift_a, self.shift_h):
            nn.init.zeros_(bias)
        for gain in (self.gain_a, self.gain_h):
            nn.init.ones_(gain)

    def start(self, batch: int) -> TransformerState:
        none = self.zeros(batch, 0, self.hidden_size)
        return TransformerState(self.zeros(batch, self.hidden_size), none, none, self.zeros(batch, dtype=torch.int64))

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        growing = (batch, None, self.hidden_size)
        return (batch, self.hidden_size), growing, growing, (batch,)

    def state_size(self, length: int) -> int:
        """h, a key and a value for every step, and their number."""
        return self.hidden_size + 2 * length * self.hidden_size + 1

    def check_state(self, state: States) -> None:
        past = TransformerState(*state)
        keys, values = past.keys.shape[-2], past.values.shape[-2]
        least, most = past.seen.min(), past.seen.max()
        if keys != values:
            raise InputError(
                f"the state has keys of {keys} steps and values of {values}; expected as many; "
                "pass both as they were returned"
            )
        if least < 0 or most > keys:
            raise InputError(
                f"seen of the state is {int(least if least < 0 else most)}; it has keys of {keys} steps; "
                "pass both as they were returned"
            )

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        dropout = self.attention_dropout if self.training else 0.0
        return self._run(inputs, TransformerState(*state), resets, probe, dropout)

    def scan_without_dropout(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        return self._run(inputs, TransformerState(*state), resets, None, dropout=0.0)[0]

    def _run(
        self, inputs: Tensor, past: TransformerState, resets: Resets, probe: Probe, dropout: float
    ) -> tuple[Tensor, TransformerState]:
        position = steps_since_reset(past.seen, len(inputs), resets)
        x, queries, keys, values = self._project(inputs, past, position)
        bad = nonfinite_sources(keys, values)
        clean = [self._split(t if bad is None else t.masked_fill(bad.unsqueeze(-1), 0)) for t in (keys, values)]
        causal = resets is None and past.keys.shape[1] == 0
        mask = None if causal else visible_sources(position, keys.shape[1]).unsqueeze(1)
        context = functional.scaled_dot_product_attention(
            self._split(queries), *clean, attn_mask=mask, dropout_p=dropout, is_causal=causal
        )
        if bad is not None:
            # Masked sources have weight 0, and 0 times NaN is NaN. So non-finite sources are cleared above, and the
            # steps that attend to one get NaN here.
            context = context.masked_fill(sees_nonfinite(bad, position)[:, None, :, None], math.nan)
        h = self._feedforward(x, context.transpose(1, 2).flatten(2).transpose(0, 1))
        # Under autocast all three are in half precision; a state has the precision of the weights.
        h, keys, values = (tensor.to(self.W_o.dtype) for tensor in (h, keys, values))
        h = h if probe is None else h + probe
        seen = position[-1] + 1
        if resets is not None:
            # Sources before the last reset of every sequence are never attended to again.
            length = int(seen.max())
            keys, values = keys[:, -length:], values[:, -length:]
        return h, TransformerState(h[-1], keys, values, seen)

    def attention(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        """The mean over heads of the weights softmax(q_t . k_s / sqrt(head size)): (time, batch, source)."""
        past = TransformerState(*state)
        position = steps_since_reset(past.seen, len(inputs), resets)
        _, queries, keys, _ = self._project(inputs, past, position)
        scores = self._split(queries) @ self._split(keys).transpose(2, 3)
        scores = scores / math.sqrt(self.hidden_size // self.heads)
        hidden = ~visible_sources(position, keys.shape[1]).unsqueeze(1)
        return scores.masked_fill(hidden, -math.inf).softmax(dim=-1).mean(dim=1).transpose(0, 1)

    def _project(
        self, inputs: Tensor, past: TransformerState, position: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """x (time, batch, hidden); queries (batch, time, hidden), keys and values (batch, source, hidden)."""
        x = inputs if self.W_x is None else functional.linear(inputs, self.W_x)
        if self.positions:
            x = x + sinusoids(position, self.hidden_size).to(x.dtype)
        queries, keys, values = functional.linear(x, self.W_qkv, self.b_qkv).transpose(0, 1).chunk(3, dim=-1)
        return x, queries, torch.cat([past.keys, keys], dim=1), torch.cat([past.values, values], dim=1)

    def _split(self, vectors: Tensor) -> Tensor:
        """(batch, source, hidden) as (batch, head, source, head size)."""
        return vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _feedforward(self, x: Tensor, context: Tensor) -> Tensor:
        """h from x and the context of attention, post-norm: each part is added to its input, then normalized."""
        size = (self.hidden_size,)
        projected = functional.linear(context, self.W_o, self.b_o)
        a = functional.layer_norm(x + projected, size, self.gain_a, self.shift_a)
        inner = functional.linear(a, self.W_1, self.b_1).relu()
        return functional.layer_norm(a + functional.linear(inner, self.W_2, self.b_2), size, self.gain_h, self.shift_h)


def sinusoids(position: Tensor, width: int) -> Tensor:
    """sin(p / 10^(4 j / width)) at even j, its cosine at j + 1.  Vaswani 2017, section 3.5."""
    even = torch.arange(0, width, 2, device=position.device)
    # In single precision, positions in the thousands would lose digits of the angle.
    rates = torch.exp(-math.log(10_000) * even.double() / width)
    angles = position.unsqueeze(-1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]


def visible_sources(position: Tensor, sources: int) -> Tensor:
    """(batch, time, source): true for a step itself and for the `position` (time, batch) sources before it.

    Sources are numbered along time, those of the state first; step t of T is source S - T + t of S.
    """
    own = _own_source(position, sources)
    source = torch.arange(sources, device=position.device)
    return (source <= own) & (source >= own - position.T.unsqueeze(-1))


@torch.no_grad()
def nonfinite_sources(*vectors: Tensor) -> Tensor | None:
    """(batch, source): where any of the vectors (batch, source, size) has a non-finite value; None if nowhere."""
    # A sum rules out non-finite values in a tenth of the time of an element-wise test. If the sum itself overflows, the
    # element-wise test decides.
    wide = torch.promote_types(vectors[0].dtype, torch.float32)
    if sum(each.sum(dtype=wide) for each in vectors).isfinite():  # type: ignore[union-attr] - there are some
        return None
    return ~torch.stack([each.isfinite().all(dim=-1) for each in vectors]).all(dim=0)


def sees_nonfinite(bad: Tensor, position: Tensor) -> Tensor:
    """(batch, time): whether a step sees any source that is `bad` (batch, source), by differences of running counts."""
    running = functional.pad(bad.cumsum(dim=1), (1, 0))
    own = _own_source(position, bad.shape[1]).squeeze(-1).expand(len(bad), -1)
    return running.gather(1, own + 1) > running.gather(1, own - position.T)


def _own_source(position: Tensor, sources: int) -> Tensor:
    """(time, 1): the source that is the step itself."""
    return torch.arange(sources - len(position), sources, device=position.device).unsqueeze(-1)


def _check_options(hidden_size: int, heads: int, feedforward: int, attention_dropout: float) -> None:
    if heads < 1 or hidden_size % heads:
        raise InputError(
            f"heads is {heads} and hidden_size {hidden_size}; expected heads to divide hidden_size; change one of them"
        )
    if feedforward < 1:
        raise InputError(f"feedforward is {feedforward}; expected 1 or more; omit it for 4 hidden_size")
    if not 0 <= attention_dropout < 1:
        raise InputError(f"attention_dropout is {attention_dropout}; expected a probability below 1, such as 0.1")
