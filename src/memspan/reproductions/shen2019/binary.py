"""Networks trained on scale-free binary sequences, and what they generate: RNNs, LSTMs and Transformers.

Shen 2019, sections 4.2.1 and 5.1, appendix E: Fig. 1, 3a, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.reproductions.shen2019.decay import TAIL, CurveDecay, law_claim, mean_ratio
from memspan.reproductions.shen2019.generated import (
    Generated,
    Generation,
    curves_chart,
    data_line,
    generate_all,
    length_line,
    lengths_chart,
)
from memspan.reproductions.shen2019.sizes import (
    CELL_NAMES,
    SEQUENCE_LENGTH,
    Architecture,
    ArchitectureGrid,
    BinaryTraining,
)
from memspan.results import Chart, Claim, Curve
from memspan.sequences.sources import PowerLawBinary

if TYPE_CHECKING:
    from memspan.training import Config

Found = Mapping[Architecture, Generated]

# I(tau) = 0.1 tau^-0.4 nats.
SOURCE = PowerLawBinary(0.1, 0.4)
# Values above this level, in nats, count for the correlation length.  Shen 2019, Fig. 1.
ABOVE = 1e-3
# For sequences of 512 symbols.
LARGEST_LAG = 500

# --- Training and measuring

_OPTIONS: dict[str, dict[str, Any]] = {"rnn": {}, "lstm": {"one_bias": True}, "transformer": {"heads": 4}}
_OPTIMIZERS: dict[str, dict[str, Any]] = {
    "rnn": {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25},
    "lstm": {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25},
    "transformer": {"optimizer": "adam", "clip_norm": None, "clip_value": 5.0, "schedule": "cosine"},
}
BATCH = 50


def binary_config(training: BinaryTraining, network: Architecture, seed: int) -> Config:
    """As in appendix E: an embedding of two numbers (for a Transformer, of its width), batches of 50."""
    from memspan.reproductions.trainings import training_config

    cell, updates = network.cell, training.updates[network.cell]
    settings = {
        "task": {"length": training.length, "sequences": training.sequences},
        "cell": {"hidden": network.width, "layers": network.depth, **_OPTIONS[cell]},
        "init": {"name": "default" if cell == "transformer" else "keras"},
        "model": {"embedding": network.width if cell == "transformer" else 2},
        "training": {
            **_OPTIMIZERS[cell],
            "batch": BATCH,
            "updates": updates,
            "learning_rate": training.learning_rates[cell],
            # After every pass through the training set.
            "validate_every": min(max(1, training.sequences // BATCH), updates),
            "validation_batches": training.validation_batches,
            "patience": training.patience,
            **({} if training.schedule is None else {"schedule": training.schedule}),
        },
    }
    return training_config("binary", cell, seed, settings)


def _generate(
    training: BinaryTraining, networks: Iterable[Architecture], seed: int, runs: Path, progress: Progress
) -> tuple[Found, Curve, CurveDecay]:
    """What the best seed of every network generates; and as many new sequences of the training distribution, measured."""
    lags: NDArray[np.int64] = np.arange(1, training.length * LARGEST_LAG // SEQUENCE_LENGTH + 1)
    found = generate_all(
        networks,
        range(seed, seed + training.seeds),
        lambda network, seed: binary_config(training, network, seed),
        Generation(streams=training.generated, length=training.length, lags=lags, above=ABOVE),
        runs,
        progress,
        workers=training.workers,
    )
    data = mutual_information(SOURCE.sample(training.generated, training.length, seed=seed), lags, seed=seed)
    return found, data, CurveDecay.of(data, ABOVE)


def _notes(found: Found, data: CurveDecay) -> tuple[str, ...]:
    return (
        f"the data: {data}.",
        *(f"{each}." for each in found.values()),
        "RNNs and LSTMs are initialized as in Keras, as those of the paper: orthogonal recurrent weights, Glorot-uniform "
        "input weights, zero biases and a forget bias of 1. Embedding and output layer are uniform within 0.1, unlike in "
        "Keras.",
    )


def _curves(name: str, title: str, generated: Iterable[Generated], data: Curve) -> Chart:
    return curves_chart(
        name,
        title,
        generated,
        data,
        "the data: 0.1 tau^-0.4",
        "Each line is one network, by its width (x depth): the information between symbols of what it generated, with the "
        "noise floor subtracted, where it is significant. A straight line, such as that of the data, is a power law; a line "
        "that bends down decays exponentially.",
    )


# --- Fig. 1: RNNs and LSTMs

# Up to this width, the correlation length grows like a logarithm of the width.  Shen 2019, section 4.2.1.
SMALL = 32
# The correlation length at which wide RNNs saturate in the paper.
SATURATED = 100.0
# The correlation length that the paper fits to its training set.
DATA_LENGTH = 420.0


def recurrent(
    *, grid: ArchitectureGrid, training: BinaryTraining, seed: int, progress: Progress, runs: Path
) -> Outcome:
    """Fig. 1: what RNNs and LSTMs generate, by width and depth."""
    check_models("shen-fig1")
    found, curve, data = _generate(training, grid.architectures, seed, runs, progress)
    claims = [*exponential_claims(grid, found), *width_claims(grid, found, data), *depth_claims(grid, found)]
    if training.length == SEQUENCE_LENGTH:
        claims.append(_data_claim(data))
    figures = (
        *(
            _curves(
                f"{cell}-curves",
                f"What {CELL_NAMES[cell]}s generate after training on scale-free binary sequences",
                [found[network] for network in grid.of(cell)],
                curve,
            )
            for cell in grid.cells
        ),
        *_grid_charts(grid, found, data, "Correlation length of what networks generate"),
    )
    return Outcome(tuple(claims), figures, _notes(found, data))


def _by_width(grid: ArchitectureGrid, cell: str, found: Found) -> dict[int, CurveDecay]:
    return {width: found[Architecture(cell, width)].decay for width in grid.widths}


def _by_depth(grid: ArchitectureGrid, cell: str, found: Found) -> dict[int, CurveDecay]:
    return {depth: found[Architecture(cell, grid.deep, depth)].decay for depth in grid.depths}


def _grid_charts(grid: ArchitectureGrid, found: Found, data: CurveDecay, title: str) -> tuple[Chart, Chart]:
    widths = [length_line(CELL_NAMES[cell], _by_width(grid, cell, found)) for cell in grid.cells]
    depths = [length_line(CELL_NAMES[cell], _by_depth(grid, cell, found)) for cell in grid.cells]
    return (
        lengths_chart("width", f"{title}, by width", [*widths, data_line(data, grid.widths)]),
        lengths_chart(
            "depth", f"{title}, by depth (layers of {grid.deep} units)", [*depths, data_line(data, grid.depths)]
        ),
    )


def _two_law_claims(each: Generated, law: str, other: str) -> list[Claim]:
    """A claim that one law describes the curve better than the other: over all lags, and in the tail."""
    who = f"the {CELL_NAMES[each.network.cell]} of width {each.network.label}"
    return [
        law_claim(
            f"What {who} generates follows {law} rather than {other}, {where}.",
            weight if "exponential" in law else 1 - weight,
            law.split(" ", 1)[1],
        )
        for where, weight in (
            ("over all lags", each.decay.exponential_weight),
            (f"beyond lag {TAIL}", each.decay.tail_weight),
        )
    ]


def exponential_claims(grid: ArchitectureGrid, found: Found) -> list[Claim]:
    """For all RNNs; for LSTMs the paper claims it only of the smallest."""
    claimed = [Architecture("rnn", width) for width in grid.widths] + [Architecture("lstm", grid.widths[0])]
    return [claim for network in claimed for claim in _two_law_claims(found[network], "an exponential", "a power law")]


def width_claims(grid: ArchitectureGrid, found: Found, data: CurveDecay) -> list[Claim]:
    """How the correlation length depends on the width, and how it compares with that of the data."""
    narrow, before, wide = grid.widths[0], grid.widths[-2], grid.widths[-1]
    length = {network: each.decay.length for network, each in found.items()}
    claims = [
        claim(
            f"The correlation length of {CELL_NAMES[cell]}s grows with the width, from {narrow} to {wide}.",
            measure="the ratio",
        ).between(length[Architecture(cell, wide)] / length[Architecture(cell, narrow)], least=1.0)
        for cell in grid.cells
    ]
    small, large = Architecture("lstm", 4), Architecture("rnn", 32)
    if small in length and large in length:
        claims.append(
            claim(
                "An LSTM of 4 units and 126 parameters has a longer correlation length than an RNN of 32 and 1,190.",
                measure="the ratio",
            ).between(length[small] / length[large], least=1.0)
        )
    last = length[Architecture("rnn", wide)]
    most, growth = (1.5, "grows at most like a logarithm of the width") if wide <= SMALL else (1.1, "saturates")
    claims += [
        claim(
            f"Even the RNN of width {wide} has a correlation length far below that of the data: less than half.",
            measure="the ratio",
        ).between(last / data.length, most=0.5),
        claim(
            f"The correlation length of RNNs {growth}: from {before} to {wide} units it becomes less than {most} times as "
            "long.",
            measure="the ratio",
        ).between(last / length[Architecture("rnn", before)], most=most),
    ]
    if wide > SMALL:
        text = "Wide RNNs have a correlation length of around 100."
        claims.append(claim(text).near(last, 50.0, paper=SATURATED))
    return claims


def depth_claims(grid: ArchitectureGrid, found: Found) -> list[Claim]:
    """Whether a second layer helps."""
    claims = []
    for cell in grid.cells:
        one, two, *_ = _by_depth(grid, cell, found).values()
        text = f"A second layer increases the correlation length of {CELL_NAMES[cell]}s of width {grid.deep}."
        claims.append(claim(text, measure="the ratio").between(two.length / one.length, least=1.0))
    return claims


def _data_claim(data: CurveDecay) -> Claim:
    text = (
        "An exponential fitted to the data themselves, which are scale-free, gives a correlation length of 420, comparable "
        "to the length of a sequence."
    )
    return claim(text).near(data.length, 0.25 * DATA_LENGTH, paper=DATA_LENGTH)


# --- Fig. 7: the depth of LSTMs

# A correlation length that is less than this many times another is no relevant improvement.
SAME = 1.2


def lstm_depth(
    *,
    widths: tuple[int, ...],
    depths: tuple[int, ...],
    training: BinaryTraining,
    seed: int,
    progress: Progress,
    runs: Path,
) -> Outcome:
    """Fig. 7: LSTMs of every width and depth."""
    check_models("shen-fig7")
    networks = [Architecture("lstm", width, depth) for width in widths for depth in depths]
    found, _, data = _generate(training, networks, seed, runs, progress)
    lines = [
        length_line(f"{width} units", {depth: found[Architecture("lstm", width, depth)].decay for depth in depths})
        for width in widths
    ]
    figure = lengths_chart(
        "depth", "Correlation length of what LSTMs generate, by depth and width", [*lines, data_line(data, depths)]
    )
    claims = tuple(deeper_claim(found, width, depths) for width in widths)
    return Outcome(claims, (figure,), _notes(found, data))


def deeper_claim(found: Found, width: int, depths: tuple[int, ...]) -> Claim:
    """More than two layers do not help."""
    two, *more = (found[Architecture("lstm", width, depth)].decay.length for depth in depths[1:])
    return claim(
        f"More than two layers of {width} units do not help an LSTM: the longest correlation length of them is less than "
        f"{SAME:g} times that of two.",
        measure="the ratio",
    ).between(float(np.fmax.reduce(more)) / two, most=SAME)


# --- Fig. 3a and 9: Transformers


def transformer_curves(
    *, grid: ArchitectureGrid, training: BinaryTraining, seed: int, progress: Progress, runs: Path
) -> Outcome:
    """Fig. 3a: what Transformers of one layer generate."""
    check_models("shen-fig3a")
    found, curve, data = _generate(training, grid.architectures, seed, runs, progress)
    claims = [
        claim
        for each in found.values()
        for claim in (*_two_law_claims(each, "a power law", "an exponential"), magnitude_claim(each))
    ]
    return Outcome(tuple(claims), (_transformer_chart(found, curve, "by width"),), _notes(found, data))


def transformer_lengths(
    *, grid: ArchitectureGrid, training: BinaryTraining, seed: int, progress: Progress, runs: Path
) -> Outcome:
    """Fig. 9: the correlation length of Transformers, by width and depth."""
    check_models("shen-fig9")
    found, curve, data = _generate(training, grid.architectures, seed, runs, progress)
    figures = (
        _transformer_chart(found, curve, "by width and depth"),
        *_grid_charts(grid, found, data, "Correlation length of what Transformers generate"),
    )
    return Outcome(_transformer_claims(grid, found, data), figures, _notes(found, data))


def _transformer_chart(found: Found, data: Curve, how: str) -> Chart:
    title = f"What Transformers generate after training on scale-free binary sequences, {how}"
    return _curves("curves", title, found.values(), data)


def magnitude_claim(each: Generated) -> Claim:
    """At every lag, also where nothing is visible."""
    lags = each.curve.lags
    ratio = mean_ratio(each.curve, SOURCE.information(lags), lags > 0)
    return claim(
        f"The information of what the Transformer of width {each.network.label} generates has the magnitude of the data's: "
        "0.8 to 1.25 times, in the geometric mean over all lags.",
        measure="the ratio",
    ).holds_if(ratio, 0.8 <= ratio <= 1.25)


def _transformer_claims(grid: ArchitectureGrid, found: Found, data: CurveDecay) -> tuple[Claim, ...]:
    """What the text of the paper states, and what its figure shows."""
    by_width = _by_width(grid, "transformer", found)
    one, two, *_ = (decay.length for decay in _by_depth(grid, "transformer", found).values())
    narrow, *_, wide = by_width
    return (
        claim(
            f"The Transformer of one layer and width {grid.deep} has a longer correlation length than the data.",
            measure="the ratio",
        ).between(by_width[grid.deep].length / data.length, least=1.0),
        claim(
            f"The correlation length grows with the width, from {narrow} to {wide}, as the figure shows.",
            measure="the ratio",
        ).between(by_width[wide].length / by_width[narrow].length, least=1.0),
        claim(
            f"A second layer of {grid.deep} units brings it closer to that of the data, as the figure shows.",
            measure="the ratio",
        ).between(abs(two / data.length - 1) / abs(one / data.length - 1), most=1.0),
    )
