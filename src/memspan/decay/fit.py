"""`fit_decay`: every law fitted to the significant part of a curve, with honest intervals.

Lags share the data, so their errors are correlated. Parameters are weighted least squares; their 95 % intervals come
from refitting on each jackknife replicate; AICc is from generalised least squares with the replicates' covariance, shrunk
towards its diagonal. It ranks the laws, but the best of six may still be wrong: a lack-of-fit test says whether the
residuals are larger than the errors explain (`LawFit.p_value`, `LawFit.fits`), and local exponents describe a curve that no
law fits.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import leastsq
from scipy.special import fdtrc

from memspan.decay.laws import LAWS, LIMIT, Law, PowerLaw
from memspan.errors import EvidenceError, InputError
from memspan.results import Curve, DecayFit, LawFit, LocalExponent
from memspan.statistics import jackknife_error, student_quantile

Floats = NDArray[np.float64]
FEWEST_LAGS = 4
# Logarithm beyond which a parameter has no meaning: lengths of 1e9 symbols, amplitudes of 1e-9 nats.
DEGENERATE = 20.0
# With 8 to 16 replicates the covariance is never taken without some of its diagonal.
LEAST_SHRINKAGE = 0.1
# Bands of lags in the lack-of-fit test: Hotelling's T^2 needs clearly more blocks than dimensions to have any power.
BLOCKS_PER_BAND, MOST_BANDS = 3, 12
# Smallest relative error of a value: a sequence that repeats itself exactly has none of its own.
ROUNDING = 1e-6
# A law that loses a smaller share of its value over all fitted lags is constant up to rounding.
SMALLEST_LOSS = 1e-5
# Fewest fitted lags in a range that has a local exponent of its own.
LOCAL_LAGS = 3


def fit_decay(
    curve: Curve,
    laws: Iterable[Law] | None = None,
    *,
    above: float | None = None,
    first: int = 1,
    last: int | None = None,
) -> DecayFit:
    """Every law with its parameters, intervals, AICc weight and lack of fit, on significant corrected values only.

    `above` restricts the fit to values above this level in nats (Shen 2019, Fig. 1c, d: 1e-3); `first` and `last` bound the
    lags. Undersampled lags are left out. Too few usable lags raise `EvidenceError`.
    """
    if above is not None and above <= 0:
        raise InputError(f"--fit-above {above}: expected a positive number of nats")
    data = _Data.of(curve, above or 0.0, first, last)
    bounds = _lower_bounds(curve, data)
    fitted: dict[str, tuple[Law, Floats, float]] = {}
    for law in LAWS.values() if laws is None else laws:
        if len(data.tau) > len(law.names) + 1:
            free = _best(law, data, data.information)
            if np.abs(free).max() < DEGENERATE:  # else a parameter has run away: a simpler law in disguise
                fitted[law.name] = law, free, _aicc(law, data, free)
    if not fitted:
        raise EvidenceError(f"no law: {len(data.tau)} lags above the floor are too few for the laws asked for")
    least = min(aicc for _, _, aicc in fitted.values())
    total = sum(np.exp(-(aicc - least) / 2) for _, _, aicc in fitted.values())
    return DecayFit(
        {
            name: _law_fit(law, data, bounds, free, aicc, float(np.exp(-(aicc - least) / 2) / total))
            for name, (law, free, aicc) in fitted.items()
        },
        data.tau.astype(np.int64),
        _local_exponents(data),
    )


@final
@dataclass(frozen=True, eq=False)
class _Data:
    """The lags used, their information and errors, and the replicates, from which correlated errors are known."""

    tau: Floats
    information: Floats
    error: Floats
    replicates: Floats

    @classmethod
    def of(cls, curve: Curve, above: float, first: int, last: int | None) -> _Data:
        last = int(curve.lags[-1]) if last is None else last
        use = curve.significant & (curve.corrected > above) & (curve.lags >= first) & (curve.lags <= last)
        use &= np.isfinite(curve.error)
        sampled = use & ~curve.undersampled
        if sampled.sum() < FEWEST_LAGS:
            apart = int(use.sum() - sampled.sum())
            raise EvidenceError(
                f"no law: {sampled.sum()} lags above {f'{above:g} nats' if above else 'the floor'}"
                f"{f' ({apart} more are undersampled)' if apart else ''}, at least {FEWEST_LAGS} are needed; "
                f"give more data or {'fewer kinds of symbols' if apart else 'lags'}"
            )
        return cls.selected(curve, sampled)

    @classmethod
    def selected(cls, curve: Curve, use: NDArray[np.bool_]) -> _Data:
        """The values at some lags, with an error that rounding bounds from below."""
        error = np.maximum(curve.error[use], ROUNDING * curve.corrected[use])
        return cls(curve.lags[use].astype(np.float64), curve.corrected[use], error, curve.replicates[:, use])

    def part(self, use: NDArray[np.bool_]) -> _Data:
        """The same at some of the lags."""
        return _Data(self.tau[use], self.information[use], self.error[use], self.replicates[:, use])

    @functools.cached_property
    def apart(self) -> Floats:
        """Variance at each lag that the replicates do not show: of the floor and of the bias."""
        blocks = len(self.replicates)
        return np.maximum(self.error**2 - (blocks - 1) * self.replicates.var(axis=0), 0.0)

    @functools.cached_property
    def whitening(self) -> Floats:
        """Cholesky factor of the covariance: the replicates' correlations, at least the total error on the diagonal."""
        return _factor(_shrunk(self.replicates) + np.diag(self.apart))


