"""How long will a network remember? Theory in milliseconds, next to random networks that were really run.

The network is the minimal RNN, one gate: h' = u h + (1 - u) x. The mean of its biases sets how far its gates stand open.
"""

from memspan import theory

weights = {"sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46}

print("bias mean  phase    timescale: theory, simulated")
for bias_mean in (-4, -2, 6):
    field = theory.MinimalField(bias_mean=bias_mean, **weights)
    run = theory.growth(field.network(), width=2_048, steps=150, networks=8, seed=0)
    print(f"{bias_mean:9}  {field.phase}  {field.timescale():17.1f}, {run.timescale:.1f}")

answer = theory.parameter_for(theory.MinimalField(bias_mean=6, **weights), timescale=1_000)
print(f"for 1,000 steps: bias mean {answer.value:.2f}; every larger one will do as well: {answer.region.open}")
