"""Does it read? Digits of 8 by 8 pixels, line after line, told at the end; then the run goes on for a while."""

from pathlib import Path

from memspan.tasks import SequentialDigits
from memspan.training import CellConfig, Config, TrainingConfig, resume, train

run = train(
    Config(
        word="digits",
        task=SequentialDigits(data="digits", steps=8),
        cell=CellConfig(name="gru", hidden=32),
        training=TrainingConfig(
            updates=150, batch=50, optimizer="adam", learning_rate=5e-3, validate_every=50, threads=1
        ),
    ),
    Path("digits"),
)
print(f"{run.accuracy:.0%} of digits correct after {run.updates} updates ({run.chance:.0%} by chance)")

longer = resume(Path("digits"), updates=300)
print(f"{longer.accuracy:.0%} after {longer.updates}; losses on validation: {longer.validation_loss.round(2)}")
