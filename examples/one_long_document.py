"""A limit, shown: one long document of a very slow law looks steeper than it is; many documents do not.

Frequencies and pairs come from the same document, so what drifts slowly through all of it counts as composition and
not as dependence. No null can bring that back. Documents drawn apart show it as what it is.
"""

import memspan as ms

law = ms.sources.PowerLawBinary(amplitude=0.1, exponent=0.4)
seeds = range(6)
cases = {
    "1 document of 300,000, null blocks": (1, 300_000, "blocks"),
    "1 document of 300,000, null independent": (1, 300_000, "independent"),
    "1,000 documents of 1,000, null blocks": (1_000, 1_000, "blocks"),
}
print(f"true exponent {law.exponent}")
for name, (documents, length, null) in cases.items():
    found, covered = [], 0
    for seed in seeds:
        sample = law.sample(documents, length, seed=seed)
        curve = ms.mutual_information(sample, ms.log_lags(1, 300), null=null)
        power = ms.fit_decay(curve, [ms.decay.LAWS["power"]])["power"]
        low, high = power.intervals["exponent"]
        found.append(power.parameters["exponent"])
        covered += low <= law.exponent <= high
    mean, least, most = sum(found) / len(found), min(found), max(found)
    print(f"{name}: {mean:.2f} (from {least:.2f} to {most:.2f}), in the interval {covered} of {len(found)} times")
