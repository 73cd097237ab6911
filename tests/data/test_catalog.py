"""The table itself: every entry can be fetched, checked and named without surprise."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pytest

from memspan import data
from memspan.data import CATALOG, Archive, DataFile, DataSet
from memspan.data.catalog import data_set_named
from memspan.errors import InputError

DIGITS = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
KNOWN_FILES = [(data_set, file) for data_set in CATALOG.values() for file in data_set.files]


def checksums() -> list[str]:
    archives = [address for data_set in CATALOG.values() for address in data_set.addresses]
    of_archives = [address.checksum for address in archives if isinstance(address, Archive)]
    return [checksum for checksum in [file.checksum for _, file in KNOWN_FILES] + of_archives if checksum]


def test_the_catalogue_has_the_promised_sets():
    assert {"ptb", "wikitext-2", "wikitext-103", "mnist", "text8", "enwik8"} <= set(CATALOG)


def test_every_file_that_can_be_downloaded_can_be_checked():
    assert all(file.checksum for data_set, file in KNOWN_FILES if data_set.addresses)


@pytest.mark.parametrize("checksum", checksums())
def test_a_checksum_is_a_known_kind_and_its_hexadecimal_digits(checksum: str):
    kind, _, digits = checksum.partition(":")
    assert re.fullmatch(f"[0-9a-f]{{{DIGITS[kind]}}}", digits)
    assert kind in hashlib.algorithms_guaranteed


@pytest.mark.parametrize("data_set", CATALOG.values(), ids=lambda data_set: data_set.name)
def test_addresses_fit_what_fetching_expects(data_set: DataSet):
    for address in data_set.addresses:
        assert urlsplit(address.url).scheme in ("http", "https")
        if isinstance(address, Archive):
            assert PurePosixPath(address.url).name.endswith((".zip", ".tgz", ".tar.gz", ".gz"))
            assert len(data_set.files) == 1 or not re.search(r"(?<!tar)\.gz$", address.url)
        else:
            assert address.url.endswith("/")


def test_an_unknown_name_is_answered_with_the_closest_and_all():
    with pytest.raises(InputError, match=r"no data set 'WikiText2'; did you mean wikitext-2\? .*enwik8"):
        data_set_named("WikiText2")


def test_a_name_unlike_any_is_answered_with_all():
    with pytest.raises(InputError, match="choose one of ptb, wikitext-2") as caught:
        data_set_named("zzz")
    assert "\n" not in str(caught.value)


def test_importing_the_data_names_loads_no_downloader():
    code = "import memspan.data, sys; sys.exit(bool({'pooch', 'requests', 'platformdirs'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("data_set", "file"),
    # MNIST is left out: other compressions of the same files are as good, and have other checksums.
    [pair for pair in KNOWN_FILES if pair[1].checksum and pair[0].name in ("ptb", "wikitext-2", "dna", "music")],
    ids=lambda value: value.name,
)
def test_the_real_files_have_the_size_and_checksum_of_the_table(
    data_set: DataSet, file: DataFile, realdata: Callable[[str], Path]
):
    content = realdata(f"{data_set.name}/{file.name}").read_bytes()
    assert file.checksum is not None
    kind, _, digits = file.checksum.partition(":")
    assert (len(content), hashlib.new(kind, content).hexdigest()) == (file.size, digits)


def test_the_british_name_of_the_catalog_still_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match="use CATALOG"):
        assert data.CATALOGUE is CATALOG
