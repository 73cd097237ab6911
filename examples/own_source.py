"""A Markov chain of your own: its exact information at every lag, next to what is measured on a sample."""

import numpy as np

import memspan as ms

weather = ms.sources.MarkovChain(
    np.array(
        [
            [0.80, 0.15, 0.05],  # after a sunny day: sunny, cloudy, rainy
            [0.30, 0.40, 0.30],
            [0.10, 0.30, 0.60],
        ]
    )
)
lags = [1, 2, 3, 5, 8, 12, 20, 40]
exact = weather.information(lags)
curve = ms.mutual_information(weather.sample(1, 500_000, seed=0), lags)

print("lag  exact     measured")
for lag, truth, value, error in zip(lags, exact, curve.corrected, curve.error, strict=True):
    print(f"{lag:3}  {truth:.2e}  {value:.2e} ± {error:.0e}")
print(f"dependence is visible to lag {curve.span.lag}; beyond, it is too small for a sample of this size")
