"""One address into one file, through pooch; loaded only when something is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import final

import pooch
import requests

from memspan.data.checking import UnusableError
from memspan.progress import Progress, Stage

SECONDS = 30
"""How long a server may stay silent."""
_PIECE = 1 << 16
_HEADERS = {
    # Some hosts refuse what calls itself python.
    "User-Agent": "Mozilla/5.0 (compatible; memspan)",
    # As it lies there: a server that packs a file on the way hides its size and its checksum.
    "Accept-Encoding": "identity",
}


def download(url: str, path: Path, progress: Progress) -> None:
    """Write what `url` sends to `path`, which may be left half written when this raises."""
    bar = _Bar(progress, f"downloading {path.name}")
    downloader = pooch.HTTPDownloader(
        progressbar=bar,  # pyright: ignore[reportArgumentType]  pooch documents any object like this one
        chunk_size=_PIECE,
        timeout=SECONDS,
        headers=_HEADERS,
    )
    try:
        downloader(url, str(path), None)
    except requests.RequestException as error:
        raise UnusableError(_reason(error)) from error
    finally:
        bar.close()


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"{error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"no answer within {SECONDS} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__


@final
class _Bar:
    """What pooch takes for a progress bar, passed on as a stage that begins once the size is known."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._name = name
        self._stage: Stage | None = None
        self._left = 0

    @property
    def total(self) -> int:
        return self._left

    @total.setter
    def total(self, size: int) -> None:
        self._left = size
        self._stage = self._progress.stage(self._name, total=size)

    def update(self, amount: int) -> None:
        """Advance; pooch counts whole pieces and then the total again, so never beyond the end."""
        step = min(amount, self._left)
        self._left -= step
        if self._stage is not None and step:
            self._stage.advance(step)

    def reset(self) -> None:
        """Nothing: pooch resets only to make sure that the bar ends full."""

    def close(self) -> None:
        if self._stage is not None:
            self._stage.close()
            self._stage = None
