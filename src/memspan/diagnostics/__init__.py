"""Diagnostics of trained networks: gradients, attention, Jacobians, context and cost, as functions of time.

Every function takes a network, a task and a seed and returns a frozen result; `diagnose` applies all of them to a run.
"""

from memspan.diagnostics.attention import attention_map as attention_map
from memspan.diagnostics.context import context_loss as context_loss
from memspan.diagnostics.costs import training_costs as training_costs
from memspan.diagnostics.diagnosis import diagnose as diagnose
from memspan.diagnostics.gradients import gradient_norms as gradient_norms
from memspan.diagnostics.hugging_face import diagnose_foreign as diagnose_foreign
from memspan.diagnostics.jacobians import jacobian_spectrum as jacobian_spectrum
