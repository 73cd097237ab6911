"""Networks trained on the batches of a task: configuration, learner, evaluation, and the text they generate.

from memspan.training.supervised.defaults import defaults
from memspan.training.supervised.config import from_json
from memspan.training import train

run = train(from_json(defaults("copy", "rel-rnn")), Path("runs/copy"))
run.accuracy, run.best_update
"""
