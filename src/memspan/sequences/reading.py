"""`read`: files of every kind become one `Sequence`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.sequences.arrays import TOKEN_TYPES, read_tokens
from memspan.sequences.bpe import read_bpe
from memspan.sequences.builder import MEMORY_LIMIT
from memspan.sequences.documents_json import read_json
from memspan.sequences.fasta import read_dna
from memspan.sequences.numbers import TRANSFORMS, read_numbers
from memspan.sequences.opening import PathName, open_sources
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.streams import Input
from memspan.sequences.tables import MISSING
from memspan.sequences.text import read_bytes, read_chars, read_lines, read_words

_READERS: dict[str, Callable[[Request], Sequence]] = {
    "chars": read_chars,
    "bytes": read_bytes,
    "words": read_words,
    "lines": read_lines,
    "dna": read_dna,
    "numbers": read_numbers,
    "tokens": read_tokens,
    "json": read_json,
    "bpe": read_bpe,
}

SYMBOLS = tuple(_READERS)
"""The words of `--as`; after bpe come a colon and the file of a tokenizer."""

_BY_ENDING = {
    ".fa": "dna",
    ".fna": "dna",
    ".fasta": "dna",
    ".csv": "numbers",
    ".tsv": "numbers",
    ".npy": "tokens",
    ".bin": "tokens",
    ".json": "json",
}

_ONE_DOCUMENT_IS = {
    "dna": "a record",
    "numbers": "a file",
    "tokens": "a file or a row of an array",
    "json": "an inner list",
}


def read(
    source: PathName | Iterable[PathName],
    *,
    symbols: str | None = None,
    documents: str | None = None,
    column: str | int | None = None,
    key: str | None = None,
    transform: str = "none",
    levels: int = 4,
    missing: str = "error",
    memory_limit: int = MEMORY_LIMIT,
    progress: Progress = SILENT,
) -> Sequence:
    """The symbols of a path, several paths, a folder, `-` (standard input), a URL or `data:NAME`, as one sequence.

    `symbols` is one of `SYMBOLS` (by default what the file's ending says, else chars); raw tokens of 32 bits
    are `tokens:uint32`, tokens of a Hugging Face tokenizer.json `bpe:FILE`. Each file is a document unless
    `documents` is line, blank or a separator. `column` (a name, or a number from 0), `transform`, `levels` and
    `missing` belong to numbers, `key` to json. Without `column` it is the first column of numbers that is no index or
    time (by its name, or because its values only increase or only decrease) and not constant. `missing` values are an
    error, skipped (drop), or end a document (break). Compressed files (.gz, .xz, .bz2) are read as what they hold. More than
    `memory_limit` bytes of symbols go to a temporary file.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "novel.txt")
    ...     _ = path.write_text("to be or not to be")
    ...     words = read(path, symbols="words")
    >>> words.length, words.alphabet, words.symbols
    (6, ('be', 'not', 'or', 'to'), 'words')
    """
    word, detail = _word(symbols)
    if transform not in TRANSFORMS:
        raise InputError(f"unknown transform {transform!r}; use --transform {', '.join(TRANSFORMS)}")
    if levels < 2:
        raise InputError(f"{levels} levels leave nothing to measure; use --levels 2 or more")
    if missing not in MISSING:
        raise InputError(
            f"unknown treatment {missing!r} of missing values; use --missing {', '.join(MISSING)}"
        )
    names, inputs = open_sources(source)
    word = word or _word_by_ending(inputs)
    _check_documents(word, documents)
    _check_belongs(word, column=column, key=key, transform=transform, missing=missing)
    total = sum(item.size or 0 for item in inputs)
    with (progress if total else SILENT).stage("reading", total) as stage:
        request = Request(
            names=names,
            inputs=inputs,
            documents="file" if documents is None else documents,
            column=column,
            key=key,
            transform=transform,
            levels=levels,
            missing=missing,
            token_type=detail if word == "tokens" else None,
            tokenizer=detail if word == "bpe" else None,
            memory_limit=memory_limit,
            stage=stage,
        )
        return _READERS[word](request)


def _word(symbols: str | None) -> tuple[str | None, str | None]:
    """The reader's word, and what follows a colon: the type of tokens, or the file of a tokenizer."""
    word, colon, detail = (symbols or "").partition(":")
    if word == "bpe":
        if not detail:
            raise InputError(
                "--as bpe does not say which tokenizer; use --as bpe:FILE with its tokenizer.json"
            )
        return word, detail
    if symbols is None or (word in _READERS and not colon):
        return symbols, None
    if word == "tokens" and detail in TOKEN_TYPES:
        return word, detail
    if word == "tokens":
        raise InputError(f"unknown token type {detail!r}; use --as {' or --as '.join(_typed_tokens())}")
    raise InputError(f"unknown symbols {symbols!r}; use --as {', '.join(SYMBOLS)}:FILE")


def _typed_tokens() -> list[str]:
    return [f"tokens:{name}" for name in TOKEN_TYPES]


def _word_by_ending(inputs: tuple[Input, ...]) -> str:
    examples = {_BY_ENDING.get(item.ending, "chars"): item.name for item in reversed(inputs)}
    if len(examples) > 1:
        kinds = ", ".join(f"{name} as {word}" for word, name in sorted(examples.items()))
        raise InputError(f"the files are of different kinds ({kinds}); say how to read all of them with --as")
    return next(iter(examples))


def _check_documents(word: str, documents: str | None) -> None:
    if documents is None:
        return
    if word in _ONE_DOCUMENT_IS and not (word == "numbers" and documents == "file"):
        raise InputError(
            f"--documents is for text; as {word}, {_ONE_DOCUMENT_IS[word]} is a document; leave it out"
        )
    if word == "lines" and documents not in ("file", "blank"):
        raise InputError(f"--documents {documents!r} does not go with --as lines; use file or blank")
    if not documents:
        raise InputError(
            "the separator of documents is empty; use --documents file, line, blank or some text"
        )


def _check_belongs(
    word: str, *, column: str | int | None, key: str | None, transform: str, missing: str
) -> None:
    given = {
        "--column": column is not None,
        "--transform": transform != "none",
        "--missing": missing != "error",
    }
    for option in (option for option, is_given in given.items() if is_given and word != "numbers"):
        raise InputError(
            f"{option} is for numbers, the input is read as {word}; use --as numbers or leave it out"
        )
    if key is not None and word != "json":
        raise InputError(f"--key is for json, the input is read as {word}; use --as json or leave it out")
