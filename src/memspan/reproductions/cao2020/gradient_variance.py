"""Cao and Xu 2020, Fig. 3: the variance of policy gradients next to that of gradients of IW-RAML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from torch import Tensor

    from memspan.models.model import Model
    from memspan.objectives import Bmi
    from memspan.objectives.segments import SegmentPairs, Segments

# Shares of the parameters that count as "almost all" and as "a significant portion".
ALMOST_ALL, SIGNIFICANT = 0.95, 0.25
# Printed mean ratio of the two variances.
PRINTED_RATIO = 1e4
# The published program divides the loss of IW-RAML by the symbols of all 12 segments of a batch (errata-16), so it is
# this factor smaller than the mean per symbol. Variances scale with the square.
PROGRAM_SCALE = 12.0
BINS_PER_DECADE = 4


def run(*, seed: int, progress: Progress, runs: Path, models: str, iterations: int, length: int) -> Outcome:
    """Train BMI-base and measure its gradients over some iterations, on segments of `length` symbols."""
    check_models("bmi-fig3")
    networks = LANGUAGE_MODELS[models]
    key = ModelKey(next(iter(networks.corpora)), "base", seed)
    networks.train([key], runs, progress)
    with progress.stage("gradients", iterations) as stage:
        variances = gradient_variances(
            runs / key.folder, iterations=iterations, length=length, seed=seed, done=stage.advance
        )
    ratios = variance_ratios(variances["policy"], variances["raml"])
    parameters = variances["raml"].size
    note = (
        f"{parameters - ratios.size:,} of {parameters:,} parameters are left out because one of the two gradients was "
        "the same in all iterations, for example the embeddings of words that did not occur."
    )
    return Outcome(ratio_claims(ratios), (_chart(ratios, iterations),), (note, _NOTE))


def gradient_variances(
    run: Path, *, iterations: int, length: int, seed: int, done: Callable[[], None]
) -> dict[str, NDArray[np.float64]]:
    """Variance of every parameter's gradient under each objective alone, `policy` and `raml`.

    Both objectives see the same segments of `length` symbols and the same dropout masks. Both losses are means per
    symbol, with weight one.
    """
    import torch

    from memspan.objectives.bmi import policy_loss
    from memspan.objectives.segments import draw_pairs, windows
    from memspan.reproductions.cao2020.discriminator import load_bmi
    from memspan.tasks.text import TextTask, encode_corpus
    from memspan.training.run.machine import stream_seed, torch_seed

    best, bmi = load_bmi(run)
    network, task = best.network.train(), best.task
    assert isinstance(task, TextTask)
    segments = windows(encode_corpus(task.identity).symbols["train"], length)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    running = {"policy": RunningVariance(), "raml": RunningVariance()}
    for iteration in range(iterations):
        random = np.random.default_rng([seed, iteration])
        pairs = draw_pairs(len(segments), bmi.config.pairs, random, bmi.config.proposal)
        first = segments.take(pairs.first)
        for name, variance in running.items():
            with torch_seed(stream_seed(seed, iteration)):
                if name == "raml":
                    loss = _raml_loss(network, bmi, segments, pairs)
                else:
                    loss = policy_loss(network, bmi.discriminator, first, length, random, padding=bmi.config.padding)[0]
                variance.add(torch.autograd.grad(loss, parameters))
        done()
    return {name: variance.result() for name, variance in running.items()}


def _raml_loss(model: Model, bmi: Bmi, segments: Segments, pairs: SegmentPairs) -> Tensor:
    """The loss of IW-RAML alone; scores are computed without dropout."""
    from memspan.objectives.bmi import raml_loss
    from memspan.objectives.segments import pooled
    from memspan.sampling.streams import evaluation_mode

    x, near, true = (segments.take(which) for which in (pairs.first, pairs.near, pairs.next))
    with evaluation_mode(model), evaluation_mode(bmi):
        a, b, c = (pooled(model, each, padding=bmi.config.padding) for each in (x, near, true))
        near_scores, true_scores = (bmi.discriminator(a, each) for each in (b, c))
    return raml_loss(model, x, near, near_scores, true_scores, pairs.log_proposal, bmi.config.temperature)[0]


@final
class RunningVariance:
    """Variance of every element of some tensors over the draws added so far.  Welford 1962."""

    def __init__(self) -> None:
        self.count = 0
        self._mean: NDArray[np.float64] | float = 0.0
        self._squares: NDArray[np.float64] | float = 0.0

    def add(self, tensors: Sequence[Tensor]) -> None:
        """Add one draw of all tensors."""
        flat = np.concatenate([tensor.detach().flatten().double().numpy() for tensor in tensors])
        self.count += 1
        difference = flat - self._mean
        self._mean = self._mean + difference / self.count
        self._squares = self._squares + difference * (flat - self._mean)

    def result(self) -> NDArray[np.float64]:
        """Variance of each element; needs at least two draws."""
        return np.asarray(self._squares / (self.count - 1), np.float64)


def variance_ratios(policy: NDArray[np.float64], raml: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of variances of every parameter for which both are positive."""
    both = (policy > 0) & (raml > 0)
    return policy[both] / raml[both]


