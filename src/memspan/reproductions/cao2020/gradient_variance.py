"""Cao and Xu 2020, Fig. 3: the variance of policy gradients next to that of gradients of IW-RAML.

A ratio of variances depends on the scale of the two losses. It is therefore stated at two scales, that of the printed
equations and that of the published program, next to a measure that does not depend on any: the share of a gradient's mean
square that is its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line
from memspan.statistics import jackknife_error, student_quantile

if TYPE_CHECKING:
    from torch import Tensor

    from memspan.models.model import Model
    from memspan.objectives import Bmi
    from memspan.objectives.segments import SegmentPairs, Segments

# Shares of the parameters that count as "almost all" and as "a significant portion".
ALMOST_ALL, SIGNIFICANT = 0.95, 0.25
# Printed mean ratio of the two variances.
PRINTED_RATIO = 1e4
BINS_PER_DECADE = 4
# Groups of iterations, each of which the jackknife leaves out once.
BLOCKS = 10
SCALES = {"equations": "At the scale of the printed equations, ", "program": "At the scale of the published program, "}


def run(*, seed: int, progress: Progress, runs: Path, models: str, iterations: int, length: int) -> Outcome:
    """Train BMI-base and measure its gradients over some iterations, on segments of `length` symbols."""
    check_models("bmi-fig3")
    networks = LANGUAGE_MODELS[models]
    key = ModelKey(next(iter(networks.corpora)), "base", seed)
    networks.train([key], runs, progress)
    with progress.stage("gradients", iterations) as stage:
        found = measure_gradients(
            runs / key.folder, iterations=iterations, length=length, seed=seed, done=stage.advance
        )
    pairs = networks.config(key, runs).bmi.pairs
    variances = {name: gradients.variance() for name, gradients in found.items()}
    ratios = scaled_ratios(variances, length, pairs)
    shares = {name: gradients.signal_share() for name, gradients in found.items()}
    claims = [each for name, values in ratios.items() for each in ratio_claims(values, SCALES[name])]
    claims += [signal_claim(shares, name) for name in ("policy", "program")]
    parameters = variances["raml"].size
    note = (
        f"{parameters - ratios['equations'].size:,} of {parameters:,} parameters are left out because one of the two "
        "gradients was the same in all iterations, for example the embeddings of words that did not occur."
    )
    signal = "Share of the mean square of the gradient that is its mean, with standard error: " + ", ".join(
        f"{NAMES[name]} {share.value:.3g} ± {share.error:.1g}" for name, share in shares.items()
    )
    return Outcome(tuple(claims), (_chart(ratios, iterations),), (note, f"{signal}.", _scales(length, pairs), _NOTE))


NAMES = {"policy": "policy gradients (Eq. 9)", "program": "policy gradients of the program", "raml": "IW-RAML"}


def measure_gradients(
    run: Path, *, iterations: int, length: int, seed: int, done: Callable[[], None]
) -> dict[str, GradientMoments]:
    """Moments of every parameter's gradient under each objective alone, by the keys of `NAMES`.

    `policy` has the sums over symbols of Eq. 9, `raml` those of Eq. 16, both for segments of `length` symbols; `program`
    has means per symbol of at most 15 symbols. All see the same dropout masks at their first reading.
    """
    import torch

    from memspan.objectives.policy import PROGRAM_LENGTH, policy_loss, program_policy_loss
    from memspan.objectives.segments import draw_pairs, windows
    from memspan.reproductions.cao2020.discriminator import load_bmi
    from memspan.tasks.text import TextTask, encode_corpus
    from memspan.training.run.machine import stream_seed, torch_seed

    best, bmi = load_bmi(run)
    network, task = best.network.train(), best.task
    assert isinstance(task, TextTask)
    segments = windows(encode_corpus(task.identity).symbols["train"], length)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    blocks = min(BLOCKS, iterations)
    found = {name: GradientMoments(blocks) for name in NAMES}
    for iteration in range(iterations):
        random = np.random.default_rng([seed, iteration])
        pairs = draw_pairs(len(segments), bmi.config.pairs, random, bmi.config.proposal)
        # Generated segments start after the end of a line, as those of training do.
        start = torch.from_numpy(bmi.segments.last_symbols(bmi.pairs(iteration).first))
        for name, moments in found.items():
            with torch_seed(stream_seed(seed, iteration)):
                if name == "raml":
                    loss = length * _raml_loss(network, bmi, segments, pairs)
                elif name == "policy":
                    loss, _ = policy_loss(network, bmi.discriminator, start, length, random)
                else:
                    short = min(length, PROGRAM_LENGTH)
                    loss, _ = program_policy_loss(network, bmi.discriminator, start, short, random)
                moments.add(torch.autograd.grad(loss, parameters))
        done()
    return found


def _raml_loss(model: Model, bmi: Bmi, segments: Segments, pairs: SegmentPairs) -> Tensor:
    """The loss of IW-RAML alone, a mean per symbol; scores are computed without dropout."""
    import torch

    from memspan.objectives.bmi import importance_weights, raml_loss
    from memspan.objectives.segments import pooled
    from memspan.sampling.streams import evaluation_mode

    x, near, true = (segments.take(which) for which in (pairs.first, pairs.near, pairs.next))
    with evaluation_mode(model), evaluation_mode(bmi):
        a, b, c = (pooled(model, each, padding=bmi.config.padding) for each in (x, near, true))
        near_scores, true_scores = (bmi.discriminator(a, each) for each in (b, c))
    proposal = torch.from_numpy(pairs.log_proposal).to(near_scores)
    return raml_loss(model, x, near, importance_weights(near_scores, true_scores, proposal, bmi.config.temperature))


class Share(NamedTuple):
    """An estimate with its standard error."""

    value: float
    error: float


@final
class GradientMoments:
    """Mean and variance of every element of some tensors over the draws added so far.

    Variances are computed as draws arrive (Welford 1962); sums are stored for `blocks` groups of draws, for the error of the
    signal share.
    """

    def __init__(self, blocks: int) -> None:
        self.count = 0
        self._mean: NDArray[np.float64] | float = 0.0
        self._squares: NDArray[np.float64] | float = 0.0
        self._block_sums: list[NDArray[np.float64] | float] = [0.0] * blocks
        self._block_norms = np.zeros(blocks)
        self._block_counts = np.zeros(blocks)

    def add(self, tensors: Sequence[Tensor]) -> None:
        """Add one draw of all tensors."""
        flat = np.concatenate([tensor.detach().flatten().double().numpy() for tensor in tensors])
        block = self.count % len(self._block_sums)
        self._block_sums[block] = self._block_sums[block] + flat
        self._block_norms[block] += flat @ flat
        self._block_counts[block] += 1
        self.count += 1
        difference = flat - self._mean
        self._mean = self._mean + difference / self.count
        self._squares = self._squares + difference * (flat - self._mean)

    def variance(self) -> NDArray[np.float64]:
        """Variance of each element; needs at least two draws."""
        return np.asarray(self._squares / (self.count - 1), np.float64)

    def signal_share(self) -> Share:
        """|E g|^2 / E |g|^2, which no factor on the loss changes, and its jackknife error.

        |mean|^2 exceeds |E g|^2 by a share of the variance, which is subtracted; so a share near 0 may become negative.
        """
        total = np.sum([np.asarray(each) for each in self._block_sums], axis=0)

        def share(summed: NDArray[np.float64], norms: float, count: float) -> float:
            mean_square = norms / count
            return float((summed @ summed / count - mean_square) / (count - 1) / mean_square)

        left_out = [
            share(total - one, self._block_norms.sum() - norms, self.count - count)
            for one, norms, count in zip(self._block_sums, self._block_norms, self._block_counts, strict=True)
        ]
        return Share(share(total, self._block_norms.sum(), self.count), float(jackknife_error(left_out)))


def variance_ratios(policy: NDArray[np.float64], raml: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of variances of every parameter for which both are positive."""
    both = (policy > 0) & (raml > 0)
    return policy[both] / raml[both]


