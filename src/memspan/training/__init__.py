"""Training that never loses work: configurations, the loop, checkpoints, and runs that resume to the same bytes."""

from memspan.training.config import CellConfig as CellConfig
from memspan.training.config import Config as Config
from memspan.training.config import InitConfig as InitConfig
from memspan.training.config import TrainingConfig as TrainingConfig
from memspan.training.loop import DivergenceError as DivergenceError
from memspan.training.seeds import resume_seeds as resume_seeds
from memspan.training.seeds import train_seeds as train_seeds
from memspan.training.training import TrainingInterrupted as TrainingInterrupted
from memspan.training.training import resume as resume
from memspan.training.training import train as train
