"""The options of `train`, `resume` and `evaluate`, each with its unit and default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from memspan.cells import CELLS
from memspan.tasks.catalog import CATALOG

DeviceName: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
SplitName: TypeAlias = Literal["train", "valid", "test"]
StartName: TypeAlias = Literal[
    "default", "critical", "field", "orthogonal", "henaff", "cayley", "chrono", "keras", "run"
]

NETWORK, TASK, TRAINING, CONFIGURATION, OUTPUT = "Network", "Task", "Training", "Configuration", "Output"
EVALUATION, GENERATION = "Evaluation", "Generated text"
_DEVICES = "auto|cpu|cuda|mps"


def option(panel: str, metavar: str, text: str, *names: str, **limits: Any) -> Any:
    """An option in a panel of the help page; `limits` are `min` and `max`."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **limits)


Task = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="Task: " + "; ".join(f"{word}, {facts.description}" for word, facts in CATALOG.items()) + ".",
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training, as printed by memspan train.")]

Cell = Annotated[
    str | None,
    option(
        NETWORK,
        "NAME",
        f"Cell: {', '.join(CELLS)}; for gridworld also none, an agent without memory. Default rel-rnn; lstm for texts;"
        " rel-lstm for gridworld.",
    ),
]
Hidden = Annotated[int | None, option(NETWORK, "N", "Hidden size. Default depends on the task.", min=1)]
Layers = Annotated[int | None, option(NETWORK, "N", "Number of layers. Default 1.", min=1)]
ShortTerm = Annotated[
    int | None,
    option(
        NETWORK,
        "NU",
        "Number of recent states that a cell with a relevance memory attends to. Default 10; 5 for gridworld.",
        min=1,
    ),
]
Relevant = Annotated[
    int | None,
    option(
        NETWORK,
        "RHO",
        "Number of relevant earlier states that a cell with a relevance memory stores. Default 10; 5 for gridworld.",
        min=0,
    ),
]
Init = Annotated[
    StartName | None,
    option(
        NETWORK,
        "NAME",
        "Initialization of the recurrent weights: default (the cell's own), critical (chi_1 = 1), field (from init.sigma_w"
        " and init.sigma_v), orthogonal, henaff, cayley, chrono (gates for the delay), keras (as Keras: orthogonal"
        " recurrent weights, Glorot-uniform input weights, forget bias 1), or run (the weights of another run: --set"
        " init.run=DIR).",
    ),
]

Delay = Annotated[
    int | None,
    option(
        TASK,
        "N",
        "Delay of the task in steps; for adding and binary the sequence length. Default 100; 512 for binary.",
        min=1,
    ),
]
Data = Annotated[
    str | None,
    option(
        TASK,
        "NAME|DIR",
        "Data set. For digits: mnist, digits (8 by 8, bundled with scikit-learn) or auto (mnist if available). For"
        " characters and words: a folder with train, valid and test files, ptb, wikitext-2, python (the source of Python's"
        " standard library) or auto (ptb if available, otherwise python).",
    ),
]
World = Annotated[
    str | None,
    option(
        TASK,
        "NAME",
        "World of gridworld, such as DoorKey-5x5, MemoryS7 or GoToObject-6x6; a wrong name lists all. Default DoorKey-5x5.",
    ),
]
Mission = Annotated[
    bool | None,
    typer.Option(
        "--mission/--no-mission",
        help="Whether the agent of gridworld observes the words of its mission. Default no.",
        rich_help_panel=TASK,
    ),
]

Bmi = Annotated[
    Literal["base", "full"] | None,
    option(
        TRAINING,
        "PHASE",
        "BMI regularizer for texts, an auxiliary objective on the information between neighboring segments: base"
        " (discriminate neighbors) or full (then also train on nearby segments as continuations). Settings: --set"
        " bmi.NAME=VALUE.",
    ),
]
Updates = Annotated[
    int | None,
    option(
        TRAINING,
        "N",
        "Maximum number of updates; for gridworld of 2,048 frames each. Default depends on the task.",
        min=1,
    ),
]
MoreUpdates = Annotated[
    int | None,
    option(TRAINING, "N", "Maximum number of updates, including those already done. Default that of the run.", min=1),
]
Batch = Annotated[
    int | None,
    option(
        TRAINING,
        "N",
        "Sequences per update; for gridworld frames per optimizer step. Default depends on the task.",
        min=1,
    ),
]
Seed = Annotated[
    int | None,
    option(TRAINING, "N", "Seed of weights and sequences: the same seed gives the same training. Default 0.", min=0),
]
Seeds = Annotated[
    int,
    option(
        TRAINING,
        "K",
        "Number of networks to train, with consecutive seeds from --seed, in RUN/seed-0 and so on. Reports the best by"
        " validation loss; for gridworld the mean of all and each.",
        min=1,
    ),
]
MaxMinutes = Annotated[
    float | None,
    option(
        TRAINING,
        "MINUTES",
        "Stop after this many minutes of training, in all sessions; for gridworld the memoryless agent follows, for as many"
        " updates. Default no limit.",
    ),
]
Device = Annotated[
    DeviceName | None, option(TRAINING, _DEVICES, "Device. Default auto, the fastest available; cpu for gridworld.")
]
Threads = Annotated[
    int | None,
    option(
        TRAINING,
        "N",
        "CPU threads, fixed for the whole run. Default one per core; 1 for each agent of gridworld.",
        min=1,
    ),
]

