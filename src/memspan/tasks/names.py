"""The words of the command line for tasks."""

from __future__ import annotations

from memspan.tasks.adding import Adding
from memspan.tasks.binary_sequences import BinarySequences
from memspan.tasks.copying import Copy
from memspan.tasks.denoising import Denoise
from memspan.tasks.noisy_digits import NoisyDigits
from memspan.tasks.sequential_digits import PermutedDigits, SequentialDigits
from memspan.tasks.task import Task
from memspan.tasks.text import CharacterText, WordText

TASKS: dict[str, type[Task]] = {
    "copy": Copy,
    "denoise": Denoise,
    "adding": Adding,
    "noisy-digits": NoisyDigits,
    "digits": SequentialDigits,
    "permuted-digits": PermutedDigits,
    "binary": BinarySequences,
    "characters": CharacterText,
    "words": WordText,
}
