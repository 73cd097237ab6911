"""Why the null must keep the sequence's own structure: far lags of slow chains, where the truth is zero.

A binary chain that flips with probability 0.01 has forgotten everything after 1,000 steps. Next to shuffled symbols
its far lags look dependent all the same, because a slow chain has fewer independent pairs than it has pairs.
"""

import memspan as ms

chain = ms.sources.MarkovChain.lazy(2, stay=0.99)
lags = range(1_000, 1_400, 20)
samples = [chain.sample(1, 400_000, seed=seed) for seed in range(20)]

print(f"true information at lag 1,000: {chain.information([1_000])[0]:.0e} nats")
for null in ("blocks", "independent"):
    curves = [ms.mutual_information(sample, lags, null=null) for sample in samples]
    estimate, floor = (sum(getattr(c, name).mean() for c in curves) / len(curves) for name in ("information", "floor"))
    alarms = sum(int(curve.significant.sum()) for curve in curves)
    print(f"--null {null}: estimate {estimate:.1e} nats, floor {floor:.1e};", end=" ")
    print(f"{100 * alarms / (len(samples) * len(lags)):.1f} % of far lags called significant")
