"""Count shards apart, anywhere, add the counts, measure once: the answer is that of one run over all."""

import tempfile
from pathlib import Path

import memspan as ms

source = ms.sources.MarkovChain.lazy(5, stay=0.8)
shards = [source.sample(50, 2_000, seed=seed) for seed in range(4)]
lags = ms.log_lags(1, 200)  # the same for every shard, or the counts cannot be added

with tempfile.TemporaryDirectory() as folder:
    for number, shard in enumerate(shards):  # each could run on a machine of its own
        ms.count_pairs(shard, lags).save(Path(folder, f"{number}.counts"))
    first, *others = (ms.PairCounts.load(path) for path in sorted(Path(folder).glob("*.counts")))
total = sum(others, start=first)
curve = ms.mutual_information(total)

whole = ms.Sequence.from_documents([document for shard in shards for document in shard.documents()])
at_once = ms.count_pairs(whole, lags)
same = all((total.joint(lag) == at_once.joint(lag)).all() for lag in lags.tolist())
print(f"{len(shards)} shards, {curve.length:,} symbols, {curve.documents} documents")
print(f"the same counts as in one run: {'yes' if same else 'no'}")
print(f"dependence is visible to lag {curve.span.lag}; {curve.corrected[0]:.4f} nats at lag 1,", end=" ")
print(f"exactly {source.information([1])[0]:.4f}")
