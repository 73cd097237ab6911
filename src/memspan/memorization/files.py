"""Memorizing networks as `.safetensors` files: five tensors, the alphabet, and the string they replay."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.verification import replay
from memspan.results import LinearNetwork, Memorization
from memspan.results.files import read_weights, write_bytes

TENSORS = ("W_h", "W_x", "W_y", "b_y", "h_0")
# Periods that a loaded network must replay.
_CHECKED_PERIODS = 100


def save_memorization(memorization: Memorization, path: str | os.PathLike[str]) -> None:
    """Write the network of a result, with the string that it replays."""
    network, codes = memorization.network, memorization.network.run(memorization.period)[1]
    save_network(network, path, codes=codes, repeats=memorization.repeats)


def save_network(
    network: LinearNetwork, path: str | os.PathLike[str], *, codes: NDArray[np.int64], repeats: bool = True
) -> None:
    """Write W_h, W_x, W_y, b_y and h_0 atomically, with the alphabet and one period `codes` as JSON metadata.

    h_0 is the state whose successor emits the first symbol.
    """
    from safetensors.numpy import save as packed

    metadata = {
        "format": "memspan-memorizing-network",
        "alphabet": json.dumps(network.alphabet),
        "separator": json.dumps(network.separator),
        "period": json.dumps(codes.tolist()),
        "repeats": json.dumps(repeats),
    }
    tensors = {name: np.ascontiguousarray(getattr(network, name)) for name in TENSORS}
    write_bytes(path, packed(tensors, metadata))


def load_network(path: str | os.PathLike[str]) -> LinearNetwork:
    """Read a file that `save_network` wrote, check the shapes, and verify that the network replays its string.

    A file of the five tensors and an alphabet without the string is checked for shapes only.
    """
    tensors, metadata = read_weights(Path(path), TENSORS, writer="memspan memorize STRING --save FILE.safetensors")
    alphabet = _list(path, metadata, "alphabet")
    if not all(isinstance(symbol, str) for symbol in alphabet):
        raise InputError(f"{path}: the alphabet in the metadata is not a list of strings; save the network again")
    try:
        network = LinearNetwork(
            tuple(alphabet),
            json.loads(metadata.get("separator", '""')),
            *(tensors[name].astype(np.float64) for name in TENSORS),
        )
    except (InputError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from error
    # A file whose weights were edited would silently emit another string.
    if "period" in metadata:
        _check_replay(path, network, _list(path, metadata, "period"), metadata.get("repeats") == "true")
    return network


def _list(path: str | os.PathLike[str], metadata: dict[str, str], name: str) -> list:
    try:
        found = json.loads(metadata.get(name, ""))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found:
        raise InputError(
            f"{path} has no list {name!r} in its metadata; expected a file written by memspan memorize --save"
        )
    return found


def _check_replay(path: str | os.PathLike[str], network: LinearNetwork, period: list, repeats: bool) -> None:
    """Raise InputError unless the network replays the stored string."""
    n = len(network.alphabet)
    if not all(type(code) is int and 0 <= code < n for code in period):
        raise InputError(f"{path}: the period in the metadata has symbols outside the alphabet of {n}")
    codes = np.array(period, dtype=np.int64)
    symbols = len(codes) * (_CHECKED_PERIODS if repeats else 1)
    right = replay(network, codes, symbols).symbols
    if right < symbols:
        raise InputError(
            f"{path} does not replay its string: symbol {right + 1:,} is wrong; the weights were changed; save it again"
        )
