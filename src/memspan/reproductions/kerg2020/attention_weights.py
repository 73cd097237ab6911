"""Kerg 2020, Fig. 1, 7, 9, 10 and 11: where trained networks attend.

Fully attentive networks when they recall (Fig. 1), on text (Fig. 7) and on digits (Fig. 9); networks that attend to the
short-term buffer only (Fig. 10 and 11).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import AttentionMap, Claim, HeatMap

if TYPE_CHECKING:
    from memspan.training.supervised.trained_model import TrainedModel

# Share of an answer's attention that counts as most of it.
MOST = 0.5
# Number of recalled symbols.
RECALLED = 10


def run(
    *, seed: int, progress: Progress, runs: Path, delay: int, hidden: int, updates: int, workers: int | None
) -> Outcome:
    """Train a MemRNN on each task and show its attention on one test sequence."""
    check_models("relevance-fig1")
    from memspan.diagnostics.attention import attention_map
    from memspan.reproductions.trainings import recall_config, train_all
    from memspan.training.supervised.trained_model import load_best

    configs = {
        task: recall_config(
            task, "mem-rnn", seed, delay=delay, hidden=hidden, updates=updates, options={"combine": "mean"}
        )
        for task in ("copy", "denoise")
    }
    trained = train_all(configs, runs, progress, workers=workers)
    claims, maps = [], []
    for task, run in trained.items():
        best, accuracy = load_best(runs / task), run.accuracy or 0.0
        attention, _ = attention_map(best.around_cell(), best.task, sequences=1, seed=seed)
        claims.append(_attention_claim(task, _share(attention, _symbol_steps(best, seed)), accuracy))
        maps.append(_map(task, hidden, attention, accuracy))
    return Outcome(tuple(claims), (), (_NOTE,), maps=tuple(maps))


def _symbol_steps(best: TrainedModel, seed: int) -> list[int]:
    """Steps of the displayed sequence at which a symbol is shown."""
    from memspan.diagnostics.batches import diagnostic_batch

    inputs = diagnostic_batch(best.around_cell(), best.task, 1, seed).inputs[: -RECALLED - 1, 0]
    return np.flatnonzero(inputs.cpu().numpy()).tolist()


def _share(attention: AttentionMap, symbols: list[int]) -> float:
    """Share of the ten answers' attention on the steps that show symbols and the steps right after them."""
    columns = sorted({step + later for step in symbols for later in (0, 1)})
    return float(attention.weights[-RECALLED:][:, columns].sum(1).mean()) if attention.block == 1 else float("nan")


def _attention_claim(task: str, share: float, accuracy: float) -> Claim:
    return claim(
        f"{task.capitalize()}: when a MemRNN recalls, most of its attention is on the few steps that show symbols, or "
        "on the steps right after them.",
        measure=f"the share of one sequence's attention; the network recalls {accuracy:.1%}",
    ).above(share, MOST)


def _map(task: str, hidden: int, attention: AttentionMap, accuracy: float) -> HeatMap:
    where = {"copy": "in the first ten steps", "denoise": "at random steps"}[task]
    return attention_heat_map(
        f"{task}-attention",
        f"{task.capitalize()}: attention of a fully attentive network",
        attention,
        f"One test sequence of a MemRNN of {hidden} units that recalls {accuracy:.1%} of the symbols. Symbols "
        f"are shown {where}; the last ten rows are the answers. Each row sums to one. The area above the diagonal is "
        "the future.",
    )


def attention_heat_map(name: str, title: str, attention: AttentionMap, caption: str) -> HeatMap:
    """Attending steps over attended steps; the future is left blank."""
    steps = np.arange(len(attention.weights), dtype=float) * attention.block
    return HeatMap(
        name=name,
        title=title,
        x_label="attended step",
        y_label="attending step",
        value_label="attention",
        value_scale="linear",
        x=steps,
        y=steps,
        values=np.where(np.tri(len(steps), k=-1, dtype=bool), attention.weights, np.nan),
        highest=1.0,
        edge=np.empty((0, 0)),
        edge_label="",
        lines=(),
        caption=caption,
    )


_NOTE = (
    "One sequence is displayed and evaluated. Which states a network learns to attend to differs between trainings. "
    "State and context are combined by their mean (errata-13). With the printed sum, the accuracy after 5,000 updates "
    "was 43 % on copy and 98 % on denoise."
)


