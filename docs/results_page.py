"""Writes docs/results/README.md from the results of the recipes: `python docs/results_page.py`.

Each folder docs/results/ID holds the result.json of `memspan reproduce ID --out docs/results/ID` and its PNG figures.
docs/results/notes.json holds, by recipe, what a person wrote about it: `finding`, one or two sentences, and `diagnoses` of
the published claims that do not hold, each with the beginning of the claim, a kind, a reason and the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.presentation.numbers import duration, trimmed
from memspan.reproductions import RECIPES
from memspan.results import Claim, Reproduction

FOLDER = Path(__file__).parent / "results"
KINDS = ("training", "size", "metric", "source")
SOURCES = {
    "Shen 2019": "Shen",
    "Cao and Xu 2020": "Cao and Xu",
    "Chen, Pennington and Schoenholz 2018": "Chen",
    "Kerg et al. 2020": "Kerg",
    "Memorization note 2023": "Memorization",
}


@final
@dataclass(frozen=True)
class Diagnosis:
    """Why a published claim does not hold here."""

    claim: str
    """The beginning of the claim."""
    kind: str
    """One of `KINDS`: too little training, too small networks or data, another metric, or an error of the source."""
    reason: str
    evidence: str
    """The run or derivation that shows it, in Markdown."""


@final
@dataclass(frozen=True)
class Entry:
    """One recipe with its result and its notes."""

    result: Reproduction
    finding: str
    diagnoses: tuple[Diagnosis, ...]

    @property
    def failed(self) -> list[Claim]:
        """Published claims that could be tested and do not hold."""
        return [claim for claim in self.result.claims if not (claim.ours or claim.untestable or claim.holds)]

    def diagnosis(self, claim: Claim) -> Diagnosis | None:
        """The diagnosis of a claim that does not hold."""
        found = [each for each in self.diagnoses if claim.claim.startswith(each.claim)]
        return max(found, key=lambda each: len(each.claim), default=None)


def entries(folder: Path = FOLDER) -> list[Entry]:
    """All recipes with a stored result, in the order of `memspan reproduce list`."""
    notes = json.loads((folder / "notes.json").read_text(encoding="utf-8"))
    found = []
    for id in RECIPES:
        path = folder / id / "result.json"
        if path.exists():
            own = notes.get(id, {})
            diagnoses = tuple(Diagnosis(**each) for each in own.get("diagnoses", ()))
            result = Reproduction.from_json(json.loads(path.read_text(encoding="utf-8")))
            found.append(Entry(result, own.get("finding", ""), diagnoses))
    return found


def problems(found: Iterable[Entry]) -> list[str]:
    """What is missing from the notes: findings, and diagnoses of published claims that do not hold."""
    missing = []
    for entry in found:
        id, failed = entry.result.id, entry.failed
        if not entry.finding:
            missing.append(f"{id}: no finding")
        missing += [f"{id}: no diagnosis of: {claim.claim}" for claim in failed if entry.diagnosis(claim) is None]
        used = {entry.diagnosis(claim) for claim in failed}
        missing += [
            f"{id}: a diagnosis of no failed claim: {each.claim}" for each in entry.diagnoses if each not in used
        ]
        missing += [f"{id}: kind {each.kind} is none of {KINDS}" for each in entry.diagnoses if each.kind not in KINDS]
    return missing


def page(found: list[Entry]) -> str:
    """The whole page."""
    parts = [_INTRODUCTION, _sources(found), _failures(found), _recipes(found), _not_run(found)]
    return "\n".join([*(part for part in parts if part), *map(_section, found)])


_INTRODUCTION = """# Results of the reproductions

Each folder holds the `result.json` that `memspan reproduce` wrote, and its figures.
`memspan report docs/results/ID` makes the page with every claim from it again.
A published claim is a statement of a source.
Claims of our own check a correction, a derivation or a limit that no source states.
A claim cannot be tested where two cores cannot run a scale that is large enough for it; the page of each recipe says why.

