"""Bootstrapping a mutual-information regularizer: a language model learns what belongs together.  Cao and Xu 2020."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.model import Model
from memspan.objectives.bounds import donsker_varadhan, softplus_proxy
from memspan.objectives.discriminator import Discriminator
from memspan.objectives.objective import Objective
from memspan.objectives.policy import policy_loss
from memspan.objectives.raml import effective_size, raml_loss
from memspan.objectives.reading import Reader, pooled, width
from memspan.objectives.segments import LENGTH, Pairs, Segments, draw_pairs
from memspan.sampling.writing import at_rest
from memspan.tasks import Batch
from memspan.tasks.task import SPLITS

FLAT = 1e-4
"""Standard deviation of its scores below which a discriminator tells nothing apart."""
PATIENCE = 200
"""Updates of flat scores in a row before that is worth a word."""


@final
@dataclass(frozen=True, kw_only=True)
class BmiConfig:
    """The information between segments that follow each other, as a second goal of a language model."""

    name: Literal["none", "base", "full"] = "none"
    """base: a discriminator of neighbours learns beside the language model (Eq. 6); full: after the switch, segments nearby
    are also learnt as continuations, each by its weight (Eq. 16)."""
    weight: float = 0.1
    """Of the discriminator's goal."""
    second_weight: float = 0.1
    """Of the continuations, per symbol. The authors' program has 1 for the sum over its 12 segments."""
    second: Literal["raml", "policy"] = "raml"
    """What comes after the switch: segments of the text, weighted (IW-RAML), or what the model writes, rewarded."""
    switch_at: int | None = None
    """The update of the switch; None: after half of them, or with nt-asgd when validation no longer improves."""
    pairs: int = 12
    """Of each kind, at every update."""
    segments: Literal["lines", "windows"] = "lines"
    """Lines of the text, or pieces of equal length."""
    length: int = LENGTH
    """Symbols of a segment, at the most."""
    gap: int = 0
    """Symbols between one window and the next."""
    proposal: float = 0.3
    """How likely the next segment is the one that is drawn; else the one after it, and so on."""
    temperature: float = 1.0
    """Of the weights of what is drawn."""
    hidden: int = 500
    """Units of the discriminator."""
    swapped: bool = False
    """Whether a second discriminator scores pairs the other way round, too."""
    input_dropout: float = 0.1
    hidden_dropout: float = 0.3
    padding: bool = False
    """Whether short segments are filled up to `length` with the unknown word, and that is pooled, too, as in the authors'
    program."""
    learning_rate: float = 2e-4
    weight_decay: float = 1e-6


