"""The options that commands share, each with its unit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

EstimatorName: TypeAlias = Literal["plugin", "miller-madow", "digamma", "grassberger"]
NullName: TypeAlias = Literal["auto", "blocks", "independent", "documents", "shifts"]
TransformName: TypeAlias = Literal["none", "difference", "log-return", "abs-log-return"]
MissingName: TypeAlias = Literal["error", "drop", "break"]
ScaleName: TypeAlias = Literal["smoke", "laptop", "paper"]
StyleName: TypeAlias = Literal["report", "paper"]

_READING, _MEASURING, _OUTPUT = "Reading", "Measuring", "Output"


def _positive(value: float | None) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value} is not a positive number of nats")
    return value


As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="SYMBOLS",
        help="What one symbol is: chars, bytes, words, lines, dna, numbers, tokens, json or bpe:FILE (a Hugging Face"
        " tokenizer.json; needs the extra hf). By default from the ending: .fa .fna .fasta are dna; .csv .tsv numbers;"
        " .npy .bin tokens (tokens:uint32 for 32 bits); .json json; all else chars.",
        rich_help_panel=_READING,
    ),
]
Documents = Annotated[
    str | None,
    typer.Option(
        metavar="file|line|blank|TEXT",
        help="Where a document ends: at the end of a file, of a line, at blank lines, or at this text. Pairs never"
        " cross the end of a document. By default each file is one.",
        rich_help_panel=_READING,
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of a .csv or .tsv file, by name or by number from 0. By default the first that holds"
        " numbers and is neither an index or time (by its name, or always increasing or decreasing) nor constant.",
        rich_help_panel=_READING,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which entry of a JSON object holds the documents.",
        rich_help_panel=_READING,
    ),
]
Transform = Annotated[
    TransformName,
    typer.Option(
        metavar="NAME",
        help="What is done to numbers before they are put into bins: none, difference, log-return or abs-log-return.",
        rich_help_panel=_READING,
    ),
]
Levels = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="Number of equally filled bins that numbers are put into. Default 4.",
        rich_help_panel=_READING,
    ),
]
Missing = Annotated[
    MissingName,
    typer.Option(
        metavar="error|drop|break",
        help="Missing values of a column of numbers: error refuses them, drop skips them, break ends a document at each.",
        rich_help_panel=_READING,
    ),
]
Lags = Annotated[
    str | None,
    typer.Option(
        metavar="1,2,5|1:1000|all",
        help="Distances to measure, in symbols. By default 1 to 16, then 12 per factor of ten, up to a tenth of the"
        " longest document and 10,000 symbols; all is every one of these distances.",
        rich_help_panel=_MEASURING,
    ),
]
MaxLag = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="The largest distance, in symbols, for the default lags and for --lags all.",
        rich_help_panel=_MEASURING,
    ),
]
Estimator = Annotated[
    EstimatorName,
    typer.Option(
        metavar="NAME",
        help="The formula that turns counts into entropy: plugin, miller-madow, digamma or grassberger.",
        rich_help_panel=_MEASURING,
    ),
]
Null = Annotated[
    NullName,
    typer.Option(
        metavar="NAME",
        help="How surrogates for the noise floor are drawn: blocks (permuted blocks of the data; default) or independent"
        " (shuffled symbols).",
        rich_help_panel=_MEASURING,
    ),
]
FitAbove = Annotated[
    float | None,
    typer.Option(
        callback=_positive,
        metavar="NATS",
        help="Fit laws only to information above so many nats.",
        rich_help_panel=_MEASURING,
    ),
]
Level = Annotated[
    float,
    typer.Option(
        callback=_positive,
        metavar="NATS",
        help="The reach is where the information falls below so many nats.",
        rich_help_panel=_MEASURING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of threads that count. By default one per core.",
        rich_help_panel=_MEASURING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The same seed gives the same numbers again.",
        rich_help_panel=_MEASURING,
    ),
]
Bits = Annotated[
    bool,
    typer.Option(
        "--bits",
        metavar="",
        help="Show mutual information in bits instead of nats (1 nat is 1.44 bits) in sentences, tables, figures and the"
        " report. --json and result.json always hold nats, as their field unit says.",
        rich_help_panel=_OUTPUT,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write result.json, figures (.svg and .png) and report.html into this folder. The result of another command"
        " or source is not overwritten without --force.",
        rich_help_panel=_OUTPUT,
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        metavar="",
        help="Let --out DIR overwrite the result of another command or source.",
        rich_help_panel=_OUTPUT,
    ),
]
Style = Annotated[
    StyleName,
    typer.Option(
        metavar="report|paper",
        help="Figures of --out DIR: report, with titles and all panels, or paper, one panel without a title, 3.4 x 2.4"
        " inches, also as .pdf with embedded fonts.",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        metavar="",
        help="Print one JSON object and nothing else on standard output.",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", metavar="", help="Show no progress on standard error.", rich_help_panel=_OUTPUT
    ),
]
SampleSize = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        metavar="N",
        help="Symbols that a model (run:DIR, hf:PATH) writes to be measured, in up to 256 texts. Default 2,000,000.",
        rich_help_panel=_READING,
    ),
]
_TEMPERATURE_HELP = (
    "Of a model that writes: 1 leaves its probabilities as they are, less makes likely symbols likelier, 0 takes the"
    " likeliest."
)
Temperature = Annotated[
    float, typer.Option(min=0.0, metavar="X", help=_TEMPERATURE_HELP, rich_help_panel=_READING)
]
ModelTemperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        min=0.0,
        metavar="X",
        help=f"{_TEMPERATURE_HELP} Default 1.",
        rich_help_panel=_READING,
    ),
]
