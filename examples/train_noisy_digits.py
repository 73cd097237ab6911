"""A digit, then noise: from which weights does a network learn to remember it? Theory says so before any training."""

from pathlib import Path

from memspan import theory
from memspan.tasks import NoisyDigits
from memspan.training import CellConfig, Config, InitConfig, TrainingConfig, train

for bias_mean in (0.0, 6.0):
    field = theory.MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=bias_mean, input_variance=0.46)
    run = train(
        Config(
            word="noisy-digits",
            task=NoisyDigits(data="digits", delay=40),
            cell=CellConfig(name="minimal-rnn", hidden=64),
            init=InitConfig(name="field", sigma_w=6.88, sigma_v=1.39, bias_mean=bias_mean),
            training=TrainingConfig(updates=200, batch=50, optimizer="adam", validate_every=100, threads=1),
        ),
        Path(f"noisy-digits-{bias_mean:g}"),
    )
    print(
        f"bias mean {bias_mean:g}: signals should last {field.timescale(input_correlation=0.0):.0f} steps; "
        f"{run.accuracy:.0%} of digits correct after 40 steps of noise ({run.chance:.0%} by chance)"
    )