def _factor(covariance: Floats) -> Floats:
    """Cholesky factor of a covariance whose scale may differ by many orders between lags.

    The correlations are factored, not the covariance: they are shrunk, so their eigenvalues are at least `LEAST_SHRINKAGE`
    times the smallest share of the diagonal, whatever the errors are (a periodic sequence has errors of 1e-12 nats).
    """
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(sd, sd)
    np.fill_diagonal(correlation, 1.0)
    return sd[:, None] * cholesky(correlation, lower=True)


def _shrunk(replicates: Floats) -> Floats:
    """Jackknife covariance with its correlations shrunk by the factor that their own noise asks for.

    Schäfer and Strimmer 2005: sum of the variances of the correlations over the sum of their squares.
    """
    blocks = len(replicates)
    centred = replicates - replicates.mean(axis=0)
    covariance = (blocks - 1) / blocks * centred.T @ centred
    # A lag whose replicates are all equal has no variance; 1e-300 leaves its correlations 0 instead of NaN.
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(sd, sd)
    apart = ~np.eye(len(sd), dtype=bool)
    noise = np.sum((1 - correlation[apart] ** 2) ** 2) / max(blocks - 1, 1)
    shrinkage = np.clip(noise / max(np.sum(correlation[apart] ** 2), 1e-12), LEAST_SHRINKAGE, 1.0)
    return np.where(apart, (1 - shrinkage) * covariance, covariance)


def _best(law: Law, data: _Data, information: Floats) -> Floats:
    """Weighted least squares from every start of the law."""
    # Starts take logarithms; a negative value is as good as none at a thousandth of its error.
    positive = np.maximum(information, 1e-3 * data.error)
    fits = [_refined(law, data, information, law.to_free(start)) for start in law.starts(data.tau, positive)]
    return min(fits, key=lambda free: float(np.sum(_residuals(free, law, data, information) ** 2)))


def _refined(law: Law, data: _Data, information: Floats, free: Floats) -> Floats:
    # Overflow far from the minimum is expected; `_residuals` turns it into large finite values.
    with np.errstate(all="ignore"):
        solution = leastsq(_residuals, free, args=(law, data, information), full_output=True, maxfev=2000)
    return np.asarray(solution[0], dtype=np.float64)


def _residuals(free: Floats, law: Law, data: _Data, information: Floats) -> Floats:
    with np.errstate(all="ignore"):
        misfit = (information - law.formula(data.tau, *law.from_free(free))) / data.error
    # leastsq has no notion of an invalid point: a million standard errors repel it as well.
    return np.nan_to_num(misfit, nan=1e6, posinf=1e6, neginf=-1e6)


def _aicc(law: Law, data: _Data, free: Floats) -> float:
    """chi^2 + 2k + 2k(k + 1)/(n - k - 1) with chi^2 from the whitened residuals at their own minimum."""

    def whitened(parameters: Floats) -> Floats:
        with np.errstate(all="ignore"):
            misfit = data.information - law.formula(data.tau, *law.from_free(parameters))
        return solve_triangular(data.whitening, np.clip(np.nan_to_num(misfit), -1e6, 1e6), lower=True)

    with np.errstate(all="ignore"):
        solution = leastsq(whitened, free, full_output=True, maxfev=2000)
    # The solver may stop at a worse point than it started from.
    chi = min(float(np.sum(whitened(parameters) ** 2)) for parameters in (free, np.asarray(solution[0])))
    n, k = len(data.tau), len(law.names)
    return chi + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _lower_bounds(curve: Curve, data: _Data) -> _Data:
    """The undersampled lags within the range of the fit: the information there is at least what was measured."""
    within = (curve.lags >= data.tau[0]) & (curve.lags <= data.tau[-1]) & curve.undersampled
    return _Data.selected(curve, within & curve.significant & np.isfinite(curve.error))


def _law_fit(law: Law, data: _Data, bounds: _Data, free: Floats, aicc: float, weight: float) -> LawFit:
    again = _refits(law, data, free)
    squares = _residuals(free, law, data, data.information) ** 2
    misfit = float(np.sqrt(squares.mean()))
    # A law below what is known as a lower bound does not fit either.
    exceeded = max(_residuals(free, law, bounds, bounds.information), default=0.0)
    fit = LawFit(
        dict(zip(law.names, law.from_free(free), strict=True)),
        {},
        aicc,
        weight,
        misfit,
        _lack_of_fit(law, data, free, again),
        _decays(law, data, free, again),
        float(max(exceeded, np.sqrt(max((squares[inside].mean() for inside in _decades(data)), default=misfit**2)))),
    )
    # A refit on a replicate repeats the systematic misfit, so the jackknife does not see it; as with the scale factor of the
    # Particle Data Group, errors are then made as large as the residuals.
    scale = 1.0 if fit.fits else max(1.0, misfit)
    return dataclasses.replace(fit, intervals=_intervals(law, free, again, scale))


