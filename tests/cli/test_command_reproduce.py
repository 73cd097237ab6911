"""`memspan reproduce`: claims in a table, as JSON, as a check, and the list of recipes."""

from __future__ import annotations

import dataclasses
import signal

import pytest

from memspan.reproductions import RECIPES, Outcome
from memspan.reproductions.kerg2020 import agent_trainings
from memspan.reproductions.recipe import Computed
from memspan.results import Chart, Claim, MeasuredRow, MeasuredTable, MeasuredValue, line
from memspan.training.agents.agent import Agent


@pytest.fixture
def recipe(monkeypatch):
    """A recipe of one claim that holds or does not, in place of errata-04."""

    def install(holds: bool) -> None:
        claim = Claim("two and two are four", 4.0, None, 4.0 if holds else 5.0, 0.1, holds)
        chart = Chart("sum", "Sum", "a", "b", "linear", "linear", (line("sum", [1, 2], [2, 4]),), "A line.")
        sum_of = MeasuredValue(4.0, (3.5, 4.5), (3.9, 4.1), 4.25)
        table = MeasuredTable("Sums", ("two and two",), (MeasuredRow("by hand", (sum_of,)),), "Of two seeds.")
        outcome = Outcome((claim,), (chart,), ("a note",), tables=(table,))
        changed = dataclasses.replace(RECIPES["errata-04"], run=lambda **_: outcome)
        monkeypatch.setitem(RECIPES, "errata-04", changed)

    return install


def test_a_recipe_runs_at_smoke_scale(memspan):
    ran = memspan("reproduce", "errata-04", "--scale", "smoke")
    assert ran.status == 0
    assert ran.out.startswith("errata-04 (smoke scale): ")
    assert "errata-04, smoke scale: " in ran.err  # how long it takes is said beforehand


def test_claims_are_shown_and_written(memspan, recipe, tmp_path):
    recipe(holds=True)
    ran = memspan("reproduce", "errata-04", "--scale", "smoke", "--out", tmp_path)
    assert "two and two are four" in ran.out
    assert "note: a note" in ran.out
    assert "4.0 [3.5, 4.5] (paper 4.25)" in ran.out
    assert (tmp_path / "figures/sum.svg").exists()
    page = (tmp_path / "report.html").read_text()
    assert "two and two are four" in page
    assert "<td>by hand</td><td>4.0 [3.5, 4.5] (paper 4.25)</td>" in page
    assert "Sums. Of two seeds." in page


@pytest.mark.parametrize(
    ("holds", "words", "status"), [(True, ("--expect", "holds"), 0), (False, ("--expect", "holds"), 1), (False, (), 0)]
)
def test_a_claim_that_does_not_hold_fails_only_where_that_was_asked(memspan, recipe, holds, words, status):
    recipe(holds=holds)
    ran = memspan("reproduce", "errata-04", "--scale", "smoke", "--json", *words)
    assert ran.status == status
    assert ran.plain["claims"][0]["holds"] == holds
    assert ("does not hold: two and two are four" in ran.err) == (status == 1)


def test_the_list_names_every_recipe_with_its_time(memspan):
    ran = memspan("reproduce", "list")
    assert ran.out.startswith(f"{len(RECIPES)} recipes; ")
    assert all(id in ran.out for id in RECIPES)
    recipes = memspan("reproduce", "list", "--json").plain["recipes"]
    assert [recipe["id"] for recipe in recipes] == list(RECIPES)
    assert set(recipes[0]) == {"id", "title", "source", "scales"}
    assert set(recipes[0]["scales"]) == {"smoke", "laptop", "paper"}


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (True, "the trainings so far are saved in {out}/runs; run the same command to continue"),
        (False, "nothing was saved; with --out DIR trainings are saved, and the same command continues them"),
    ],
)
def test_an_interrupted_recipe_that_trains_says_what_it_kept_and_goes_on(memspan, tmp_path, monkeypatch, kept, said):
    step, out = Agent.step, tmp_path / "out"

    def interrupted(agent: Agent) -> dict:
        signal.raise_signal(signal.SIGINT)
        return step(agent)

    words = ("reproduce", "relevance-table4", "--scale", "smoke", "--quiet", *(("--out", out) if kept else ()))
    with monkeypatch.context() as patch:
        patch.setattr(Agent, "step", interrupted)
        ran = memspan(*words)
    assert (ran.status, ran.out, ran.err) == (130, "", f"interrupted: {said.format(out=out)}\n")
    if kept:
        assert memspan(*words).status == 0


def test_an_interrupt_before_anything_is_trained_says_so(memspan, tmp_path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    monkeypatch.setattr(agent_trainings, "train_agent", interrupted)
    ran = memspan("reproduce", "relevance-table4", "--scale", "smoke", "--quiet", "--out", out)
    assert ran.err == f"interrupted: no training was saved in {out / 'runs'} yet; run the same command to start over\n"
    monkeypatch.setattr(Computed, "outcome", interrupted)
    ran = memspan("reproduce", "errata-04", "--scale", "smoke", "--quiet", "--out", out)
    assert ran.err == "interrupted: nothing was saved\n"


def test_sizes_of_a_scale_can_be_set(memspan):
    ran = memspan("reproduce", "errata-04", "--scale", "smoke", "--set", "documents=150", "--json")
    assert ran.status == 0, ran.err
    result = ran.plain
    assert result["notes"][0] == "Sizes other than those of the scale: documents = 150."
    assert result["claims"] != memspan("reproduce", "errata-04", "--scale", "smoke", "--json").plain["claims"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("errata-04", "--set", "documents"), "--set documents: expected NAME=VALUE, such as workers=1"),
        (
            ("errata-04", "--set", "document=3"),
            "errata-04 has no size 'document' that can be set; did you mean documents",
        ),
        (
            ("errata-04", "--set", "documents=many"),
            "errata-04: documents is 'many'; expected a whole number, such as 2000",
        ),
        (("shen-fig5", "--set", "exponents=0.5"), "shen-fig5: exponents is 0.5; expected a list such as [1, 2]"),
    ],
)
def test_a_wrong_size_is_reported(memspan, words, message):
    assert message in memspan("reproduce", *words).error
