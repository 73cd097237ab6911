"""`memspan evaluate RUN`"""

from __future__ import annotations

import dataclasses

from memspan.cli import gridworld, options
from memspan.cli import train_options as asked
from memspan.cli.output import CommandOutput, check_place
from memspan.cli.run_kept import nothing_kept
from memspan.errors import InputError, check_models

WRITTEN = 200_000
"""Default number of generated symbols; repeated here so that the help does not load PyTorch."""


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
    """Evaluate a trained network at its own delay or at others; an agent, in other worlds.

    The weights are those with the lowest validation loss so far, for an agent the newest; the run may be unfinished.
    """
    check_models("evaluating")
    output = CommandOutput(command="evaluate", json=json, quiet=quiet)
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
        raise InputError(f"--world and --episodes are for runs in grid worlds; {run} is none; omit them")
    generates = segment_information or reverse_perplexity
    _check_generation_options(generates, {"--length": length, "--seed": seed})
    with output.progress() as progress, nothing_kept(f"what was evaluated; {run} is as it was"):
        from memspan.diagnostics.written_texts import check_text, with_written
        from memspan.training.evaluating import evaluate_run

        if generates:
            check_text(run)
        result = evaluate_run(
            run, delays or (), split=split, batches=batches, size=size, device=device, progress=progress
        )
        if generates:
            result = with_written(
                result,
                run,
                segments=segment_information,
                reverse=reverse_perplexity,
                length=WRITTEN if length is None else length,
                seed=seed or 0,
                device=device,
                progress=progress,
            )
    dataclasses.replace(output, out=folder).give(result)


def _check_generation_options(generates: bool, given: dict[str, int | None]) -> None:
    """Refuse options of generated text where none is generated."""
    options = [f"{word} {value}" for word, value in given.items() if value is not None]
    if options and not generates:
        raise InputError(
            f"{' and '.join(options)}: has no effect without generated text; add --segment-information or "
            "--reverse-perplexity, or omit it"
        )