Machine: AMD EPYC, two cores, Linux x86_64, Python 3.11, November 2026.
This page is written by `python docs/results_page.py`.
"""


def _sources(found: list[Entry]) -> str:
    rows = []
    for name, start in SOURCES.items():
        claims = [claim for entry in found if entry.result.source.startswith(start) for claim in entry.result.claims]
        rows.append(_counts(name, claims))
    rows.append(_counts("**all**", [claim for entry in found for claim in entry.result.claims]))
    return (
        "## Claims by source\n\n"
        "| source | published claims that hold | that do not hold | that cannot be tested at this scale | claims of our own "
        "that hold |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def _counts(name: str, claims: list[Claim]) -> str:
    published = [claim for claim in claims if not claim.ours]
    tested = [claim for claim in published if not claim.untestable]
    held, ours = sum(claim.holds for claim in tested), [claim for claim in claims if claim.ours]
    share = f" ({held / len(tested):.0%})" if tested else ""
    untested = len(published) - len(tested)
    return (
        f"| {name} | {held} of {len(tested)}{share} | {len(tested) - held} | {untested} | "
        f"{sum(claim.holds for claim in ours)} of {len(ours)} |"
    )


def _failures(found: list[Entry]) -> str:
    rows = []
    for entry in found:
        for claim in entry.failed:
            why = entry.diagnosis(claim)
            reason = "| |" if why is None else f"{why.kind} | {_cell(why.reason)} {why.evidence} |"
            numbers = f"{_number(claim.paper)} | {_number(claim.measured)}"
            rows.append(f"| [`{entry.result.id}`](#{entry.result.id}) | {_cell(claim.claim)} | {numbers} | {reason}")
    if not rows:
        return ""
    return (
        "## Published claims that do not hold\n\n"
        "The cause is training (fewer updates or samples than the source), size (smaller networks or less data), metric "
        "(the source measures something else) or source (the source is wrong).\n\n"
        "| recipe | claim | printed | measured | cause | reason and evidence |\n|---|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def _recipes(found: list[Entry]) -> str:
    rows = []
    for entry in found:
        result = entry.result
        published = [claim for claim in result.claims if not (claim.ours or claim.untestable)]
        ours = [claim for claim in result.claims if claim.ours]
        untested = sum(bool(claim.untestable) for claim in result.claims)
        command = f"memspan reproduce {result.id} --scale {result.scale} --out docs/results/{result.id}"
        counts = f"{_held(published)} | {untested or ''} | {_held(ours)}"
        title = _cell(result.title)
        rows.append(f"| [`{result.id}`](#{result.id}) | {title} | {counts} | {_time(result)} | `{command}` |")
    return (
        "## All recipes\n\n"
        "| id | title | published claims that hold | cannot be tested | our own that hold | time | command |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def _held(claims: list[Claim]) -> str:
    return f"{sum(claim.holds for claim in claims)} of {len(claims)}" if claims else ""


def _time(result: Reproduction) -> str:
    """Of the trainings, which may be of an earlier session, or of the recipe."""
    trainings = [note for note in result.notes if note.endswith("in all, in one thread each.")]
    return trainings[0].split(", in one")[0] if trainings else duration(result.seconds)


def _not_run(found: list[Entry]) -> str:
    without = [RECIPES[id] for id in RECIPES if id not in {entry.result.id for entry in found}]
    if not without:
        return ""
    rows = "\n".join(f"| `{each.id}` | {_cell(each.title)} | {each.scales['laptop']} |" for each in without)
    return f"## Not run yet\n\n| id | title | at laptop scale |\n|---|---|---|\n{rows}\n"


def _section(entry: Entry) -> str:
    result = entry.result
    drawings = (*result.figures, *result.maps, *result.orbits)
    titles = {drawing.name: drawing.title for drawing in drawings}
    paths = sorted(
        (FOLDER / result.id / "figures").glob("*.png"), key=lambda path: [*titles, path.stem].index(path.stem)
    )
    images = [f"![{titles.get(path.stem, path.stem)}]({result.id}/figures/{path.name})" for path in paths]
    return (
        "\n\n".join([f"## {result.id}", f"{result.title}.", f"Source: {result.source}.", entry.finding, *images]) + "\n"
    )


def _number(value: float | None) -> str:
    return "" if value is None else trimmed(value, 4)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write the page, and print what the notes lack."""
    found = entries()
    (FOLDER / "README.md").write_text(page(found), encoding="utf-8")
    for problem in problems(found):
        print(problem)


if __name__ == "__main__":
    main()
