"""`memspan demo`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import Output, encoded, write_folder


def demo(
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where the report and the results go.", rich_help_panel="Output"),
    ] = Path("memspan-demo"),
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure what is on every machine, in under 1 minute: Python's own source code and a sequence of known law.

    Then predict how long a network remembers, what would make it remember that source code, and write a network that
    repeats a line of code for ever.

    Writes DIR/report.html, one page that tells it as a story, and a folder with result.json for each part.
    """
    output = Output(command="demo", json=json, out=out, quiet=quiet)
    with output.progress() as progress:
        from memspan.experiments.demo import KNOWN, page, run_demo
        from memspan.report.sentences import sentence
        from memspan.results.atomic import write_text

        found = run_demo(seed=seed, progress=progress)
        progress.say("drawing figures and writing the report")
        for name, part in found.measured.items():
            write_folder(out / name, encoded("measure", part.to_json()), part, bits=False)
        write_folder(out / "network", encoded("predict", found.network.to_json()), found.network, bits=False)
        write_folder(out / "written", encoded("memorize", found.written.to_json()), found.written, bits=False)
        report = out / "report.html"
        write_text(report, page(found))
    plain = {
        "sources": {name: part.to_json() for name, part in found.measured.items()},
        "network": {name: value for name, value in found.network.to_json().items() if name != "maps"},
        "written": found.written.to_json(),
        "true_exponent": KNOWN.exponent,
        "fitted_exponent": found.power.parameters["exponent"],
        "report": str(report),
    }
    networks = [sentence(found.network), sentence(found.written)]
    rest = [sentence(found.known), found.check, *networks, f"written: {report}"]
    output.show(
        encoded("demo", plain),
        sentence(found.library),
        lambda console: console.print("\n".join(rest), soft_wrap=True),
    )
