"""Ten symbols, written down again after a delay: learnt in seconds at one delay, then tried at others.

An orthogonal network keeps everything, turned at every step; what it turned into is only known for the delay it learnt.
"""

from pathlib import Path

from memspan.tasks import Copy
from memspan.training import CellConfig, Config, TrainingConfig, train
from memspan.training.supervised.evaluation import evaluate_run

run = train(
    Config(
        word="copy",
        task=Copy(delay=20),
        cell=CellConfig(name="orthogonal-rnn", hidden=128),
        training=TrainingConfig(updates=1_000, validate_every=50, stop_accuracy=0.999, threads=1),
    ),
    Path("copy"),
)
print(f"{run.accuracy:.1%} of the symbols correct after {run.updates} updates ({run.chance:.1%} by chance)")

for found in evaluate_run(Path("copy"), delays=[20, 22, 100], batches=1).transfer:
    assert found.accuracy is not None
    assert found.interval is not None
    low, high = found.interval
    print(f"delay {found.delay:3}: {found.accuracy:.1%} [{low:.1%}, {high:.1%}]")