def ratio_claims(ratios: NDArray[np.float64]) -> tuple[Claim, ...]:
    """The paper's statements about the histogram, and its median."""
    mean, median = float(ratios.mean()), float(np.median(ratios))
    higher, one_to_four = float(np.mean(ratios > 1)), float(np.mean((ratios >= 10) & (ratios <= 1e4)))
    scale = PROGRAM_SCALE**2
    return (
        claim(
            "The variance of policy gradients is more than 10,000 times that of IW-RAML on average. (Measured: the "
            "mean ratio over parameters.)"
        ).holds_if(mean, mean > PRINTED_RATIO, paper=PRINTED_RATIO),
        claim(
            "Almost all parameters have a higher variance under policy gradients. (Measured: their share. It holds "
            f"from {ALMOST_ALL} on.)"
        ).holds_if(higher, higher >= ALMOST_ALL),
        claim(
            "A significant portion of the parameters has a variance that is 1 to 4 orders of magnitude higher. "
            f"(Measured: their share. It holds from {SIGNIFICANT} on.)"
        ).holds_if(one_to_four, one_to_four >= SIGNIFICANT),
        claim(
            "Half of the parameters have a higher variance under policy gradients. (Measured: the median ratio.)"
        ).holds_if(median, median > 1),
        claim(
            f"With the loss of IW-RAML divided by {PROGRAM_SCALE:g}, as in the published program, the ratio is more "
            "than 10,000 on average. (Measured: the mean ratio at this scale.)"
        ).holds_if(scale * mean, scale * mean > PRINTED_RATIO, paper=PRINTED_RATIO),
        claim(
            "At this scale half of the parameters have a higher variance. (Measured: the median ratio at this scale.)"
        ).holds_if(scale * median, scale * median > 1),
    )


def _chart(ratios: NDArray[np.float64], iterations: int) -> Chart:
    orders = np.log10(ratios)
    low, high = np.floor(orders.min()), np.ceil(orders.max())
    edges = np.linspace(low, high, max(2, int(BINS_PER_DECADE * (high - low)) + 1))
    counts, _ = np.histogram(orders, edges)
    return chart(
        "variance-ratio",
        "Ratio of gradient variances, policy gradients over IW-RAML",
        "ratio of variances",
        "share of the parameters",
        [line("parameters", 10 ** ((edges[1:] + edges[:-1]) / 2), counts / counts.sum())],
        f"The variance of every parameter's gradient over {iterations} iterations, each with its own segments, in "
        f"{BINS_PER_DECADE} bins per decade. To the right of 1, policy gradients have the higher variance.",
        log="x",
    )


_NOTE = (
    "The paper gives neither the segment lengths nor the scale of the two losses. Here both are means per symbol with "
    "weight one, on segments of the same length, with the same network and discriminator. The last two claims take "
    "the scale of IW-RAML from the published program, which does not include this figure, and leave that of policy "
    "gradients unchanged. The network is BMI-base after training. Dropout is active in the losses and inactive in the "
    "scores."
)
