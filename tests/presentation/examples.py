"""Results made by hand, for the tests of figures and reports."""

from __future__ import annotations

import dataclasses

import numpy as np

from memspan.results import (
    Benchmark,
    BenchReport,
    Chart,
    Claim,
    Comparison,
    Curve,
    DecayFit,
    LawFit,
    LocalExponent,
    Measurement,
    PairVerdict,
    Reach,
    Reproduction,
    Span,
    line,
)

FLOOR = 4e-4
NOISE = 3e-5


def log_lags(last: int = 10_000) -> np.ndarray:
    """1 to 16, then 12 per decade, as the command line chooses them."""
    spaced = np.geomspace(16, last, max(2, round(12 * np.log10(last / 16)))) if last > 16 else np.arange(0)
    return np.unique(np.concatenate([np.arange(1, min(17, last + 1)), spaced.round()])).astype(np.int64)


def curve_of(lags: np.ndarray, truth: np.ndarray, *, seed: int = 0, length: int = 1_123_456) -> Curve:
    """A curve whose corrected values scatter around `truth` and whose floor is constant."""
    noise = np.random.default_rng(seed).normal(0, NOISE, lags.size)
    corrected = truth + noise
    floor, floor_sd = np.full(lags.size, FLOOR), np.full(lags.size, NOISE)
    p_value = np.where(corrected > 4 * NOISE, 1e-6, 0.3)
    seen, above = lags[p_value < 1e-3], lags[corrected > 1e-3]
    span = int(seen.max()) if seen.size else 0
    reach = float(above.max()) if above.size else 0.0
    return Curve(
        lags=lags,
        information=corrected + floor,
        floor=floor,
        floor_sd=floor_sd,
        corrected=corrected,
        stderr=0.02 * np.abs(truth) + NOISE,
        pairs=length - lags,
        p_value=p_value,
        replicates=np.zeros((8, lags.size)),
        entropy=3.02,
        alphabet=96,
        length=length,
        documents=12,
        estimator="Grassberger",
        null="shifts",
        span=Span(span, bool(seen.size and span == lags[-1])),
        reach=Reach(reach, 1e-3, (0.9 * reach, 1.12 * reach) if reach else None, False),
        stderr_bias=np.zeros(lags.size),
        undersampled=np.zeros(lags.size, bool),
        notes=("one document: the floor is from far circular shifts",),
    )


def power_fit(lags: np.ndarray) -> DecayFit:
    """Two laws, of which the power law is the better."""
    return DecayFit(
        {
            "exponential": LawFit(
                {"amplitude": 0.04, "length": 12.3},
                {"amplitude": (0.03, 0.05), "length": (11.1, 13.4)},
                220.0,
                3e-9,
                9.0,
            ),
            "power": LawFit(
                {"amplitude": 0.1, "exponent": 0.812},
                {"amplitude": (0.09, 0.11), "exponent": (0.781, 0.843)},
                15.0,
                0.97,
                1.1,
            ),
            "cutoff-power": LawFit(
                {"amplitude": 0.1, "exponent": 0.80, "length": 90_000.0},
                {"amplitude": (0.09, 0.11), "exponent": (0.75, 0.84), "length": (900.0, float("nan"))},
                22.0,
                0.03,
                1.1,
            ),
        },
        lags,
    )


def without_law(*, decays: bool = True) -> Measurement:
    """A measurement that no law fits; or, without decay, one whose best law does not fall."""
    found = measurement()
    assert found.decay is not None
    laws = {
        name: dataclasses.replace(fit, p_value=1e-5 if decays else 0.4, decays=decays)
        for name, fit in found.decay.laws.items()
    }
    local = (
        LocalExponent(1, 10, 1.83, (1.71, 1.95)),
        LocalExponent(10, 100, 0.92, (0.88, 0.96)),
        LocalExponent(100, 1000, 0.41, (0.33, 0.49)),
    )
    return dataclasses.replace(found, decay=DecayFit(laws, found.decay.lags, local))


