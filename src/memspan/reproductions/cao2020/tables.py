"""Cao and Xu 2020, Tables 1 and 2: perplexity, reverse perplexity, and information between segments.

Table 1 asks whether the BMI regularizer improves language models and the text that they generate, Table 2 how much
information two nearby segments of generated and of real text share. Both use the same networks and end in one table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey, perplexity_value
from memspan.reproductions.cao2020.published import (
    BETTER,
    CONTROLLED,
    LABELS,
    MEASURES,
    REAL,
    SEGMENT_ERRORS,
    SEGMENTS,
    VARIANTS,
    printed_perplexity,
    variant_name,
)
from memspan.reproductions.charts import chart, points
from memspan.reproductions.claims import claim, reach_of_mean
from memspan.reproductions.recipe import Outcome
from memspan.results import (
    Chart,
    Claim,
    MeasuredRow,
    MeasuredTable,
    MeasuredValue,
    ReversePerplexity,
    SegmentInformation,
    TrainingRun,
    line,
)
from memspan.statistics import welch_margin

# Labels of what is compared, in the order of increasing information as printed.
ROWS = {**VARIANTS, REAL: "Real text"}
# Accepted relative difference between the printed and the measured information of the real text.
REAL_TOLERANCE = 0.25
# Logarithms of perplexities in nats, by the keys of `MEASURES`.
Losses = dict[str, float]


def perplexities(*, seed: int, progress: Progress, runs: Path, models: str) -> Outcome:
    """Table 1: train and fine-tune all networks and compare their perplexities."""
    check_models("bmi-table1")
    from memspan.reproductions.cao2020.generated_text import reverse_perplexities, segment_informations

    size = LANGUAGE_MODELS[models]
    trained = size.train(size.keys(seed, LABELS), runs, progress)
    trained |= size.train(size.keys(seed, LABELS, tuned=True), runs, progress)
    reverse = reverse_perplexities(size, trained, runs, seed, progress)
    segments = segment_informations(size, size.keys(seed, LABELS), runs, seed, progress)
    losses = {key: all_losses(trained[key], reverse[key]) for key in trained}
    claims = [
        lower_perplexity(data, tuned, variant, other, measure, losses)
        for data in size.corpora
        for tuned in (False, True)
        for measure in MEASURES
        for variant, other in (*BETTER, *CONTROLLED)
    ]
    charts = tuple(_perplexity_chart(data, losses) for data in size.corpora)
    tables = tuple(measured_table(data, losses, segments) for data in size.corpora)
    return Outcome(tuple(claims), charts, (_TABLE1_NOTE,), tables=tables)


def own_losses(run: TrainingRun) -> Losses:
    """Validation and test loss of a network."""
    return {"valid": float(np.min(run.validation_loss)), "test": run.loss}


def all_losses(run: TrainingRun, reverse: ReversePerplexity) -> Losses:
    """Every measure of Table 1."""
    return {**own_losses(run), "reverse_valid": reverse.valid_loss, "reverse_test": reverse.test_loss}


def lower_perplexity(
    data: str, tuned: bool, variant: str, other: str, measure: str, losses: dict[ModelKey, Losses]
) -> Claim:
    """Claim that one variant has a lower perplexity than another in the mean over seeds, beyond their scatter."""
    keys = [key for key in losses if (key.data, key.variant, key.tuned) == (data, variant, tuned)]
    difference = np.array([losses[key][measure] - losses[key._replace(variant=other)][measure] for key in keys])
    ours, theirs = (printed_perplexity(data, tuned, variant, measure), printed_perplexity(data, tuned, other, measure))
    mean, half_width = float(difference.mean()), reach_of_mean(difference)
    return claim(
        f"On {data}{', fine-tuned' if tuned else ''}, {variant_name(variant)} has a lower {MEASURES[measure]} than "
        f"{variant_name(other)}. (Measured: the ratio, as the geometric mean over {len(keys)} seeds, of which "
        f"{int((difference < 0).sum())} agree. It holds below {math.exp(-half_width):.4f}, outside the 95 % interval "
        "by Student's t.)"
    ).holds_if(math.exp(mean), mean < -half_width, paper=None if ours is None or theirs is None else ours / theirs)


def _perplexity_chart(data: str, losses: dict[ModelKey, Losses]) -> Chart:
    groups = dict.fromkeys(key._replace(seed=0) for key in losses if key.data == data)
    lines = []
    for group in groups:
        own = [value for key, value in losses.items() if key._replace(seed=0) == group]
        x, y = ([math.exp(value[measure]) for value in own] for measure in ("test", "reverse_test"))
        lines.append(points(group.label, x, y))
    return chart(
        f"perplexity-{data}",
        f"Perplexity and reverse perplexity on {data}",
        "test perplexity",
        "reverse test perplexity",
        lines,
        "One marker per network; seeds differ. Further left, the network predicts the test text better. Further down, "
        "a new model trained only on the text that the network generated predicts the test text better.",
    )


_TABLE1_NOTE = (
    "At paper scale the networks are the AWD-LSTMs with a mixture of softmaxes of the paper. At laptop scale they are "
    "LSTMs of 100 units with a vocabulary of the 3,000 most frequent words, so only ratios can be compared with the "
    "printed numbers. All variants have the same settings, and the switch is at the same update. The uniform control is "
    "not in the paper: it trains on the same extra segments as BMI-full, with equal weights instead of importance "
    "weights. The paper does not publish the configuration of the model that computes the reverse perplexity; here it is "
    "one LSTM, the same for all."
)


def segments(*, seed: int, progress: Progress, runs: Path, models: str) -> Outcome:
    """Table 2: train all networks and compare the information between segments of what they generate."""
    check_models("bmi-table2")
    from memspan.reproductions.cao2020.generated_text import segment_informations

    size = LANGUAGE_MODELS[models]
    trained = size.train(size.keys(seed), runs, progress)
    segments = segment_informations(size, trained, runs, seed, progress)
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [more_information(data, less, more, segments) for more, less in (*BETTER, (REAL, "full"))]
        claims += real_text_claims(data, segments)
    charts = tuple(_segment_chart(data, segments) for data in size.corpora)
    losses = {key: own_losses(run) for key, run in trained.items()}
    tables = tuple(measured_table(data, losses, segments) for data in size.corpora)
    return Outcome(tuple(claims), charts, (_TABLE2_NOTE,), tables=tables)


Segments = Mapping[ModelKey, SegmentInformation]


def more_information(data: str, less: str, more: str, segments: Segments) -> Claim:
    """Claim that segments of one text share more information than those of another, beyond the scatter."""
    low, high = (_samples(_texts(data, variant, False, segments)) for variant in (less, more))
    difference, half_width = float(np.mean(high) - np.mean(low)), welch_margin(low, high)
    row = SEGMENTS.get(data)
    return claim(
        f"On {data}, segments of {_text_name(more)} share more information than segments of {_text_name(less)}. "
        f"(Measured: the difference in nats. It holds above {half_width:.3f}, outside the 95 % interval by Student's "
        "t.)"
    ).holds_if(difference, difference > half_width, paper=None if row is None else row[more] - row[less])


def _text_name(variant: str) -> str:
    return "the real text" if variant == REAL else f"text generated by {variant_name(variant)}"


def _texts(data: str, variant: str, tuned: bool, segments: Segments) -> list[SegmentInformation]:
    """Results of one variant, seed by seed."""
    kind = (data, variant, tuned)
    return [text for key, text in segments.items() if (key.data, key.variant, key.tuned) == kind]


def _samples(texts: list[SegmentInformation]) -> tuple[float, ...]:
    """Values that the mean is taken over, in nats: one per seed, or one per fold of a single text."""
    return tuple(text.nats for text in texts) if len(texts) > 1 else texts[0].folds


def real_text_claims(data: str, segments: Segments) -> list[Claim]:
    """Claim that our critic finds as much information in the real text as the paper's critic did."""
    if data not in SEGMENTS:
        return []
    paper = SEGMENTS[data][REAL]
    measured = float(np.mean(_samples(_texts(data, REAL, False, segments))))
    return [
        claim(
            f"Segments of the real text of {data} share as much information as printed, within a quarter. (Measured: "
            "nats.)"
        ).near(measured, REAL_TOLERANCE * paper, paper=paper)
    ]


