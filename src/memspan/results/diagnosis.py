"""What `diagnose` returns: the reach of gradients, attention and predictions of a trained network, and its costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import JsonResult, check_lengths

Numbers = NDArray[np.float64]
# A gradient is visible as long as its norm is at least this fraction of the norm at the last step.
VISIBLE = 1e-3


@final
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(JsonResult, Notebook):
    """Diagnosis of a trained network; parts that do not apply to its cell or task are None."""

    run: str
    """The run folder; `hf:` and a folder for a foreign model."""
    task: dict[str, Any]
    """Name and options of the task, as diagnosed."""
    cell: str
    hidden: int
    update: int
    """Update of the weights with the best validation; 0 for a foreign model."""
    steps: int
    """Steps of a sequence."""
    answers_from: int
    """First step, counted from 1, whose prediction the diagnosis is about."""
    sequences: int
    seed: int
    gradients: GradientNorms
    attention: AttentionMap | None
    relevant: RelevantSet | None
    jacobian: JacobianSpectrum | None
    context: ContextLoss | None
    costs: TrainingCosts | None
    notes: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        for name, owner, field in (("attention", self.attention, "weights"), ("relevant", self.relevant, "held")):
            square = np.zeros((0, 0)) if owner is None else getattr(owner, field)
            if square.ndim != 2 or len(set(square.shape)) > 1:
                raise InputError(f"rows and columns of {name} differ in length; expected a square matrix")

    def _summary(self) -> str:
        last = int(self.gradients.distances[-1])
        names = ("attention", "relevant", "jacobian", "context", "costs")
        parts = [name for name in names if getattr(self, name) is not None]
        found = f"gradients reach {self.gradients.reach:,} of {last:,} steps; also {', '.join(parts) or 'nothing'}"
        return f"{in_brief(self.name)}, {self.cell}, {found}"

    @property
    def name(self) -> str:
        """The name of the run folder; for one of several seeds also that of its parent."""
        place = PurePath(self.run)
        return "/".join(place.parts[-2:]) if place.name.startswith("seed-") else place.name


@final
@dataclass(frozen=True, eq=False, repr=False)
class GradientNorms(Displayed):
    """||dL/dh_t|| against the number of steps between h_t and the last step; each sequence has its own loss L.

    For a foreign model ||dL/dx_t||, where x_t is the embedding of the input.
    """

    loss: str
    """`recalled`: of the last `answers` predictions only; `whole`: of all scored predictions; `changed`: of the last ones
    with every target replaced by another."""
    answers: int
    sequences: int
    distances: NDArray[np.int64]
    """Steps before the last one, 0 first."""
    mean: Numbers
    """Over the sequences."""
    low: Numbers
    """10 % quantile over the sequences."""
    high: Numbers
    """90 % quantile over the sequences."""
    rms: Numbers
    """Root mean square: sqrt(sequences) times the norm of the gradient that backward() of the mean loss leaves in the
    states of all sequences together, (sequences, hidden)."""
    of: str = "h"
    """`h`: states of the last layer; `x`: input embeddings."""

    def __post_init__(self) -> None:
        check_lengths(self, "distances", "mean", "low", "high", "rms")

    @property
    def fall(self) -> float:
        """Ratio of the norm at the last step to the norm at the first one."""
        return float(self.mean[0] / self.mean[-1]) if self.mean[-1] > 0 else float("inf")

    @property
    def reach(self) -> int:
        """The largest distance whose norm is at least a thousandth of the norm at the last step.

        Norms in between may be smaller, since attention skips states.
        """
        there = np.flatnonzero(self.mean >= VISIBLE * self.mean[0])
        return int(self.distances[there[-1]]) if there.size else 0


@final
@dataclass(frozen=True, eq=False, repr=False)
class AttentionMap(Displayed):
    """Attention of each step on each past state, averaged over sequences.

    Long sequences are divided into blocks of `block` steps: rows are means over the block's steps, columns are sums.
    """

    steps: int
    """Steps of a sequence."""
    block: int
    sequences: int
    weights: Numbers
    """(blocks, blocks): row = step, column = source; a row sums to one if there was something to attend to."""
    states: float
    """Effective number of states that a prediction attends to: exp of the entropy, averaged over predictions."""
    distance: float
    """Mean distance in steps of the attended states, weighted by attention."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class RelevantSet(Displayed):
    """States that a network with relevancy screening holds in its relevant set, in blocks as in `AttentionMap`."""

    steps: int
    block: int
    sequences: int
    short_term: int
    """nu: steps that a state stays in the buffer before it is selected or dropped."""
    relevant: int
    """rho: capacity of the relevant set."""
    held: Numbers
    """(blocks, blocks): row = step, column = source; number of states of the block in the set, averaged over sequences."""
    share: float
    """Fraction of a prediction's attention on the relevant set; the rest is on the last nu states."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class JacobianSpectrum(Displayed):
    """Singular values of ds_T / ds_{T-k}, where s is the recurrent state: h or, for an LSTM, (h, c)."""

    of: str
    """`h` or `(h, c)`."""
    sequences: int
    distances: NDArray[np.int64]
    """k, in steps."""
    mean_square: Numbers
    """Mean squared singular value at each distance."""
    variance: Numbers
    """Variance of the squared singular values at each distance."""
    quantiles: Numbers
    """(distances, 5): minimum, 10 %, median, 90 % and maximum."""
    one_step: Numbers
    """101 quantiles, 0 to 100 %, of the singular values of ds_{t+1} / ds_t at steps t along the sequences."""
    one_step_mean: float
    """Mean squared singular value of ds_{t+1} / ds_t; gradients vanish or explode as powers of it."""
    one_step_variance: float
    """Variance of the squared singular values of ds_{t+1} / ds_t."""
    theory: Numbers
    """Mean-field prediction of `mean_square` for random weights of the same variances; empty if there is none."""
    theory_variance: float
    """Mean-field prediction of `one_step_variance`; NaN if there is none."""
    theory_weights: str
    """Recurrent weights assumed by the prediction: `gaussian` or `orthogonal`; empty if there is none."""

    def __post_init__(self) -> None:
        theory = ("theory",) if self.theory.size else ()
        check_lengths(self, "distances", "mean_square", "variance", *theory)
        if self.quantiles.shape != (self.distances.size, 5):
            raise InputError(f"quantiles and distances differ in length; quantiles have shape {self.quantiles.shape}")


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContextLoss(Displayed):
    """Loss of the predictions when the network has read only the last k steps before them."""

    answers: int
    sequences: int
    context: NDArray[np.int64]
    """k, in steps."""
    loss: Numbers
    """Mean over the sequences."""
    error: Numbers
    """Standard error of the loss."""

    def __post_init__(self) -> None:
        check_lengths(self, "context", "loss", "error")

    @property
    def helps(self) -> bool:
        """Whether the full context beats the shortest by more than two standard errors."""
        first, last = np.nan_to_num(self.error[[0, -1]])
        return bool(self.loss[0] - self.loss[-1] > 2 * np.hypot(first, last))

    @property
    def used(self) -> int:
        """The shortest context with 90 % of the gain of the full context, within two standard errors.

        All longer contexts have that gain as well. The shortest context of all if context does not help.
        """
        if not self.helps:
            return int(self.context[0])
        surely = self.loss - 2 * np.nan_to_num(self.error)
        high = surely > self.loss[-1] + 0.1 * (self.loss[0] - self.loss[-1])
        return int(self.context[int(np.flatnonzero(high)[-1]) + 1]) if high.any() else int(self.context[0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainingCosts(Displayed):
    """Time and memory of one forward and backward pass at several sequence lengths, on the CPU in a separate process."""

    batch: int
    threads: int
    steps: NDArray[np.int64]
    seconds: Numbers
    peak: Numbers
    """Bytes above what the process held before the first pass."""

    def __post_init__(self) -> None:
        check_lengths(self, "steps", "seconds", "peak")
