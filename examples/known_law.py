"""Does it find the law it was given? Binary sequences whose information is exactly 0.1 / lag^0.5 nats."""

import memspan as ms

law = ms.sources.PowerLawBinary(amplitude=0.1, exponent=0.5)
curve = ms.mutual_information(law.sample(2_000, 1_000, seed=0), lags=ms.log_lags(1, 300))
fit = ms.fit_decay(curve)
power = fit["power"]

low, high = power.intervals["exponent"]
print(f"best law: {fit.best}, weight {fit[fit.best].weight:.2f}")
print(f"exponent: {power.parameters['exponent']:.3f} [{low:.3f}, {high:.3f}], truth {law.exponent}")
print(f"amplitude: {power.parameters['amplitude']:.4f} nats, truth {law.amplitude}")
farthest = abs((curve.corrected - law.information(curve.lags)) / curve.error).max()
print(f"farthest of {len(curve.lags)} points from the truth: {farthest:.1f} standard errors")