def scaled_ratios(
    variances: Mapping[str, NDArray[np.float64]], length: int, pairs: int
) -> dict[str, NDArray[np.float64]]:
    """Ratios at each of the `SCALES`. The program divides the sums of IW-RAML by the symbols of all pairs."""
    raml = variances["raml"]
    return {
        "equations": variance_ratios(variances["policy"], raml),
        "program": variance_ratios(variances["program"], raml / (length * pairs) ** 2),
    }


def ratio_claims(ratios: NDArray[np.float64], scale: str) -> tuple[Claim, ...]:
    """The paper's statements about the histogram, and its median, at one scale."""
    mean, median = float(ratios.mean()), float(np.median(ratios))
    higher, one_to_four = float(np.mean(ratios > 1)), float(np.mean((ratios >= 10) & (ratios <= 1e4)))
    return (
        claim(
            f"{scale}the variance of policy gradients is more than 10,000 times that of IW-RAML on average. (Measured: "
            "the mean ratio over parameters.)"
        ).holds_if(mean, mean > PRINTED_RATIO, paper=PRINTED_RATIO),
        claim(
            f"{scale}almost all parameters have a higher variance under policy gradients. (Measured: their share. It "
            f"holds from {ALMOST_ALL} on.)"
        ).holds_if(higher, higher >= ALMOST_ALL),
        claim(
            f"{scale}a significant portion of the parameters has a variance that is 1 to 4 orders of magnitude higher. "
            f"(Measured: their share. It holds from {SIGNIFICANT} on.)"
        ).holds_if(one_to_four, one_to_four >= SIGNIFICANT),
        claim(
            f"{scale}half of the parameters have a higher variance under policy gradients. (Measured: the median "
            "ratio.)"
        ).holds_if(median, median > 1),
    )


