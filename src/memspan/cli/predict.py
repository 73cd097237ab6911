"""`memspan predict CELL`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memspan.cli import options
from memspan.cli.interrupts import CheckFailedError
from memspan.cli.options import option
from memspan.cli.output import CommandOutput
from memspan.errors import InputError, suggestion

if TYPE_CHECKING:
    from memspan.progress import Progress
    from memspan.results import AnyPrediction
    from memspan.theory.diagrams import Axis

CELLS = ("rnn", "minimal-rnn", "lstm", "gru", "linear", "attention")
_NETWORK, _QUESTION, _OTHERS = "Network", "Question", "Linear networks and attention"
_FIELD = ("rnn", "minimal-rnn", "lstm", "gru")
# Cells that each option applies to; for others it is refused.
_APPLIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sigma_w", "sigma_v", "sigma_b", "bias_mean", "input_variance"), _FIELD),
    **dict.fromkeys(
        ("input_correlation", "weights", "timescale", "timescale_of", "vary", "dynamics", "expect"), _FIELD
    ),
    **dict.fromkeys(("critical", "q", "phase_diagram"), ("rnn", "minimal-rnn")),
    **dict.fromkeys(("file", "bits"), ("linear",)),
    **dict.fromkeys(("eigenvalue", "kappa", "depth"), ("attention",)),
}
# Folder of figures requested without --out.
_FIGURES = Path("memspan-predict")


def predict(
    cell: Annotated[str, typer.Argument(metavar="CELL", help=f"One of {', '.join(CELLS)}.")],
    axes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AXIS=LOW:HIGH]...", help="Plane of --phase-diagram. Default: bias-mean=-4:8 sigma-w=0.5:10."
        ),
    ] = None,
    sigma_w: Annotated[
        float | None, option(_NETWORK, "X", "State weights are drawn from N(0, X²/N). Default 1; 6.88 for minimal-rnn.")
    ] = None,
    sigma_v: Annotated[
        float | None, option(_NETWORK, "X", "Input weights are drawn from N(0, X²/M). Default 1; 1.39 for minimal-rnn.")
    ] = None,
    sigma_b: Annotated[float | None, option(_NETWORK, "X", "Standard deviation of the biases. Default 0.")] = None,
    bias_mean: Annotated[
        float | None,
        option(
            _NETWORK,
            "X",
            "Mean of the biases; for lstm of the forget gate, for gru of the update gate. Default 0; 1 for lstm.",
        ),
    ] = None,
    input_variance: Annotated[
        float | None,
        option(
            _NETWORK, "R", "Second moment of the inputs. Default 1; 0.46 for minimal-rnn, whose input is tanh(W x)."
        ),
    ] = None,
    input_correlation: Annotated[
        float | None,
        option(_NETWORK, "C", "Correlation of the inputs of two copies, from -1 to 1. Default 1: equal inputs."),
    ] = None,
    weights: Annotated[
        Literal["gaussian", "orthogonal"] | None,
        option(
            _NETWORK,
            "gaussian|orthogonal",
            "Distribution of the state weights, for the variance of the Jacobian. Default gaussian.",
        ),
    ] = None,
    critical: Annotated[
        bool,
        option(
            _NETWORK, "", "Set sigma_w (for minimal-rnn also sigma_v) to the edge of chaos (chi_1 = 1).", "--critical"
        ),
    ] = False,
    q: Annotated[
        float | None,
        option(
            _NETWORK,
            "Q",
            "With minimal-rnn --critical: variance of the pre-activations. Default: the smallest suitable one.",
            "--q",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        option(
            _QUESTION,
            "T",
            "Steps of the Jacobian (default 1), largest lag for linear (100), largest distance for attention (1,000).",
            min=1,
        ),
    ] = None,
    timescale: Annotated[
        float | None,
        option(_QUESTION, "N", "Target timescale, in steps: find the bias mean (for rnn: sigma_w) that gives it."),
    ] = None,
    timescale_of: Annotated[
        Path | None,
        option(_QUESTION, "DIR", "Use the reach that memspan measure --out DIR found as the target timescale."),
    ] = None,
    vary: Annotated[
        Literal["bias-mean", "sigma-w"] | None,
        option(
            _QUESTION,
            "bias-mean|sigma-w",
            "Parameter to change for a target timescale. Default: bias-mean; sigma-w for rnn.",
        ),
    ] = None,
    phase_diagram: Annotated[
        bool,
        option(
            _QUESTION,
            "",
            "Draw the timescale over two parameters, with the edge of chaos (--out DIR, default memspan-predict).",
            "--phase-diagram",
        ),
    ] = False,
    dynamics: Annotated[
        bool,
        option(
            _QUESTION,
            "",
            "Draw the correlation of two copies over time, next to simulations (--out DIR, default memspan-predict).",
            "--dynamics",
        ),
    ] = False,
    expect: Annotated[
        Literal["ordered", "critical", "chaotic"] | None,
        option(_QUESTION, "PHASE", "Exit with status 1 unless the phase is ordered, critical or chaotic, as given."),
    ] = None,
    file: Annotated[
        Path | None,
        option(
            _OTHERS,
            "FILE.safetensors",
            "linear: weights W_h, U_h, U_o and optionally noise. Default: a random network.",
        ),
    ] = None,
    eigenvalue: Annotated[
        str | None,
        option(_OTHERS, "X", "attention: eigenvalue of the recurrence, such as 0.3 or 0.4+0.3i. Default 0.3."),
    ] = None,
    kappa: Annotated[
        int | None,
        option(_OTHERS, "K", "attention: states attended to per step, for the bound under sparse attention."),
    ] = None,
    depth: Annotated[
        int | None, option(_OTHERS, "D", "attention: dependency depth, for the bound under sparse attention.")
    ] = None,
    seed: options.Seed = 0,
    bits: options.Bits = False,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the memory of a network before training: fixed points, timescale, phase, and what to change.

    rnn and minimal-rnn are solved, lstm and gru simulated, linear networks exact; attention gives the decay of gradients.
    """
    given = {
        "sigma_w": sigma_w,
        "sigma_v": sigma_v,
        "sigma_b": sigma_b,
        "bias_mean": bias_mean,
        "input_variance": input_variance,
        "input_correlation": input_correlation,
        "weights": weights,
        "critical": critical or None,
        "q": q,
        "timescale": timescale,
        "timescale_of": timescale_of,
        "vary": vary,
        "phase_diagram": phase_diagram or None,
        "dynamics": dynamics or None,
        "expect": expect,
        "file": file,
        "eigenvalue": eigenvalue,
        "kappa": kappa,
        "depth": depth,
        "bits": bits or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    _check(cell, chosen, axes or [])
    if out is None and not json and (phase_diagram or dynamics):
        out = _FIGURES  # figures need a folder
    output = CommandOutput(command="predict", json=json, out=out, quiet=quiet, bits=bits, style=style, force=force)
    if out is not _FIGURES:
        output.claim(cell)
    with output.progress() as progress:
        result = _predicted(cell, chosen, axes or [], steps, seed, progress)
    output.give(result)
    phase = getattr(result, "phase", None)
    if expect is not None and phase != expect:
        raise CheckFailedError(f"the network is {phase}, not {expect}")


def _check(cell: str, chosen: dict[str, Any], axes: list[str]) -> None:
    if cell not in CELLS:
        raise InputError(f"there is no theory of the cell {cell!r}; {suggestion(cell, CELLS)}")
    for name in chosen:
        if cell not in _APPLIES[name]:
            word = "--" + name.replace("_", "-")
            raise InputError(f"{word} does not apply to {cell}; it is for {', '.join(_APPLIES[name])}; omit it")
    if axes and "phase_diagram" not in chosen:
        raise InputError(f"{axes[0]!r} is an axis of a phase diagram; add --phase-diagram")
    if "timescale" in chosen and "timescale_of" in chosen:
        raise InputError("--timescale and --timescale-of both set the target timescale; give one of them")
    if "q" in chosen and ("critical" not in chosen or cell != "minimal-rnn"):
        raise InputError("--q chooses among the critical minimal RNNs; use it with minimal-rnn --critical")
    if "vary" in chosen and not {"timescale", "timescale_of"} & chosen.keys():
        raise InputError(
            "--vary is the parameter to change for a target timescale; add --timescale N or --timescale-of DIR"
        )


def _predicted(
    cell: str, chosen: dict[str, Any], axes: list[str], steps: int | None, seed: int, progress: Progress
) -> AnyPrediction:
    from memspan.theory import predict

    if cell == "linear":
        from memspan.theory.linear import LinearRNN

        longest = 100 if steps is None else steps
        if "file" in chosen:
            return predict.predict_linear(LinearRNN.load(chosen["file"]), longest=longest)
        network = LinearRNN.random(16, 4, spectral_radius=0.95, seed=seed)
        return predict.predict_linear(network, longest=longest)
    if cell == "attention":
        value = _eigenvalue(chosen.get("eigenvalue", "0.3"))
        longest = 1_000 if steps is None else steps
        return predict.predict_attention(value, longest, kappa=chosen.get("kappa"), depth=chosen.get("depth"))
    settings = {name: chosen.get(name, default) for name, default in predict.DEFAULTS[cell].items()}
    if "critical" in chosen:
        settings = _critical(cell, settings, chosen)
    question = _question(chosen, axes, 1 if steps is None else steps)
    return predict.predict_cell(cell, settings, question, seed=seed, progress=progress)


def _question(chosen: dict[str, Any], axes: list[str], steps: int) -> Any:
    from memspan.theory.predict import PredictionRequest

    timescale, source = chosen.get("timescale"), "--timescale"
    if "timescale_of" in chosen:
        timescale, source = _measured_reach(chosen["timescale_of"])
    vary = chosen.get("vary")
    return PredictionRequest(
        input_correlation=chosen.get("input_correlation", 1.0),
        weights=chosen.get("weights", "gaussian"),
        steps=steps,
        timescale=timescale,
        timescale_source=source,
        parameter=vary.replace("-", "_") if vary else None,
        axes=_plane(axes) if "phase_diagram" in chosen else None,
        dynamics="dynamics" in chosen,
    )


def _measured_reach(folder: Path) -> tuple[float, str]:
    """The reach in the result of `memspan measure --out FOLDER`, in symbols, and the name of the data."""
    from memspan.presentation.presenter import read_result
    from memspan.results import Measurement

    path = folder / "result.json" if folder.is_dir() else folder
    if not path.is_file():
        raise InputError(f"there is no {path}; expected the folder of memspan measure SOURCE --out DIR")
    result = read_result(path)
    if not isinstance(result, Measurement):
        raise InputError(f"{path} is not a result of measure; run memspan measure SOURCE --out {folder}")
    reach = result.curve.reach
    if reach.lag <= 0:
        raise InputError(
            f"{result.name} has no reach: its information is never above {reach.level:g} nats; measure with a smaller "
            "--level, or give --timescale N"
        )
    return float(reach.lag), f"{result.name}, at least" if reach.censored else result.name


def _critical(cell: str, settings: dict[str, float], chosen: dict[str, Any]) -> dict[str, float]:
    """Settings at the edge of chaos; options that --critical sets itself are refused."""
    from memspan.theory import critical_minimal, critical_vanilla

    free = ("sigma_w",) if cell == "rnn" else ("sigma_w", "sigma_v", "sigma_b")
    for name in free:
        if name in chosen:
            raise InputError(f"--critical sets --{name.replace('_', '-')} itself; omit one of them")
    if cell == "rnn":
        field = critical_vanilla(
            sigma_v=settings["sigma_v"],
            sigma_b=settings["sigma_b"],
            bias_mean=settings["bias_mean"],
            input_variance=settings["input_variance"],
        )
        return {**settings, "sigma_w": float(field.sigma_w)}
    field = critical_minimal(
        bias_mean=settings["bias_mean"], input_variance=settings["input_variance"], q=chosen.get("q")
    )
    return {**settings, "sigma_w": float(field.sigma_w), "sigma_v": float(field.sigma_v), "sigma_b": 0.0}


def _plane(axes: list[str]) -> tuple[Axis, Axis]:
    from memspan.theory.diagrams import BIAS_MEAN, SIGMA_W

    given = [_axis(text) for text in axes]
    if len(given) > 2:
        raise InputError(
            f"got {len(given)} axes for a phase diagram; expected two, such as bias-mean=-4:8 sigma-w=0.5:10"
        )
    names = {axis.parameter for axis in given}
    rest = [axis for axis in (BIAS_MEAN, SIGMA_W) if axis.parameter not in names]
    plane = [*given, *rest][:2]
    return plane[0], plane[1]


def _axis(text: str) -> Axis:
    from memspan.theory.diagrams import Axis

    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        return Axis(name.replace("-", "_"), float(low), float(high))
    except ValueError:
        pass
    raise InputError(f"{text!r} is not an axis; expected NAME=LOW:HIGH, such as bias-mean=-4:8")


def _eigenvalue(text: str) -> complex:
    try:
        return complex(text.replace(" ", "").replace("i", "j"))
    except ValueError:
        raise InputError(f"--eigenvalue {text!r} is not a number; expected one like 0.3 or 0.4+0.3i") from None
