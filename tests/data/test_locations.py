"""Where data sets are searched, and the message if they are missing."""

from pathlib import Path

import pytest

from memspan.data import CATALOG, available, find, locate, resolve
from memspan.data.locations import cache_folder
from memspan.errors import InputError

PTB = ("ptb.train.txt", "ptb.valid.txt", "ptb.test.txt")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder named by MEMSPAN_DATA."""
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MEMSPAN_DATA", raising=False)
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def place(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"{folder.parent.name} {name}")
    return folder


def test_the_own_folder_comes_before_the_cache(own: Path, cache: Path):
    place(cache / "ptb", *PTB)
    assert find("ptb") == cache / "ptb"
    place(own / "ptb", *PTB)
    assert find("ptb") == own / "ptb"
    assert locate("ptb", "ptb.valid.txt") == own / "ptb" / "ptb.valid.txt"


def test_an_empty_variable_is_no_folder(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMSPAN_DATA", "")
    assert find("ptb") is None
    place(cache / "ptb", *PTB)
    assert find("ptb") == cache / "ptb"


def test_without_a_variable_the_cache_is_the_platforms(monkeypatch: pytest.MonkeyPatch):
    import pooch

    monkeypatch.delenv("MEMSPAN_CACHE")
    assert cache_folder() == pooch.os_cache("memspan")


def test_a_set_that_lacks_a_file_is_not_there_but_its_files_are(own: Path, cache: Path):
    place(own / "ptb", *PTB[:2])
    assert find("ptb") is None
    assert locate("ptb", "ptb.train.txt") == own / "ptb" / "ptb.train.txt"
    place(cache / "ptb", *PTB)
    assert locate("ptb") == cache / "ptb"
    assert locate("ptb", "ptb.test.txt") == cache / "ptb" / "ptb.test.txt"


def test_a_missing_set_says_where_it_was_looked_for_and_how_to_get_it(own: Path, cache: Path):
    with pytest.raises(InputError) as caught:
        locate("ptb")
    message = str(caught.value)
    assert "\n" not in message
    for part in (str(own), str(cache), "`memspan data get ptb`", "MEMSPAN_DATA", "ptb.train.txt"):
        assert part in message


def test_a_set_without_an_address_is_not_said_to_be_gettable(own: Path):
    with pytest.raises(InputError, match=r"MEMSPAN_DATA to a folder that has prices/sp500-daily.csv") as caught:
        locate("prices")
    assert "data get" not in str(caught.value)


def test_available_lists_every_set_with_its_place(own: Path):
    place(own / "ptb", *PTB)
    place(own / "text", "essay.txt")
    places = {data_set.name: folder for data_set, folder in available()}
    assert list(places) == list(CATALOG)
    assert {name for name, folder in places.items() if folder} == {"ptb", "text"}
    assert places["ptb"] == own / "ptb"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ptb", "ptb.train.txt"),
        ("ptb/train", "ptb.train.txt"),
        ("ptb/valid", "ptb.valid.txt"),
        ("ptb/ptb.test", "ptb.test.txt"),
        ("ptb/ptb.test.txt", "ptb.test.txt"),
    ],
)
def test_a_name_is_the_training_split_unless_a_part_is_named(own: Path, name: str, file: str):
    place(own / "ptb", *PTB)
    assert resolve(name) == [own / "ptb" / file]


@pytest.mark.parametrize("name", ["text8", "text8/text8"])
def test_a_set_of_one_file_is_that_file(own: Path, name: str):
    place(own / "text8", "text8")
    assert resolve(name) == [own / "text8" / "text8"]


def test_own_texts_are_all_or_one_by_its_stem(own: Path):
    folder = place(own / "text", "b.txt", "a.txt", "notes.md")
    assert resolve("text") == [folder / "a.txt", folder / "b.txt"]
    assert resolve("text/b") == [folder / "b.txt"]
    with pytest.raises(InputError, match=r"has no 'c'; choose one of a, b"):
        resolve("text/c")


def test_an_unknown_part_is_answered_with_the_closest(own: Path):
    place(own / "ptb", *PTB)
    with pytest.raises(InputError, match=r"ptb has no part 'vaild'; did you mean valid\?"):
        resolve("ptb/vaild")


@pytest.mark.parametrize("part", ["../secret", "../../own/secret.txt", "/etc/hostname"])
def test_a_part_cannot_lead_out_of_the_set(own: Path, part: str):
    place(own / "ptb", *PTB)
    place(own / "text", "a.txt")
    place(own, "secret.txt")
    for name in ("ptb", "text"):
        with pytest.raises(InputError, match="has no"):
            resolve(f"{name}/{part}")


def test_images_are_not_a_sequence():
    with pytest.raises(InputError, match="mnist is not a sequence"):
        resolve("mnist")


def test_a_known_name_that_is_not_here_says_how_to_get_it():
    with pytest.raises(InputError, match="`memspan data get wikitext-2`"):
        resolve("wikitext-2/valid")
