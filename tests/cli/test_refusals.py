"""Bad input and bad usage: exit status 2 and one line that says what was got, what was expected, what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content", "words", "message"),
    [
        ("empty.txt", b"", (), "empty"),
        ("empty.csv", b"", (), "empty"),
        ("empty.fa", b"", (), "empty"),
        ("same.txt", b"a" * 1000, (), "only one symbol kind"),
        ("short.txt", b"abcdefgh", (), "the longest document has 8 symbols"),
        ("latin.txt", b"abc" * 50 + b"\xe9t\xe9" + b"abc" * 50, (), "150"),
        ("latin.txt", b"abc" * 50 + b"\xe9t\xe9" + b"abc" * 50, (), "--as bytes"),
        ("table.csv", b"day,close\n1,2\n2,3\n", ("--column", "open"), "its columns are day, close"),
        ("table.csv", b"day,close\n1,two\n2,three\n", ("--column", "close"), "'two' in column close is not"),
        ("table.csv", b"day,close\n1,2\n2,nan\n3,5\n", ("--column", "close"), "row"),
        ("text.txt", b"abcd" * 100, ("--lags", "0"), "lag 0 is below 1"),
        ("text.txt", b"abcd" * 100, ("--lags", "-3"), "lag -3 is below 1"),
        ("text.txt", b"abcd" * 100, ("--lags", "5000"), "lag 5000 is longer than the longest document (400"),
        ("text.txt", b"abcd" * 100, ("--max-lag", "400"), "use --max-lag 399"),
        ("text.txt", b"abcd" * 100, ("--lags", "one"), "expected numbers as in 1,2,5"),
        ("text.txt", b"abcd" * 100, ("--lags", "1,2", "--max-lag", "9"), "omit one of them"),
        ("text.txt", b"abcd" * 100, ("--as", "notes"), "unknown symbols 'notes'"),
        ("text.txt", b"abcd" * 100, ("--as", "bpe:no.json"), "the tokenizer no.json does not exist"),
        ("text.txt", b"abcd" * 100, ("--column", "close"), "--column is for numbers"),
        ("text.txt", b"abcd" * 100, ("--level", "0"), "not a positive number of nats"),
        ("text.txt", b"abcd" * 100, ("--level", "nan"), "not a positive number of nats"),
        ("text.txt", b"abcd" * 100, ("--fit-above", "-1"), "not a positive number of nats"),
        ("text.txt", b"abcd" * 100, ("--null", "far"), "--null"),
        ("text.txt", b"abcd" * 100, ("--workers", "0"), "--workers"),
        ("text.txt", b"abcd" * 100, ("--levels", "1"), "--levels 2 or more"),
        ("text.txt", b"abcd" * 100, ("--counts-only",), "add --out DIR"),
        ("text.npy", b"not an array", (), "text.npy"),
        ("text.json", b"{ not json", (), "text.json"),
        ("text.txt.gz", b"not compressed", (), "text.txt.gz"),
        ("foreign.counts", b"not counts at all", (), "is not a counts file"),
    ],
)
def test_input_that_cannot_be_measured_is_refused_in_one_line(memspan, file, name, content, words, message):
    assert message in memspan("measure", file(name, content), *words).error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("measure",), "Missing argument 'SOURCE'; see memspan measure --help"),
        (("measure", "missing.txt"), "no such file or folder: missing.txt"),
        (("measure", "missing.counts"), "no such file: missing.counts"),
        (("measure", "data:wikitxt-2"), "did you mean wikitext-2?"),
        (("measure", "run:runs/none"), "runs/none is not a run (it has no config.json)"),
        (("measure", "hf:no/model"), "no/model is neither a folder nor a model in the local Hugging Face cache"),
        (("measure", "x.txt", "--estimator", "guess"), "there is no estimator 'guess'; choose one of plugin"),
        (("measure", "x.txt", "--lgas", "1"), "No such option: --lgas (Possible options: --as, --lags)"),
        (("measure", "x.txt", "--workers", "two"), "--workers"),
        (("measure", "x.txt", "--lags"), "requires an argument"),
        (("comapre", "x.txt"), "No such command 'comapre'. Did you mean 'compare'? See memspan --help"),
        (("report", "missing"), "missing is not a folder"),
        (("reproduce", "shen-fig55"), "there is no recipe 'shen-fig55'; did you mean shen-fig5?"),
        (("reproduce", "shen-fig5", "--scale", "huge"), "--scale"),
        (("bench", "mesure"), "there is no benchmark 'mesure'; did you mean measure?"),
        (("data",), "Missing command"),
        (("data", "get", "wikitxt-2"), "did you mean wikitext-2?"),
    ],
)
def test_words_that_name_nothing_are_refused_in_one_line(memspan, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in memspan(*words).error


def test_a_folder_without_files_is_refused(memspan, tmp_path):
    assert "no files below the folder" in memspan("measure", tmp_path).error


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(memspan, file):
    path = file("secret.txt", b"abcd" * 100)
    path.chmod(0)
    assert "secret.txt" in memspan("measure", path).error


def test_an_unreadable_path_is_refused(memspan, file, monkeypatch):
    path = file("broken.txt", b"abcd" * 100)
    opened = Path.open

    def fail(self: Path, *arguments, **named):
        if self == path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))
        return opened(self, *arguments, **named)

    monkeypatch.setattr(Path, "open", fail)
    assert "broken.txt" in memspan("measure", path).error


def test_a_damaged_counts_file_is_refused(memspan, novel, tmp_path):
    memspan("measure", novel, "--counts-only", "--out", tmp_path, "--max-lag", 5)
    part = sorted((tmp_path / "counts").glob("*.counts"))[0]
    content = bytearray(part.read_bytes())
    content[-3] ^= 1
    part.write_bytes(content)
    assert "damaged" in memspan("measure", part).error


def test_counts_and_texts_do_not_mix(memspan, novel, tmp_path):
    memspan("measure", novel, "--counts-only", "--out", tmp_path, "--max-lag", 5)
    parts = sorted((tmp_path / "counts").glob("*.counts"))
    assert "give counts only" in memspan("measure", *parts, novel).error


@pytest.mark.parametrize("words", [("--lags", "1,2"), ("--null", "shifts"), ("--as", "bytes"), ("--max-lag", 3)])
def test_what_was_decided_in_counting_cannot_be_chosen_again(memspan, novel, tmp_path, words):
    memspan("measure", novel, "--counts-only", "--out", tmp_path, "--max-lag", 5)
    parts = sorted((tmp_path / "counts").glob("*.counts"))
    assert "already counted" in memspan("measure", *parts, *words).error


def test_a_place_that_cannot_hold_a_folder_is_told_before_the_work(memspan, file):
    blocker = file("blocker", b"")
    assert "cannot be created" in memspan("measure", "missing.txt", "--out", blocker / "run").error


def test_a_full_disk_is_told_and_leaves_no_half_file(memspan, novel, tmp_path, monkeypatch):
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    ran = memspan("measure", novel, "--max-lag", 5, "--workers", 1, "--out", tmp_path)
    assert "No space left on device; free space or choose another place" in ran.error
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_os_error_from_anywhere_is_one_line(memspan, novel, monkeypatch):
    from memspan.sequences import Sequence

    def fail(self: Sequence) -> int:
        raise OSError(errno.EIO, "Input/output error", "disk0")

    monkeypatch.setattr(Sequence, "longest", property(fail))
    assert "cannot read or write disk0: Input/output error" in memspan("measure", novel).error


def test_an_error_of_our_own_making_is_not_hidden(memspan, novel, monkeypatch):
    from memspan.sequences import Sequence

    monkeypatch.setattr(Sequence, "longest", property(lambda self: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        memspan("measure", novel)
