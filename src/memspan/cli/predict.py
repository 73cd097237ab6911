"""`memspan predict CELL`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspan.cli import options
from memspan.cli import predict_options as asked
from memspan.cli.interrupts import CheckFailedError
from memspan.cli.output import Output
from memspan.errors import InputError

if TYPE_CHECKING:
    from memspan.progress import Progress
    from memspan.results import AnyPrediction
    from memspan.theory.diagrams import Axis

_FIELD = ("rnn", "minimal-rnn", "lstm", "gru")
_APPLIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sigma_w", "sigma_v", "sigma_b", "bias_mean", "input_variance"), _FIELD),
    **dict.fromkeys(
        ("input_correlation", "weights", "timescale", "timescale_of", "vary", "dynamics", "expect"), _FIELD
    ),
    **dict.fromkeys(("critical", "q", "phase_diagram"), ("rnn", "minimal-rnn")),
    **dict.fromkeys(("file", "bits"), ("linear",)),
    **dict.fromkeys(("eigenvalue", "kappa", "depth"), ("attention",)),
}
"""Which options say something about which cell; the others are refused instead of ignored."""
_DRAWN = Path("memspan-predict")
"""Where figures go that were asked for without --out."""


def predict(
    cell: asked.Cell,
    axes: asked.Axes = None,
    sigma_w: asked.SigmaW = None,
    sigma_v: asked.SigmaV = None,
    sigma_b: asked.SigmaB = None,
    bias_mean: asked.BiasMean = None,
    input_variance: asked.InputVariance = None,
    input_correlation: asked.InputCorrelation = None,
    weights: asked.Weights = None,
    critical: asked.Critical = False,
    q: asked.Q = None,
    steps: asked.Steps = None,
    timescale: asked.Timescale = None,
    timescale_of: asked.TimescaleOf = None,
    vary: asked.Vary = None,
    phase_diagram: asked.PhaseDiagram = False,
    dynamics: asked.Dynamics = False,
    expect: asked.Expect = None,
    file: asked.File = None,
    eigenvalue: asked.Eigenvalue = None,
    kappa: asked.Kappa = None,
    depth: asked.Depth = None,
    seed: options.Seed = 0,
    bits: options.Bits = False,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How long a network remembers before it is trained: fixed points, timescale, phase, and what to change.

    rnn and minimal-rnn are solved, lstm and gru simulated, linear networks exact; attention tells how gradients survive.
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
        out = _DRAWN  # a figure needs a place
    output = Output(command="predict", json=json, out=out, quiet=quiet, bits=bits, style=style, force=force)
    if out is not _DRAWN:
        output.claim(cell)
    with output.progress() as progress:
        result = _predicted(cell, chosen, axes or [], steps, seed, progress)
    from memspan.cli.prediction_tables import show_prediction

    output.give(result, lambda console: show_prediction(console, result, bits=bits))
    phase = getattr(result, "phase", None)
    if expect is not None and phase != expect:
        raise CheckFailedError(f"the network is {phase}, not {expect}")


def _check(cell: str, chosen: dict[str, Any], axes: list[str]) -> None:
    from memspan.errors import suggestion

    if cell not in asked.CELLS:
        raise InputError(f"there is no theory of the cell {cell!r}; {suggestion(cell, asked.CELLS)}")
    for name in chosen:
        if cell not in _APPLIES[name]:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} says nothing about {cell}; it is for {', '.join(_APPLIES[name])}; leave it out"
            )
    if axes and "phase_diagram" not in chosen:
        raise InputError(f"{axes[0]!r} is an axis of a phase diagram; add --phase-diagram")
    if "timescale" in chosen and "timescale_of" in chosen:
        raise InputError(
            "--timescale and --timescale-of both say how long signals shall last; give one of them"
        )
    if "q" in chosen and ("critical" not in chosen or cell != "minimal-rnn"):
        raise InputError("--q chooses among the critical minimal RNNs; use it with minimal-rnn --critical")
    if "vary" in chosen and not {"timescale", "timescale_of"} & chosen.keys():
        raise InputError(
            "--vary says what may change for a wanted timescale; add --timescale N or --timescale-of DIR"
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
        far = 1_000 if steps is None else steps
        return predict.predict_attention(value, far, kappa=chosen.get("kappa"), depth=chosen.get("depth"))
    settings = {name: chosen.get(name, default) for name, default in predict.DEFAULTS[cell].items()}
    if "critical" in chosen:
        settings = _critical(cell, settings, chosen)
    question = _question(chosen, axes, 1 if steps is None else steps)
    return predict.predict_cell(cell, settings, question, seed=seed, progress=progress)


def _question(chosen: dict[str, Any], axes: list[str], steps: int) -> Any:
    from memspan.cli.needed import needed
    from memspan.theory.predict import PredictionRequest

    timescale, source = chosen.get("timescale"), "--timescale"
    if "timescale_of" in chosen:
        timescale, source = needed(chosen["timescale_of"])
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


def _critical(cell: str, settings: dict[str, float], chosen: dict[str, Any]) -> dict[str, float]:
    """Settings at the edge of chaos; options that --critical would overrule are refused."""
    from memspan.theory import critical_minimal, critical_vanilla

    free = ("sigma_w",) if cell == "rnn" else ("sigma_w", "sigma_v", "sigma_b")
    for name in free:
        if name in chosen:
            raise InputError(f"--critical chooses --{name.replace('_', '-')} itself; leave one of them out")
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
            f"{len(given)} axes for a phase diagram; expected two, such as bias-mean=-4:8 sigma-w=0.5:10"
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
        raise InputError(
            f"--eigenvalue {text!r} is not a number; expected one like 0.3 or 0.4+0.3i"
        ) from None
