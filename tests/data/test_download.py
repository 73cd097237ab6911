"""Downloads, against a server on this machine whose every fault is made on purpose."""

import hashlib
import http.server
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from memspan.data import Archive, DataFile, DataSet, Folder, find, get
from memspan.errors import InputError
from memspan.progress import Progress, Stage

CONTENTS = {"one.txt": b"one " * 50_000, "two.txt": b"two"}


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def packed(contents: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(f"set/{name}", content)
    return buffer.getvalue()


FILES = tuple(DataFile(name=name, size=len(content), checksum=sha256(content)) for name, content in CONTENTS.items())
SMALL = DataSet(name="small", description="two words", licence="none", files=FILES)


@dataclass
class Server:
    """What lies at each path; a path in `cut` breaks off half way, once."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)

    def archive(self, path: str, content: bytes, checksum: str | None = None) -> Archive:
        self.files[path] = content
        return Archive(self.address + path, checksum)


def handler(server: Server) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(self.path)
            content = server.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.path in server.cut:
                server.cut.remove(self.path)
                content = content[: len(content) // 2]
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """The test's output is no place for a server's log."""

    return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(state)) as http_server:
        state.address = f"http://127.0.0.1:{http_server.server_port}"
        thread = threading.Thread(target=http_server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        http_server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MEMSPAN_DATA", raising=False)
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def port_without_a_server() -> int:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return closed.getsockname()[1]


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def nothing_is_left(cache: Path) -> bool:
    return list(cache.rglob("*")) == []


IN_PLACE = {f"small/{name}": content for name, content in CONTENTS.items()}


def test_an_archive_is_downloaded_unpacked_and_found(server: Server, cache: Path):
    content = packed({**CONTENTS, "README": b"not requested"})
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", content, sha256(content)),))
    assert find(data_set) is None
    assert get(data_set) == cache / "small"
    assert files_below(cache) == IN_PLACE
    assert find(data_set) == cache / "small"


def test_single_files_are_downloaded_from_a_folder(server: Server, cache: Path):
    server.files = {f"/plain/{name}": content for name, content in CONTENTS.items()}
    get(replace(SMALL, addresses=(Folder(f"{server.address}/plain/"),)))
    assert files_below(cache) == IN_PLACE


def test_what_is_there_is_not_fetched_again(server: Server):
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", packed(CONTENTS)),))
    assert get(data_set) == get(data_set)
    assert server.requests == ["/small.zip"]


def test_a_complete_set_in_the_own_folder_is_used(
    server: Server, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path / "own"))
    (tmp_path / "own" / "small").mkdir(parents=True)
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", packed(CONTENTS)),))
    assert get(data_set) == cache / "small"
    for name in CONTENTS:
        (tmp_path / "own" / "small" / name).write_text("mine")
    assert get(data_set) == tmp_path / "own" / "small"


def test_a_base_is_where_the_set_goes(server: Server, tmp_path: Path, cache: Path):
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", packed(CONTENTS)),))
    assert get(data_set, base=tmp_path / "elsewhere") == tmp_path / "elsewhere" / "small"
    assert files_below(tmp_path / "elsewhere") == IN_PLACE
    assert not cache.exists()


def test_a_missing_page_leads_to_the_next_address(server: Server, cache: Path):
    good = server.archive("/mirror/small.zip", packed(CONTENTS))
    get(replace(SMALL, addresses=(Archive(f"{server.address}/gone.zip"), good)))
    assert server.requests == ["/gone.zip", "/mirror/small.zip"]
    assert files_below(cache) == IN_PLACE


def test_when_all_addresses_fail_each_is_named_with_its_reason(server: Server, cache: Path):
    gone, forged = (Archive(f"{server.address}/gone.zip"), server.archive("/forged.zip", packed({"one.txt": b"1"})))
    closed = Archive(f"http://127.0.0.1:{port_without_a_server()}/closed.zip")
    with pytest.raises(InputError) as caught:
        get(replace(SMALL, addresses=(gone, forged, closed)))
    message = str(caught.value)
    assert "\n" not in message
    assert f"{gone.url} (404 Not Found)" in message
    assert f"{forged.url} (forged.zip does not hold two.txt)" in message
    assert f"{closed.url} (no connection)" in message
    assert f"put one.txt, two.txt into {cache / 'small'}" in message
    assert nothing_is_left(cache)


def test_a_wrong_checksum_of_an_archive_is_reported_with_the_expected_one(server: Server, cache: Path):
    content, expected = packed(CONTENTS), sha256(b"another")
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", content, expected),))
    got = hashlib.sha256(content).hexdigest()
    with pytest.raises(InputError, match=f"small.zip has the sha256 {got}, expected {expected[7:]}"):
        get(data_set)
    assert nothing_is_left(cache)


def test_a_wrong_checksum_of_one_file_places_none(server: Server, cache: Path):
    forged = {**CONTENTS, "two.txt": b"TWO"}
    with pytest.raises(InputError, match=r"two.txt has the sha256 \w{64}, expected \w{64}"):
        get(replace(SMALL, addresses=(server.archive("/small.zip", packed(forged)),)))
    assert nothing_is_left(cache)


def test_a_wrong_size_is_reported_with_the_expected_one(server: Server):
    server.files = {"/one.txt": CONTENTS["one.txt"], "/two.txt": b"twotwo"}
    with pytest.raises(InputError, match=r"two\.txt has 6 bytes, expected 3"):
        get(replace(SMALL, addresses=(Folder(f"{server.address}/"),)))


@pytest.mark.parametrize("plain", [False, True])
def test_a_download_that_breaks_off_leaves_nothing_and_can_be_repeated(server: Server, cache: Path, plain: bool):
    archive = server.archive("/small.zip", packed(CONTENTS))
    server.files |= {f"/{name}": content for name, content in CONTENTS.items()}
    server.cut = {"/small.zip", "/one.txt"}
    data_set = replace(SMALL, addresses=(Folder(f"{server.address}/") if plain else archive,))
    with pytest.raises(InputError, match="the connection broke off"):
        get(data_set)
    assert nothing_is_left(cache)
    assert find(data_set) is None
    get(data_set)
    assert files_below(cache) == IN_PLACE


def test_an_interruption_leaves_nothing(server: Server, cache: Path):
    class Impatient(Recorder):
        def advanced(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(replace(SMALL, addresses=(server.archive("/small.zip", packed(CONTENTS)),)), progress=Impatient())
    assert nothing_is_left(cache)


def test_an_archive_that_leads_outside_is_refused(server: Server, cache: Path):
    buffer = io.BytesIO(packed(CONTENTS))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("../evil", b"evil")
    with pytest.raises(InputError, match=r"'\.\./evil', a path outside"):
        get(replace(SMALL, addresses=(server.archive("/small.zip", buffer.getvalue()),)))
    assert nothing_is_left(cache)


def test_a_set_without_address_says_where_the_file_goes(cache: Path):
    with pytest.raises(InputError) as caught:
        get("prices")
    assert f"put sp500-daily.csv into {cache / 'prices'}" in str(caught.value)


def test_a_folder_that_cannot_be_written_is_reported(server: Server, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    data_set = replace(SMALL, addresses=(server.archive("/small.zip", packed(CONTENTS)),))
    with pytest.raises(InputError, match="cannot write to"):
        get(data_set, base=tmp_path / "file")


class Recorder(Progress):
    """Keeps what was reported."""

    def __init__(self) -> None:
        self.totals: dict[str, float] = {}
        self.done: dict[str, float] = {}
        self.open = 0
        self.remarks: list[str] = []

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        self.totals[name], self.done[name] = total, 0.0
        self.open += 1
        return _RecordedStage(self, name)

    def say(self, remark: str) -> None:
        self.remarks.append(remark)

    def advanced(self) -> None:
        """A hook for the test that interrupts."""


class _RecordedStage(Stage):
    def __init__(self, recorder: Recorder, name: str) -> None:
        self.recorder, self.name = recorder, name

    def advance(self, amount: float = 1.0) -> None:
        self.recorder.done[self.name] += amount
        self.recorder.advanced()

    def close(self) -> None:
        self.recorder.open -= 1


def test_progress_counts_bytes_to_the_end_and_nothing_is_printed(server: Server, capfd: pytest.CaptureFixture[str]):
    content = packed(CONTENTS)
    good = server.archive("/small.zip", content)
    progress = Recorder()
    get(replace(SMALL, addresses=(Archive(f"{server.address}/gone.zip"), good)), progress=progress)
    assert progress.totals == progress.done == {"downloading small.zip": len(content)}
    assert progress.open == 0
    assert ["404" in remark for remark in progress.remarks] == [True]
    assert capfd.readouterr() == ("", "")
