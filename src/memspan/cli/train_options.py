"""The options of `train`, `resume` and `evaluate`, each with its unit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

DeviceName: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
SplitName: TypeAlias = Literal["train", "valid", "test"]
StartName: TypeAlias = Literal[
    "default", "critical", "field", "orthogonal", "henaff", "cayley", "chrono", "run"
]

_NETWORK, _TASK, _LEARNING, _CONFIG, _OUTPUT = "Network", "Task", "Learning", "Configuration", "Output"
_EVALUATING, _WRITING = "Evaluating", "What it writes"

Task = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="What must be remembered: copy, denoise, adding, noisy-digits, digits, permuted-digits, binary, characters,"
        " words, or gridworld (an agent that must remember what it has seen).",
    ),
]
Run = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a training, as memspan train named it.")
]
Cell = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What remembers: rnn, orthogonal-rnn, exp-rnn, goru, minimal-rnn, lstm, gru, detach-lstm, mem-rnn,"
        " mem-lstm, sab-lstm, rel-rnn, rel-lstm or transformer. By default rel-rnn, lstm for texts, rel-lstm for gridworld,"
        " where none is an agent without memory.",
        rich_help_panel=_NETWORK,
    ),
]
Hidden = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Hidden units. The default is the task's.", rich_help_panel=_NETWORK
    ),
]
Layers = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Layers on top of each other. By default 1.", rich_help_panel=_NETWORK
    ),
]
ShortTerm = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="NU",
        help="States of the last so many steps that rel-rnn and rel-lstm look at. By default 10, of gridworld 5.",
        rich_help_panel=_NETWORK,
    ),
]
Relevant = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="RHO",
        help="Earlier states, the most relevant ones, that rel-rnn and rel-lstm keep. By default 10, of gridworld 5.",
        rich_help_panel=_NETWORK,
    ),
]
Init = Annotated[
    StartName | None,
    typer.Option(
        metavar="NAME",
        help="How recurrent weights start: default (the cell's own), critical (chi_1 = 1), field (init.sigma_w and"
        " init.sigma_v), orthogonal, henaff, cayley, chrono (gates for the delay), or run (what another one has learnt:"
        " --set init.run=DIR).",
        rich_help_panel=_NETWORK,
    ),
]
Bmi = Annotated[
    Literal["base", "full"] | None,
    typer.Option(
        metavar="PHASE",
        help="A second goal for texts, the information between neighbouring segments: base (tell neighbours from others)"
        " or full (then also learn segments nearby as continuations). More by --set bmi.NAME=VALUE.",
        rich_help_panel=_LEARNING,
    ),
]
Delay = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Steps over which must be remembered: the task's delay; of adding and binary the length of a sequence."
        " By default 100 (binary: 512).",
        rich_help_panel=_TASK,
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|DIR",
        help="Where digits come from: mnist, digits (8 by 8, bundled with scikit-learn) or auto: mnist where it is. Which"
        " text characters and words are of: a folder with train, valid and test files, ptb, wikitext-2, python (the source"
        " of Python's library) or auto: ptb where it is, else python.",
        rich_help_panel=_TASK,
    ),
]
World = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of gridworld: where the agent lives, such as DoorKey-5x5, MemoryS7 or GoToObject-6x6; a wrong name lists all."
        " By default DoorKey-5x5.",
        rich_help_panel=_TASK,
    ),
]
Mission = Annotated[
    bool | None,
    typer.Option(
        "--mission/--no-mission",
        help="Of gridworld: whether the agent is told the words of its mission. By default not.",
        rich_help_panel=_TASK,
    ),
]
Worlds = Annotated[
    list[str] | None,
    typer.Option(
        "--world",
        metavar="NAME",
        help="Of a run in a grid world: try it in this world; may be given again. By default the trained one.",
        rich_help_panel=_EVALUATING,
    ),
]
Episodes = Annotated[
    int | None,
    typer.Option(
        "--episodes",
        min=1,
        metavar="N",
        help="Of a run in a grid world: episodes in each world. By default 100.",
        rich_help_panel=_EVALUATING,
    ),
]
Updates = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Updates of the weights, at the most; of gridworld rounds of 2,048 frames. The default is the task's.",
        rich_help_panel=_LEARNING,
    ),
]
MoreUpdates = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Updates of the weights, at the most, those already done included. By default as the run was begun.",
        rich_help_panel=_LEARNING,
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Sequences of an update; of gridworld frames of a step of the optimizer. The default is the task's.",
        rich_help_panel=_LEARNING,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Of weights and sequences: the same seed gives the same training. By default 0.",
        rich_help_panel=_LEARNING,
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="K",
        help="Train so many networks, seed --seed and those that follow, in RUN/seed-0 and so on; the best on validation"
        " is told, of gridworld the mean of all and each.",
        rich_help_panel=_LEARNING,
    ),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(
        metavar="MINUTES",
        help="Stop after so many minutes of training, all sessions together; of gridworld the agent without memory follows,"
        " to as many updates.",
        rich_help_panel=_LEARNING,
    ),
]
Device = Annotated[
    DeviceName | None,
    typer.Option(
        metavar="auto|cpu|cuda|mps",
        help="Where it runs. By default auto, the fastest there is; of gridworld cpu.",
        rich_help_panel=_LEARNING,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Threads of the processor; a run keeps its number. By default one per core, of gridworld 1 for each agent.",
        rich_help_panel=_LEARNING,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.json",
        help="Settings from a file, such as the config.json of a run or what --show-config prints.",
        rich_help_panel=_CONFIG,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.NAME=VALUE",
        help="One setting, over all others, such as training.learning_rate=1e-3; may be given again.",
        rich_help_panel=_CONFIG,
    ),
]
ShowConfig = Annotated[
    bool,
    typer.Option(
        "--show-config",
        metavar="",
        help="Print the whole configuration as JSON and do nothing else.",
        rich_help_panel=_CONFIG,
    ),
]
RunFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The folder of the run: configuration, checkpoints, result.json, figures and report.html. By default"
        " runs/TASK-CELL-NUMBER.",
        rich_help_panel=_OUTPUT,
    ),
]
EvaluationFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write result.json, figures (.svg and .png) and report.html into this folder. By default RUN/evaluation.",
        rich_help_panel=_OUTPUT,
    ),
]
Delays = Annotated[
    list[int] | None,
    typer.Option(
        "--delay",
        min=1,
        metavar="N",
        help="Evaluate at this delay (of adding and binary: length; of texts: symbols of a window), in steps; may be given"
        " again. By default the trained one.",
        rich_help_panel=_EVALUATING,
    ),
]
Split = Annotated[
    SplitName,
    typer.Option(metavar="train|valid|test", help="Which sequences are used.", rich_help_panel=_EVALUATING),
]
Batches = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Batches at each delay. By default 10; where the data end, all of them.",
        rich_help_panel=_EVALUATING,
    ),
]
Size = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Sequences of a batch, by default 100; long ones are worked on in smaller batches, as many in all. "
        "Of a text: pieces that are read side by side, by default 10.",
        rich_help_panel=_EVALUATING,
    ),
]
EvaluationDevice = Annotated[
    DeviceName,
    typer.Option(
        metavar="auto|cpu|cuda|mps",
        help="Where it runs: auto is the fastest there is; of a run in a grid world, where it was trained.",
        rich_help_panel=_EVALUATING,
    ),
]
SegmentInformation = Annotated[
    bool,
    typer.Option(
        "--segment-information",
        help="Of a run on a text: let it write, and tell how much two segments of 40 symbols, 10 apart, tell of each other, "
        "in nats, beside those of the text that it learnt from.",
        rich_help_panel=_WRITING,
    ),
]
ReversePerplexity = Annotated[
    bool,
    typer.Option(
        "--reverse-perplexity",
        help="Of a run on a text: let it write, train a fresh language model on that, and tell how well this one foretells "
        "the real text.",
        rich_help_panel=_WRITING,
    ),
]
WrittenLength = Annotated[
    int | None,
    typer.Option(
        "--length",
        min=1_000,
        metavar="N",
        help="Symbols that it writes for these two; 200,000 unless told.",
        rich_help_panel=_WRITING,
    ),
]
EvaluationSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Of what it writes and of what learns from that, or of a run in a grid world of the episodes: the same seed"
        " gives the same numbers. 0 unless told.",
        rich_help_panel=_WRITING,
    ),
]
