"""What `evaluate` finds in the text that a run's network writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class SegmentInformation:
    """How much two segments of a text tell of each other: a lower bound, in nats."""

    nats: float
    """The mean over the folds"""
    interval: tuple[float, float]
    """Its 95 % interval, by Student's t over the folds"""
    folds: tuple[float, ...]


@final
@dataclass(frozen=True)
class WrittenSegments:
    """Segments of what a network writes, beside those of as much of the text that it learnt from."""

    written: SegmentInformation
    real: SegmentInformation
    symbols: int
    """Of each of the two texts"""
    streams: int
    """Pieces that each is made of; no pair of segments crosses from one to the next"""
    length: int
    """Symbols of a segment"""
    gap: int
    """Symbols between the two of a pair"""
    seed: int


@final
@dataclass(frozen=True)
class ReversePerplexity:
    """How well a fresh language model that has read only what a network writes foretells the real text."""

    valid_loss: float
    """Nats per symbol of the real validation text"""
    test_loss: float
    """Nats per symbol of the real test text"""
    written_loss: float
    """Nats per symbol of a part of the written text that was kept from it"""
    valid_perplexity: float
    """e to the power of `valid_loss`"""
    test_perplexity: float
    symbols: int
    """That were written"""
    updates: int
    """Of the fresh model"""
    best_update: int
    """After which it foretold the part that was kept from it best; its weights of then are judged"""
    parameter_count: int
    seed: int
