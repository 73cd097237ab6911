"""Archives are extracted by known names only; idx files hold exactly the expected array, or are refused in one line."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from memspan.data.catalog import DataFile
from memspan.data.files import UnusableError, check, read_idx, unpack
from memspan.errors import InputError

FILES = (DataFile(name="a.txt", size=5), DataFile(name="b.txt"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inside" / "out").mkdir(parents=True)
    return tmp_path / "inside" / "out"


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


PACKERS = pytest.mark.parametrize(("pack", "name"), [(zipped, "x.zip"), (tarred, "x.tgz"), (tarred, "x.tar.gz")])


@PACKERS
def test_only_the_requested_files_are_extracted_without_folders(pack, name: str, tmp_path: Path, folder: Path):
    archive = pack(tmp_path / name, {"./top/sub/a.txt": b"first", "top/b.txt": b"second", "top/c.txt": b"no"})
    unpack(archive, FILES, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.txt": b"first", "b.txt": b"second"}


def test_a_gz_is_its_one_file(tmp_path: Path, folder: Path):
    (tmp_path / "x.fna.gz").write_bytes(gzip.compress(b"ACGT"))
    unpack(tmp_path / "x.fna.gz", [DataFile(name="genome.fna")], folder)
    assert (folder / "genome.fna").read_bytes() == b"ACGT"


@PACKERS
@pytest.mark.parametrize("evil", ["../evil", "top/../../a.txt", "/tmp/a.txt", "..\\a.txt"])
def test_a_member_that_leads_outside_condemns_the_archive(pack, name: str, evil: str, tmp_path: Path, folder: Path):
    archive = pack(tmp_path / name, {evil: b"first", "a.txt": b"first", "b.txt": b"second"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnusableError, match="a path outside of it"):
        unpack(archive, FILES, folder)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_is_not_followed(tmp_path: Path, folder: Path):
    with tarfile.open(tmp_path / "x.tgz", "w:gz") as archive:
        link = tarfile.TarInfo("a.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    with pytest.raises(UnusableError, match=r"does not hold a\.txt, b\.txt"):
        unpack(tmp_path / "x.tgz", FILES, folder)


@PACKERS
def test_a_member_larger_than_known_is_stopped(pack, name: str, tmp_path: Path, folder: Path):
    archive = pack(tmp_path / name, {"a.txt": bytes(10_000_000), "b.txt": b""})
    with pytest.raises(UnusableError, match="more than the expected 5 bytes"):
        unpack(archive, FILES, folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 5


@pytest.mark.parametrize("name", ["x.zip", "x.tgz", "x.gz"])
def test_a_file_that_is_not_an_archive_is_refused(name: str, tmp_path: Path, folder: Path):
    (tmp_path / name).write_bytes(b"<html>please log in</html>")
    with pytest.raises(UnusableError, match=f"{name} is damaged or not of the type of its extension"):
        unpack(tmp_path / name, FILES, folder)


@pytest.mark.parametrize(("pack", "name"), [(zipped, "x.zip"), (tarred, "x.tgz")])
def test_a_truncated_archive_is_refused(pack, name: str, tmp_path: Path, folder: Path):
    noise = bytes((i * i * 31 + i // 7) % 251 for i in range(50_000))
    archive = pack(tmp_path / name, {"b.txt": noise, "a.txt": b"first"})
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    with pytest.raises(UnusableError, match="damaged"):
        unpack(archive, FILES, folder)


def test_check_reports_expected_and_actual_values(tmp_path: Path):
    path = tmp_path / "word"
    path.write_bytes(b"abc")
    md5 = "900150983cd24fb0d6963f7d28e17f72"  # RFC 1321, A.5
    check(path, checksum=f"md5:{md5}", size=3)
    with pytest.raises(UnusableError, match="word has 3 bytes, expected 1,000"):
        check(path, size=1000)
    with pytest.raises(UnusableError, match=f"word has the md5 {md5}, expected 0123"):
        check(path, checksum="md5:0123")


HEADER = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3])
BYTES = bytes([10, 20, 30, 40, 50, 255])


def written(folder: Path, content: bytes) -> Path:
    path = folder / "array-idx2-ubyte"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_the_bytes_come_back_in_their_shape(tmp_path: Path, pack) -> None:
    array = read_idx(written(tmp_path, pack(HEADER + BYTES)), (2, 3))
    np.testing.assert_array_equal(array, [[10, 20, 30], [40, 50, 255]])
    assert array.dtype == np.uint8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "starts with nothing"),
        (b"\x89PNG and so on, long enough", "starts with"),
        (bytes([0, 0, 9]) + HEADER[3:] + BYTES, r"expected 00000802 00000002 00000003.* 2 x 3 unsigned bytes"),
        (HEADER[:7] + b"\x03" + HEADER[8:] + BYTES, "00000802 00000003 00000003; expected"),
        (HEADER + BYTES[:-1], "holds 17 bytes; expected 18"),
        (HEADER + BYTES + b"x", "holds more than 18 bytes; expected 18"),
        (gzip.compress(HEADER + BYTES)[:-9], "cannot be read"),
        (gzip.compress(HEADER + BYTES)[:-8] + b"checksum", "cannot be read"),
    ],
    ids=["empty", "foreign", "type", "shape", "short", "long", "cut", "damaged"],
)
def test_anything_else_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_idx(written(tmp_path, content), (2, 3))
    message = str(raised.value)
    assert "\n" not in message
    assert str(tmp_path) in message
    assert message.endswith("; replace the file")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_idx(tmp_path / "absent", (2, 3))