def _refits(law: Law, data: _Data, free: Floats) -> Floats:
    """Parameters without each block, blocks x parameters."""
    # From the fit of all data: without one block the minimum is close to it.
    again = np.array([_refined(law, data, data.information + row, free) for row in data.replicates])
    return np.clip(again, -LIMIT, LIMIT)


def _intervals(law: Law, free: Floats, again: Floats, scale: float) -> dict[str, tuple[float, float]]:
    """95 % intervals by Student's t from the jackknife of the parameters."""
    width = scale * student_quantile(max(len(again) - 1, 1)) * jackknife_error(again)
    low, high = law.from_free(free - width), law.from_free(free + width)
    return {name: (a, b) for name, a, b in zip(law.names, low, high, strict=True)}


def _decays(law: Law, data: _Data, free: Floats, again: Floats) -> bool:
    """Whether the law loses a share of its value between the first and the last lag that exceeds its error (95 %).

    The error is that of the refits, and at least what the errors of the two values allow: blocks of a sequence without
    noise are all alike, so their refits do not differ.
    """
    with np.errstate(all="ignore"):
        ends = np.array([law.formula(data.tau[[0, -1]], *law.from_free(row)) for row in (free, *again)])
    lost = 1 - ends[:, 1] / np.maximum(ends[:, 0], 1e-300)
    # A law that overflows is taken to grow, so that it does not count as decay.
    lost = np.clip(np.nan_to_num(lost, nan=-1.0, neginf=-1.0), -1.0, 1.0)
    margin = student_quantile(max(len(again) - 1, 1)) * float(jackknife_error(lost[1:]))
    ends_error = 2 * float(np.hypot(data.error[0], data.error[-1])) / max(float(data.information[0]), 1e-300)
    return bool(lost[0] > max(margin, ends_error, SMALLEST_LOSS))


def _lack_of_fit(law: Law, data: _Data, free: Floats, again: Floats) -> float:
    """p-value of Hotelling's T^2 of the residuals, averaged over bands of lags.

    With B blocks and m bands T^2 (B - m) / (m (B - 1)) follows F(m, B - m) if the law holds. The covariance is that of the
    residuals without each block, each from a refit, so the parameters that were fitted are accounted for. Bands, of equal
    width on a logarithmic axis, are needed because there are more lags than blocks. Structure within a band is left to
    `LawFit.misfit` and `LawFit.local_misfit`.
    """
    blocks, lags = data.replicates.shape
    bands = min(lags - len(law.names), max(1, blocks // BLOCKS_PER_BAND), MOST_BANDS)
    edges = np.geomspace(data.tau[0], data.tau[-1], bands + 1)[1:-1]
    _, band = np.unique(np.searchsorted(edges, data.tau), return_inverse=True)
    bands = int(band.max()) + 1
    average = (band == np.arange(bands)[:, None]) / np.bincount(band)[:, None]
    residuals = average @ _residuals(free, law, data, data.information)
    left_out = np.array(
        [_residuals(p, law, data, data.information + r) for p, r in zip(again, data.replicates, strict=True)]
    )
    centered = (left_out - left_out.mean(axis=0)) @ average.T
    covariance = (blocks - 1) / blocks * centered.T @ centered
    covariance += (average * (data.apart / data.error**2)) @ average.T
    # Residuals of a perfect fit have no variance at all: rounding stands in for it.
    covariance += np.eye(bands) * max(1e-9 * np.trace(covariance), 1e-12)
    t_squared = float(residuals @ np.linalg.solve(covariance, residuals))
    return float(fdtrc(bands, blocks - bands, t_squared * (blocks - bands) / (bands * (blocks - 1))))


def _local_exponents(data: _Data) -> tuple[LocalExponent, ...]:
    """A power law in every range of a factor of ten that has enough lags, with its 95 % interval."""
    law, found = PowerLaw(), []
    for inside in _decades(data):
        part = data.part(inside)
        free = _best(law, part, part.information)
        exponent = law.from_free(free)[1]
        interval = _intervals(law, free, _refits(law, part, free), 1.0)["exponent"]
        found.append(LocalExponent(int(part.tau[0]), int(part.tau[-1]), exponent, interval))
    return tuple(found)


def _decades(data: _Data) -> list[NDArray[np.bool_]]:
    """Lags 1 to 10, 10 to 100, …, where enough of them were fitted."""
    firsts = (10**power for power in range(len(str(int(data.tau[-1])))))
    ranges = [(data.tau >= first) & (data.tau <= 10 * first) for first in firsts]
    return [inside for inside in ranges if inside.sum() >= LOCAL_LAGS]