def check_bmi(config: BmiConfig) -> None:
    """Numbers that can have no meaning are told before anything is built."""
    for name in ("weight", "second_weight", "temperature", "learning_rate"):
        value = getattr(config, name)
        if not 0 < value < math.inf:
            raise InputError(f"bmi.{name} is {value}; expected a finite number above 0")
    for name, least in (("pairs", 2), ("length", 2), ("gap", 0), ("hidden", 1), ("switch_at", 1)):
        value = getattr(config, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise InputError(f"bmi.{name} is {value}; expected a whole number of {least} or more")
    if not 0 < config.proposal < 1:
        raise InputError(f"bmi.proposal is {config.proposal}; expected a probability between 0 and 1")
    for name in ("input_dropout", "hidden_dropout"):
        value = getattr(config, name)
        if not 0 <= value < 1:
            raise InputError(f"bmi.{name} is {value}; expected 0 or more and below 1")
    if not 0 <= config.weight_decay < math.inf:
        raise InputError(f"bmi.weight_decay is {config.weight_decay}; expected a finite number of 0 or more")


def _check_reader(model: object) -> None:
    """Refuse what cannot read segments."""
    if not isinstance(model, Reader):
        raise InputError(
            f"{type(model).__name__} has no outputs(symbols) or no answered(hidden); expected a model of memspan.models, or "
            "any torch module with both: the states of every layer, and logits of the last"
        )


@final
class Bmi(Objective):
    """-weight * I~(X; Y) of neighbours; after the switch also -second_weight * sum_i w_i log Q(Y_i | X_i).

    `bound` in its metrics is what the discriminator tells of the information in nats (Eq. 4), with one product pair for each
    joint one: a noisy number, to be averaged over many updates.
    """

    second_phase: Tensor
    """() bool: whether the switch has been made, here or in the run that this one begins with"""
    flat: Tensor
    """() int64: updates in a row whose scores were all alike"""

    def __init__(self, config: BmiConfig, segments: Segments, model: Reader, seed: int) -> None:
        """`model` is looked at for its sizes only."""
        super().__init__()
        check_bmi(config)
        _check_reader(model)
        self.config, self.segments, self.seed = config, segments, seed
        device = next(model.parameters()).device
        vectors = width(model, segments.take(np.arange(1), device))
        self.discriminator = Discriminator(
            vectors,
            config.hidden,
            swapped=config.swapped,
            input_dropout=config.input_dropout,
            hidden_dropout=config.hidden_dropout,
        )
        self.register_buffer("second_phase", torch.zeros((), dtype=torch.bool))
        self.register_buffer("flat", torch.zeros((), dtype=torch.int64))

    @property
    def name(self) -> str:
        return "bmi"

    @property
    def learning_rate(self) -> float:
        return self.config.learning_rate

    @property
    def weight_decay(self) -> float:
        return self.config.weight_decay

    @property
    def switch_at(self) -> int | None:
        return self.config.switch_at

    @property
    def remedy(self) -> str:
        rate = self.config.learning_rate / 3
        return f"a smaller rate of its discriminator (--set bmi.learning_rate={rate:.1g}) or a smaller bmi.weight"

    @property
    def warning(self) -> str | None:
        if self.flat < PATIENCE:
            return None
        return (
            f"the discriminator of bmi gave all pairs the same score for {PATIENCE} updates, so it tells nothing; the "
            "language model goes on learning; try a larger bmi.learning_rate or a smaller bmi.weight"
        )

    @property
    def left_out(self) -> str | None:
        if self.config.name != "full" or self.second_phase:
            return None
        why = (
            "validation improved to the end; set when it comes by bmi.switch_at, or train for longer"
            if self.switch_at is None
            else f"training ended before update {self.switch_at:,}; train for longer, or set bmi.switch_at lower"
        )
        return f"bmi.name is full, and the switch never came, so that segments nearby were not learnt from: {why}"

    def on_switch(self) -> None:
        self.second_phase.fill_(self.config.name == "full")

    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        assert isinstance(model, Reader)
        config, device = self.config, batch.inputs.device
        drawn = self.drawn(index)
        second = config.second if self.second_phase and config.name == "full" else None
        kinds = [drawn.first, drawn.next, drawn.other, *([drawn.near] if second == "raml" else [])]
        together = self.segments.take(np.concatenate(kinds), device, whole=config.padding)
        first, following, other, *near = pooled(model, together, padding=config.padding).chunk(len(kinds))
        joint, product = self.discriminator(first, following), self.discriminator(first, other)
        loss = -config.weight * softplus_proxy(joint, product)
        told = self._told(joint.detach(), product.detach())
        if second == "raml":
            x, y = (
                together.columns(slice(place * config.pairs, (place + 1) * config.pairs)) for place in (0, 3)
            )
            with at_rest(self.discriminator):
                drawn_scores, true_scores = (self.discriminator(first, each) for each in (*near, following))
            nearby, weights = raml_loss(
                model, x, y, drawn_scores, true_scores, drawn.log_proposal, config.temperature
            )
            loss = loss + config.second_weight * nearby
            told |= {"nearby": nearby.item(), "effective": effective_size(weights)}
        elif second == "policy":
            assert isinstance(model, Model), "who writes needs a state"
            x = self.segments.take(drawn.first, device, whole=config.padding)
            rewarded, reward = policy_loss(
                model, self.discriminator, x, config.length, self._random(index, 1), padding=config.padding
            )
            loss = loss + config.second_weight * rewarded
            told |= {"reward": reward}
        return loss, told

    def drawn(self, index: int) -> Pairs:
        """The pairs of batch number `index`."""
        return draw_pairs(len(self.segments), self.config.pairs, self._random(index, 0), self.config.proposal)

    def _random(self, index: int, purpose: int) -> np.random.Generator:
        # Batches have the numbers of [seed, split, index].
        return np.random.default_rng([self.seed, len(SPLITS) + purpose, index])

    def _told(self, joint: Tensor, product: Tensor) -> dict[str, float]:
        scores = torch.cat([joint, product])
        spread = float(scores.std())
        self.flat = self.flat + 1 if spread < FLAT else torch.zeros_like(self.flat)
        right = torch.cat([joint > 0, product < 0]).float().mean()
        return {
            "bound": float(donsker_varadhan(joint, product)),
            "accuracy": float(right),
            "spread": spread,
        }
