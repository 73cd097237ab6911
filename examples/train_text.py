"""Does a language model have the memory of its text? Train one, let it generate text, and measure both.

The text is Python's own library. What the network generates after a minute has words and line ends, and forgets sooner.
"""

from pathlib import Path

import memspan as ms
from memspan.sampling import as_sequence
from memspan.tasks import CharacterText
from memspan.training import CellConfig, Config, TrainingConfig, train
from memspan.training.supervised.config import ModelConfig
from memspan.training.supervised.generation import load_generator

task = CharacterText(data="python", steps=50)
run = train(
    Config(
        word="characters",
        task=task,
        cell=CellConfig(name="gru", hidden=64),
        model=ModelConfig(embedding=32),
        training=TrainingConfig(
            updates=150, batch=32, optimizer="adam", learning_rate=5e-3, validate_every=75,
            validation_batches=5, threads=1,
        ),
    ),
    Path("text"),
)  # fmt: skip
generator = load_generator("run:text")
written = as_sequence(generator.generate(streams=100, length=2_000, seed=0), generator.spelling)
curve = ms.measure(written, [1, 2, 5, 20]).curve
print(f"{run.loss:.2f} nats a character, knowing frequencies only {task.baseline:.2f}")
print("information in what it writes:", *(f"{value:.3f}" for value in curve.corrected), "nats")
