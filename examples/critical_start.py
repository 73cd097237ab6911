"""Weights at the edge of chaos: what theory says of a MinimalRNN, and what its gradients do before and after.

Theory is about networks with fresh weights at every step (tied=False); there it is met closely.
"""

import torch

from memspan import cells, init

STEPS, BATCH, FEATURES, HIDDEN = 40, 16, 10, 256


def factor_per_step(cell: cells.Cell, inputs: torch.Tensor, state: tuple[torch.Tensor, ...]) -> float:
    """By how much the squared norm of dL/dh_t changes with each step back, from the last to the first."""
    probe = torch.zeros(STEPS, BATCH, HIDDEN, requires_grad=True)
    output, _ = cell(inputs, state, probe=probe)
    (output[-1] * torch.randn(BATCH, HIDDEN)).sum().backward()
    assert probe.grad is not None
    squares = probe.grad.square().sum(dim=(1, 2))
    return float(squares[0] / squares[-1]) ** (1 / (STEPS - 1))


torch.manual_seed(0)
inputs = torch.randn(STEPS, BATCH, FEATURES)
cell = cells.MinimalRNN(FEATURES, HIDDEN, tied=False, steps=STEPS)
with torch.no_grad():
    R = float(
        torch.tanh(inputs @ cell.first.get_parameter("W_x").T).square().mean()
    )  # what theory calls the input variance

print("as it comes   ", init.verdict(cell.field(R)))
start = init.critical_start(cell, BATCH, sample=inputs)
print(f"  measured: {factor_per_step(cell, inputs, start):.3f} a step")

print("after critical_", init.critical_(cell, sample=inputs))
start = init.critical_start(cell, BATCH, sample=inputs)
print(f"  measured: {factor_per_step(cell, inputs, start):.3f} a step")
