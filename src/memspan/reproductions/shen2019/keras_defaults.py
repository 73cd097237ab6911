"""Erratum 5 (Shen 2019, appendix E): what the text leaves to the defaults of Keras, and what differs in PyTorch.

The numbers of parameters show that LSTMs and RNNs have one bias. Keras has its own RMSprop and, at the time, gates of
straight lines. Clipping "to 0.25" and the first generated symbol are ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from torch import Tensor

    from memspan.cells import LSTM
    from memspan.models.model import SequenceModel

# Printed numbers of parameters of an LSTM of 4 units and an RNN of 32, with embedding and output.  Appendix E.1.1.
LSTM_PARAMETERS, RNN_PARAMETERS = 126, 1_190
# Decay of the mean square in RMSprop: Keras and PyTorch.
KERAS_RHO, TORCH_RHO = 0.9, 0.99
CLIP = 0.25
# Size of the rescaled gradients that are clipped: four times the threshold.
LARGE = 1.0
# Difference of one sum in single precision, computed in two ways.
ROUNDING = 1e-5
# A difference that matters. Both sides of a comparison are exact up to rounding, so any difference above it is real.
MATTERS = 1e-3
# A forget gate with this input is 1 in Keras and 0.953 with a sigmoid.
OPEN = 3.0
HIDDEN = 8
# Factor on the initial weights of the cell, so that networks depend visibly on what they read.
GAIN = 4.0


def run(*, networks: int, steps: int, seed: int, progress: Progress) -> Outcome:
    """Compare the readings of the text in random LSTMs; `steps` symbols follow the first one."""
    check_models("errata-05")
    results: list[NetworkResult] = []
    with progress.stage("networks", networks) as stage:
        for number in range(networks):
            results.append(_compare(seed * networks + number, steps))
            stage.advance()
    claims = (
        *_parameter_claims(),
        *_rmsprop_claims(),
        *_gate_claims(results),
        *_clipping_claims(results),
        *_first_symbol_claims(results),
    )
    return Outcome(claims, (_gate_chart(), _first_symbol_chart(results)), (*_result_notes(results), _NOTE))


@final
@dataclass(frozen=True, eq=False)
class NetworkResult:
    """What one random LSTM does under two readings of the text."""

    gates: float
    """Largest difference of h with hard and with smooth gates, the same weights."""
    norm: float
    """Norm of the gradient of the loss on random symbols."""
    by_norm: float
    """Cosine of a gradient of norm 1 and the same clipped by its norm."""
    by_element: float
    """The same clipped element by element."""
    influence: NDArray[np.float64]
    """|p(x_t = 1 | x_0 = 1) - p(x_t = 1 | x_0 = 0)|, t = 1 …, over all continuations."""


def _compare(seed: int, steps: int) -> NetworkResult:
    import torch

    from memspan.cells import LSTM
    from memspan.models.model import SequenceModel

    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        cell = LSTM(2, HIDDEN, one_bias=True)
        network = SequenceModel(cell, 2)
        with torch.no_grad():
            for parameter in network.cell.parameters():
                parameter.mul_(GAIN)
            # The initial embedding and output are within 0.1: a network would hardly depend on what it reads.
            for layer in (network.embedding, network.head):
                layer.weight.normal_()
        symbols = torch.randint(0, 2, (64, 20))
        logits = network(symbols[:-1])[0]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), symbols[1:].flatten())
        gradients = torch.autograd.grad(loss, [p for p in network.parameters() if p.requires_grad])
        gradient = torch.cat([part.flatten() for part in gradients])
        inputs = torch.randn(30, 1, 2)
        with torch.no_grad():
            hard, smooth = (_unrolled(cell, inputs, hard=hard) for hard in (True, False))
            influence = _influence(network, steps)
    rescaled = gradient * (LARGE / gradient.norm())
    by_norm, by_element = (
        float(torch.cosine_similarity(rescaled, clipped, 0))
        for clipped in (rescaled * (CLIP / LARGE), rescaled.clamp(-CLIP, CLIP))
    )
    return NetworkResult(float((hard - smooth).abs().max()), float(gradient.norm()), by_norm, by_element, influence)


def _unrolled(cell: LSTM, inputs: Tensor, *, hard: bool) -> Tensor:
    """h_t of all steps by the equations of an LSTM, with the gates of Keras 2.2 if `hard`."""
    import torch

    W, U, b = (cell.first.get_parameter(f"network.{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih"))
    gate = hard_sigmoid if hard else torch.sigmoid
    h = c = inputs.new_zeros(inputs.shape[1], HIDDEN)
    states = []
    for x in inputs:
        i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, 1)
        c = gate(f) * c + gate(i) * g.tanh()
        h = gate(o) * c.tanh()
        states.append(h)
    return torch.stack(states)


def hard_sigmoid(x: Tensor) -> Tensor:
    """max(0, min(1, 0.2 x + 0.5)), the recurrent activation of LSTMs in Keras 2.2."""
    return (0.2 * x + 0.5).clamp(0, 1)


def _influence(network: SequenceModel, steps: int) -> NDArray[np.float64]:
    """The influence of the first symbol on the t-th after it, exactly: all 2^steps continuations are weighted."""
    import torch

    rest = torch.tensor(list(product((0, 1), repeat=steps))).T
    ones = []
    for first in (0, 1):
        symbols = torch.cat([torch.full((1, rest.shape[1]), first), rest])
        log_p = torch.log_softmax(network(symbols[:-1])[0].double(), 2)
        weights = log_p.gather(2, rest.unsqueeze(2)).squeeze(2).sum(0).exp()
        ones.append((weights * rest).sum(1).numpy())
    return np.abs(ones[1] - ones[0])


def _parameter_claims() -> list[Claim]:
    import torch

    from memspan.cells import LSTM
    from memspan.models.model import SequenceModel

    def count(cell: torch.nn.Module, units: int, biases: int) -> int:
        """With an embedding of two numbers for two symbols and an output layer, without all but `biases` biases."""
        extra = sum(p.numel() for name, p in cell.named_parameters() if name.startswith("bias"))
        return sum(p.numel() for p in cell.parameters()) - extra * (2 - biases) // 2 + 2 * 2 + units * 2 + 2

    with torch.device("meta"):  # only sizes are needed: no weights are drawn
        lstm, rnn, ours = torch.nn.LSTM(2, 4), torch.nn.RNN(2, 32), SequenceModel(LSTM(2, 4, one_bias=True), 2)
    return [
        claim("An LSTM of 4 units has 126 parameters if it has one bias, as in Keras.").near(
            count(lstm, 4, 1), 0.0, paper=LSTM_PARAMETERS
        ),
        claim("With the two biases of PyTorch it would have 142.").near(
            count(lstm, 4, 2), 0.0, paper=LSTM_PARAMETERS, corrected=142
        ),
        claim("An RNN of 32 units has 1,190 parameters if it has one bias.").near(
            count(rnn, 32, 1), 0.0, paper=RNN_PARAMETERS
        ),
        claim("With two biases it would have 1,222.").near(
            count(rnn, 32, 2), 0.0, paper=RNN_PARAMETERS, corrected=1_222
        ),
        claim("The LSTM that memspan trains here, with one_bias, has the printed number of parameters.").near(
            ours.parameter_count(), 0.0, paper=LSTM_PARAMETERS
        ),
    ]


def _rmsprop_claims() -> list[Claim]:
    import torch

    def first_step(rho: float) -> float:
        """In units of the learning rate."""
        parameter = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        optimizer = torch.optim.RMSprop([parameter], lr=1.0, alpha=rho)
        parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        return -float(parameter.detach())

    return [
        claim(
            f"The first step of RMSprop is 1 / sqrt(1 - rho) learning rates for every parameter, with the rho = {rho:g} "
            f"of {name}. (Measured: by torch.optim.RMSprop.)"
        ).near(first_step(rho), ROUNDING, corrected=(1 - rho) ** -0.5)
        for name, rho in (("Keras", KERAS_RHO), ("PyTorch", TORCH_RHO))
    ]


def _gate_claims(results: list[NetworkResult]) -> list[Claim]:
    import torch

    x = torch.tensor(OPEN, dtype=torch.float64)
    return [
        claim(
            f"A forget gate of Keras 2.2 is exactly 1 for an input of {OPEN:g}, so c never decays. (Measured: the gate.)"
        ).near(hard_sigmoid(x), 0.0, corrected=1.0),
        claim(
            f"A sigmoid is below 1 there, and c decays. (Measured: the timescale -1 / ln f in steps at {OPEN:g}.)"
        ).near(-1 / torch.sigmoid(x).log(), ROUNDING, corrected=1 / np.log1p(np.exp(-OPEN))),
        claim(
            "So the same weights are two different networks.",
            measure="the smallest, over networks, of the largest difference of their h_t",
        ).above(min(result.gates for result in results), MATTERS),
    ]


def _clipping_claims(results: list[NetworkResult]) -> list[Claim]:
    text = f"A gradient of norm {LARGE:g}, clipped to {CLIP:g}"
    return [
        claim(f"{text} by its norm, keeps its direction.", measure="the smallest cosine").near(
            min(result.by_norm for result in results), ROUNDING, corrected=1.0
        ),
        claim(f"{text} element by element, changes its direction.", measure="the mean cosine").below(
            float(np.mean([result.by_element for result in results])), 1 - 10 * ROUNDING
        ),
    ]


def _first_symbol_claims(results: list[NetworkResult]) -> list[Claim]:
    influence = np.mean([result.influence for result in results], 0)
    return [
        claim(
            "The first symbol, which the text does not state, changes what is generated.",
            measure="the mean change of the probability of the next symbol",
        ).above(influence[0], MATTERS)
    ]


def _gate_chart() -> Chart:
    import torch

    x = torch.linspace(-6, 6, 121)
    return chart(
        "gates",
        "The gates of Keras 2.2 are straight lines that reach 0 and 1",
        "input of a gate",
        "gate",
        [
            line("Keras 2.2: max(0, min(1, 0.2 x + 0.5))", x.numpy(), hard_sigmoid(x).numpy()),
            line("sigmoid", x.numpy(), torch.sigmoid(x).numpy()),
        ],
        "A gate that is exactly 1 preserves the cell state for any number of steps; a sigmoid never does. The paper does "
        "not state its gates. The numbers of parameters point to the LSTM layer of Keras, whose default these were.",
    )


def _first_symbol_chart(results: list[NetworkResult]) -> Chart:
    influence = np.array([result.influence for result in results])
    return chart(
        "first-symbol",
        "What the first symbol of a generated text changes",
        "symbols after the first",
        "|p(x_t = 1 | x_0 = 1) - p(x_t = 1 | x_0 = 0)|",
        [
            line(
                f"mean of {len(results)} networks",
                np.arange(1, influence.shape[1] + 1),
                influence.mean(0),
                band=(influence.min(0), influence.max(0)),
            )
        ],
        f"Random LSTMs of {HIDDEN} units that generate two symbols, started with 0 or with 1: the difference of the "
        "probabilities of a 1, exactly, over all continuations. The band is the range over networks.",
    )


def _result_notes(results: list[NetworkResult]) -> tuple[str, str]:
    norms, influence = [result.norm for result in results], np.mean([result.influence for result in results], 0)
    return (
        f"Gradient norms of these networks on random symbols: {min(norms):.2g} to {max(norms):.2g}.",
        f"Mean influence of the first symbol: {influence[0]:.3f} on the next one and {influence[-1]:.3f} on number "
        f"{len(influence)}. How fast it decays depends on the weights, so nothing is claimed about that.",
    )


_NOTE = (
    "memspan trains with one bias, rho = 0.9, sigmoid gates and clipping by the norm. That the paper used hard gates is "
    "inferred from its numbers of parameters. Sequences are generated from a zero state."
)
