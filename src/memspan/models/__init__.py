"""Models: cells with what they read and write."""

from memspan.models.memorized import Memorized as Memorized
