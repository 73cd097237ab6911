"""What the documents say is so: examples run, quickstarts work as typed, links lead somewhere, options exist."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
import typing
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from memspan.cli import evaluate as evaluate_command
from memspan.cli import main, train_options
from memspan.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURE = (ROOT / "docs/measure.md").read_text(encoding="utf-8")
THEORY = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
MEMORIZATION = (ROOT / "docs/memorization.md").read_text(encoding="utf-8")
CELLS = (ROOT / "docs/cells.md").read_text(encoding="utf-8")
TRAIN = (ROOT / "docs/train.md").read_text(encoding="utf-8")
MODELS = (ROOT / "docs/models.md").read_text(encoding="utf-8")
OBJECTIVE = (ROOT / "docs/objective.md").read_text(encoding="utf-8")
GRIDWORLD = (ROOT / "docs/gridworld.md").read_text(encoding="utf-8")
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
TYPED_BY_HAND = ("make ", "pip ", ". .venv")
"""Beginnings of lines that set up an environment, which the tests already have."""

FITTED_WITHIN = 0.05
"""500 documents of 1,000 binary symbols give an exponent of 0.5 with a standard error of about 0.015."""
FADED = 1e-5
"""Gradients below it count as gone: what is left of them are rounding errors of the machine."""
EXAMPLES = {
    "attention_gradient": r"paths of 59 factors: \d\.\d+e-2\d.* 0\.3 +-0\.571 +-0\.700.* 0\.7 +1\.333 +-0\.300",
    "critical_start": r"chi_1 = 0\.30.*measured: 0\.(29|30|31)\d a.*chi_1 = 1\.0000.*measured: (0\.9[5-9]|1\.0[0-4])\d a",
    "edge_of_chaos": r"correlation 1: plain inf steps, gated 963\.9.*0\.99: plain 9\.041 .*1\.8541 and 1\.8571",
    "memorize_a_string": r"2 hidden units, .*: True\n(abracadabra){3}\na \[1\. 0\.\]\nb .*abracadabra/orbit\.png",
    "linear_network": r"slowest mode 0\.9756.*falls by 0\.9518 a step; the slowest mode squared is 0\.9518",
    "predict_network": r"ordered +139\.1, 1[34]\d\.\d.*bias mean 8\.04; every larger one will do as well: True",
    "compare_two": r"fast and fast again: alike.*fast and slow: different",
    "known_law": r"best law: power.*exponent: 0\.(49|50|51)",
    "measure_text": r"dependence is visible to lag [1-9][\d,]{2,}.*lag +1000: +-?0\.00",
    "merge_shards": r"400,000 symbols, 200 documents\nthe same counts as in one run: yes",
    "null_blocks": r"floor 0\.1\d+ nats, corrected beyond lag 60 [+-]0\.00\d\d nats.* p < 0\.05: [0-9] %",
    "one_long_document": r"300,000, null blocks: 0\.[45].*of 1,000, null blocks: 0\.(39|40|41) .* in the interval [56] of 6",
    "own_source": r"1  2\.37e-01  2\.3\de-01.*visible to lag 8;",
    "swap_lstm": r"^LSTM, .* gradient 0e\+00 at step 1, .*\nRelLSTM, .* gradient \de-0[123] at step 1, \de-0[3-6] at step",
    "train_adding": r"without memory 0\.158, of the network 0\.00\d+\n(8|9)\d% of sums within 0\.04, 8% by chance",
    "train_binary": r"guess costs 0\.693 .* the last one 0\.593, the network 0\.5[2-5]\d",
    "train_copy": r"(99\.9|100\.0)% of .*delay  20: (99|100)\.\d%.*\ndelay  22: [12]?\d\.\d%.*\ndelay 100: [12]?\d\.\d%",
    "train_denoise": r"[23]\d% of .* correct .*\ngradient 29 steps back: \d\.\de-0[1-3]\nan answer looks \d+ steps back",
    "train_noisy_digits": r"should last 1 steps; 1\d% of digits correct .*\n.* last 123 steps; [89]\d% of digits correct",
    "train_permuted_digits": r"rnn: [789]\d% of digits correct, 1,514 .*\nlstm: [5-8]\d% .*\nrel-lstm: [789]\d% ",
    "train_gridworld": r"rel-lstm: reward 0\.\d\d \[.*\nwithout memory: reward 0\.\d\d \[.*\n\d+ steps, a picture of each",
    "train_digits": r"(8|9)\d% of digits correct after 150 updates \(10% by chance\)\n9\d% after 300",
    "train_text": r"[12]\.\d\d nats a character, .* 3\.\d\d\n.* writes: 0\.[2-9]\d\d 0\.[1-9]\d\d 0\.0\d\d -?0\.0\d\d nats",
    "law_calibration": r"power law 0.5, .*: law accepted in 2 of 2.*period aabab: law accepted in 0 of 2, period found in 2",
    "slow_chain": r"null blocks: .* [01]\.\d % of far lags.*null independent: .* [4-9]\d\.\d % of far lags",
}
"""What the output of each example must hold: the point that it makes."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def in_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


