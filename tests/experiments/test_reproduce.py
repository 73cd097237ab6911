"""Every recipe at smoke scale, and how `reproduce` answers a wrong name."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.experiments import RECIPES, reproduce
from memspan.experiments.recipe import Computed
from memspan.presentation import figures_of
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
    with pytest.raises(
        InputError, match=r"errata-02 has no scale 'huge'; choose one of smoke, laptop, paper"
    ):
        reproduce("errata-02", scale="huge")


@pytest.mark.slow
def test_all_ten_exponents_are_within_a_fiftieth_at_the_size_of_the_paper() -> None:
    result = reproduce("shen-fig5", scale="paper")
    exponents = [claim for claim in result.claims if claim.paper is not None]
    assert [claim.paper for claim in exponents] == [round(0.1 * k, 1) for k in range(1, 11)]
    assert all(abs(claim.measured - claim.paper) <= 0.02 for claim in exponents)  # type: ignore[operator]
    assert result.holds
