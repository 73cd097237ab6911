"""`memspan evaluate RUN`"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from memspan.cli import options
from memspan.cli import train_options as train_option
from memspan.cli.interrupts import nothing_saved
from memspan.cli.output import CommandOutput, check_place
from memspan.errors import InputError, check_models, check_rl

# Default number of generated symbols; a copy of the library's number, so that --help loads no PyTorch.
GENERATED = 200_000


def evaluate(
    run: train_option.Run,
    delays: train_option.Delays = None,
    worlds: train_option.Worlds = None,
    episodes: train_option.Episodes = None,
    split: train_option.Split = "test",
    batches: train_option.Batches = None,
    size: train_option.Size = None,
    segment_information: train_option.SegmentInformation = False,
    reverse_perplexity: train_option.ReversePerplexity = False,
    length: train_option.GeneratedLength = None,
    seed: train_option.EvaluationSeed = None,
    device: train_option.EvaluationDevice = "auto",
    out: train_option.EvaluationFolder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate what a trained network remembers, at the trained delay or at others; an agent in other worlds.

    Uses the weights with the best validation so far, of an agent the newest ones; the run may still be training.
    """
    check_models("evaluating")
    output = CommandOutput(command="evaluate", json=json, quiet=quiet)
    folder = out or run / "evaluation"
    check_place(folder)
    from memspan.training.agents.config import is_agent_run

    if is_agent_run(run):
        unused = {
            "--delay": delays,
            "--split": split != "test",
            "--batches": batches,
            "--size": size,
            "--segment-information": segment_information,
            "--reverse-perplexity": reverse_perplexity,
            "--length": length,
        }
        for option in (name for name, value in unused.items() if value):
            raise InputError(
                f"{option}: {run} is an agent in a grid world, which does not use it; omit it; --world NAME evaluates other "
                "worlds"
            )
        _evaluate_agents(run, worlds or [], episodes, seed or 0, device, output, folder)
        return
    if worlds or episodes is not None:
        raise InputError(f"--world and --episodes are for runs in grid worlds; {run} is none; omit them")
    generates = segment_information or reverse_perplexity
    given = {"--length": length, "--seed": seed}
    words = [f"{option} {value}" for option, value in given.items() if value is not None]
    if words and not generates:
        raise InputError(
            f"{' and '.join(words)}: has no effect without generated text; add --segment-information or "
            "--reverse-perplexity, or omit it"
        )
    with output.progress() as progress, nothing_saved(f"the evaluation; {run} is unchanged"):
        from memspan.diagnostics.generated_text import check_text, with_generated_text
        from memspan.training.supervised.evaluation import evaluate_run

        if generates:
            check_text(run)
        result = evaluate_run(
            run, delays or (), split=split, batches=batches, size=size, device=device, progress=progress
        )
        if generates:
            result = with_generated_text(
                result,
                run,
                segments=segment_information,
                reverse=reverse_perplexity,
                length=GENERATED if length is None else length,
                seed=seed or 0,
                device=device,
                progress=progress,
            )
    dataclasses.replace(output, out=folder).give(result)


def _evaluate_agents(
    run: Path,
    worlds: list[str],
    episodes: int | None,
    seed: int,
    device: train_option.DeviceName,
    output: CommandOutput,
    folder: Path,
) -> None:
    """Evaluate the agents of a run; `auto` is the device that they were trained on."""
    check_rl("evaluating in grid worlds")
    from memspan.training.agents.evaluation import EPISODES, evaluate_agents

    with output.progress() as progress:
        result = evaluate_agents(
            run,
            worlds,
            episodes=episodes or EPISODES,
            seed=seed,
            device=None if device == "auto" else device,
            progress=progress,
        )
    dataclasses.replace(output, out=folder).give(result)
