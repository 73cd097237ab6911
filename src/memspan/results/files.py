"""Files: atomic writing, and reading named weights from `.safetensors`."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

# The umask can only be read by setting it. That is safe at import, but not later when threads are running.
_UMASK = os.umask(0)
os.umask(_UMASK)
_FLOATS = ("F16", "F32", "F64")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder; on success it replaces `path`, on failure it is removed.

    Missing folders are created. The file is flushed to disk before it is renamed, so it appears whole or not at all. A
    full disk or an unwritable folder raises InputError.
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, because a rename is atomic only within one file system.
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        # Without fsync a crash after the rename could leave an empty file.
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        # mkstemp creates files that only their owner can read; use the permissions of an ordinary file.
        temporary.chmod(0o666 & ~_UMASK)
        temporary.replace(target)
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror or error}; free space or choose another place"
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content`, atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def read_weights(
    path: Path, required: tuple[str, ...], *, optional: tuple[str, ...] = (), writer: str
) -> tuple[dict[str, NDArray[np.floating]], dict[str, str]]:
    """Read the named tensors and the metadata of a `.safetensors` file; other tensors are ignored.

    `writer` names what writes such files, for error messages.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            present = set(file.keys())
            missing = [name for name in required if name not in present]
            if missing:
                raise InputError(
                    f"{path} has no tensor {' and no '.join(missing)}; "
                    f"expected {', '.join(required[:-1])} and {required[-1]}"
                )
            names = [name for name in (*required, *optional) if name in present]
            for name in names:
                kind = file.get_slice(name).get_dtype()
                if kind not in _FLOATS:
                    raise InputError(f"{path}: {name} has type {kind}; expected F32 or F64; save it as float32")
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}") from error
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} cannot be read as a .safetensors file ({error}); write one with {writer}") from error
