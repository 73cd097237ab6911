"""Ten symbols scattered among blanks: what the state that recalls them looks back at.

The network attends to its past, and its gradient arrives where symbols stood, however long ago that was.
"""

from pathlib import Path

from memspan.diagnostics import diagnose
from memspan.tasks import Denoise
from memspan.training import CellConfig, Config, TrainingConfig, train

run = train(
    Config(
        word="denoise",
        task=Denoise(delay=10),
        cell=CellConfig(name="rel-rnn", hidden=64),
        training=TrainingConfig(updates=400, validate_every=200, learning_rate=2e-3, threads=1),
    ),
    Path("denoise"),
)
print(f"{run.accuracy:.0%} of the symbols correct after {run.updates} updates ({run.chance:.1%} by chance)")

found = diagnose("denoise", sequences=5, costs=False)
print(f"gradient {len(found.gradients.mean) - 1} steps back: {found.gradients.mean[-1]:.1e}")
assert found.attention is not None
print(f"an answer looks {found.attention.distance:.0f} steps back, at {found.attention.states:.0f} states")
