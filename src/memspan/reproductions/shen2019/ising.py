"""The Ising chain, sampled spin by spin: where the Boltzmann distribution becomes a Markov chain, and where it does not.

Shen 2019, appendix G, Eq. 55 to 62. Distributions of a few spins are exact sums over all configurations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, information_chart, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, Curve, line
from memspan.sequences.sources import IsingChain

Floats = NDArray[np.float64]

# Difference of two exact computations of a probability.
ROUNDING = 1e-12
# Difference of two probabilities that is a real dependence.
DEPENDS = 0.01
# beta times the field that breaks the symmetry between up and down.
FIELD = 0.4
# beta J of the chains whose conditional distributions are compared.
COUPLING = 0.5
# J(r) = J r^-2: the interaction that reaches all spins.
POWER = 2.0
LAGS = np.arange(1, 21)
# Samples are compared where more than this is shared, in nats. Below, an estimate is noise around zero, which is not normal
# but chi-squared, so that standard errors do not bound it.
SHARED = 1e-3


def run(
    *, spins: int, couplings: tuple[float, ...], documents: int, length: int, seed: int, progress: Progress
) -> Outcome:
    """Check Eq. 62 for chains of `spins` spins, and measure samples drawn with it."""
    curves: dict[float, Curve] = {}
    for number, coupling in enumerate(tracked(couplings, progress, "measuring Ising chains")):
        generator = np.random.default_rng([seed, number])
        sample = IsingChain(coupling).sample(documents, length, seed=generator)
        curves[coupling] = mutual_information(sample, LAGS, seed=seed)
    claims = (*_conditional_claims(spins, couplings), *_information_claims(spins, curves), *_relaxed_claims(spins))
    return Outcome(claims, (_information_chart(curves), _dependence_chart(spins)), (_NOTE,))


# --- Exact distributions


def nearest(spins: int, coupling: float) -> Floats:
    """beta J(|i - j|) for neighbors only, Eq. 60, as a matrix above its diagonal."""
    return np.diag(np.full(spins - 1, coupling), 1)


def interactions(spins: int, coupling: float, reach: int) -> Floats:
    """beta J(r) = beta J r^-2 up to r = `reach`, above the diagonal."""
    r = np.arange(spins) - np.arange(spins)[:, None]
    return np.where((r >= 1) & (r <= reach), coupling * np.maximum(r, 1) ** -POWER, 0.0)


def boltzmann(matrix: Floats, field: float = 0.0) -> Floats:
    """p(s_1, …, s_N) by Eq. 56 and 57 with a sum over the entries of `matrix`; the first spin changes slowest."""
    spins = len(matrix)
    s = 2.0 * (np.arange(2**spins)[:, None] >> np.arange(spins)[::-1] & 1) - 1.0
    energy = np.einsum("ni,ij,nj->n", s, matrix, s) + field * s.sum(1)
    weights = np.exp(energy.min() - energy)
    return weights / weights.sum()


def conditionals(p: Floats, t: int) -> Floats:
    """p(s_t = +1 | s_1, …, s_{t-1}), Eq. 58, for every configuration of the first t - 1 spins."""
    joint = p.reshape(2 ** (t - 1), 2, -1).sum(2)
    return joint[:, 1] / joint.sum(1)


def eq62(coupling: float, t: int) -> Floats:
    """Eq. 62 for s_t = +1 and every configuration of the first t - 1 spins."""
    before = np.tile([-1.0, 1.0], 2 ** (t - 2))
    return np.exp(-coupling * before) / (2 * np.cosh(coupling * before))


def with_field(spins: int, coupling: float, field: float, t: int) -> Floats:
    """The same with a field, by products of 2 x 2 transfer matrices: the work grows linearly with the chain."""
    s = np.array([-1.0, 1.0])
    transfer = np.exp(-coupling * np.outer(s, s) - field * s)
    later = np.ones(2)
    for _ in range(spins - t):
        later = transfer @ later
        later /= later.sum()  # only ratios count, and products over a long chain would overflow
    weights = transfer * later
    return np.tile(weights[:, 1] / weights.sum(1), 2 ** (t - 2))


def dependence(p: Floats, t: int, known: int) -> float:
    """How much p(s_t | …) still varies when the last `known` spins before s_t are fixed."""
    return float(np.ptp(conditionals(p, t).reshape(-1, 2**known), axis=0).max())


def exact_information(p: Floats, tau: int) -> float:
    """I(s_1; s_{1+tau}) in nats."""
    joint = p.reshape(2, 2 ** (tau - 1), 2, -1).sum((1, 3))
    return float((joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum())


# --- Claims


def _largest(measured: list[Floats], expected: list[Floats]) -> float:
    return max(float(np.abs(one - other).max()) for one, other in zip(measured, expected, strict=True))


def _conditional_claims(spins: int, couplings: ArrayLike) -> list[Claim]:
    values, times = np.asarray(couplings).tolist(), range(2, spins + 1)
    exact = [conditionals(boltzmann(nearest(spins, value)), t) for value in values for t in times]
    # Eq. 57 has a sum over all i and j, in which every pair occurs twice.
    twice = nearest(spins, COUPLING) + nearest(spins, COUPLING).T
    doubled = conditionals(boltzmann(twice), spins)[1]
    return [
        claim(
            f"Eq. 62 is the exact conditional distribution of every spin of a chain of {spins} spins with interactions "
            "of neighbors, whatever comes before s_{t-1} or later. (Measured: the largest difference of probabilities.)"
        ).near(_largest(exact, [eq62(value, t) for value in values for t in times]), ROUNDING, paper=0.0),
        claim(
            "Eq. 62 belongs to the sum over pairs i < j of Eq. 56. The sum over all i and j in Eq. 57 counts every pair "
            "twice. (Measured: beta J of the conditional distribution that follows from Eq. 57, in units of beta J.)"
        ).near(-0.5 * np.log(doubled / (1 - doubled)) / COUPLING, ROUNDING, paper=1.0, corrected=2.0),
    ]


def _information_claims(spins: int, curves: dict[float, Curve]) -> list[Claim]:
    taus = np.arange(1, spins)
    p = boltzmann(nearest(spins, COUPLING))
    exact = np.array([exact_information(p, int(tau)) for tau in taus])
    far = IsingChain(COUPLING).information([100, 101])
    expected = np.array([IsingChain(coupling).information(LAGS) for coupling in curves])
    measured, errors = (np.array([getattr(curve, of) for curve in curves.values()]) for of in ("corrected", "error"))
    shared = expected > SHARED
    return [
        claim(
            "The information of two spins is that of a Markov chain of two symbols whose correlation is tanh(beta J)^tau "
            "in size. (Measured: the largest difference from the sum over all configurations, in nats.)"
        ).near(np.abs(exact - IsingChain(COUPLING).information(taus)).max(), ROUNDING, paper=0.0),
        claim(
            "The information decays exponentially: far away each step multiplies it by tanh(beta J)^2. (Measured: the "
            "factor from lag 100 to lag 101.)"
        ).near(far[1] / far[0], ROUNDING, corrected=np.tanh(COUPLING) ** 2),
        claim(
            f"Samples drawn spin by spin with Eq. 62 have this information for {len(curves)} values of beta J, at the "
            f"{shared.sum()} lags up to {LAGS[-1]} at which it is above {SHARED:g} nats."
        ).within_errors(measured[shared], expected[shared], errors[shared]),
    ]


def _relaxed_claims(spins: int) -> list[Claim]:
    """What is left if one of the two properties is missing that the derivation needs."""
    times = range(3, spins + 1)
    field = boltzmann(nearest(spins, COUPLING), FIELD)
    exact = [conditionals(field, t) for t in times]
    second = boltzmann(interactions(spins, COUPLING, 2))
    long_range = boltzmann(interactions(spins, COUPLING, spins))
    middle = spins // 2 + 1
    return [
        claim(
            f"Without the spin flip symmetry, in a field of {FIELD} / beta, Eq. 62 fails, also with the field in its "
            "exponent. (Measured: the largest difference of probabilities.)"
        ).above(_largest(exact, [_local_field(t) for t in times]), DEPENDS),
        claim(
            "In a field the conditional distribution still depends on s_{t-1} only. (Measured: how much it varies with "
            "the spins before.)"
        ).near(max(dependence(field, t, 1) for t in times), ROUNDING, corrected=0.0),
        claim(
            "In a field the calculation is not intractable: one 2 x 2 matrix for each later spin gives the exact "
            "conditional distribution. (Measured: the largest difference of probabilities.)"
        ).near(_largest(exact, [with_field(spins, COUPLING, FIELD, t) for t in times]), ROUNDING, corrected=0.0),
        claim(
            "With interactions of next neighbors as well, it depends on s_{t-2}. (Measured: how much it varies with s_{t-2} "
            "and the spins before.)"
        ).above(dependence(second, middle, 1), DEPENDS),
        claim(
            "It then depends on the last two spins only, so interactions of finite range are Markov chains of that order. "
            "(Measured: how much it varies with the spins before these two.)"
        ).near(dependence(second, middle, 2), ROUNDING, corrected=0.0),
        claim(
            f"With interactions of all spins, J(r) = J r^-{POWER:g}, the spins before the last two matter, too. (Measured: "
            "how much it varies with them.)"
        ).above(dependence(long_range, middle, 2), ROUNDING * 1e6),
    ]


def _local_field(t: int) -> Floats:
    """Eq. 62 with the field on s_t, and nothing of later spins."""
    before = np.tile([-1.0, 1.0], 2 ** (t - 2))
    return 1 / (1 + np.exp(2 * (COUPLING * before + FIELD)))


# --- Charts


def _information_chart(curves: dict[float, Curve]) -> Chart:
    exact = [
        dashed(f"exact, beta J = {coupling:g}", LAGS, IsingChain(coupling).information(LAGS)) for coupling in curves
    ]
    measured = [
        points(f"samples, beta J = {coupling:g}", curve.lags, curve.corrected, curve.error)
        for coupling, curve in curves.items()
    ]
    return information_chart(
        "information",
        "Spins of a chain with interactions of neighbors: the information decays exponentially",
        "spins",
        [*exact, *measured],
        "Samples drawn spin by spin with Eq. 62 (markers, with two standard errors) and the exact information (dashed). "
        "A straight line is an exponential. Values at or below zero, which are noise, are not shown.",
        log="y",
    )


def _dependence_chart(spins: int) -> Chart:
    known = np.arange(1, spins - 1)
    models = {
        "interactions of neighbors": boltzmann(nearest(spins, COUPLING)),
        "the same in a field": boltzmann(nearest(spins, COUPLING), FIELD),
        "interactions of next neighbors, too": boltzmann(interactions(spins, COUPLING, 2)),
        f"interactions of all spins, r^-{POWER:g}": boltzmann(interactions(spins, COUPLING, spins)),
    }
    # Exact zeros would be missing on a logarithmic axis.
    return chart(
        "dependence",
        "How many earlier spins the conditional distribution depends on",
        "known spins before the last one",
        "largest change of p(s_N) by all other spins",
        [
            line(name, known, [max(dependence(p, spins, int(k)), ROUNDING / 1e4) for k in known])
            for name, p in models.items()
        ],
        f"Chains of {spins} spins with beta J = {COUPLING:g}, the last spin given all others. Where a line reaches the "
        "bottom, rounding, the known spins are all that counts: one spin for interactions of neighbors, two if next "
        "neighbors interact. With interactions of all spins every one counts.",
        log="y",
    )


_NOTE = (
    "The appendix calls the nearest-neighbor chain a one-gram model; its conditional distribution depends on one earlier "
    "symbol. It also says that relaxing either property makes the calculation intractable. That is so for interactions of "
    "all spins, whose sum has 2^(N - t) terms, but neither for a field nor for interactions of finite range."
)
