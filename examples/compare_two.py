"""Do two sequences remember alike? Two samples of one source, and one of another, at equal size."""

import memspan as ms

fast, slow = (ms.sources.MarkovChain.lazy(4, stay=stay) for stay in (0.5, 0.7))
found = ms.compare(
    {
        "fast": fast.sample(100, 2_000, seed=1),
        "fast again": fast.sample(300, 2_000, seed=2),
        "slow": slow.sample(100, 2_000, seed=3),
    },
    ms.log_lags(1, 100),
)

print(f"{found.size:,} symbols of each source")
for pair in found.pairs:
    print(f"{pair.a} and {pair.b}: {pair.verdict} (p = {pair.p_value:.2g})")
    print(f"    {pair.explanation}")
