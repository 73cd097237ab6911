"""RelRNN and RelLSTM: recurrent networks that attend to recent states and to the most relevant earlier ones.

s_t = f (h_{t-1} + context_t) takes the place of h_{t-1} in the recurrence, where the context is a weighted sum of the
screened memory of `relevance_memory`.  Kerg 2020, section 4.

The scan saves the states h and s, the rows that each step attended to and their weights. What has the size of the memory
times the hidden size is recomputed step by step in the backward pass; a key U_a h is computed once for each state. So memory
is linear in time, without a factor nu + rho on the hidden size. The steps exist twice: here in torch, for any device, and
compiled in `relevance_kernels`, for the CPU.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.attentive.attention import COMBINE_FACTORS, check_combine
from memspan.cells.attentive.relevance_memory import (
    EMPTY,
    Core,
    CoreKind,
    RelevanceGradients,
    RelevancePlan,
    RelevanceTrace,
    RelevanceWeights,
    Screening,
)
from memspan.cells.base.activations import Nonlinearity, nonlinearity_named
from memspan.cells.base.autograd import Probe, Resets, Scan, States
from memspan.cells.base.cell import Cell, check_count
from memspan.cells.base.layer import Device, Dtype, Layer, draw_uniform, empty_weights
from memspan.cells.gated.lstm import lstm_candidate, lstm_gate_biases
from memspan.init.gates import GateBiases
from memspan.init.orthogonal import henaff_
from memspan.progress import Progress


@final
class RelRNN(Cell):
    """h_t = phi(U x_t + V s_t + b), s_t = f (h_{t-1} + context_t), context_t = sum_i alpha_i m_i over the memory m.

    alpha = softmax_i v . tanh(W_a s_{t-1} + U_a m_i). The memory holds the last nu = `short_term` states and, of those
    before, the rho = `relevant` that received most attention while they were among the last nu.  Kerg 2020, section 4.
    `combine="mean"` (f = 1/2) is the published program, `"sum"` (f = 1) the text (errata 13). At the first step of a
    sequence the memory is empty, and s_1 = h_0.
    """

    label = "RelRNN"
    description = "RNN that attends to recent and relevant states"
    attends = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        short_term: int = 10,
        relevant: int = 10,
        combine: str = "mean",
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(
            RelRNNLayer, short_term=short_term, relevant=relevant, combine=combine, nonlinearity=nonlinearity
        )
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


@final
class RelLSTM(Cell):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), gates from U x_t + V s_t + b.

    s_t and the memory are those of `RelRNN`: the last nu = `short_term` states and the rho = `relevant` most relevant ones
    before them. Only h is stored; c is carried from step to step as in any LSTM.  Kerg 2020, section 4.
    """

    label = "RelLSTM"
    description = "LSTM that attends to recent and relevant states"
    attends = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        short_term: int = 10,
        relevant: int = 10,
        combine: str = "mean",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(RelLSTMLayer, short_term=short_term, relevant=relevant, combine=combine)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


class RelRNNState(NamedTuple):
    """The state of a `RelRNN`; a score of -inf marks an empty place."""

    h: Tensor
    """(layers, batch, hidden)"""
    s: Tensor
    """(layers, batch, hidden): the last combination of state and context"""
    recent: Tensor
    """(layers, batch, nu, hidden): the last states, oldest first"""
    recent_scores: Tensor
    """(layers, batch, nu): the attention they have received"""
    relevant: Tensor
    """(layers, batch, rho, hidden)"""
    relevant_scores: Tensor
    """(layers, batch, rho)"""


class RelLSTMState(NamedTuple):
    """The state of a `RelLSTM`: that of a `RelRNN`, and c."""

    h: Tensor
    c: Tensor
    s: Tensor
    recent: Tensor
    recent_scores: Tensor
    relevant: Tensor
    relevant_scores: Tensor


