"""Readers: `read` turns files into one `Sequence`.

Each format has a function `read_NAME` of a `Request`, declared in `memspan.sequences.formats`.
"""

from __future__ import annotations

from collections.abc import Iterable

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.sequences.builder import MEMORY_LIMIT
from memspan.sequences.formats import FORMATS, MISSING, TRANSFORMS, Format, by_extension
from memspan.sequences.readers.inputs import Input, PathName, Request, open_inputs
from memspan.sequences.sequence import Sequence


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
    """Read a path, several paths, a folder, `-` (standard input), a URL or `data:NAME` as one sequence.

    `symbols` is one of `SYMBOLS`; the default follows from the file extension, otherwise chars. `tokens:uint32` reads raw
    32-bit tokens, `bpe:FILE` applies a Hugging Face tokenizer.json. Each file is a document unless `documents` is line,
    blank or a separator. Compressed files (.gz, .xz, .bz2) are decompressed on the fly. Sequences of more than
    `memory_limit` bytes go to a temporary file.

    `column` (a name, or an index from 0), `transform`, `levels` and `missing` apply to numbers, `key` to json. The default
    column is the first numeric one that is neither constant nor an index or time (by its name, or because its values only
    increase or only decrease). `missing` values are an error, skipped (drop), or end a document (break).

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "novel.txt")
    ...     _ = path.write_text("to be or not to be")
    ...     words = read(path, symbols="words")
    >>> words.length, words.alphabet, words.symbols
    (6, ('be', 'not', 'or', 'to'), 'words')
    """
    # All options are checked before any input is opened.
    entry, argument = (None, None) if symbols is None else _parse_symbols(symbols)
    if transform not in TRANSFORMS:
        raise InputError(f"unknown transform {transform!r}; use --transform {', '.join(TRANSFORMS)}")
    if levels < 2:
        raise InputError(f"--levels {levels} leaves nothing to measure; use --levels 2 or more")
    if missing not in MISSING:
        raise InputError(f"unknown policy {missing!r} for missing values; use --missing {', '.join(MISSING)}")
    names, inputs = open_inputs(source)
    entry = entry or _common_format(inputs)
    _check_documents(entry, documents)
    given = {
        "column": column is not None,
        "transform": transform != "none",
        "missing": missing != "error",
        "key": key is not None,
    }
    _check_options(entry, [option for option, is_given in given.items() if is_given])
    total = sum(item.size or 0 for item in inputs)
    # Streams have no known size, and a stage without a total says nothing.
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
            argument=argument,
            memory_limit=memory_limit,
            stage=stage,
        )
        return entry.reader()(request)


def _parse_symbols(symbols: str) -> tuple[Format, str | None]:
    """The format that `--as` names, and what follows the colon."""
    word, colon, argument = symbols.partition(":")
    entry = FORMATS.get(word)
    if entry is None or (colon and not entry.argument and not entry.variants):
        usages = ", ".join(entry.usage for entry in FORMATS.values())
        raise InputError(f"unknown symbols {symbols!r}; use --as {usages}")
    if entry.argument and not argument:
        raise InputError(f"--as {word} lacks its {entry.argument}; use --as {entry.usage}")
    if colon and entry.variants and argument not in entry.variants:
        usages = " or ".join(f"--as {word}:{variant}" for variant in entry.variants)
        raise InputError(f"unknown type {argument!r} of {word}; use {usages}")
    return entry, argument or None


def _common_format(inputs: tuple[Input, ...]) -> Format:
    examples = {by_extension(item.extension).name: item.name for item in reversed(inputs)}
    if len(examples) > 1:
        kinds = ", ".join(f"{name} as {word}" for word, name in sorted(examples.items()))
        raise InputError(f"the files have different formats ({kinds}); choose one for all of them with --as")
    return FORMATS[next(iter(examples))]


def _check_documents(entry: Format, documents: str | None) -> None:
    if documents is None:
        return
    if entry.documents is not None and documents not in entry.documents:
        if len(entry.documents) > 1:
            choices = " or ".join(entry.documents)
            raise InputError(f"--documents {documents!r} does not apply to --as {entry.name}; use {choices}")
        raise InputError(f"--documents is for text; as {entry.name}, {entry.document} is a document; leave it out")
    if not documents:
        raise InputError("the document separator is empty; use --documents file, line, blank or some text")


def _check_options(entry: Format, given: list[str]) -> None:
    for other in FORMATS.values():
        for option in other.options:
            if option in given and other is not entry:
                raise InputError(
                    f"--{option} is for {other.name}, the input is read as {entry.name}; "
                    f"use --as {other.name} or leave it out"
                )
