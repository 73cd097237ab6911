"""Paths, folders, standard input, URLs and compressed files, and what is said where they cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

from memspan.errors import InputError
from memspan.sequences import Sequence, read

TEXT = "to be or not to be, that is the question\n"
PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def texts(sequence: Sequence) -> list[str]:
    return ["".join(str(sequence.alphabet[s]) for s in document) for document in sequence.documents()]


def refusal(source) -> str:
    with pytest.raises(InputError) as caught:
        read(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a/z.txt", "a/c.md", ".hidden", ".git/config", "a/.cache/x", "empty.txt"):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if name == "empty.txt" else f"{name}!")
    return tmp_path / "corpus"


def test_a_folder_is_its_visible_files_in_sorted_order(folder: Path) -> None:
    sequence = read(folder)
    assert texts(sequence) == ["a/c.md!", "a/z.txt!", "b.txt!"]
    assert sequence.paths == (str(folder),)


def test_several_paths_are_documents_in_the_given_order(folder: Path) -> None:
    sequence = read([str(folder / "b.txt"), folder / "a"])
    assert texts(sequence) == ["b.txt!", "a/c.md!", "a/z.txt!"]
    assert sequence.paths == (str(folder / "b.txt"), str(folder / "a"))


def test_standard_input_is_a_hyphen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc\r\n")))
    sequence = read("-")
    assert texts(sequence) == ["abc\r\n"]
    assert sequence.paths == ("-",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    assert texts(read(path, memory_limit=0)) == [TEXT]
    writer.join()


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_is_read_as_what_it_holds(tmp_path: Path, ending: str) -> None:
    packed, plain = tmp_path / f"x.fa{ending.upper()}", tmp_path / "x.fa"
    plain.write_text(">x\nACGTACGG\n")
    packed.write_bytes(PACKERS[ending](plain.read_bytes()))
    assert read(packed).symbols == "dna"
    assert read(packed).fingerprint() == read(plain).fingerprint()
    assert read(packed, symbols="bytes", memory_limit=0).fingerprint() == read(plain, symbols="bytes").fingerprint()


@pytest.mark.parametrize("ending", PACKERS)
def test_parts_compressed_one_after_the_other_are_all_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.txt{ending}"
    path.write_bytes(PACKERS[ending](b"ab") + PACKERS[ending](b"cd"))
    assert texts(read(path)) == ["abcd"]


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("damage", ["cut short", "changed", "not compressed"])
def test_a_damaged_compressed_file_is_reported(tmp_path: Path, ending: str, damage: str) -> None:
    path = tmp_path / f"x.txt{ending}"
    data = PACKERS[ending](os.urandom(500) + TEXT.encode())
    middle = len(data) // 2
    changed = data[:middle] + bytes(255 - byte for byte in data[middle : middle + 20]) + data[middle + 20 :]
    path.write_bytes({"cut short": data[:-20], "changed": changed, "not compressed": TEXT.encode()}[damage])
    with pytest.raises(InputError, match=rf"x.txt{ending} is not a complete \w+ file \(.*\); get it again, or rename"):
        read(path, symbols="bytes")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.txt") == f"no such file or folder: {tmp_path}/no.txt; check the name"
    assert refusal("no::such").startswith("no such file or folder: no::such")
    assert refusal("no:such:file").startswith("no such file or folder: no:such:file")
    assert refusal("hf:no/such/file").startswith("no such file or folder: hf:no/such/file")
    assert refusal([]).startswith("no path was given; ")
    assert refusal("").startswith("no path was given; ")
    assert refusal([3]).startswith("a source is a int; expected a path")


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path, folder: Path) -> None:
    inside_a_file = folder / "b.txt" / "x"
    assert refusal(inside_a_file) == f"cannot read {inside_a_file}: Not a directory; give a file that can be read"
    assert "File name too long" in refusal("x" * 300)
    assert "null byte" in refusal("a\0b")
    (tmp_path / "hidden-only").mkdir()
    (tmp_path / "hidden-only" / ".x").write_text(TEXT)
    assert refusal(tmp_path / "hidden-only").startswith("no files below the folder ")


def test_missing_permission_is_reported_before_any_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "b.txt")
    assert refusal(folder) == f"cannot read {folder}/b.txt: Permission denied; give a file that can be read"


def test_an_error_while_reading_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    assert refusal(folder / "b.txt").startswith(f"cannot read {folder}/b.txt: Input/output error")


def test_an_empty_file_is_refused_alone_and_left_out_among_others(folder: Path) -> None:
    assert refusal(folder / "empty.txt").startswith(f"{folder}/empty.txt is empty (0 symbols)")
    assert read(folder).n_documents == 3


def test_file_addresses_are_local_files(folder: Path) -> None:
    assert texts(read(f"file://{folder}/b.txt")) == ["b.txt!"]
    assert read(f"file://{folder}").fingerprint() == read(folder).fingerprint()
    assert refusal(f"file://{folder}/no.txt").startswith(f"no such file or folder: file://{folder}/no.txt")


def test_other_places_are_read_through_fsspec() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe({"/corpus/b.txt.gz": gzip.compress(b"two"), "/corpus/a.txt": b"one", "/corpus/.c": b"hidden"})
    try:
        assert texts(read("memory://corpus/b.txt.gz")) == ["two"]
        sequence = read("memory://corpus")
        assert texts(sequence) == ["one", "two"]
        assert sequence.paths == ("memory://corpus",)
        assert refusal("memory://corpus/no.txt") == "no such file or folder: memory://corpus/no.txt; check the address"
    finally:
        memory.rm("/corpus", recursive=True)


def test_an_unknown_kind_of_address_is_reported() -> None:
    assert refusal("nowhere://x/y").startswith("cannot open nowhere://x/y: Protocol not known: nowhere")


@pytest.fixture
def website(folder: Path) -> Iterator[str]:
    (folder / "packed.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_web_addresses_are_streamed(website: str) -> None:
    assert texts(read(f"{website}/b.txt")) == ["b.txt!"]
    assert texts(read(f"{website}/packed.txt.gz?version=3")) == [TEXT]
    assert refusal(f"{website}/no.txt") == f"no such file: {website}/no.txt; check the address"
    # Port 9 is the one that discards; nobody listens there.
    assert refusal("http://127.0.0.1:9/x.txt").startswith("cannot read http://127.0.0.1:9/x.txt: ")
