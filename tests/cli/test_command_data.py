"""`memspan data`: what there is, and where."""

from __future__ import annotations

import pytest

from memspan.data import CATALOG


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """No data but what a test puts there."""
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_list_says_what_is_here(memspan, own_folder):
    (own_folder / "text").mkdir()
    (own_folder / "text/mine.txt").write_text("words")
    ran = memspan("data", "list")
    assert ran.out.startswith(f"{len(CATALOG)} data sets, 1 of them on this machine; use one as data:NAME")
    plain = memspan("data", "list", "--json").plain
    places = {entry["name"]: entry["path"] for entry in plain["data"]}
    assert list(places) == list(CATALOG)
    assert {name: place for name, place in places.items() if place} == {"text": str(own_folder / "text")}


def test_what_is_here_already_is_not_fetched(memspan, own_folder):
    (own_folder / "text").mkdir()
    (own_folder / "text/mine.txt").write_text("words")
    ran = memspan("data", "get", "text")
    assert ran.out.startswith(f"text is in {own_folder / 'text'}; use it as data:text")
    plain = memspan("data", "get", "text", "--json").plain
    assert plain["files"] == [str(own_folder / "text/mine.txt")]


def test_a_set_without_an_address_says_where_to_put_it(memspan):
    assert "has no public address; put" in memspan("data", "get", "prices").error
