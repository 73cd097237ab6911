"""What attention does for a gradient: along a network, exactly, and for ever, as a power of the distance."""

import numpy as np

from memspan import theory

rng = np.random.default_rng(0)
n, steps = 8, 60
V, U, W_a, U_a = rng.normal(size=(4, n, n)) / np.sqrt(n)
network = theory.AttentiveRNN(0.8 * V, U, np.zeros(n), theory.Additive(W_a, U_a, rng.normal(size=n)))
run = network.run(x=rng.normal(size=(steps - 1, n)), h_1=np.zeros(n))

whole, parts = run.gradient(1, steps), run.gradient_by_depth(1, steps)
print(f"gradient of s_{steps} by h_1: {np.linalg.norm(whole):.2e}")
for depth in (0, 1, 2, steps - 1):
    print(f"  along paths of {depth:2} factors: {np.linalg.norm(parts[depth]):.2e}")

print("eigenvalue  exponent of T  printed in the source")
for eigenvalue in (-0.5, 0.3, 0.5, 0.7):
    decay = theory.attention_prediction(eigenvalue, steps=1_000)
    print(f"{eigenvalue:10}  {decay.exponent:13.3f}  {decay.printed_exponent:.3f}")
