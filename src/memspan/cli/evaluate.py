"""`memspan evaluate RUN`"""

from __future__ import annotations

import dataclasses

from memspan.cli import gridworld, options
from memspan.cli import train_options as asked
from memspan.cli.output import Output, check_place
from memspan.cli.run_kept import nothing_kept
from memspan.errors import InputError, check_models

WRITTEN = 200_000
"""Symbols that a run writes unless told; the command line has its own number, so that its help loads no PyTorch."""


def evaluate(
    run: asked.Run,
    delays: asked.Delays = None,
    worlds: asked.Worlds = None,
    episodes: asked.Episodes = None,
    split: asked.Split = "test",
    batches: asked.Batches = None,
    size: asked.Size = None,
    segment_information: asked.SegmentInformation = False,
    reverse_perplexity: asked.ReversePerplexity = False,
    length: asked.WrittenLength = None,
    seed: asked.EvaluationSeed = None,
    device: asked.EvaluationDevice = "auto",
    out: asked.EvaluationFolder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What a trained network still remembers, at the delay it was trained at or at others; of an agent, in other worlds.

    The weights are those that did best on validation so far, of an agent the newest; the run may still go on.
    """
    check_models("evaluating")
    output = Output(command="evaluate", json=json, quiet=quiet)
    folder = out or run / "evaluation"
    check_place(folder)
    if gridworld.is_run(run):
        given = {
            "--delay": delays,
            "--split": split != "test",
            "--batches": batches,
            "--size": size,
            "--segment-information": segment_information,
            "--reverse-perplexity": reverse_perplexity,
            "--length": length,
        }
        gridworld.check_unused(run, [word for word, value in given.items() if value])
        gridworld.evaluate(run, worlds or [], episodes, seed or 0, device, output, out)
        return
    if worlds or episodes is not None:
        raise InputError(f"--world and --episodes are for runs in grid worlds; {run} is none; leave them out")
    writes = segment_information or reverse_perplexity
    _check_read(writes, {"--length": length, "--seed": seed})
    with output.progress() as progress, nothing_kept(f"what was evaluated; {run} is as it was"):
        from memspan.diagnostics.generated_text import check_text, with_generated_text
        from memspan.training.evaluating import evaluate_run

        if writes:
            check_text(run)
        result = evaluate_run(
            run,
            delays or (),
            split=split,
            batches=batches,
            size=size,
            device=device,
            progress=progress,
        )
        if writes:
            result = with_generated_text(
                result,
                run,
                segments=segment_information,
                reverse=reverse_perplexity,
                length=WRITTEN if length is None else length,
                seed=seed or 0,
                device=device,
                progress=progress,
            )
    from memspan.cli.training_tables import show_evaluation

    place = dataclasses.replace(output, out=folder)
    place.give(result, lambda console: show_evaluation(console, result))


def _check_read(writes: bool, given: dict[str, int | None]) -> None:
    """Refuse options that only what is written depends on, where nothing is."""
    words = [f"{word} {value}" for word, value in given.items() if value is not None]
    if words and not writes:
        raise InputError(
            f"{' and '.join(words)}: nothing is written, so nothing depends on it; add --segment-information or "
            "--reverse-perplexity, or leave it out"
        )
