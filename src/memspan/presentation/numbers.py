"""Numbers, intervals, shares and durations as text: 1.1 M, 0.00043, 0.41 [0.38, 0.44], 5 min 12 s."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# Text for a missing or NaN value.
UNKNOWN = "unknown"
BITS_PER_NAT = 1 / math.log(2)
_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
# A value in nats, two values compared, and an optional difference in parentheses.
_IN_NATS = re.compile(rf"(?:{_NUMBER} against )?{_NUMBER} nats(?: \(difference {_NUMBER} ± {_NUMBER})?", re.ASCII)


def count(amount: int) -> str:
    """A rounded amount: exact below 10,000, then k, M, G.

    >>> count(9_999), count(346_112), count(1_123_456), count(999_999), count(25_000_000_000)
    ('9,999', '346 k', '1.1 M', '1.0 M', '25 G')
    """
    if abs(amount) < 10_000:
        return f"{amount:,}"
    for size, letter in ((10**3, "k"), (10**6, "M"), (10**9, "G")):
        scaled = amount / size
        if abs(scaled) < 999.5 or letter == "G":
            return f"{scaled:.1f} {letter}" if abs(scaled) < 9.95 else f"{scaled:,.0f} {letter}"
    raise AssertionError("the last size always returns")


def number(value: float | None, digits: int = 3) -> str:
    """`digits` significant digits; powers of ten only below 0.0001 and from a million on.

    >>> number(0.000434), number(1234.5), number(57.30, 2), number(4.31e-7, 2), number(float("nan"))
    ('0.000434', '1,230', '57', '4.3e-7', 'unknown')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 <= power < 6:
        return f"{float(f'{mantissa}e{exponent}') if power >= digits else value:,.{max(0, digits - 1 - power)}f}"
    return f"{mantissa}e{power}"


def trimmed(value: float, digits: int = 3) -> str:
    """A number without trailing zeros: for settings and positions, whose digits carry no precision.

    >>> trimmed(0.001), trimmed(7.0), trimmed(12_000.0), trimmed(0.00144)
    ('0.001', '7', '12,000', '0.00144')
    """
    mantissa, e, power = number(value, digits).partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + e + power


def with_interval(value: float, interval: tuple[float, float] | None) -> str:
    """A value and its interval, with as many decimals as the interval's width supports.

    >>> with_interval(0.4102, (0.3801, 0.4412)), with_interval(57.3, (51.2, 63.0)), with_interval(57.3, None)
    ('0.41 [0.38, 0.44]', '57 [51, 63]', '57.3')
    """
    if interval is None or not all(map(math.isfinite, (value, *interval))):
        return number(value)
    low, high = interval
    decimals = _decimals(value, high - low)
    if decimals is None:
        return f"{number(value)} [{number(low)}, {number(high)}]"
    return f"{value:,.{decimals}f} [{low:,.{decimals}f}, {high:,.{decimals}f}]"


def _decimals(value: float, width: float) -> int | None:
    """Decimals that resolve half the width and two digits of the value; None if fixed-point does not suit."""
    if width <= 0 or width > 100 * abs(value) or not 1e-4 <= abs(value) < 1e6:
        return None
    decimals = max(0, -math.floor(math.log10(width / 2)), 1 - math.floor(math.log10(abs(value))))
    return None if decimals > 6 else decimals


def with_error(value: float, error: float) -> str:
    """A value ± its error, both with the decimals of the error's second digit.

    >>> with_error(0.1003, 0.00204), with_error(4.0e-4, 3.1e-5), with_error(3e-9, 2e-9)
    ('0.1003 ± 0.0020', '0.000400 ± 0.000031', '3.00e-9 ± 2.0e-9')
    """
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{number(value)} ± {number(error, 2)}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    if decimals > 7:
        return f"{number(value)} ± {number(error, 2)}"
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"


def probability(p_value: float) -> str:
    """A p-value, short enough for a title.

    >>> probability(0.0312), probability(2e-7), probability(1.0)
    ('p = 0.031', 'p < 0.0001', 'p = 1')
    """
    if math.isnan(p_value):
        return f"p {UNKNOWN}"
    if p_value < 1e-4:
        return "p < 0.0001"
    return f"p = {float(f'{p_value:.2g}'):g}"


def unit_of(bits: bool) -> tuple[str, float]:
    """The unit of information and its size: one nat in that unit.

    >>> unit_of(False), unit_of(True)[0]
    (('nats', 1.0), 'bits')
    """
    return ("bits", BITS_PER_NAT) if bits else ("nats", 1.0)


def note_in_unit(note: str, *, bits: bool) -> str:
    """A stored note with its values in nats converted to bits; other numbers stay unchanged.

    >>> note_in_unit("at lag 3: 0.10 against 0.20 nats (difference -0.1 ± 0.02, p = 0.01)", bits=True)
    'at lag 3: 0.144 against 0.289 bits (difference -0.144 ± 0.0289, p = 0.01)'
    """
    if not bits:
        return note

    def converted(found: re.Match[str]) -> str:
        values = re.sub(_NUMBER, _in_bits, found.group())
        return values.replace(" nats", " bits")

    return _IN_NATS.sub(converted, note)


def _in_bits(found: re.Match[str]) -> str:
    sign = "+" if found.group().startswith("+") else ""
    return sign + trimmed(float(found.group().replace(",", "")) * BITS_PER_NAT)


def share(weight: float) -> str:
    """A share between 0 and 1, in percent.

    >>> share(0.97), share(3e-9), share(0.9999)
    ('97 %', 'under 0.1 %', 'over 99.9 %')
    """
    if math.isnan(weight):
        return UNKNOWN
    if weight > 0.999:
        return "over 99.9 %" if weight < 1 else "100 %"
    if weight < 0.001:
        return "under 0.1 %"
    return f"{trimmed(100 * weight, 2)} %"


def duration(seconds: float) -> str:
    """A duration in seconds, minutes or hours.

    >>> duration(0.42), duration(312.0), duration(9000)
    ('0.42 s', '5 min 12 s', '2 h 30 min')
    """
    if not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 120:
        return f"{number(seconds, 2)} s"
    whole = round(seconds)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def lag_list(lags: tuple[int, ...], measured: tuple[int, ...]) -> str:
    """Lags as text, with runs of adjacent measured lags joined.

    >>> lag_list((1, 2, 3, 10, 40), (1, 2, 3, 5, 10, 20, 40))
    '1 to 3, 10, 40'
    """
    place = {lag: position for position, lag in enumerate(measured)}
    runs: list[list[int]] = []
    for lag in lags:
        if runs and place.get(lag, -1) == place.get(runs[-1][-1], -3) + 1:
            runs[-1].append(lag)
        else:
            runs.append([lag])
    parts = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in runs]
    return ", ".join(parts[:5]) + (f" and {len(parts) - 5} more" if len(parts) > 5 else "")


_ROUND_LAGS = (1, 2, 3, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)


def round_positions(lags: Iterable[int]) -> list[int]:
    """Positions of a few round lags and of the last one, for a short table.

    >>> round_positions([1, 2, 4, 10, 17])
    [0, 1, 3, 4]
    """
    position = {int(lag): place for place, lag in enumerate(lags)}
    chosen = [position[lag] for lag in _ROUND_LAGS if lag in position]
    return sorted({*chosen, len(position) - 1} - {-1})