class RelevanceLayer(Layer):
    """z_t = U x_t + V s_t + b, s_t = f (h_{t-1} + context_t), context_t = sum_i alpha_i m_i over the memory m.

    If the memory is empty, s_t = h_{t-1}. A `Core` computes h_t from z_t. A state ends with s, the recent states, oldest
    first, with their scores so far, and the relevant ones with theirs.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        gates: int,
        screening: Screening,
        combine: str,
        device: Device,
        dtype: Dtype,
    ) -> None:
        check_count("short_term", screening.short_term, 1, ", such as 10")
        check_count("relevant", screening.relevant, 0, ", such as 10")
        check_combine(combine)
        super().__init__(input_size, hidden_size)
        self.screening, self.combine = screening, combine
        self.short_term, self.relevant = screening.short_term, screening.relevant
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(gates * hidden_size, input_size), weights(gates * hidden_size, hidden_size)
        self.b = weights(gates * hidden_size)
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)

    @abstractmethod
    def core(self) -> Core:
        """The map from z_t to h_t."""

    @abstractmethod
    def extra(self, state: States) -> Tensor | None:
        """What the core needs in addition to z."""

    def reset_attention(self) -> None:
        """W_a and U_a uniform within 1 / sqrt(hidden), v normal of variance 2 / (hidden + 1), as the published program."""
        draw_uniform(1 / math.sqrt(self.hidden_size), self.W_a, self.U_a)
        nn.init.normal_(self.v, std=math.sqrt(2 / (self.hidden_size + 1)))

    def start(self, batch: int) -> States:
        of_units = self.zeros(len(self.State._fields) - 4, batch, self.hidden_size)  # type: ignore[attr-defined]
        memory = [
            self.zeros(batch, self.short_term, self.hidden_size),
            self.zeros(batch, self.short_term).fill_(EMPTY),
            self.zeros(batch, self.relevant, self.hidden_size),
            self.zeros(batch, self.relevant).fill_(EMPTY),
        ]
        return self.State(*[*of_units, *memory])

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        # The steps run in one precision, that of the weights.
        with torch.autocast(inputs.device.type, enabled=False):
            plan, weights, tensors = self._arguments(inputs, state, resets)
            states, s, held, scores, final = RelevanceScan.apply(plan, tensors[0], *weights, *tensors[1:], probe)
        recent, relevant = self.screening.split(held, len(inputs))
        recent_scores, relevant_scores = self.screening.split(scores, len(inputs))
        parts = [states[-1], final, s, recent, recent_scores, relevant, relevant_scores]
        return states, self.State(*(part for part in parts if part is not None))

    def attention(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        """alpha (time, batch, source): sources are the rho + nu stored states, if there are any, and the input's steps."""
        plan, weights, tensors = self._arguments(inputs, state, resets)
        trace, *_ = run_scan(plan, weights, *tensors, None)
        steps, batch, _ = trace.alpha.shape
        by_row = trace.alpha.new_zeros(steps, batch, len(trace.pool))
        by_row.scatter_add_(2, trace.rows.long(), trace.alpha)
        own, stored = by_row[:, :, self.screening.first :], by_row[:, :, 1 : self.screening.first - 1]
        return torch.cat([stored, own], 2) if plan.slots.any() else own

    def announce_compilation(self, progress: Progress) -> None:
        compiled = compiled_steps(self.V)
        if compiled is not None:
            compiled.announce_compilation(progress)

    def _arguments(
        self, inputs: Tensor, state: States, resets: Resets
    ) -> tuple[RelevancePlan, RelevanceWeights, tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]]:
        """The plan, the weights, and a, h_0, s_0, memory and extra of a scan."""
        s, recent, recent_scores, relevant, relevant_scores = state[-5:]
        slots, scores = self.screening.carried_rows(recent_scores, relevant_scores)
        mixing = state[0].new_full((len(inputs), len(state[0])), COMBINE_FACTORS[self.combine])
        # An empty memory has no context, so that the mean with h_{t-1} would only halve it.
        mixing[0].masked_fill_((slots == 0).all(1), 1.0)
        if resets is not None:
            mixing.masked_fill_(resets, 1.0)
        plan = RelevancePlan(self.screening, self.core(), slots, scores, mixing, resets)
        a = nn.functional.linear(inputs.to(self.U.dtype), self.U, self.b)
        memory = torch.cat([relevant, recent], 1).transpose(0, 1)
        weights = RelevanceWeights(self.V, self.W_a, self.U_a, self.v)
        return plan, weights, (a, state[0], s, memory, self.extra(state))