def signal_claim(shares: Mapping[str, Share], name: str) -> Claim:
    """Claim that gradients of IW-RAML have less noise relative to their mean than policy gradients, at any scale."""
    raml, policy = shares["raml"], shares[name]
    margin = student_quantile(BLOCKS - 1) * float(np.hypot(raml.error, policy.error))
    difference = raml.value - policy.value
    return claim(
        f"At any scale, gradients of IW-RAML have less noise relative to their mean than {NAMES[name]}. (Measured: by "
        f"how much the share of the mean square that is the mean is larger. It holds above {margin:.2g}, outside the "
        "95 % interval of the jackknife.)"
    ).holds_if(difference, difference > margin)


def _chart(ratios: Mapping[str, NDArray[np.float64]], iterations: int) -> Chart:
    orders = {name: np.log10(values) for name, values in ratios.items()}
    low = min(np.floor(values.min()) for values in orders.values())
    high = max(np.ceil(values.max()) for values in orders.values())
    edges = np.linspace(low, high, max(2, int(BINS_PER_DECADE * (high - low)) + 1))
    labels = {"equations": "printed equations", "program": "published program"}
    lines = []
    for name, values in orders.items():
        counts, _ = np.histogram(values, edges)
        lines.append(line(labels[name], 10 ** ((edges[1:] + edges[:-1]) / 2), counts / counts.sum()))
    return chart(
        "variance-ratio",
        "Ratio of gradient variances, policy gradients over IW-RAML",
        "ratio of variances",
        "share of the parameters",
        lines,
        f"The variance of every parameter's gradient over {iterations} iterations, each with its own segments, in "
        f"{BINS_PER_DECADE} bins per decade, at the scales of the printed equations and of the published program. To the "
        "right of 1, policy gradients have the higher variance. A factor on one of the losses moves a whole curve.",
        log="x",
    )


def _scales(length: int, pairs: int) -> str:
    return (
        f"Scale of the printed equations: sums of log-likelihoods over the {length} symbols of each segment, for both; "
        "means per symbol for both would give the same ratios. Scale of the published program: means per symbol for "
        f"policy gradients, and for IW-RAML sums divided by the symbols of all {pairs} segments, {length * pairs} times "
        f"less than the printed sums, so that its variance is {(length * pairs) ** 2:,} times less."
    )


_NOTE = (
    "The paper gives neither the segment lengths nor the scale of the two losses, and the published program does not "
    "include this figure. Its policy gradient generates 15 words per segment, sends no gradient from Y into the reading "
    "of X, and generates the Y of independent pairs from the empty state; its IW-RAML is the same up to scale. The "
    "network is BMI-base after training. Dropout is active in the losses and inactive in the scores and in generation."
)
