"""`fit_decay`: every law fitted to the significant part of a curve, with honest intervals.

Lags share the data, so their errors are correlated. Parameters are weighted least squares; their 95 % intervals come
from refitting on each jackknife replicate; AICc is from generalised least squares with the replicates' covariance, shrunk
towards its diagonal. It is a guide, not a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import leastsq
from scipy.special import stdtrit

from memspan.decay.laws import LAWS, LIMIT, Law
from memspan.errors import EvidenceError, InputError
from memspan.results import Curve, DecayFit, LawFit

Floats = NDArray[np.float64]
FEWEST_LAGS = 4
DEGENERATE = 20.0
"""Logarithm beyond which a parameter has no meaning: lengths of 1e9 symbols, amplitudes of 1e-9 nats."""
LEAST_SHRINKAGE = 0.1
"""With 8 to 16 replicates the covariance is never taken without some of its diagonal."""


def fit_decay(
    curve: Curve,
    laws: Iterable[Law] | None = None,
    *,
    above: float | None = None,
    first: int = 1,
    last: int | None = None,
) -> DecayFit:
    """Every law with its parameters, intervals and AICc weight, on significant corrected values only.

    `above` keeps values above so many nats (Shen 2019, Fig. 1c, d: 1e-3); `first` and `last` bound the lags. Too few
    usable lags raise `EvidenceError`.
    """
    if above is not None and above <= 0:
        raise InputError(f"--fit-above {above}: expected a positive number of nats")
    data = _Data.of(curve, above or 0.0, first, last)
    fitted: dict[str, tuple[Law, Floats, float]] = {}
    for law in LAWS.values() if laws is None else laws:
        if len(data.tau) > len(law.names) + 1:
            free = _best(law, data, data.information)
            if np.abs(free).max() < DEGENERATE:  # else a parameter has run away: a simpler law in disguise
                fitted[law.name] = law, free, _aicc(law, data, free)
    if not fitted:
        raise EvidenceError(
            f"no law: {len(data.tau)} lags above the floor are too few for the laws asked for"
        )
    least = min(aicc for _, _, aicc in fitted.values())
    total = sum(np.exp(-(aicc - least) / 2) for _, _, aicc in fitted.values())
    return DecayFit(
        {
            name: _law_fit(law, data, free, aicc, float(np.exp(-(aicc - least) / 2) / total))
            for name, (law, free, aicc) in fitted.items()
        },
        data.tau.astype(np.int64),
    )


@final
@dataclass(frozen=True, eq=False)
class _Data:
    """The lags used, their information and errors, the replicates, and the whitening of correlated errors."""

    tau: Floats
    information: Floats
    error: Floats
    replicates: Floats
    whitening: Floats

    @classmethod
    def of(cls, curve: Curve, above: float, first: int, last: int | None) -> _Data:
        last = int(curve.lags[-1]) if last is None else last
        use = curve.significant & (curve.corrected > above) & (curve.lags >= first) & (curve.lags <= last)
        use &= np.isfinite(curve.error) & (curve.error > 0)
        if use.sum() < FEWEST_LAGS:
            raise EvidenceError(
                f"no law: {use.sum()} lags above {f'{above:g} nats' if above else 'the floor'}, at least {FEWEST_LAGS} "
                "are needed; give more data or lags"
            )
        replicates, error = curve.replicates[:, use], curve.error[use]
        covariance = _shrunk(replicates) + np.diag(curve.floor_sd[use] ** 2)
        return cls(
            curve.lags[use].astype(np.float64),
            curve.corrected[use],
            error,
            replicates,
            cholesky(covariance, lower=True),
        )


def _shrunk(replicates: Floats) -> Floats:
    """Jackknife covariance with its correlations shrunk by the factor that their own noise asks for.

    Schäfer and Strimmer 2005: sum of the variances of the correlations over the sum of their squares.
    """
    blocks = len(replicates)
    centred = replicates - replicates.mean(axis=0)
    covariance = (blocks - 1) / blocks * centred.T @ centred
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(sd, sd)
    apart = ~np.eye(len(sd), dtype=bool)
    noise = np.sum((1 - correlation[apart] ** 2) ** 2) / max(blocks - 1, 1)
    shrinkage = np.clip(noise / max(np.sum(correlation[apart] ** 2), 1e-12), LEAST_SHRINKAGE, 1.0)
    return np.where(apart, (1 - shrinkage) * covariance, covariance)


def _best(law: Law, data: _Data, information: Floats) -> Floats:
    """Weighted least squares from every start of the law."""
    positive = np.maximum(information, 1e-3 * data.error)
    fits = [_refined(law, data, information, law.to_free(start)) for start in law.starts(data.tau, positive)]
    return min(fits, key=lambda free: float(np.sum(_residuals(free, law, data, information) ** 2)))


def _refined(law: Law, data: _Data, information: Floats, free: Floats) -> Floats:
    with np.errstate(all="ignore"):
        solution = leastsq(_residuals, free, args=(law, data, information), full_output=True, maxfev=2000)
    return np.asarray(solution[0], dtype=np.float64)


def _residuals(free: Floats, law: Law, data: _Data, information: Floats) -> Floats:
    with np.errstate(all="ignore"):
        misfit = (information - law.formula(data.tau, *law.from_free(free))) / data.error
    return np.nan_to_num(misfit, nan=1e6, posinf=1e6, neginf=-1e6)


def _aicc(law: Law, data: _Data, free: Floats) -> float:
    """chi^2 + 2k + 2k(k + 1)/(n - k - 1) with chi^2 from the whitened residuals at their own minimum."""

    def whitened(parameters: Floats) -> Floats:
        with np.errstate(all="ignore"):
            misfit = data.information - law.formula(data.tau, *law.from_free(parameters))
        return solve_triangular(data.whitening, np.clip(np.nan_to_num(misfit), -1e6, 1e6), lower=True)

    with np.errstate(all="ignore"):
        solution = leastsq(whitened, free, full_output=True, maxfev=2000)
    chi = min(float(np.sum(whitened(parameters) ** 2)) for parameters in (free, np.asarray(solution[0])))
    n, k = len(data.tau), len(law.names)
    return chi + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _law_fit(law: Law, data: _Data, free: Floats, aicc: float, weight: float) -> LawFit:
    blocks = len(data.replicates)
    again = np.array([_refined(law, data, data.information + row, free) for row in data.replicates])
    again = np.clip(again, -LIMIT, LIMIT)
    error = np.sqrt((blocks - 1) / blocks * np.sum((again - again.mean(axis=0)) ** 2, axis=0))
    width = stdtrit(max(blocks - 1, 1), 0.975) * error
    low, high = law.from_free(free - width), law.from_free(free + width)
    return LawFit(
        dict(zip(law.names, law.from_free(free), strict=True)),
        {name: (a, b) for name, a, b in zip(law.names, low, high, strict=True)},
        aicc,
        weight,
        float(np.sqrt(np.mean(_residuals(free, law, data, data.information) ** 2))),
    )
