"""How much memory measured data need: the reach in the result of `measure`."""

from __future__ import annotations

from pathlib import Path

from memspan.errors import InputError


def needed(folder: Path) -> tuple[float, str]:
    """The reach, in symbols, that `memspan measure --out FOLDER` found, and the data's name."""
    from memspan.report.files import read_result
    from memspan.results import Measurement

    path = folder / "result.json" if folder.is_dir() else folder
    if not path.is_file():
        raise InputError(f"there is no {path}; expected the folder of memspan measure SOURCE --out DIR")
    result = read_result(path)
    if not isinstance(result, Measurement):
        raise InputError(f"{path} is not of measure; run memspan measure SOURCE --out {folder}")
    reach = result.curve.reach
    if reach.lag <= 0:
        raise InputError(
            f"{result.name} shows no memory to match: its information never is above {reach.level:g} nats; "
            "measure with a smaller --level, or give --timescale N"
        )
    return float(reach.lag), f"{result.name}, at least" if reach.censored else result.name
