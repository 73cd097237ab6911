"""`memspan demo`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import CommandOutput, encoded, write_folder


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the report and the results.", rich_help_panel="Output")
    ] = Path("memspan-demo"),
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """The whole tool in under 4 minutes, starting with Python's own source code and a sequence of known law.

    It measures both, predicts the timescale of a network, trains one on the source code, compares its generated text with
    the training text, and computes a network that repeats a line of code forever. Without PyTorch no network is trained.

    Writes DIR/report.html, one page with the whole story, and a folder with result.json for each part. DIR/learnt/seed-0 is
    the run of the network: memspan sample DIR/learnt/seed-0 generates more text.
    """
    output = CommandOutput(command="demo", json=json, out=out, quiet=quiet, force=force)
    output.claim()
    with output.progress() as progress:
        from memspan.presentation import present, sentence
        from memspan.reproductions.demo import KNOWN, page, run_demo
        from memspan.results.files import write_text

        found = run_demo(seed=seed, run=out / "learnt" / f"seed-{seed}", progress=progress)
        progress.say("drawing figures and writing the report")
        for name, part in found.measured.items():
            write_folder(out / name, "measure", present(part))
        write_folder(out / "network", "predict", present(found.network))
        write_folder(out / "written", "memorize", present(found.memorized))
        if found.trained is not None:
            write_folder(out / "beside", "compare", present(found.trained.comparison))
        report = out / "report.html"
        write_text(report, page(found))
    plain = {
        "sources": {name: part.to_json() for name, part in found.measured.items()},
        "network": {name: value for name, value in found.network.to_json().items() if name != "maps"},
        "learnt": None if found.trained is None else found.trained.run.to_json(),
        "beside": None if found.trained is None else found.trained.comparison.to_json(),
        "written": found.memorized.to_json(),
        "true_exponent": KNOWN.exponent,
        "fitted_exponent": found.power.parameters["exponent"],
        "report": str(report),
    }
    taught = [] if found.trained is None else [sentence(found.trained.run), sentence(found.trained.comparison)]
    networks = [sentence(found.network), *taught, sentence(found.memorized)]
    rest = [sentence(found.known), found.check, *networks, f"written: {report}"]
    output.show(
        encoded("demo", plain), sentence(found.library), lambda console: console.print("\n".join(rest), soft_wrap=True)
    )