def measurement(
    *, last: int = 10_000, seed: int = 0, path: str = "texts/novel.txt", lags: np.ndarray | None = None
) -> Measurement:
    """A power law of exponent 0.8 above a floor."""
    lags = log_lags(last) if lags is None else lags
    curve = curve_of(lags, 0.1 * lags.astype(float) ** -0.81, seed=seed)
    decay = power_fit(lags[curve.significant]) if curve.significant.sum() > 3 else None
    return Measurement((path,), "chars", curve, decay, ("a remark",), 12.5)


def independent(last: int = 1000) -> Measurement:
    """Nothing above the floor; half of the corrected values are negative."""
    lags = log_lags(last)
    curve = curve_of(lags, np.zeros(lags.size), seed=3, length=20_000)
    curve = dataclasses.replace(
        curve, p_value=np.full(lags.size, 0.4), span=Span(0, False), reach=Reach(0.0, 1e-3, None, False)
    )
    return Measurement(("noise.txt",), "bytes", curve, None, ("no law: 0 lags above the floor",), 0.4)


def comparison(names: tuple[str, ...] = ("train", "valid")) -> Comparison:
    """Sources that differ at lags 1 to 3 and agree beyond."""
    sources = {name: measurement(seed=seed, path=f"{name}.txt") for seed, name in enumerate(names)}
    lags = sources[names[0]].curve.lags
    differs = lags <= 3
    pairs = []
    for i, a in enumerate(names):
        for j, b in enumerate(names[:i]):
            noise = np.random.default_rng(7 + i + 10 * j).normal(0, NOISE, lags.size)
            apart = differs & (i == 1)
            pairs.append(
                PairVerdict(
                    a=b,
                    b=a,
                    verdict="different" if apart.any() else "alike",
                    p_value=2e-5 if apart.any() else 0.41,
                    different_lags=tuple(int(lag) for lag in lags[apart]),
                    lags=lags,
                    difference=np.where(apart, 0.02 / lags, 0.0) + noise,
                    error=np.full(lags.size, 1.4 * NOISE) + 0.001 / lags,
                    lag_p_values=np.where(apart, 2e-5, 0.7),
                    explanation=f"{b} and {a} were compared at {lags.size} lags",
                )
            )
    return Comparison(1_123_456, sources, tuple(pairs), 31.0)


def chart(name: str = "recovery") -> Chart:
    """Three styles, a band, and values that a logarithmic axis cannot show."""
    x = np.geomspace(1, 1000, 25)
    y = 0.1 * x**-0.5
    return Chart(
        name=name,
        title="The estimate recovers the power law it was given, down to the floor",
        x_label="distance in symbols",
        y_label="information, nats",
        x_scale="log",
        y_scale="log",
        lines=(
            line("exact, Eq. 46", x, y),
            line("as printed", x, y * 4, style="dashed"),
            line("measured", x, y * 1.05 - 2e-3, band=(y * 0.8 - 4e-3, y * 1.3), style="markers"),
            line("simulated", x, y * 0.5, band=(y * 0.4, y * 0.7)),
        ),
        caption="Measured points follow the exact law until the floor takes over.",
    )


def reproduction() -> Reproduction:
    """Three claims of which one fails."""
    claims = (
        Claim("the exponent 0.5 is recovered", 0.5, None, 0.493, 0.02, True),
        Claim("Eq. 47's constant", 3.94, 0.70248, 0.7025, 0.001, True),
        Claim("training reaches 99 % within 8,000 updates", 0.99, None, 0.29, 0.01, False),
    )
    return Reproduction(
        "shen-fig5", "A power law recovered", "Shen 2019, Fig. 5", "laptop", 0, claims, (chart(),), ("slow",), 312.0
    )


def bench_report() -> BenchReport:
    """One benchmark won, one lost."""
    return BenchReport(
        "two cores, Python 3.11",
        (
            Benchmark("pair counts, 256 symbols", "numpy.histogram2d", 0.8, 19.2, "s", 24.0),
            Benchmark("import", "scikit-learn", 0.12, 0.06, "s", 0.5),
            Benchmark("every lag", "automutualinformation", 1.0, 1430.0, "s", 1430.0),
        ),
        88.0,
    )
