"""Models: cells with what they read and predict, and models of other origin behind the same interface."""

from memspan.models.awd_lstm import AwdLstm as AwdLstm
from memspan.models.awd_lstm import Dropouts as Dropouts
from memspan.models.hugging_face import HuggingFaceModel as HuggingFaceModel
from memspan.models.hugging_face import HuggingFaceTokens as HuggingFaceTokens
from memspan.models.hugging_face import load_hugging_face as load_hugging_face
from memspan.models.memorized import Memorized as Memorized
