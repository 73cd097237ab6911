"""What a trained network does with its past: where gradients arrive, what is looked at, and what it costs.

Every function takes a network, a task and a seed, and gives a frozen result; `diagnose` does all of them for a run.
"""

from memspan.diagnostics.attention import attention_map as attention_map
from memspan.diagnostics.contexts import context_loss as context_loss
from memspan.diagnostics.costs import training_costs as training_costs
from memspan.diagnostics.diagnosing import diagnose as diagnose
from memspan.diagnostics.foreign import diagnose_foreign as diagnose_foreign
from memspan.diagnostics.gradients import gradient_norms as gradient_norms
from memspan.diagnostics.jacobians import jacobian_spectrum as jacobian_spectrum
