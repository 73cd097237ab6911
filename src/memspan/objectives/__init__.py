"""What a training is nudged towards besides its task."""

from memspan.objectives.objective import Objective as Objective
