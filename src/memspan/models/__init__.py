"""Models: cells with what they read and write."""

from memspan.models.awd_lstm import AwdLstm as AwdLstm
from memspan.models.awd_lstm import Dropouts as Dropouts
from memspan.models.memorized import Memorized as Memorized