@final
class RelRNNLayer(RelevanceLayer):
    """h_t = phi(U x_t + V s_t + b)"""

    State: ClassVar[type[tuple]] = RelRNNState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        short_term: int = 10,
        relevant: int = 10,
        combine: str = "mean",
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size, 1, Screening(short_term, relevant), combine, device, dtype)
        self.nonlinearity, self.phi = nonlinearity, nonlinearity_named(nonlinearity)
        self.m = empty_weights(device, dtype)(hidden_size) if self.phi.biased else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """V orthogonal by Henaff's rotations, U Kaiming normal, b within 1 / sqrt(features), m within 0.01, as published."""
        henaff_(self.V, -math.pi, 0.0)
        nn.init.kaiming_normal_(self.U)
        draw_uniform(1 / math.sqrt(self.input_size), self.b)
        self.reset_attention()
        if self.m is not None:
            draw_uniform(0.01, self.m)

    def core(self) -> PlainCore:
        return PlainCore(self.phi)

    def extra(self, state: States) -> Tensor | None:  # noqa: ARG002
        return self.m


@final
class RelLSTMLayer(RelevanceLayer):
    """(i, f, g, o) from U x_t + V s_t + b, c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t)

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = RelLSTMState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        short_term: int = 10,
        relevant: int = 10,
        combine: str = "mean",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size, 4, Screening(short_term, relevant), combine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """U Kaiming normal, V Xavier normal with the fan-in of (s, x), b within 1 / sqrt(hidden + features)."""
        # The published program draws U like V. One-hot inputs then hardly move a gate, and copying takes several times as
        # many updates.
        inputs = self.hidden_size + self.input_size
        nn.init.kaiming_normal_(self.U)
        nn.init.normal_(self.V, std=math.sqrt(2 / (inputs + self.hidden_size)))
        draw_uniform(1 / math.sqrt(inputs), self.b)
        self.reset_attention()

    def core(self) -> GatedCore:
        return GatedCore()

    def extra(self, state: States) -> Tensor:
        return state[1]

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)


@final
class PlainCore(Core):
    """h = phi(z), or phi(z, m) for a biased phi."""

    def __init__(self, phi: Nonlinearity) -> None:
        self.phi, self.kind = phi, CoreKind[phi.name.upper()]

    def workspace(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:  # noqa: ARG002
        return like.new_empty(0)

    def final(self, workspace: Tensor) -> None:  # noqa: ARG002
        return None

    def forward(self, t: int, z: Tensor, h: Tensor, trace: RelevanceTrace) -> None:  # noqa: ARG002
        h.copy_(self.phi.value(z, trace.extra))

    def backward(self, t: int, dh: Tensor, dz: Tensor, trace: RelevanceTrace, dextra: Tensor | None) -> Tensor | None:
        h = trace.value(t)
        slope = self.phi.slope(h)
        dz.copy_(dh if slope is None else dh * slope)
        return None if dextra is None else dextra + (dz * torch.sign(h)).sum(0)


@final
class GatedCore(Core):
    """i, f, o = sigmoid(z), g = tanh(z), a quarter of z each; c = f * c + i * g; h = o * tanh(c).

    The workspace (1 + time, 5, batch, hidden) holds i, f, g, o and c of every step, and c_0.
    """

    kind = CoreKind.GATED

    def workspace(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:
        assert extra is not None
        workspace = like.new_empty(steps + 1, 5, *like.shape)
        workspace[0, 4] = extra
        return workspace

    def final(self, workspace: Tensor) -> Tensor:
        return workspace[-1, 4]

    def forward(self, t: int, z: Tensor, h: Tensor, trace: RelevanceTrace) -> None:
        gates, c = trace.workspace[t + 1, :4], trace.workspace[t + 1, 4]
        quarters = z.view(len(z), 4, -1).transpose(0, 1)
        torch.sigmoid(quarters[:2], out=gates[:2])
        torch.tanh(quarters[2], out=gates[2])
        torch.sigmoid(quarters[3], out=gates[3])
        i, f, g, o = gates
        torch.mul(f, self._previous(t, trace), out=c)
        c.addcmul_(i, g)
        torch.tanh(c, out=h).mul_(o)

    def backward(self, t: int, dh: Tensor, dz: Tensor, trace: RelevanceTrace, dextra: Tensor | None) -> Tensor:
        assert dextra is not None
        i, f, g, o = trace.workspace[t + 1, :4]
        squashed, reset = torch.tanh(trace.workspace[t + 1, 4]), trace.reset(t)
        dc = torch.addcmul(dextra, dh * o, 1 - squashed * squashed)
        di, df, dg, do = dz.view(len(dz), 4, -1).unbind(1)
        torch.mul(dc * g, i - i * i, out=di)
        torch.mul(dc * self._previous(t, trace), f - f * f, out=df)
        torch.mul(dh * squashed, o - o * o, out=do)
        torch.mul(dc * i, 1 - g * g, out=dg)
        dc *= f
        return dc if reset is None else dc.masked_fill_(reset, 0.0)

    def _previous(self, t: int, trace: RelevanceTrace) -> Tensor:
        """c_{t-1}, or 0 where a sequence is reset."""
        c, reset = trace.workspace[t, 4], trace.reset(t)
        return c if reset is None else c.masked_fill(reset, 0.0)


# Whether to use the compiled steps where they apply: on the CPU, in single and double precision.
COMPILED = True


def compiled_steps(tensor: Tensor) -> ModuleType | None:
    """The module of the compiled steps if it supports such tensors."""
    if COMPILED and tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64):
        from memspan.cells.attentive import relevance_kernels  # loads numba, which takes a second

        return relevance_kernels
    return None


class RelevanceScan(Scan):
    """h_1 … h_T, s_T, the states in the slots at the end (batch, held, hidden), their scores, and the core's final `extra`.

    `memory` (held, batch, hidden) are the states carried over: relevant ones, then recent ones.
    """

    @staticmethod
    def forward(
        ctx: Any,
        plan: RelevancePlan,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        h_0: Tensor,
        s_0: Tensor,
        memory: Tensor,
        extra: Tensor | None,
        probe: Probe,
    ) -> tuple[Tensor | None, ...]:
        weights = RelevanceWeights(V, W_a, U_a, v)
        trace, slots, scores = run_scan(plan, weights, a, h_0, s_0, memory, extra, probe)
        held = trace.pool[slots.long(), _lanes(slots)]
        ctx.plan = plan
        ctx.save_for_backward(
            *weights, trace.pool, trace.mixed, trace.rows, trace.alpha, trace.workspace, slots, extra, probe
        )
        ctx.mark_non_differentiable(scores)
        ctx.set_materialize_grads(False)
        final = plan.core.final(trace.workspace)
        return trace.pool[plan.screening.first :], trace.mixed[-1], held, scores, final

    @staticmethod
    def backward(ctx: Any, *outer: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        first = ctx.plan.screening.first
        V, W_a, U_a, v, pool, mixed, rows, alpha, workspace, slots, extra, probe = ctx.saved_tensors
        trace = RelevanceTrace(ctx.plan, pool, pool @ U_a.T, mixed, rows, alpha, workspace, extra, probe)
        dstates, ds_T, dheld, _, dextra = outer
        gradients = RelevanceGradients(
            torch.empty_like(pool),
            torch.zeros_like(pool),
            products=mixed.new_empty(*mixed.shape[:2], len(V) + len(W_a)),
            v=torch.zeros_like(mixed[0]),
        )
        dpool, dproducts = gradients.pool, gradients.products
        dpool[:first], dpool[first:] = 0.0, 0.0 if dstates is None else dstates
        # V s_0 and W_a s_T are used by no step.
        dproducts[0, :, : len(V)], dproducts[-1, :, len(V) :] = 0.0, 0.0
        if dheld is not None:
            dpool.index_put_((slots.long(), _lanes(slots)), dheld, accumulate=True)
        if dextra is None and extra is not None:
            dextra = torch.zeros_like(extra)
        steps = compiled_steps(pool)
        run = backward_steps if steps is None else steps.backward_steps
        dextra = run(trace, RelevanceWeights(V, W_a, U_a, v), gradients, ds_T, dextra)
        dpool[:first] += gradients.keys[:first] @ U_a
        dV, dW_a = (dproducts.flatten(0, 1).T @ mixed.flatten(0, 1)).split([len(V), len(W_a)])
        dU_a = gradients.keys.flatten(0, 1).T @ pool.flatten(0, 1)
        da, ds_0 = dproducts[1:, :, : len(V)], dproducts[0, :, len(V) :] @ W_a
        dprobe = None if probe is None else dpool[first:]
        dh_0, dmemory = dpool[first - 1], dpool[1 : first - 1]
        return None, da, dV, dW_a, dU_a, gradients.v.sum(0), dh_0, ds_0, dmemory, dextra, dprobe


def run_scan(
    plan: RelevancePlan,
    weights: RelevanceWeights,
    a: Tensor,
    h_0: Tensor,
    s_0: Tensor,
    memory: Tensor,
    extra: Tensor | None,
    probe: Probe,
) -> tuple[RelevanceTrace, Tensor, Tensor]:
    """The trace of all steps, and slots and scores after the last."""
    steps, (batch, hidden), held, first = len(a), h_0.shape, plan.screening.held, plan.screening.first
    pool = h_0.new_empty(first + steps, batch, hidden)
    pool[0], pool[1 : first - 1], pool[first - 1] = 0.0, memory, h_0
    trace = RelevanceTrace(
        plan,
        pool,
        keys=torch.empty_like(pool),
        mixed=h_0.new_empty(steps + 1, batch, hidden),
        rows=torch.empty(steps, batch, held, dtype=torch.int32, device=pool.device),
        alpha=h_0.new_empty(steps, batch, held),
        workspace=plan.core.workspace(steps, h_0, extra),
        extra=extra,
        probe=probe,
    )
    torch.matmul(pool[:first], weights.U_a.T, out=trace.keys[:first])
    trace.mixed[0] = s_0
    slots, scores = plan.slots.clone(), plan.scores.clone()
    compiled = compiled_steps(pool)
    run = forward_steps if compiled is None else compiled.forward_steps
    run(trace, weights, a, slots, scores)
    return trace, slots, scores


# The steps in torch. e_i = v . tanh(W_a s_{t-1} + U_a m_i), alpha = softmax(e), s_t = mixing (h_{t-1} + sum_i alpha_i m_i),
# z_t = a_t + V s_t: Kerg 2020, Eq. 1-2 and Algorithm 1, lines 8-12. Since tanh(x) = 2 sigmoid(2 x) - 1, and a constant added
# to all e_i cancels, e_i is computed as 2 v . sigmoid(2 (…)): torch's sigmoid is faster than its tanh.


def forward_steps(trace: RelevanceTrace, weights: RelevanceWeights, a: Tensor, slots: Tensor, scores: Tensor) -> None:
    """Fill the trace; update slots and scores to those after the last step."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, U_a = torch.cat([weights.V, weights.W_a]).T.contiguous(), weights.U_a.T.contiguous()
    products, lanes, doubled = trace.mixed[0] @ V_and_W_a, _lanes(slots), 2 * weights.v
    for t in range(len(a)):
        _attend(t, products[:, -hidden:], trace, lanes, doubled, slots, scores)
        torch.mm(trace.mixed[t + 1], V_and_W_a, out=products)
        h = trace.pool[first + t]
        plan.core.forward(t, products[:, :-hidden].add_(a[t]), h, trace)
        if trace.probe is not None:
            h += trace.probe[t]
        torch.mm(h, U_a, out=trace.keys[first + t])


