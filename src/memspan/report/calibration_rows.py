"""Rows of a calibration, the same on the command line and in the report: shares in percent, errors in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memspan.report.numbers import count, number
from memspan.report.section import Row
from memspan.results import PeerEstimate, SourceCalibration

CALIBRATION_HEADER = (
    "source",
    "N",
    "p<.05",
    ".001",
    "far",
    "±2se",
    "near",
    "width",
    "reach",
    "span",
    "under",
)

CALIBRATION_LEGEND = (
    "N: symbols of a sample. Shares in %. p<.05, .001: far lags (exact I below 1e-8 nats) called significant. "
    "far: mean |corrected| there in floor_sd; 0.8 if the noise is normal. ±2se: lags with the truth within 2 errors, "
    "expected 95; near: the same where exact I is above 0.001. width: how many times too wide errors are. reach: intervals "
    "that contain the true reach. span: intervals that contain the span of another sample. under: lags flagged "
    "undersampled. -: no such lags or intervals."
)

ERROR_LEGEND = "Absolute errors in nats, all estimators on the same sample of each source."


def calibration_row(one: SourceCalibration) -> Row:
    """One source, in the order of `CALIBRATION_HEADER`."""
    return (
        one.name,
        count(one.length),
        _percent(one.false_alarms_05),
        _percent(one.false_alarms_001),
        _plain(one.far_deviation),
        _percent(one.coverage),
        _percent(one.coverage_above),
        _plain(one.width),
        _percent(one.reach_coverage),
        _percent(one.span_coverage),
        _percent(one.undersampled),
    )


def error_table(estimates: Sequence[PeerEstimate]) -> tuple[Row, list[Row]]:
    """A header and one row per estimator: its absolute error at every lag of every case."""
    cases = tuple(dict.fromkeys(one.case for one in estimates))
    lags = sorted({one.lag for one in estimates})
    errors = {(one.estimator, one.case, one.lag): one.error for one in estimates}
    rows = [
        (name, *(" ".join(_nats(errors.get((name, case, lag), math.nan)) for lag in lags) for case in cases))
        for name in dict.fromkeys(one.estimator for one in estimates)
    ]
    return (f"error at lags {', '.join(f'{lag:,}' for lag in lags)}", *cases), rows


def _percent(share: float) -> str:
    """
    >>> _percent(0.0512), _percent(0.0), _percent(1.0), _percent(math.nan)
    ('5.1', '0', '100', '-')
    """
    if math.isnan(share):
        return "-"
    return f"{100 * share:.1f}" if 0.0 < share < 0.0995 else f"{100 * share:.0f}"


def _plain(value: float) -> str:
    return "-" if math.isnan(value) else number(value, 2)


def _nats(error: float) -> str:
    """
    >>> _nats(0.01234), _nats(10.2), _nats(math.nan)
    ('0.012', '10.2', '-')
    """
    return "-" if math.isnan(error) else f"{error:.3f}" if error < 1.0 else f"{error:.1f}"
