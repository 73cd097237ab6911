"""A linear network of your own: its memory exactly, next to what is estimated from what it generates."""

import numpy as np

from memspan import theory

network = theory.LinearRNN(
    W_h=[[0.6, 0.2], [0.3, -0.2], [0.1, 0.4]],  # hidden from visible
    U_h=[[0.7, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, -0.2]],  # hidden from hidden
    U_o=[[0.4, 0.3, 0.1], [-0.1, 0.3, 0.2]],  # visible from hidden
)
network.save("linear.safetensors")  # memspan predict linear --file linear.safetensors
network = theory.LinearRNN.load("linear.safetensors")
print(f"slowest mode {network.rate:.4f}, so a correlation length of {network.correlation_length:.2f} steps")

lags = np.array([1, 2, 4, 8, 16])
exact = network.information(lags)
samples = network.sample(documents=2_000, length=500, seed=0)
print("lag  exact     from samples (nats)")
for lag, truth in zip(lags.tolist(), exact, strict=True):
    pairs = np.concatenate([samples[:, :-lag], samples[:, lag:]], axis=2).reshape(-1, 4)
    joint = np.cov(pairs.T)
    alone = np.linalg.slogdet(joint[:2, :2])[1] + np.linalg.slogdet(joint[2:, 2:])[1]
    print(f"{lag:3}  {truth:.2e}  {(alone - np.linalg.slogdet(joint)[1]) / 2:.2e}")

far = network.information([200, 201])
print(f"far out it falls by {far[1] / far[0]:.4f} a step; the slowest mode squared is {network.rate**2:.4f}")
