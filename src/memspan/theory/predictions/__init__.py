"""What the command `predict` answers: the theory of one network as a result, with its figures as plain data.

>>> found = predict_cell("minimal-rnn", DEFAULTS["minimal-rnn"] | {"bias_mean": 8.0}, Asked())
>>> found.phase, round(found.timescale)
('critical', 964)
"""

from memspan.theory.predictions.attention import predict_attention as predict_attention
from memspan.theory.predictions.cells import predict_cell as predict_cell
from memspan.theory.predictions.linear import predict_linear as predict_linear
from memspan.theory.predictions.phase_diagram import Axis as Axis
from memspan.theory.predictions.phase_diagram import phase_diagram as phase_diagram
from memspan.theory.predictions.question import DEFAULTS as DEFAULTS
from memspan.theory.predictions.question import Asked as Asked
