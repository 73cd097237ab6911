"""The engine of every training: folder, checkpoints, journal, stop requests, limits, resuming, training many.

A `Learner` does one update at a time; supervised networks and PPO agents implement it. `run_learner` drives it until a
limit is reached, saves so that a killed run resumes to the same bytes, and `train_many` does this for several folders.
"""

from memspan.training.run.checkpoint import Position as Position
from memspan.training.run.folder import RunFolder as RunFolder
from memspan.training.run.loop import DivergenceError as DivergenceError
from memspan.training.run.loop import Learner as Learner
from memspan.training.run.loop import StopRequest as StopRequest
from memspan.training.run.loop import TrainingInterrupted as TrainingInterrupted
from memspan.training.run.loop import run_learner as run_learner
from memspan.training.run.sweep import TrainingJob as TrainingJob
from memspan.training.run.sweep import train_many as train_many