# --- Fig. 7 and 9: text and digits, whose dependencies are dense

# States that RelRNN holds in the paper, nu + rho. Attention to more of them is dense.
HELD = 20


def text(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    data: str,
    steps: int,
    hidden: int,
    embedding: int,
    training: dict[str, Any],
    sequences: int,
) -> Outcome:
    """Fig. 7: train a MemRNN on characters with full attention over `steps` of them."""
    settings = {"task": {"data": data, "steps": steps}, "cell": {"hidden": hidden}, "model": {"embedding": embedding}}
    name = {"ptb": "The Penn Treebank"}.get(data, f"The text {data}")
    return _dense(
        "relevance-fig7", "characters", f"{name} by characters", settings, training, sequences, seed, runs, progress
    )


def digits(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    data: str,
    steps: int,
    hidden: int,
    training: dict[str, Any],
    sequences: int,
) -> Outcome:
    """Fig. 9: train a MemRNN on digits that are read a few pixels per step in a fixed random order."""
    settings = {"task": {"data": data, "steps": steps}, "cell": {"hidden": hidden}}
    return _dense(
        "relevance-fig9", "permuted-digits", f"Digits ({data})", settings, training, sequences, seed, runs, progress
    )


def _dense(
    recipe: str,
    task: str,
    name: str,
    settings: dict[str, Any],
    training: dict[str, Any],
    sequences: int,
    seed: int,
    runs: Path,
    progress: Progress,
) -> Outcome:
    check_models(recipe)
    from memspan.diagnostics.attention import attention_map
    from memspan.reproductions.trainings import train_all, training_config
    from memspan.training.supervised.trained_model import load_best

    config = training_config(task, "mem-rnn", seed, settings, {"cell": {"combine": "mean"}, "training": training})
    trained = train_all({"mem-rnn": config}, runs, progress, workers=1)["mem-rnn"]
    best = load_best(runs / "mem-rnn")
    one, several = (
        attention_map(best.around_cell(), best.task, sequences=count, seed=seed)[0] for count in (1, sequences)
    )
    claims = dense_claims(name, several, trained.loss, best.task.baseline)
    caption = (
        f"One test sequence of a MemRNN of {settings['cell']['hidden']} units after {trained.updates:,} updates (test loss "
        f"{trained.loss:.3f} nats, memoryless baseline {best.task.baseline:.3f}). Each row sums to one; the area above the "
        "diagonal is the future."
    )
    note = (
        f"Over {sequences} test sequences the last step attends to {several.states:.1f} states, {several.distance:.1f} "
        "steps back in the mean."
    )
    drawn = attention_heat_map(f"{task}-attention", f"{name}: attention of a fully attentive network", one, caption)
    return Outcome(claims, (), (note, _DENSE_NOTE), maps=(drawn,))


def dense_claims(name: str, attention: AttentionMap, loss: float, baseline: float) -> tuple[Claim, ...]:
    """The last step has the most states to choose from. Where there are few, half of them count as dense."""
    dense = min(HELD, attention.steps / 2)
    # Random weights attend to all states alike, so that attention is dense without training, too.
    learned = loss < baseline
    reason = "" if learned else " (It has not learned the task, so its attention does not count.)"
    return (
        claim(
            f"{name}: attention is dense. The last step attends to more than {dense:g} states, where RelRNN holds {HELD} in "
            f"the paper.{reason}",
            measure=f"exp of the entropy of its attention to {attention.steps - 1} states, mean over sequences",
        ).holds_if(attention.states, learned and attention.states > dense),
        claim(
            f"{name}: the fully attentive network trains; the paper reports that it fails for lack of memory.",
            measure=f"its test loss in nats; it holds below the memoryless baseline, {baseline:.3f}",
        ).below(loss, baseline),
    )


_DENSE_NOTE = (
    "The paper shows these maps without a number and calls them dense. The caption names full attention, so a MemRNN is "
    "trained; the text mentions RelRNN. State and context are combined by their mean (errata-13). The backward pass "
    "recomputes attention, so memory grows linearly with the sequence and does not overflow."
)


# --- Fig. 10 and 11: attention over the short-term buffer only


