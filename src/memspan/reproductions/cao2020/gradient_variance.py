"""The variance of every parameter's gradient, under policy gradients and under weighted segments of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.models.model import Model
from memspan.objectives import Bmi
from memspan.objectives.policy import policy_loss
from memspan.objectives.raml import raml_loss
from memspan.objectives.reading import pooled
from memspan.objectives.segments import Padded, Pairs, Segments, draw_pairs, windows
from memspan.reproductions.cao2020.networks import load_bmi
from memspan.sampling.writing import at_rest
from memspan.tasks.text import TextTask, encoded
from memspan.training.building import seeded, stream


@final
class Variances:
    """The variance of every number of some tensors, over as many draws of them as are added.  Welford 1962."""

    def __init__(self) -> None:
        self.count = 0
        self._mean: Tensor | float = 0.0
        self._squares: Tensor | float = 0.0

    def add(self, tensors: Sequence[Tensor]) -> None:
        """One draw."""
        flat = torch.cat([tensor.detach().flatten().double() for tensor in tensors])
        self.count += 1
        apart = flat - self._mean
        self._mean = self._mean + apart / self.count
        self._squares = self._squares + apart * (flat - self._mean)

    def found(self) -> NDArray[np.float64]:
        """Of two draws or more."""
        assert isinstance(self._squares, Tensor)
        return (self._squares / (self.count - 1)).numpy()


def continued_loss(model: Model, bmi: Bmi, segments: Segments, drawn: Pairs) -> Tensor:
    """The loss of IW-RAML by itself, with scores without dropout."""
    x, near, true = (segments.take(which) for which in (drawn.first, drawn.near, drawn.next))
    with at_rest(model), at_rest(bmi):
        a, b, c = (pooled(model, each, padding=bmi.config.padding) for each in (x, near, true))
        near_scores, true_scores = (bmi.discriminator(a, each) for each in (b, c))
    return raml_loss(model, x, near, near_scores, true_scores, drawn.log_proposal, bmi.config.temperature)[0]


def gradient_variances(
    run: Path, *, iterations: int, length: int, seed: int, done: Callable[[], None]
) -> dict[str, NDArray[np.float64]]:
    """`policy` and `raml`: of the gradient of each goal alone, by the same segments and with the same dropout.

    Segments are of `length` symbols, X and Y alike; both losses are means per symbol, with weight one.
    """
    best, bmi = load_bmi(run)
    network, task = best.network.train(), best.task
    assert isinstance(task, TextTask)
    segments = windows(encoded(task.identity).symbols["train"], length)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    spread = {"policy": Variances(), "raml": Variances()}
    for iteration in range(iterations):
        random = np.random.default_rng([seed, iteration])
        drawn = draw_pairs(len(segments), bmi.config.pairs, random, bmi.config.proposal)
        first: Padded = segments.take(drawn.first)
        for name, variances in spread.items():
            with seeded(stream(seed, iteration)):
                loss = (
                    continued_loss(network, bmi, segments, drawn)
                    if name == "raml"
                    else policy_loss(
                        network, bmi.discriminator, first, length, random, padding=bmi.config.padding
                    )[0]
                )
                variances.add(torch.autograd.grad(loss, parameters))
        done()
    return {name: variances.found() for name, variances in spread.items()}
