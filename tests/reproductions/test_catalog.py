"""Every recipe at smoke scale, and how `reproduce` answers a wrong name."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.presentation import figures_of
from memspan.reproductions import RECIPES, reproduce
from memspan.reproductions.recipe import Computed, Scale, Trained
from memspan.results import Reproduction

WITHOUT_DATA = [name for name in RECIPES if name != "shen-fig6"]
"""Recipes that make their own data; the other one is tested in test_shen_fig6.py."""


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_a_recipe_holds_at_smoke_scale_and_explains_itself(name: str) -> None:
    result = reproduce(name, scale="smoke")  # once for all that is asked of it: some take seconds
    assert result.claims
    if isinstance(RECIPES[name], Computed):  # what a training of seconds achieves is not claimed
        assert [claim.claim for claim in result.claims if not claim.holds] == []
    check_it_survives_json(result)
    check_claims_are_sentences_with_a_measured_number(result)
    check_charts_can_be_drawn_and_explain_themselves(result)


def check_it_survives_json(result: Reproduction) -> None:
    text = json.dumps(result.to_json(), allow_nan=False)
    again = Reproduction.from_json(json.loads(text))
    assert json.dumps(again.to_json(), allow_nan=False) == text
    assert again.claims == result.claims


def check_claims_are_sentences_with_a_measured_number(result: Reproduction) -> None:
    for claim in result.claims:
        assert claim.claim[0].isupper() or claim.claim[0].isdigit()
        assert claim.claim.rstrip(")").endswith(".")
        if claim.measured is None:  # nothing stood above the floor: then the claim does not hold either
            assert not claim.holds
        else:
            assert np.isfinite(claim.measured)


def check_charts_can_be_drawn_and_explain_themselves(result: Reproduction) -> None:
    assert len(figures_of(result)) == len(result.figures) + len(result.orbits) + len(result.maps)
    assert all(len(drawing.caption) > 80 for drawing in (*result.orbits, *result.maps))
    for chart in result.figures:
        assert {chart.x_scale, chart.y_scale} <= {"linear", "log"}
        assert len(chart.caption) > 80
        for line in chart.lines:
            assert line.x.shape == line.y.shape
            assert line.low.shape == line.high.shape
            assert line.low.size in (0, line.y.size)
            assert line.style in ("line", "dashed", "markers")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_names_its_source_and_says_how_long_each_scale_takes(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.id == name
    assert recipe.source.startswith(
        (
            *("Shen 2019, ", "Chen, Pennington and Schoenholz 2018, ", "Kerg 2020, ", "Cao and Xu 2020, "),
            "Memorization note 2023, ",
        )
    )
    assert list(recipe.scales) == ["smoke", "laptop", "paper"]
    assert all(": " in words for words in recipe.scales.values())


@pytest.mark.parametrize("name", RECIPES)
def test_the_sizes_of_a_recipe_are_the_arguments_of_its_function(name: str) -> None:
    recipe = RECIPES[name]
    given = {"seed", "progress", "runs"} if isinstance(recipe, Trained) else {"seed", "progress"}
    for scale in recipe.sizes.values():
        assert given | set(scale.size) == set(inspect.signature(recipe.function()).parameters)


def test_what_a_scale_runs_is_worded_from_its_size() -> None:
    sizes = {"smoke": Scale("a second", {"chains": 40_000}), "paper": Scale("days", {"chains": 1_500_000}, "all")}
    recipe = Computed(id="a", title="A", source="B", run="c:run", work="{chains} chains", sizes=sizes)
    assert recipe.scales == {"smoke": "40,000 chains: a second", "paper": "all: days"}
    million = {"paper": Scale("days", {"chains": 1_500_000})}
    recipe = Computed(id="a", title="A", source="B", run="c:run", work="{chains} chains", sizes=million)
    assert recipe.scales == {"paper": "1.5 million chains: days"}


def loaded_by(code: str) -> list[str]:
    """The modules that a fresh interpreter has loaded after running `code`."""
    show = "import sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return ran.stderr.split()


def test_listing_recipes_loads_none_of_them() -> None:
    loaded = set(loaded_by("from memspan.cli import main; main(['reproduce', 'list', '--json'])"))
    modules = {str(recipe.run).partition(":")[0] for recipe in RECIPES.values()}
    assert loaded.isdisjoint(f"memspan.reproductions.{module}" for module in modules)
    assert {name.partition(".")[0] for name in loaded}.isdisjoint({"scipy", "numba", "torch", "matplotlib"})


def test_running_a_recipe_loads_its_own_module_only() -> None:
    loaded = loaded_by("import memspan; memspan.reproduce('shen-fig5', scale='smoke')")
    papers = [name for name in loaded if name.startswith("memspan.reproductions.") and name.count(".") > 2]
    # `sizes` is the data of the table of recipes.
    assert papers == ["memspan.reproductions.shen2019.sizes", "memspan.reproductions.shen2019.power_laws"]


def test_the_command_loads_at_most_ninety_modules_for_a_recipe() -> None:
    loaded = loaded_by(
        "from memspan.cli import main; main(['reproduce', 'shen-fig5', '--scale', 'smoke', '--json', '--quiet'])"
    )
    assert len([name for name in loaded if name.partition(".")[0] == "memspan"]) <= 90


def test_the_same_seed_gives_the_same_numbers_and_another_seed_does_not() -> None:
    first, again, other = (reproduce("errata-04", scale="smoke", seed=seed) for seed in (5, 5, 6))
    assert first.claims == again.claims
    assert first.claims != other.claims
    assert first.seed == 5


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    reproduce("errata-04", scale="smoke")
    assert capfd.readouterr() == ("", "")


def test_an_unknown_recipe_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no recipe 'shen-fig55'; did you mean shen-fig5\?"):
        reproduce("shen-fig55", scale="smoke")


def test_an_unknown_scale_is_answered_with_the_scales_there_are() -> None:
    with pytest.raises(InputError, match=r"errata-02 has no scale 'huge'; choose one of smoke, laptop, paper"):
        reproduce("errata-02", scale="huge")


@pytest.mark.slow
def test_all_ten_exponents_are_within_a_fiftieth_at_the_size_of_the_paper() -> None:
    result = reproduce("shen-fig5", scale="paper")
    exponents = [claim for claim in result.claims if claim.paper is not None]
    assert [claim.paper for claim in exponents] == [round(0.1 * k, 1) for k in range(1, 11)]
    assert all(abs(claim.measured - claim.paper) <= 0.02 for claim in exponents)  # type: ignore[operator]
    assert result.holds