def short_term_buffer(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    task: str,
    delay: int,
    hidden: int,
    updates: int,
    short_term: int,
    sequences: int,
) -> Outcome:
    """Fig. 10 (copy) and 11 (denoise): train a RelRNN without a relevant set, and show its attention."""
    check_models({"copy": "relevance-fig10", "denoise": "relevance-fig11"}[task])
    import torch

    from memspan.reproductions.trainings import recall_config, train_all
    from memspan.training.supervised.trained_model import load_best

    options = {"short_term": short_term, "relevant": 0}
    config = recall_config(task, "rel-rnn", seed, delay=delay, hidden=hidden, updates=updates, options=options)
    trained = train_all({"rel-rnn": config}, runs, progress, workers=1)["rel-rnn"]
    best = load_best(runs / "rel-rnn")
    weights, symbols = _attention_and_symbols(best, sequences, seed)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        best.around_cell().cell.reset_parameters()
    untrained, _ = _attention_and_symbols(best, sequences, seed)
    accuracy = trained.accuracy or 0.0
    steps = len(weights)
    one = AttentionMap(steps, 1, 1, weights[:, 0], float("nan"), float("nan"))
    caption = (
        f"One test sequence of a RelRNN of {hidden} units without a relevant set, which recalls {accuracy:.1%} of the "
        f"symbols: it attends to the last nu = {short_term} states only, so all weight is in a band below the diagonal."
    )
    drawn = attention_heat_map(
        f"{task}-short-term", f"{task.capitalize()}: attention over the short-term buffer only", one, caption
    )
    note = (
        f"It recalls {accuracy:.1%} after {trained.updates:,} updates, with {short_term} recent states and a delay of "
        f"{delay}."
    )
    claims = buffer_claims(task, weights, untrained, symbols, short_term)
    return Outcome(claims, (), (note, _BUFFER_NOTE), maps=(drawn,))


def _attention_and_symbols(
    best: TrainedModel, sequences: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Attention (time, batch, source), and which steps (time, batch) before the marker show a symbol."""
    from memspan.diagnostics.batches import diagnostic_batch
    from memspan.sampling.streams import evaluation_mode

    network = best.around_cell()
    batch = diagnostic_batch(network, best.task, sequences, seed)
    with evaluation_mode(network):
        weights = network.cell.attention(network.encode(batch.inputs))
    symbols = batch.inputs.cpu().numpy() > 0
    symbols[-RECALLED - 1 :] = False
    return weights.double().cpu().numpy(), symbols


def buffer_claims(
    task: str, weights: NDArray[np.float64], untrained: NDArray[np.float64], symbols: NDArray[np.bool_], short_term: int
) -> tuple[Claim, ...]:
    """Claims about attention (time, batch, source), after and before training, and the steps that show symbols."""
    back = np.arange(len(weights))[:, None] - np.arange(weights.shape[2])
    inside = (back >= 1) & (back <= short_term)
    outside = float((weights * ~inside[:, None]).sum(2).max())
    learned, before = (relevance_ratio(own, symbols, inside) for own in (weights, untrained))
    return (
        claim(
            f"{task.capitalize()}: all attention is on the last {short_term} states. (Measured: the largest share that is "
            "not.)"
        ).near(outside, 1e-6, paper=0.0),
        claim(
            f"{task.capitalize()}: attention within the buffer already tells which states are relevant. States that hold a "
            "symbol, or follow one, receive more of it than the others, and more than before training.",
            measure=f"the ratio of their relevance scores, each divided by that of uniform attention; {before:.3f} with "
            "random weights",
        ).above(learned, max(1.0, before)),
    )


def relevance_ratio(weights: NDArray[np.float64], symbols: NDArray[np.bool_], inside: NDArray[np.bool_]) -> float:
    """Mean relevance score beta(i) of states at symbols and right after them / of all others before the marker.

    beta(i) sums the attention that state i receives (Kerg 2020, section 4). The first states share it with fewer others, so
    each score is divided by that under uniform attention.
    """
    uniform = (inside / np.maximum(inside.sum(1, keepdims=True), 1)).sum(0)
    last = len(weights) - RECALLED - 1
    scores = weights.sum(0)[:, :last] / uniform[:last]
    relevant = symbols.copy()
    relevant[1:] |= symbols[:-1]
    relevant = relevant[:last].T
    return float(scores[relevant].mean() / scores[~relevant].mean())


_BUFFER_NOTE = (
    "The paper shows these maps without a number. They belong to the argument of section 4: relevance scores are computed "
    "from attention within the short-term buffer, so it must mark what is relevant while it is recent."
)
