"""Swap torch.nn.LSTM for RelLSTM, change nothing else, and see how much of a late error reaches earlier inputs.

Before training the states that a RelLSTM finds relevant are the first ones, which shared attention with the fewest others:
the error reaches them, and much less of it what lies between. Which states are relevant is for training to say.
"""

import torch
from torch import Tensor, nn

from memspan.cells import RelLSTM

STEPS, BATCH, FEATURES, HIDDEN = 300, 8, 10, 32


def reaching_inputs(layer: nn.Module, inputs: Tensor) -> list[float]:
    """The norm of the gradient of the last output, at every input."""
    inputs = inputs.clone().requires_grad_()
    output, _ = layer(inputs)
    output[-1].square().sum().backward()
    assert inputs.grad is not None
    return inputs.grad.norm(dim=(1, 2)).tolist()


torch.manual_seed(0)
inputs = torch.randn(STEPS, BATCH, FEATURES)
lstm, swapped = nn.LSTM(FEATURES, HIDDEN), RelLSTM(FEATURES, HIDDEN, short_term=10, relevant=10)
for layer in (lstm, swapped):
    norms = reaching_inputs(layer, inputs)
    shown = ", ".join(f"{norms[t]:.0e} at step {t + 1}" for t in (0, STEPS // 2 - 1, STEPS - 1))
    print(f"{type(layer).__name__}, {STEPS} steps: gradient {shown}")

_, state = swapped(inputs)
again, _ = swapped(inputs[:1], state)  # one symbol more, with all that is remembered
print(f"carried: {', '.join(state._fields)}; one step more: {tuple(again.shape)}")
