"""What a curve shows that no law of decay describes: periods, and stretches that carry most of the information.

Both are read off the curve and its jackknife replicates; the sequence itself only decides whether a period is exact and, for
a curve that is the same at every lag, how long it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from memspan.results import Curve, Influence, Period
from memspan.sequences import Sequence
from memspan.statistics import jackknife_variance, student_quantile

Floats = NDArray[np.float64]
# Probability that an aperiodic curve is called periodic, over all periods tried.
#
# Convex curves have no peaks at all, so there are fewer: none in 1,660 samples of 16 aperiodic sources at the default lags,
# none in 600 of six of them at every lag up to 200.
FALSE_ALARMS = 0.01
# Multiples of a period that must be measured, each with both neighbors.
FEWEST_PEAKS = 3
# Numbers of multiples that are averaged: a comb that fades is clearest in the first, a weak one in all of them.
PEAKS = (4, 12, 36, 108)
# Periods are looked for at consecutive lags up to this one.
LARGEST_LAG = 2000
# Peaks lower than this share of the information are no reason to give up a law.
SMALLEST_CONTRAST = 0.05
# A divisor of the clearest period with at least this share of its contrast is the period itself.
FUNDAMENTAL = 0.5
# A symbol that shares all but this part of its entropy with another one determines it.
DETERMINED = 1e-3
# Symbols in which the shortest exact period is looked for before the whole sequence is checked.
PREFIX = 1 << 16
# Fewest blocks whose influence is compared: of two blocks one always carries half.
LEAST_BLOCKS = 8
# A block is named if more than this share of the information in a range of lags vanishes without it, …
MOST_OF_IT = 0.5
# … and if its share is this many times that of every other block but its neighbors.
#
# No block was named in 1,960 samples of 21 homogeneous sources, power laws in one document among them; a repeated table in
# 2 % of a text was named in 20 of 20.
OUTSTANDING = 10.0
# Symbols and lags in which recurrences of the same symbol are counted where the curve itself is flat.
RECURRENCE = 200_000, 1000
# A curve whose values differ from their mean by less than this share, or by three errors, is flat.
FLAT = 0.1


def find_period(curve: Curve, sequence: Sequence | None = None) -> Period | None:
    """The period of a sequence that repeats itself exactly, or of the peaks of its curve; None without either.

    >>> from memspan.information import mutual_information
    >>> text = Sequence.from_documents(["aabab" * 2000])
    >>> found = find_period(mutual_information(text), text)
    >>> found.length, found.exact
    (5, True)
    """
    determined = curve.corrected >= (1 - DETERMINED) * curve.entropy
    if determined.any():
        length = _exact_period(sequence) if sequence is not None else _cycle_length(curve, determined)
        if length is not None:
            return _repeated(curve, length)
    found = _peaks(curve)
    if found is None and sequence is not None and _is_flat(curve):
        length = _recurrence(sequence)
        if length is not None:
            return Period(length, 0.0, (0.0, 0.0), int(curve.lags[-1]), 0.0)
    return found


def _repeated(curve: Curve, length: int) -> Period:
    """An exact period, with the contrast between its multiples and all other lags."""
    multiples = curve.lags % length == 0
    contrast = 0.0
    if multiples.any() and not multiples.all():
        contrast = float(curve.corrected[multiples].mean() - curve.corrected[~multiples].mean())
    if contrast < DETERMINED * curve.entropy:
        contrast = 0.0
    return Period(length, contrast, (contrast, contrast), int(curve.lags[-1]), 0.0, exact=True)


def _exact_period(sequence: Sequence) -> int | None:
    """The shortest p with x_{t+p} = x_t throughout every document that is longer than p; None if there is none.

    It must come round three times in the longest document. Documents of one symbol each have no period worth the name.
    """
    longest = int(np.argmax(np.diff(sequence.offsets)))
    start, stop = sequence.offsets[longest : longest + 2].tolist()
    length = _shortest_period(sequence.store.read(start, min(stop, start + PREFIX)))
    if length == 1 or FEWEST_PEAKS * length > stop - start:
        return None
    pieces = sequence.chunks(PREFIX, overlap=length)
    return length if all(np.array_equal(x[length:], x[:-length]) for x in pieces) else None


def _shortest_period(symbols: NDArray[np.integer]) -> int:
    """n minus the longest border, by the prefix function of Knuth, Morris and Pratt.

    >>> _shortest_period(np.array([0, 0, 1, 0, 0, 1, 0]))
    3
    """
    x = symbols.tolist()
    border = [0] * len(x)
    k = 0
    for i in range(1, len(x)):
        while k and x[i] != x[k]:
            k = border[k - 1]
        k += x[i] == x[k]
        border[i] = k
    return len(x) - border[-1]


def _cycle_length(curve: Curve, determined: NDArray[np.bool_]) -> int | None:
    """The period of one document of which only the curve is known, where a symbol fixes all others.

    The next symbol is then a one-to-one function of the symbol, so all symbols lie on one cycle.
    """
    return curve.alphabet if determined.all() and curve.documents == 1 and curve.lags[0] == 1 else None


def _is_flat(curve: Curve) -> bool:
    """Whether the information is significant and the same at every lag, as with noise on a cycle of different symbols."""
    if not curve.significant.all():
        return False
    mean = curve.corrected.mean()
    return bool(np.all(np.abs(curve.corrected - mean) < np.maximum(FLAT * mean, 3 * curve.error)))


def _recurrence(sequence: Sequence) -> int | None:
    """The period at which symbols recur, however noisy; None unless it stands out at all its multiples and only there.

    A cycle of different symbols has the same information at every lag, so the curve cannot tell its length; how often a
    symbol is found again can.
    """
    longest = int(np.argmax(np.diff(sequence.offsets)))
    start, stop = sequence.offsets[longest : longest + 2].tolist()
    most, lags = RECURRENCE
    x = sequence.store.read(start, min(stop, start + most))
    last = min(lags, len(x) // 10)
    if last < FEWEST_PEAKS * 2:
        return None
    rate = np.array([np.mean(x[lag:] == x[:-lag]) for lag in range(1, last + 1)])
    often = np.flatnonzero(rate > (rate.max() + np.median(rate)) / 2) + 1
    if not len(often):  # the same at every lag
        return None
    length = int(often[0])
    multiples = np.arange(length, last + 1, length)
    regular = length > 1 and len(multiples) >= FEWEST_PEAKS and np.array_equal(often, multiples)
    # Of independent symbols some lag is always the highest: it must be higher by far more than chance makes it.
    chance = 6 * np.sqrt(rate.max() / len(x))
    return length if regular and rate[often - 1].min() > np.median(rate) + chance else None


def _peaks(curve: Curve) -> Period | None:
    """Peaks at multiples of a period, by their height over the neighbors at lags m - 1 and m + 1.

    For each candidate the peaks d(m) = I(m) - (I(m - 1) + I(m + 1)) / 2 are averaged. A convex curve, as every mixture of
    decays is, has d < 0 at all lags, so a positive average speaks for a period. Against smooth shoulders d must also exceed
    its own neighbors, and against a single peak the average is taken without the highest. Errors are those of the jackknife
    and of the floor; Student's t with Bonferroni's correction for the number of averages tried.
    """
    last = _consecutive(curve.lags)
    blocks = len(curve.replicates)
    if last < 2 * FEWEST_PEAKS + 1 or blocks < 3:
        return None
    tried = list(_candidates(last))
    found: dict[int, Period] = {}
    for period, peaks in tried:
        one = _peak_test(curve, period, peaks, len(tried))
        if one is not None and (period not in found or one.p_value < found[period].p_value):
            found[period] = one
    if not found:
        return None
    best = min(found.values(), key=lambda one: (one.p_value, one.length))
    divisors = (found[q] for q in sorted(found) if q < best.length and best.length % q == 0)
    return next((one for one in divisors if one.contrast >= FUNDAMENTAL * best.contrast), best)


def _consecutive(lags: NDArray[np.int64]) -> int:
    """The largest L for which all lags 1 … L are measured."""
    run = lags == np.arange(1, len(lags) + 1)
    return min(len(lags) if run.all() else int(np.argmin(run)), LARGEST_LAG)


def _candidates(last: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Periods with the multiples to average, the neighbors of which are all measured."""
    for period in range(2, (last - 1) // FEWEST_PEAKS + 1):
        multiples = np.arange(period, last, period)
        for number in sorted({min(number, len(multiples)) for number in PEAKS}):
            yield period, multiples[:number]


def _peak_test(curve: Curve, period: int, peaks: NDArray[np.int64], tried: int) -> Period | None:
    second = np.zeros((len(peaks), len(curve.lags)))
    rows, at = np.arange(len(peaks)), peaks - 1  # lag m stands at index m - 1
    second[rows, at] = 1.0
    second[rows, at - 1] -= 0.5
    second[rows, at + 1] -= 0.5
    heights = second @ curve.corrected
    if heights.mean() < SMALLEST_CONTRAST * curve.corrected[at].mean():
        return None
    kept = np.argsort(heights)[:-1]
    # Without the highest peak: a single lag that stands out is no period.
    weaker = second[kept].mean(axis=0)
    t_value = min(_t_value(curve, weights) for weights in (weaker, weaker - _beside(weaker, curve)))
    blocks = len(curve.replicates)
    p_value = min(1.0, tried * float(stdtr(blocks - 1, -t_value)))
    if p_value >= FALSE_ALARMS:
        return None
    contrast, error = float(heights.mean()), _error(curve, second.mean(axis=0))
    width = student_quantile(blocks - 1) * error
    return Period(period, contrast, (contrast - width, contrast + width), int(peaks[-1]), p_value)


def _beside(weights: Floats, curve: Curve) -> Floats:
    """The same second differences one lag earlier and one later, averaged; at an end, one of them."""
    end = _consecutive(curve.lags)
    shifted = np.zeros_like(weights)
    shifted[: end - 1] += weights[1:end] / 2
    shifted[1:end] += weights[: end - 1] / 2
    # What a shift pushes over an end leaves weights that do not sum to zero: put it back where it was cut.
    shifted[end - 1] += weights[end - 1] / 2
    shifted[0] += weights[0] / 2
    return shifted


def _t_value(curve: Curve, weights: Floats) -> float:
    return float(weights @ curve.corrected) / max(
        _error(curve, weights), 1e-12
    )  # an exactly periodic sequence has no error


def _error(curve: Curve, weights: Floats) -> float:
    """Standard error of a sum over lags: the jackknife's, and the floor's at each lag."""
    jackknife = jackknife_variance(curve.replicates @ weights)
    return float(np.sqrt(jackknife + np.sum((weights * curve.floor_sd) ** 2)))


def find_influence(curve: Curve, sequence: Sequence | None = None) -> Influence | None:
    """The block without which most of the information in some range of lags is gone; None if there is none.

    Ranges are factors of ten. Leaving out a block of a homogeneous sequence changes the information by about its error over
    the square root of the number of blocks. Slow memory in one document makes larger changes, so a block must also stand
    out from all others but its neighbors, with which it may share the stretch.
    """
    if len(curve.replicates) < LEAST_BLOCKS:
        return None
    firsts = [10**power for power in range(len(str(int(curve.lags[-1]))))]
    ranges = [curve.significant & (curve.lags >= first) & (curve.lags <= 10 * first) for first in firsts]
    shares = [_shares(curve, inside) for inside in ranges]
    carried = {i: int(np.argmax(share)) for i, share in enumerate(shares) if _stands_out(share)}
    if not carried:
        return None
    block = carried[max(carried, key=lambda i: shares[i].max())]
    return _influence(curve, sequence, np.any([ranges[i] for i in carried if carried[i] == block], axis=0), block)


def _shares(curve: Curve, inside: NDArray[np.bool_]) -> Floats:
    """The share of the information at some lags that is gone without each block; zero where there are too few lags.

    Without any block there is less data and more bias; the median is what that changes.
    """
    total = float(curve.corrected[inside].sum())
    if inside.sum() < FEWEST_PEAKS or total <= 0:
        return np.zeros(len(curve.replicates))
    change = curve.replicates[:, inside].sum(axis=1)
    return (np.median(change) - change) / total


def _stands_out(shares: Floats) -> bool:
    most = int(np.argmax(shares))
    elsewhere = np.delete(shares, np.arange(max(most - 1, 0), min(most + 2, len(shares))))
    return bool(shares[most] > max(MOST_OF_IT, OUTSTANDING * elsewhere.max()))


def _influence(curve: Curve, sequence: Sequence | None, inside: NDArray[np.bool_], block: int) -> Influence:
    """Blocks are equal parts of the sequence but for the nearest ends of documents, so positions are approximate."""
    shares, lags, blocks = _shares(curve, inside), curve.lags[inside], len(curve.replicates)
    neighbors = [k for k in (block - 1, block, block + 1) if 0 <= k < blocks and shares[k] > MOST_OF_IT] or [block]
    start, stop = (round(curve.length * k / blocks) for k in (neighbors[0], neighbors[-1] + 1))
    return Influence(
        share=min(float(shares[block]), 1.0),
        first_lag=int(lags[0]),
        last_lag=int(lags[-1]),
        first_block=neighbors[0] + 1,
        last_block=neighbors[-1] + 1,
        blocks=blocks,
        start=start,
        stop=stop,
        document=None if sequence is None else _document(sequence, start, stop),
    )


def _document(sequence: Sequence, start: int, stop: int) -> int | None:
    """The document that holds at least nine tenths of a stretch, counted from 1; None in a sequence of one document."""
    if sequence.n_documents == 1:
        return None
    inside = np.clip(sequence.offsets, start, stop)
    held = np.diff(inside)
    most = int(np.argmax(held))
    return most + 1 if held[most] >= 0.9 * (stop - start) else None
