"""How far back does source code remember? Measure a package of Python's standard library, a file a document."""

import sysconfig
from pathlib import Path

import memspan as ms

files = sorted(Path(sysconfig.get_path("stdlib"), "asyncio").glob("*.py"))
text = ms.read(files, symbols="chars")
found = ms.measure(text, ms.log_lags(1, 1_000))
curve = found.curve

print(f"{text.length:,} characters in {text.n_documents} files, {len(text.alphabet)} different ones")
print(f"dependence is visible to lag {curve.span.lag:,} with this much text")
print(f"it falls below {curve.reach.level:g} nats at lag {curve.reach.lag:.0f}")
for lag in (1, 10, 100, 1_000):
    index = curve.lags.tolist().index(lag)
    print(f"lag {lag:5}: {curve.corrected[index]:8.5f} ± {curve.error[index]:.5f} nats")