Preset = Annotated[
    str | None,
    option(
        CONFIGURATION,
        "NAME",
        "Hyperparameters that a source chose for this task and cell: kerg2020, shen2019 or cao2020. Over the defaults, below"
        " --config and the other options.",
    ),
]
ConfigFile = Annotated[
    Path | None,
    option(
        CONFIGURATION,
        "FILE.json",
        "Settings from a file, such as the config.json of a run or the output of --show-config.",
        "--config",
    ),
]
Settings = Annotated[
    list[str] | None,
    option(
        CONFIGURATION,
        "SECTION.NAME=VALUE",
        "One setting, such as training.learning_rate=1e-3; overrides all others; repeatable.",
        "--set",
    ),
]
ShowConfig = Annotated[
    bool, option(CONFIGURATION, "", "Print the whole configuration as JSON without training.", "--show-config")
]

RunFolder = Annotated[
    Path | None,
    option(
        OUTPUT,
        "DIR",
        "Folder of the run: configuration, checkpoints, result.json, figures and report.html. Default"
        " runs/TASK-CELL-NUMBER.",
        "--out",
    ),
]
EvaluationFolder = Annotated[
    Path | None,
    option(
        OUTPUT,
        "DIR",
        "Folder for result.json, figures (.svg and .png) and report.html. Default RUN/evaluation.",
        "--out",
    ),
]

Delays = Annotated[
    list[int] | None,
    option(
        EVALUATION,
        "N",
        "Delay in steps (for adding and binary the length, for texts the window in symbols); repeatable. Default the"
        " trained one.",
        "--delay",
        min=1,
    ),
]
Worlds = Annotated[
    list[str] | None,
    option(EVALUATION, "NAME", "World to evaluate an agent in; repeatable. Default the trained one.", "--world"),
]
Episodes = Annotated[
    int | None, option(EVALUATION, "N", "Episodes of an agent in each world. Default 100.", "--episodes", min=1)
]
Split = Annotated[SplitName, option(EVALUATION, "train|valid|test", "Split of the data to evaluate on.")]
Batches = Annotated[
    int | None, option(EVALUATION, "N", "Batches at each delay. Default 10; all batches of a finite data set.", min=1)
]
Size = Annotated[
    int | None,
    option(
        EVALUATION,
        "N",
        "Sequences per batch; long ones are split into smaller batches, with as many sequences in all. For texts the number"
        " of pieces that are read in parallel. Default 100; 10 for texts.",
        min=1,
    ),
]
EvaluationDevice = Annotated[
    DeviceName,
    option(EVALUATION, _DEVICES, "Device: auto is the fastest available, for an agent the one it was trained on."),
]

SegmentInformation = Annotated[
    bool,
    typer.Option(
        "--segment-information",
        help="Generate text and measure the mutual information in nats between two segments of 40 symbols, 10 apart, next to"
        " that of the training text.",
        rich_help_panel=GENERATION,
    ),
]
ReversePerplexity = Annotated[
    bool,
    typer.Option(
        "--reverse-perplexity",
        help="Generate text, train a new language model on it, and measure how well that one predicts the real text.",
        rich_help_panel=GENERATION,
    ),
]
GeneratedLength = Annotated[
    int | None, option(GENERATION, "N", "Symbols to generate for these two. Default 200,000.", "--length", min=1_000)
]
EvaluationSeed = Annotated[
    int | None,
    option(
        GENERATION,
        "N",
        "Seed of the generated text and of the model trained on it; for an agent of the episodes. Default 0.",
        "--seed",
        min=0,
    ),
]
