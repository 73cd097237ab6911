"""Pixels in one disorder for all images, so that what belongs together is far apart; cells side by side on one task."""

from pathlib import Path

from memspan.tasks import PermutedDigits
from memspan.training import CellConfig, Config, TrainingConfig, train

for cell in ("rnn", "lstm", "rel-lstm"):
    run = train(
        Config(
            word="permuted-digits",
            task=PermutedDigits(data="digits", steps=16),
            cell=CellConfig(name=cell, hidden=32),
            training=TrainingConfig(
                updates=150, batch=50, optimizer="adam", learning_rate=5e-3, validate_every=50, threads=1
            ),
        ),
        Path(f"permuted-{cell}"),
    )
    print(f"{cell}: {run.accuracy:.0%} of digits correct, {run.parameter_count:,} parameters")
