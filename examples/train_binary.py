"""Does a network use a long past? Binary sequences whose information falls with a power of the distance.

The best that can be done with the last symbol alone is known in closed form; below it, the network remembers.
"""

from pathlib import Path

from memspan.tasks import BinarySequences
from memspan.training import CellConfig, Config, TrainingConfig, train

task = BinarySequences(amplitude=0.1, exponent=0.4, length=64, sequences=2_000)
run = train(
    Config(
        word="binary",
        task=task,
        cell=CellConfig(name="gru", hidden=16),
        training=TrainingConfig(
            updates=400, batch=50, optimizer="adam", learning_rate=1e-2, validate_every=100, threads=1
        ),
    ),
    Path("binary"),
)
print(f"a guess costs 0.693 nats a symbol, knowing the last one {task.baseline:.3f}, the network {run.loss:.3f}")