def backward_steps(
    trace: RelevanceTrace,
    weights: RelevanceWeights,
    gradients: RelevanceGradients,
    ds_T: Tensor | None,
    dextra: Tensor | None,
) -> Tensor | None:
    """Add to the gradients; return that of `extra`."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, lanes = torch.cat([weights.V, weights.W_a]), _lanes(plan.slots)
    queries = trace.mixed[:-1] @ weights.W_a.T
    ds, doubled = torch.empty_like(queries[0]), 2 * weights.v
    for t in range(len(queries) - 1, -1, -1):
        dh = gradients.pool[first + t].addmm_(gradients.keys[first + t], weights.U_a)
        dextra = plan.core.backward(t, dh, gradients.products[t + 1, :, :-hidden], trace, dextra)
        torch.mm(gradients.products[t + 1], V_and_W_a, out=ds)
        if t == len(queries) - 1 and ds_T is not None:
            ds += ds_T
        _attend_backward(t, queries[t], ds, trace, lanes, doubled, gradients)
    return dextra


def _lanes(slots: Tensor) -> Tensor:
    """(batch, 1): the batch index of each sequence."""
    return torch.arange(len(slots), device=slots.device).unsqueeze(1)


def _attend(
    t: int, queries: Tensor, trace: RelevanceTrace, lanes: Tensor, doubled: Tensor, slots: Tensor, scores: Tensor
) -> None:
    """Write s_t, rows and weights of a step; update slots and scores."""
    plan = trace.plan
    before, reset = trace.pool[plan.screening.first - 1 + t], trace.reset(t)
    if reset is not None:
        plan.screening.forget(reset, slots, scores)
        before = before.masked_fill(reset, 0.0)
    rows, empty = slots.long(), slots == 0
    e = _sigmoid(queries, trace.keys[rows, lanes]) @ doubled
    alpha = torch.softmax(e.masked_fill_(empty, EMPTY), 1).masked_fill_(empty, 0.0)
    context = (alpha.unsqueeze(2) * trace.pool[rows, lanes]).sum(1)
    torch.mul(plan.mixing[t].unsqueeze(1), before + context, out=trace.mixed[t + 1])
    trace.rows[t], trace.alpha[t] = slots, alpha
    plan.screening.store(t, alpha, slots, scores)


def _attend_backward(
    t: int,
    queries: Tensor,
    ds: Tensor,
    trace: RelevanceTrace,
    lanes: Tensor,
    doubled: Tensor,
    gradients: RelevanceGradients,
) -> None:
    """From dL/ds_t, add to the gradients of h_{t-1}, the memory, its keys and v; write that of the query."""
    plan, alpha, rows, reset = trace.plan, trace.alpha[t], trace.rows[t].long(), trace.reset(t)
    dh = plan.mixing[t].unsqueeze(1) * ds
    gradients.pool[plan.screening.first - 1 + t] += dh if reset is None else dh.masked_fill(reset, 0.0)
    dalpha = (trace.pool[rows, lanes] * dh.unsqueeze(1)).sum(2)
    de = (alpha * (dalpha - (alpha * dalpha).sum(1, keepdim=True))).unsqueeze(2)
    sigmoid = _sigmoid(queries, trace.keys[rows, lanes])
    gradients.v.add_((de * sigmoid).sum(1), alpha=2.0)
    inner = (sigmoid - sigmoid * sigmoid).mul_(de).mul_(2 * doubled)
    gradients.products[t, :, -ds.shape[1] :] = inner.sum(1)
    gradients.keys.index_put_((rows, lanes), inner, accumulate=True)
    gradients.pool.index_put_((rows, lanes), alpha.unsqueeze(2) * dh.unsqueeze(1), accumulate=True)


def _sigmoid(queries: Tensor, keys: Tensor) -> Tensor:
    """sigmoid(2 (q + k)) for each slot: (batch, held, hidden); overwrites `keys`."""
    return torch.sigmoid_(keys.add_(queries.unsqueeze(1)).mul_(2.0))
