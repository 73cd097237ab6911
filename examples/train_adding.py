"""The sum of two marked numbers among many: how the loss falls below what needs no memory, and the figure of it."""

from pathlib import Path

from memspan.presentation import figures_of, save
from memspan.tasks import Adding
from memspan.training import CellConfig, Config, TrainingConfig, train

run = train(
    Config(
        word="adding",
        task=Adding(length=20),
        cell=CellConfig(name="gru", hidden=32),
        training=TrainingConfig(
            updates=500, batch=50, optimizer="adam", learning_rate=1e-2, validate_every=100, threads=1
        ),
    ),
    Path("adding"),
)
print(f"squared error without memory {run.baseline:.3f}, of the network {run.loss:.4f}")
print(f"{run.accuracy:.0%} of sums within 0.04, {run.chance:.0%} by chance")
save(figures_of(run)["training"], "adding", "training")  # adding/training.svg and .png