def test_every_example_is_expected_to_say_something():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs_and_makes_its_point(capsys, in_folder, name):
    path = ROOT / "examples" / f"{name}.py"
    assert path.read_text(encoding="utf-8").startswith('"""')
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    assert re.search(EXAMPLES[name], said, flags=re.DOTALL), said


def test_the_python_of_the_readme_runs_and_writes_its_files(capsys, in_folder):
    code, _ = blocks(README, "python")
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Span(lag=")
    assert abs(float(last) - 0.5) < FITTED_WITHIN
    assert (in_folder / "curve.json").stat().st_size > 0
    assert (in_folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_cells_of_the_readme_run(capsys):
    _, code = blocks(README, "python")
    exec(compile(code, "README.md", "exec"), {})
    vanishing, critical = capsys.readouterr().out.splitlines()
    assert vanishing.startswith("vanishing: ")
    assert critical.startswith("critical: ")


def test_the_shell_commands_of_the_readme_work_as_typed(in_folder):
    place = Path(sys.executable).parent
    if not (place / "memspan").exists():
        pytest.skip("the package is not installed beside this interpreter")
    lines = [line for block in blocks(README, "sh") for line in block.splitlines()]
    script = "\n".join(line for line in lines if not line.startswith(TYPED_BY_HAND))
    assert script.count("memspan ") >= 4
    ran = subprocess.run(
        ["sh", "-e", "-c", script],
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "typing.py: reach " in ran.stdout
    assert "6 of 6 of our own claims hold" in ran.stdout
    assert (in_folder / "typing-words/report.html").exists()


def test_the_readme_names_the_two_make_targets():
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(re.findall(r"^make (\S+)", README, flags=re.MULTILINE)) == {"demo", "test"} <= set(targets)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_or_a_heading_that_is_there(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        name, _, heading = target.partition("#")
        there = path.parent / name if name else path
        assert there.exists(), target
        assert not heading or heading in anchors(there.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """Headings as GitHub makes links of them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_names_a_place_on_one_machine(path):
    assert not re.findall(r"(?<![\w.])/(?:home|root|work|tmp|Users)/\S*", path.read_text(encoding="utf-8"))


def test_no_kept_result_names_a_place_on_one_machine():
    results = sorted((ROOT / "docs/results").glob("*/result.json"))
    assert len(results) >= 6
    for path in results:
        assert not re.search(r"[\"\s]/\w+/", path.read_text(encoding="utf-8")), path


def test_every_figure_is_shown_somewhere():
    shown = {
        (path.parent / target).resolve()
        for path in DOCUMENTS
        for target in re.findall(r"\]\(([^)\s]+\.png)\)", path.read_text(encoding="utf-8"))
    }
    assert {path.resolve() for path in (ROOT / "docs").rglob("*.png")} == shown


def commands() -> dict[str, set[str]]:
    """The option words of each command, `--help` included."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return {
        name: {word for option in command.params if isinstance(option, TyperOption) for word in option.opts}
        | {"--help", "-h"}
        for name, command in group.commands.items()
    }


def test_the_table_of_options_is_that_of_the_commands():
    table = MEASURE.partition("## Every option")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`-[^|]+) \| ([mc ]+) \|", table, flags=re.MULTILINE)
    told = {"m": set[str](), "c": set[str]()}
    for words, letters in rows:
        for letter in letters.split():
            told[letter].update(re.findall(r"`(-[\w-]+)`", words))
    assert (told["m"], told["c"]) == (commands()["measure"], commands()["compare"])


def test_the_table_of_options_of_predict_is_that_of_the_command():
    table = THEORY.partition("## Every option")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`-[^|]+) \| [nsmla ]+ \|", table, flags=re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(-[\w-]+)`", row)} == commands()["predict"]


def test_the_table_of_options_of_memorize_is_that_of_the_command():
    table = MEMORIZATION.partition("## Every option")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`-[^|]+) \|", table, flags=re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(-[\w-]+)`", row)} == commands()["memorize"]


def test_the_tables_of_options_of_training_are_those_of_the_commands():
    table = TRAIN.partition("## Every option")[2].partition("\n## ")[0]
    told: dict[str, set[str]] = {"t": set(), "r": set(), "e": set()}
    for words, letters in re.findall(r"^\| (`-[^|]+) \| ([tre ]+) \|", table, flags=re.MULTILINE):
        for letter in letters.split():
            told[letter].update(re.findall(r"`(-[\w-]+)`", words))
    there = commands()
    assert [told["t"], told["r"], told["e"]] == [there[name] for name in ("train", "resume", "evaluate")]


def test_every_setting_of_training_is_explained():
    from memspan.training import CellConfig, InitConfig, TrainingConfig
    from memspan.training.supervised.config import ModelConfig

    kinds = {"cell": CellConfig, "model": ModelConfig, "init": InitConfig, "training": TrainingConfig}
    names = {f"{section}.{field}" for section, kind in kinds.items() for field in kind.__dataclass_fields__}
    table = TRAIN.partition("| setting |")[2].partition("\n\n")[0]
    own = {"task.name", "cell.short_term", "cell.nonlinearity", "seed"}
    assert set(re.findall(r"`((?:\w+\.)?\w+)`", table)) >= names - {"cell.options"}
    assert set(re.findall(r"`(\w+\.\w+)`", table)) <= names | own


def test_every_setting_of_the_second_goal_is_explained_with_its_default():
    from memspan.objectives import BmiConfig

    table = OBJECTIVE.partition("| setting |")[2].partition("\n\n")[0]
    told: dict[str, str] = {}
    for names, defaults in re.findall(r"^\| (`bmi[^|]+) \|[^|]+\| ([^|]+) \|$", table, flags=re.MULTILINE):
        found = re.findall(r"`bmi\.(\w+)`", names)
        told |= dict(zip(found, defaults.split(", "), strict=True))
    plain = {name: getattr(BmiConfig(), name) for name in BmiConfig.__dataclass_fields__}
    assert set(told) == set(plain)
    for name, value in plain.items():
        if value is not None:
            shown = str(value).lower() if isinstance(value, bool) else value
            assert told[name] == shown or float(told[name]) == value, name


def test_the_tables_of_what_a_run_writes_are_those_of_the_program():
    from memspan.diagnostics.generated_text import GENERATED
    from memspan.results import AuxiliaryObjective, GeneratedSegments, ReversePerplexity

    table = OBJECTIVE.partition("| option of `evaluate` |")[2].partition("\n\n")[0]
    options = set(re.findall(r"`(--[\w-]+)`", table))
    assert options == {"--segment-information", "--reverse-perplexity", "--length", "--seed"}
    assert options < commands()["evaluate"]
    assert f"| {GENERATED:,} |" in table
    assert GENERATED == evaluate_command.GENERATED
    _, option = typing.get_args(train_options.GeneratedLength)
    assert f"Default {GENERATED:,}." in option.help
    assert fields_told(OBJECTIVE, "second_goal") == set(AuxiliaryObjective.__dataclass_fields__)
    assert fields_told(OBJECTIVE, "segment_information") == set(GeneratedSegments.__dataclass_fields__)
    assert fields_told(OBJECTIVE, "reverse_perplexity") == set(ReversePerplexity.__dataclass_fields__)


def test_every_setting_of_agents_is_explained_with_its_default():
    from memspan.tasks.gridworld import WORLDS
    from memspan.training.agents.config import PpoConfig, WorldConfig

    table = GRIDWORLD.partition("| setting |")[2].partition("\n\n")[0]
    told = dict(re.findall(r"^\| `(\w+\.\w+)` \|[^|]+\| ([^|]+) \|$", table, flags=re.MULTILINE))
    kinds = {"task": WorldConfig, "training": PpoConfig}
    plain = {
        f"{section}.{name}": getattr(kind(), name)
        for section, kind in kinds.items()
        for name in kind.__dataclass_fields__
    }
    assert set(told) == set(plain)
    for name, value in plain.items():
        shown = str(value).lower() if isinstance(value, bool | None) else str(value)
        assert told[name] == shown or float(told[name]) == value, name
    assert all(f"`{world}`" in GRIDWORLD for world in WORLDS)


def test_the_python_data_of_the_page_on_measuring_is_measured():
    run_blocks(MEASURE.partition("### Data from Python")[2].partition("**Fewer kinds")[0], "measure.md")


def test_the_python_of_the_page_on_agents_runs(capsys, in_folder):
    run_blocks(GRIDWORLD, "gridworld.md")
    assert capsys.readouterr().out == "256 5\n['GoToDoor-6x6'] 1\n"


def test_the_json_table_names_the_fields_of_agents():
    from memspan.results import AgentEvaluation, AgentRun

    everywhere = {"schema", "command", "version"}
    assert fields_told(GRIDWORLD, "train") == {*everywhere, *AgentRun.__dataclass_fields__}
    assert fields_told(GRIDWORLD, "evaluate") == {*everywhere, *AgentEvaluation.__dataclass_fields__}


def test_the_python_of_the_page_on_the_second_goal_runs(capsys):
    run_blocks(OBJECTIVE, "objective.md")
    printed = [float(number) for number in capsys.readouterr().out.split()]
    assert printed[:3] == pytest.approx([0.83] * 3, rel=0.1)
    assert printed[3] < 0
    assert printed[4] > 0.75  # 0.5 is chance
    assert printed[5] == pytest.approx(1.39, abs=0.11)


def test_the_python_of_the_page_on_training_runs(capsys, in_folder):
    run_blocks(TRAIN, "train.md")
    assert capsys.readouterr().out == "150 150 True\n[(5, 100), (10, 100)]\n"
    assert (in_folder / "my-run.png").exists()


def test_the_page_on_training_draws_every_task_as_the_task_does():
    from memspan.tasks import TASKS

    for word, task in TASKS.items():
        assert f"`{word}`" in TRAIN
        drawing = re.findall(r"^ {8}(\S.*)$", task.__doc__ or "", flags=re.MULTILINE)
        assert drawing, word
        if word != "permuted-digits":
            assert all(line.rstrip() in TRAIN for line in drawing), word


def test_the_page_on_models_names_every_option_and_field_of_sample():
    from memspan.results import Sample

    table = MODELS.partition("## Every option")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`-[^|]+) \|", table, flags=re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(-[\w-]+)`", row)} == commands()["sample"]
    told = MODELS.partition("| field of `sample`")[2].partition("\n\n")[0]
    names = {
        name for row in re.findall(r"^\| (`[^|]+) \|", told, flags=re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert names == {"schema", "command", "version", *Sample.__dataclass_fields__}


def test_the_python_of_the_page_on_models_runs(capsys, in_folder):
    run_blocks(MODELS, "models.md")
    assert capsys.readouterr().out == "20 10000\n"


def test_the_json_tables_name_the_fields_of_trainings_and_evaluations():
    from memspan.results import Evaluation, TrainingRun

    everywhere = {"schema", "command", "version"}
    assert fields_told(TRAIN, "train") == {*everywhere, *TrainingRun.__dataclass_fields__}
    assert fields_told(TRAIN, "evaluate") == {*everywhere, *Evaluation.__dataclass_fields__}


def test_the_python_of_the_page_on_theory_runs(capsys, in_folder):
    run_blocks(THEORY, "theory.md")
    assert "nan" not in capsys.readouterr().out


def test_the_python_of_the_page_on_memorization_runs_and_keeps_its_promise(capsys, in_folder):
    run_blocks(MEMORIZATION, "memorization.md")
    lines = capsys.readouterr().out.splitlines()
    promised, lasted = lines[3:5]
    assert 1_000_000 < float(promised) < int(lasted) < 22_000_000
    assert lines.count(2 * "00000001") == 4
    assert (in_folder / "orbit.png").exists()


def test_the_python_of_the_page_on_cells_prints_what_is_shown(capsys, in_folder):
    names: dict[str, object] = {}
    pieces = re.findall(r"^```python\n(.*?)^```$(?:\n\n```\n(.*?)^```$)?", CELLS, flags=re.DOTALL | re.MULTILINE)
    assert len(pieces) >= 10
    for code, shown in pieces:
        exec(compile(code, "cells.md", "exec"), names)
        printed = capsys.readouterr().out
        if shown.startswith("distance"):
            assert_same_gradients(printed, shown)
        elif shown:
            assert printed == shown


def assert_same_gradients(printed: str, shown: str) -> None:
    """The same table, up to one unit of the single digit that is printed."""
    assert len(printed.splitlines()) == len(shown.splitlines())
    for line, expected in zip(printed.splitlines(), shown.splitlines(), strict=True):
        (word, *got), (name, *wanted) = line.split(), expected.split()
        assert word == name
        assert [float(x) for x in got] == pytest.approx([float(x) for x in wanted], rel=1, abs=FADED)


def test_the_table_of_cells_is_that_of_the_package():
    from memspan.cells import CELLS as KINDS

    rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \|.*\| ([\d,]+) \| ([\d,]+) \|", CELLS, flags=re.MULTILINE)
    told = {word: (name, *(int(size.replace(",", "")) for size in sizes)) for word, name, *sizes in rows}
    there = {word: (kind.__name__, kind(10, 128)) for word, kind in KINDS.items()}  # pyright: ignore[reportCallIssue]
    assert told == {w: (name, cell.state_size(100), cell.state_size(1_000)) for w, (name, cell) in there.items()}


def test_the_errors_on_the_page_on_cells_are_those_of_the_package():
    import torch

    import memspan as ms

    (block,) = blocks(CELLS.partition("## Errors")[2], "")
    typed, told = block.splitlines()[::2], block.splitlines()[1::2]
    assert len(typed) == len(told) >= 8
    for line, error in zip(typed, told, strict=True):
        with pytest.raises(ms.MemspanError) as raised:
            eval(line, {"ms": ms, "torch": torch})
        assert f"{type(raised.value).__name__}: {raised.value}" == error


@pytest.mark.parametrize("name", ["swap_lstm", "critical_start"])
def test_the_page_on_cells_shows_what_the_example_says(name):
    shown = re.findall(r"^```\n\n*((?:LSTM, |as it comes ).*?)^```$", CELLS, flags=re.DOTALL | re.MULTILINE)
    assert sum(bool(re.search(EXAMPLES[name], block, flags=re.DOTALL)) for block in shown) == 1


def run_blocks(text: str, name: str) -> None:
    """All blocks of Python of a page, one after the other."""
    names: dict[str, object] = {}
    for code in blocks(text, "python"):
        exec(compile(code, name, "exec"), names)


@pytest.mark.parametrize("page", [MEMORIZATION, TRAIN, MODELS, OBJECTIVE, GRIDWORLD])
def test_the_errors_on_pages_are_those_of_the_program(page, capsys, in_folder):
    (block,) = blocks(page.partition("## Errors")[2], "")
    typed, told = block.splitlines()[::2], block.splitlines()[1::2]
    assert len(typed) == len(told) >= 2
    for line, error in zip(typed, told, strict=True):
        assert main(shlex.split(line)[1:]) == 2
        assert capsys.readouterr().err == f"{error}\n"


def test_the_table_of_commands_is_that_of_the_program():
    table = README.partition("## Commands")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `memspan (\w+)", table, flags=re.MULTILINE)) == set(commands())


def test_every_recipe_has_its_result_in_the_documents_or_is_said_to_have_none():
    from memspan.reproductions import RECIPES

    folders = {path.parent.name for path in (ROOT / "docs/results").glob("*/result.json")}
    page = (ROOT / "docs/results/README.md").read_text(encoding="utf-8")
    assert folders == set(re.findall(r"^\| \[`([\w-]+)`\]", page, flags=re.MULTILINE))
    without = page.partition("## Not run yet")[2].partition("\n## ")[0]
    assert set(RECIPES) - folders == set(re.findall(r"^\| `([\w-]+)`", without, flags=re.MULTILINE))


def test_the_file_tree_names_exactly_the_folders_of_the_package():
    tree = README.partition("src/memspan/\n")[2].partition("```")[0]
    package = ROOT / "src/memspan"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/ +\w", tree, flags=re.MULTILINE)) == folders


def test_the_json_table_names_the_fields_of_a_measurement():
    import memspan as ms

    found = ms.measure(ms.Sequence.from_documents(["abcabd" * 200]), [1, 2, 3])
    assert fields_told(MEASURE, "measure") == {"schema", "command", "version", *found.to_json()}


def test_the_json_table_names_the_fields_of_a_memorization():
    import memspan as ms

    found = ms.memorize("ab").to_json()
    assert fields_told(MEMORIZATION, "memorize") == {"schema", "command", "version", *found}


def fields_told(text: str, command: str) -> set[str]:
    """The fields that a page's table of the JSON names."""
    table = text.partition(f"| field of `{command}`")[2].partition("\n\n")[0]
    return set(re.findall(r"\w+", " ".join(re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE))))
