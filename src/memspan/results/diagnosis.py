"""What `diagnose` finds in a trained network: how far back gradients, attention and answers reach, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain

Numbers = NDArray[np.float64]
VISIBLE = 1e-3
"""A gradient reaches as far as its norm is at least this share of that at the last step."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class GradientNorms(Displayed):
    """||dL/dh_t|| against how many steps before the last one h_t was: each sequence has its own loss L and norm.

    Of a model that is not ours ||dL/dx_t||, x_t the vector of what was read.
    """

    loss: str
    """`recalled`: of the last `answers` answers only; `whole`: of all that the task scores; `changed`: of the last ones, if
    each ought to be another."""
    answers: int
    sequences: int
    distances: NDArray[np.int64]
    """Steps before the last one, 0 first."""
    mean: Numbers
    """Over the sequences."""
    low: Numbers
    """A tenth of the sequences is below."""
    high: Numbers
    """A tenth of the sequences is above."""
    rms: Numbers
    """The root of their mean square: sqrt(sequences) times the norm of what backward() of the mean loss leaves in the states
    of all sequences together, (sequences, hidden)."""
    of: str = "h"
    """With respect to what: `h`, the states of the last layer, or `x`, the vectors that stand for what is read."""

    @property
    def fall(self) -> float:
        """How many times smaller the norm is at the first step than at the last; below 1 where it is larger."""
        return float(self.mean[0] / self.mean[-1]) if self.mean[-1] > 0 else float("inf")

    @property
    def reach(self) -> int:
        """The largest distance whose norm is at least a thousandth of that at the last step.

        Between, norms may be smaller: attention goes past the states that it does not look at.
        """
        there = np.flatnonzero(self.mean >= VISIBLE * self.mean[0])
        return int(self.distances[there[-1]]) if there.size else 0


@final
@dataclass(frozen=True, eq=False, repr=False)
class AttentionMap(Displayed):
    """How much of its attention each step gave to each state of the past, as a mean over sequences.

    Long sequences are shown in blocks of `block` steps: rows are means over the block's steps, columns are sums.
    """

    steps: int
    """Of a sequence."""
    block: int
    sequences: int
    weights: Numbers
    """(blocks, blocks): row a step, column a source; a row sums to one where there was something to look at."""
    states: float
    """Among how many states an answer's attention is shared: exp of its entropy, as a mean over answers."""
    distance: float
    """How many steps back an answer looks, as a mean weighted by attention."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class RelevantSet(Displayed):
    """Which states a network with relevancy screening holds in its relevant set, in blocks as in `AttentionMap`."""

    steps: int
    block: int
    sequences: int
    short_term: int
    """nu: steps a state stays in the buffer before it is chosen or dropped."""
    relevant: int
    """rho: states that the set holds at most."""
    held: Numbers
    """(blocks, blocks): row a step, column a source; how many states of the block are held, as a mean over sequences."""
    share: float
    """Of an answer's attention, what goes to the relevant set; the rest is on the last nu states."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class JacobianSpectrum(Displayed):
    """Singular values of ds_T / ds_{T-k}, where s is what is carried: h or, for an LSTM, (h, c)."""

    of: str
    """`h` or `(h, c)`."""
    sequences: int
    distances: NDArray[np.int64]
    """k, in steps."""
    mean_square: Numbers
    """Of the singular values at each distance."""
    variance: Numbers
    """Of the squared singular values at each distance."""
    quantiles: Numbers
    """(distances, 5): the smallest, 10 %, the median, 90 % and the largest."""
    one_step: Numbers
    """101 quantiles, 0 to 100 %, of the singular values of ds_{t+1} / ds_t at steps t all along the sequences."""
    one_step_mean: float
    """Mean squared singular value of ds_{t+1} / ds_t; the product of many such factors makes gradients vanish or not."""
    one_step_variance: float
    """Of the squared singular values."""
    theory: Numbers
    """Mean-field prediction of `mean_square` for random weights of the same variances; empty where there is none."""
    theory_variance: float
    """Mean-field prediction of `one_step_variance`; NaN where there is none."""
    theory_weights: str
    """What the prediction takes the recurrent weights for: `gaussian` or `orthogonal`; empty where there is none."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ContextLoss(Displayed):
    """How well the answers are when the network has read only the last k steps before them."""

    answers: int
    sequences: int
    context: NDArray[np.int64]
    """k, in steps."""
    loss: Numbers
    """Of the answers, mean over the sequences."""
    error: Numbers
    """Standard error of the loss."""

    @property
    def helps(self) -> bool:
        """Whether all of the context is better than none, by more than two standard errors."""
        first, last = np.nan_to_num(self.error[[0, -1]])
        return bool(self.loss[0] - self.loss[-1] > 2 * np.hypot(first, last))

    @property
    def used(self) -> int:
        """The shortest context from which on the loss has come nine tenths of its way from no context to all of it, as far
        as two standard errors tell.

        The shortest of all where context does not help.
        """
        if not self.helps:
            return int(self.context[0])
        surely = self.loss - 2 * np.nan_to_num(self.error)
        high = surely > self.loss[-1] + 0.1 * (self.loss[0] - self.loss[-1])
        return int(self.context[int(np.flatnonzero(high)[-1]) + 1]) if high.any() else int(self.context[0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainingCosts(Displayed):
    """One forward and backward pass of a batch at several lengths, on the processor, in a process of its own."""

    batch: int
    threads: int
    steps: NDArray[np.int64]
    seconds: Numbers
    peak: Numbers
    """Bytes above what the process held before the first."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Notebook):
    """A trained network under the lens; a part that its cell or task does not have is None."""

    run: str
    """The folder; `hf:` and the folder of a model that is not ours."""
    task: dict[str, Any]
    """Its name and options, as diagnosed."""
    cell: str
    hidden: int
    update: int
    """Whose weights these are: the best validation's; 0 of a model that is not ours."""
    steps: int
    """Of a sequence."""
    answers_from: int
    """The first step, counted from 1, whose answer the diagnosis is about."""
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

    def _summary(self) -> str:
        last = int(self.gradients.distances[-1])
        names = ("attention", "relevant", "jacobian", "context", "costs")
        parts = [name for name in names if getattr(self, name) is not None]
        found = f"gradients reach {self.gradients.reach:,} of {last:,} steps; also {', '.join(parts) or 'nothing'}"
        return f"{in_brief(self.name)}, {self.cell}, {found}"

    @property
    def name(self) -> str:
        """The folder of the run, and of a seed also that it is in."""
        place = PurePath(self.run)
        return "/".join(place.parts[-2:]) if place.name.startswith("seed-") else place.name

    def to_json(self) -> dict[str, Any]:
        """The object that `diagnose --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Diagnosis:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)
