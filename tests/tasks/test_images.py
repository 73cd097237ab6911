"""Where digits come from: MNIST's files, the bundled ones, and what is told when there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memspan.data import CATALOG
from memspan.errors import InputError, MissingExtraError
from memspan.tasks import images
from memspan.tasks.images import IMAGES, Images, found, load
from memspan.tasks.task import SPLITS

MNIST_FILES = [file.name for file in CATALOG["mnist"].files]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without data that is the only one looked through."""
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write_mnist(folder: Path, *, label: int | None = None) -> None:
    """Files of MNIST's sizes: the label of image n is n mod 10, and its pixels are all n mod 251."""
    folder.mkdir()
    for number, part in ((60_000, "train"), (10_000, "t10k")):
        labels = np.arange(number) % 10
        labels[-1] = labels[-1] if label is None else label
        pixels = np.repeat((np.arange(number) % 251).astype(np.uint8), 784)
        header = np.array([0x803, number, 28, 28], ">u4").tobytes()
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(header + pixels.tobytes())
        header = np.array([0x801, number], ">u4").tobytes()
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(header + labels.astype(np.uint8).tobytes())


def test_the_bundled_digits_are_split_without_overlap() -> None:
    parts = {split: load("digits", split) for split in SPLITS}
    assert {split: len(part.digits) for split, part in parts.items()} == IMAGES["digits"].sizes
    everything = np.concatenate([part.pixels for part in parts.values()])
    assert everything.shape == (1_797, 64)
    assert len(np.unique(everything, axis=0)) == 1_797, "no two of the bundled images are equal"


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_of_the_bundled_digits_has_all_ten_about_equally_often(split) -> None:
    part = load("digits", split)
    counts = np.bincount(part.digits, minlength=10)
    expected = len(part.digits) / 10
    assert ((counts - expected) ** 2 / expected).sum() < 27.9  # the 0.999 quantile with 9 degrees of freedom
    assert part.pixels.max() == IMAGES["digits"].brightest


def test_bundled_images_keep_their_labels() -> None:
    from sklearn.datasets import load_digits

    bundled: Any = load_digits()
    labels = {
        row.astype(np.uint8).tobytes(): label for row, label in zip(bundled.data, bundled.target, strict=True)
    }
    valid = load("digits", "valid")
    assert [labels[row.tobytes()] for row in valid.pixels] == valid.digits.tolist()


def test_mnist_is_taken_where_it_is_and_split_in_order(nowhere: Path) -> None:
    assert found("auto") == "digits"
    write_mnist(nowhere / "mnist")
    assert found("auto") == "mnist"
    assert found("digits") == "digits"
    parts: dict[str, Images] = {split: load("mnist", split) for split in SPLITS}
    assert {split: part.pixels.shape for split, part in parts.items()} == {
        "train": (50_000, 784),
        "valid": (10_000, 784),
        "test": (10_000, 784),
    }
    for split, first in (("train", 0), ("valid", 50_000), ("test", 0)):
        numbers = first + np.arange(len(parts[split].digits))
        np.testing.assert_array_equal(parts[split].digits, numbers % 10)
        np.testing.assert_array_equal(parts[split].pixels[:, 783], numbers % 251)
    assert load("mnist", "train").pixels.base is parts["train"].pixels.base, "read once"


def test_a_label_that_is_no_digit_is_refused(nowhere: Path) -> None:
    write_mnist(nowhere / "mnist", label=10)
    with pytest.raises(InputError, match="has the label 10; expected 0 to 9"):
        load("mnist", "train")


@pytest.mark.parametrize("missing", MNIST_FILES)
def test_a_missing_file_is_told_with_where_it_was_looked_for_and_how_to_get_it(
    nowhere: Path, missing: str
) -> None:
    (nowhere / "mnist").mkdir()
    for name in MNIST_FILES:
        if name != missing:
            (nowhere / "mnist" / name).touch()
    with pytest.raises(InputError) as raised:
        load("mnist", "train")
    message = str(raised.value)
    assert message.startswith(f"mnist/{missing} is not in {nowhere} or {nowhere / 'cache'}")
    assert "`memspan data get mnist`" in message
    assert found("auto") == "digits"


def test_without_scikit_learn_the_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    images._bundled.cache_clear()
    with pytest.raises(MissingExtraError, match=r"needs scikit-learn; install memspan\[models\]"):
        load("digits", "train")


@pytest.mark.realdata
def test_real_mnist_has_the_digits_that_everyone_counts(realdata: Callable[[str], Path]) -> None:
    for name in MNIST_FILES:
        realdata(f"mnist/{name}")
    train, valid, test = (load("mnist", split) for split in SPLITS)
    assert train.digits[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert test.digits[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert np.bincount(np.concatenate([train.digits, valid.digits])).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    # The mean and standard deviation that are widely used to normalise MNIST's training images.
    pixels = np.concatenate([train.pixels, valid.pixels])
    assert pixels.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert pixels.std() / 255 == pytest.approx(0.3081, abs=5e-5)
