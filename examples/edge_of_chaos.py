"""How much room is there for long memory? A plain RNN has a sliver at the edge of chaos, a gated one half a line.

At the edge of chaos (chi_1 = 1) signals last for ever as long as the inputs of both copies are equal. Inputs that
differ by one percent end that; a gate's memory hardly notices them.
"""

import numpy as np

from memspan import theory

plain = theory.critical_vanilla()
gated = theory.MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=8, input_variance=0.46)
print(f"plain RNN at the edge of chaos: sigma_w = {plain.sigma_w:.4f}, chi_1 = {plain.chi1:.6f}")
for correlation in (1, 0.99, 0):
    lasting = plain.timescale(correlation), gated.timescale(correlation)
    print(f"inputs of correlation {correlation}: plain {lasting[0]:.4g} steps, gated {lasting[1]:.4g} steps")

for wanted in (10, 100, 1_000):
    sliver = theory.parameter_for(theory.VanillaField(), wanted, parameter="sigma_w").region
    print(f"plain, {wanted:5,} steps: sigma_w must be between {sliver.low:.4f} and {sliver.high:.4f}")

bias_means = np.array([6.0, 7.0, 8.0, 9.0, 10.0])  # parameters may be arrays
timescales = theory.MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=bias_means, input_variance=0.46).timescale()
print("gated, bias mean 6, 7, 8, 9, 10:", ", ".join(f"{steps:,.0f}" for steps in timescales), "steps")
