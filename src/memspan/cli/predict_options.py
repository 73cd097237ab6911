"""The options of `memspan predict`, each with its unit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

CELLS = ("rnn", "minimal-rnn", "lstm", "gru", "linear", "attention")
NETWORK, QUESTION, OTHERS = "The network", "The question", "Linear networks and attention"

Cell = Annotated[str, typer.Argument(metavar="CELL", help=f"One of {', '.join(CELLS)}.")]
Axes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AXIS=LOW:HIGH]...",
        help="The plane of --phase-diagram, such as bias-mean=-4:8 sigma-w=0.5:10, which is the default.",
    ),
]
SigmaW = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="State weights are drawn from N(0, X²/N). Default 1; 6.88 for minimal-rnn.",
        rich_help_panel=NETWORK,
    ),
]
SigmaV = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Input weights are drawn from N(0, X²/M). Default 1; 1.39 for minimal-rnn.",
        rich_help_panel=NETWORK,
    ),
]
SigmaB = Annotated[
    float | None,
    typer.Option(metavar="X", help="Standard deviation of the biases. Default 0.", rich_help_panel=NETWORK),
]
BiasMean = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Mean of the biases; of lstm the forget gate's, of gru the update gate's. Default 0; 1 for lstm.",
        rich_help_panel=NETWORK,
    ),
]
InputVariance = Annotated[
    float | None,
    typer.Option(
        metavar="R",
        help="Second moment of the inputs. Default 1; 0.46 for minimal-rnn, whose input is tanh(W x).",
        rich_help_panel=NETWORK,
    ),
]
InputCorrelation = Annotated[
    float | None,
    typer.Option(
        metavar="C",
        help="Correlation of the inputs of two copies, from -1 to 1. Default 1: equal inputs.",
        rich_help_panel=NETWORK,
    ),
]
Weights = Annotated[
    Literal["gaussian", "orthogonal"] | None,
    typer.Option(
        metavar="gaussian|orthogonal",
        help="Kind of the state weights; matters for the Jacobian's variance only. Default gaussian.",
        rich_help_panel=NETWORK,
    ),
]
Critical = Annotated[
    bool,
    typer.Option(
        "--critical",
        metavar="",
        help="Replace sigma_w (and for minimal-rnn sigma_v) by values at the edge of chaos (chi_1 = 1).",
        rich_help_panel=NETWORK,
    ),
]
Q = Annotated[
    float | None,
    typer.Option(
        "--q",
        metavar="Q",
        help="With --critical, minimal-rnn: the variance of pre-activations. By default the smallest comfortable one.",
        rich_help_panel=NETWORK,
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="T",
        help="Steps: of the Jacobian (default 1), of lags for linear (100), of distance for attention (1,000).",
        rich_help_panel=QUESTION,
    ),
]
Timescale = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help="How many steps signals shall last: the answer is which bias mean (for rnn: sigma_w) does it.",
        rich_help_panel=QUESTION,
    ),
]
TimescaleOf = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The same for the reach, in symbols, that memspan measure --out DIR found.",
        rich_help_panel=QUESTION,
    ),
]
Vary = Annotated[
    Literal["bias-mean", "sigma-w"] | None,
    typer.Option(
        metavar="bias-mean|sigma-w",
        help="What may be changed for a wanted timescale. By default the bias mean; sigma_w for rnn.",
        rich_help_panel=QUESTION,
    ),
]
PhaseDiagram = Annotated[
    bool,
    typer.Option(
        "--phase-diagram",
        metavar="",
        help="Draw the timescale over a plane of two parameters, with the edge of chaos (into --out DIR, by default"
        " memspan-predict).",
        rich_help_panel=QUESTION,
    ),
]
Dynamics = Annotated[
    bool,
    typer.Option(
        "--dynamics",
        metavar="",
        help="Draw how the correlation of two copies moves in time, next to simulated networks (into --out DIR, by"
        " default memspan-predict).",
        rich_help_panel=QUESTION,
    ),
]
Expect = Annotated[
    Literal["ordered", "critical", "chaotic"] | None,
    typer.Option(
        metavar="PHASE",
        help="Make it a check: exit with status 1 unless the phase is ordered, critical or chaotic.",
        rich_help_panel=QUESTION,
    ),
]
File = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.safetensors",
        help="linear: weights W_h, U_h, U_o and optionally noise. By default a random network.",
        rich_help_panel=OTHERS,
    ),
]
Eigenvalue = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        help="attention: an eigenvalue of the recurrence, such as 0.3 or 0.4+0.3i. Default 0.3.",
        rich_help_panel=OTHERS,
    ),
]
Kappa = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="attention: states attended to per step, for the bound of sparse attention.",
        rich_help_panel=OTHERS,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        metavar="D",
        help="attention: dependency depth, for the bound of sparse attention.",
        rich_help_panel=OTHERS,
    ),
]
