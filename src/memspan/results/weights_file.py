"""Weights by name from a `.safetensors` file: numbers only, checked before they are used, never code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

_FLOATS = ("F16", "F32", "F64")


def read_weights(
    path: Path, required: tuple[str, ...], *, optional: tuple[str, ...] = (), writer: str
) -> tuple[dict[str, NDArray[np.floating]], dict[str, str]]:
    """The named tensors and the file's metadata; others are left alone. `writer` is what writes such files."""
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
            wanted = [name for name in (*required, *optional) if name in present]
            for name in wanted:
                kind = file.get_slice(name).get_dtype()
                if kind not in _FLOATS:
                    raise InputError(
                        f"{path}: {name} has type {kind}; expected F32 or F64; save it as float32"
                    )
            return {name: file.get_tensor(name) for name in wanted}, file.metadata() or {}
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}") from error
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{path} cannot be read as a .safetensors file ({error}); write one with {writer}"
        ) from error