def _segment_chart(data: str, segments: Segments) -> Chart:
    lines = []
    for position, (variant, label) in enumerate(ROWS.items(), 1):
        texts = _texts(data, variant, False, segments)
        x = position + 0.15 * (np.arange(len(texts)) - (len(texts) - 1) / 2)
        low, high = ([text.interval[side] for text in texts] for side in (0, 1))
        lines.append(line(label, x, [text.nats for text in texts], band=(low, high), style="markers"))
    return chart(
        f"segments-{data}",
        f"Information between nearby segments, {data}",
        "text",
        "mutual information (nats)",
        lines,
        "A lower bound on the mutual information of two segments with a gap between them, from a critic that is "
        "independent of the networks. One marker per network, with its 95 % interval over the folds.",
        x_names=tuple(ROWS.values()),
    )


_TABLE2_NOTE = (
    "The paper says only that its critic is small. Here the critic is one hidden layer on the mean and the maximum of "
    "word vectors, the same for all texts. All texts of one data set have the same length. Pairs of independent "
    "segments are taken from distant positions."
)


def measured_table(data: str, losses: Mapping[ModelKey, Mapping[str, float]], segments: Segments) -> MeasuredTable:
    """Tables 1 and 2 in one: a row per variant, fine-tuned ones below, and the real text; empty columns are left out."""
    kinds = dict.fromkeys((key.variant, key.tuned, key.label) for key in losses if key.data == data)
    rows = [
        MeasuredRow(label, (*_perplexities(data, variant, tuned, losses), _information(data, variant, tuned, segments)))
        for variant, tuned, label in kinds
    ]
    rows.append(MeasuredRow(ROWS[REAL], (*(None for _ in MEASURES), _information(data, REAL, False, segments))))
    columns = (*MEASURES.values(), "segment information (nats)")
    filled = [column for column in range(len(columns)) if any(row.entries[column] for row in rows)]
    return MeasuredTable(
        title=f"All variants, {data}",
        columns=tuple(columns[column] for column in filled),
        rows=tuple(
            MeasuredRow(row.name, tuple(row.entries[column] for column in filled)) for row in rows if any(row.entries)
        ),
        caption="Means over seeds (geometric for perplexities) with 95 % intervals by Student's t. The interval of a "
        "single text is over its folds; that of a single training run is unknown. In brackets: the printed numbers, "
        "from much larger networks except at paper scale. Lower perplexity and higher information are better.",
    )


def _perplexities(
    data: str, variant: str, tuned: bool, losses: Mapping[ModelKey, Mapping[str, float]]
) -> list[MeasuredValue | None]:
    kind = (data, variant, tuned)
    own = [nats for key, nats in losses.items() if (key.data, key.variant, key.tuned) == kind]
    return [
        perplexity_value([nats[measure] for nats in own], printed_perplexity(data, tuned, variant, measure))
        if all(measure in nats for nats in own)
        else None
        for measure in MEASURES
    ]


def _information(data: str, variant: str, tuned: bool, segments: Segments) -> MeasuredValue | None:
    texts = _texts(data, variant, tuned, segments)
    if not texts:
        return None
    each = _samples(texts)
    mean, half_width = float(np.mean(each)), reach_of_mean(each)
    paper, error = (None if tuned else row.get(data, {}).get(variant) for row in (SEGMENTS, SEGMENT_ERRORS))
    return MeasuredValue(mean, (mean - half_width, mean + half_width), each, paper, error)
