"""Digit tasks: sequences of images, the sources of the images, and error messages."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from memspan.data import CATALOG
from memspan.errors import InputError, MissingExtraError
from memspan.tasks import NoisyDigits, PermutedDigits, SequentialDigits, digits
from memspan.tasks.digits import IMAGE_SETS, Images, image_set, load_images
from memspan.tasks.task import SPLITS, Split, epoch_batch

HELD_OUT: tuple[Split, ...] = ("valid", "test")
KINDS = [NoisyDigits, SequentialDigits, PermutedDigits]


@pytest.fixture
def without_mnist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def images_of(index: int, size: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The images and digits of a training batch of the bundled set, with pixels from 0 to 1."""
    members = epoch_batch(IMAGE_SETS["digits"].sizes, index, size, seed=seed, split="train").members
    train = load_images("digits", "train")
    return train.pixels[members] / 16, train.digits[members]


def test_pixels_come_in_order_a_few_at_a_step() -> None:
    pixels, digits = images_of(3, 5, seed=7)
    inputs, targets, weights, _ = SequentialDigits(data="digits", steps=16).batch(3, 5, seed=7)
    assert inputs.shape == (16, 5, 4)
    for step in range(16):
        np.testing.assert_array_equal(inputs[step], pixels[:, 4 * step : 4 * step + 4])
    np.testing.assert_array_equal(targets, digits[None])
    assert bool((weights == 1).all())


def test_permuted_pixels_are_the_same_pixels_in_one_order_for_all_images() -> None:
    pixels, digits = images_of(3, 5, seed=7)
    inputs, targets, *_ = PermutedDigits(data="digits").batch(3, 5, seed=7)
    order = np.random.RandomState(100).permutation(64)
    np.testing.assert_array_equal(inputs[:, :, 0].T, pixels[:, order])
    np.testing.assert_array_equal(targets, digits[None])
    grouped = PermutedDigits(data="digits", steps=16).batch(3, 5, seed=7).inputs
    assert torch.equal(grouped.swapaxes(0, 1).reshape(5, 64), inputs[:, :, 0].T)
    other = PermutedDigits(data="digits", permutation_seed=1).batch(3, 5, seed=7).inputs
    assert torch.equal(other.sort(0).values, inputs.sort(0).values)
    assert not torch.equal(other, inputs)


@pytest.mark.parametrize("variance", [1.0, 0.46])
def test_the_image_comes_first_with_the_variance_of_the_noise(variance: float) -> None:
    pixels, digits = images_of(0, 300, seed=0)
    task = NoisyDigits(data="digits", delay=20, input_variance=variance)
    inputs, targets, *_ = task.batch(0, 300, seed=0)
    assert inputs.shape == (21, 300, 64)
    np.testing.assert_array_equal(targets, digits[None])
    np.testing.assert_allclose(inputs[0].mean(1), 0.0, atol=1e-6)
    np.testing.assert_allclose((inputs[0] ** 2).mean(1), variance, rtol=1e-5)
    correlations = [np.corrcoef(image, row)[0, 1] for image, row in zip(pixels, inputs[0].numpy(), strict=True)]
    np.testing.assert_allclose(correlations, 1.0, atol=1e-6)
    noise = inputs[1:].double()
    count = noise.numel()
    assert float(noise.mean()) == pytest.approx(0.0, abs=5 * math.sqrt(variance / count))
    assert float((noise**2).mean()) == pytest.approx(variance, abs=5 * variance * math.sqrt(2 / count))


def test_the_noise_is_independent_between_sequences_steps_and_batches() -> None:
    task = NoisyDigits(data="digits", delay=50)
    first, later = (task.batch(index, 100, seed=0).inputs[1:].double() for index in (0, 1))
    for other in (first.roll(1, 0), first.roll(1, 1), first.roll(1, 2), later):
        assert float((first * other).mean()) == pytest.approx(0.0, abs=5 / math.sqrt(first.numel()))


@pytest.mark.parametrize("kind", KINDS)
def test_validation_and_test_epochs_count_every_image_once(kind) -> None:
    task = kind(data="digits")
    for split in HELD_OUT:
        assert task.batches(split, 128) == 3
        counted = [task.batch(index, 128, seed=0, split=split) for index in range(3)]
        assert sum(float(batch.weights.sum()) for batch in counted) == 300
        digits = torch.cat([batch.targets[batch.weights == 1] for batch in counted])
        np.testing.assert_array_equal(digits, load_images("digits", split).digits)
    assert task.batches("train", 100) == 11


def test_a_guess_costs_the_logarithm_of_ten() -> None:
    """The entropy of the digits, which ignores all inputs, is ln 10 less what unequal frequencies are worth."""
    task = NoisyDigits(data="digits")
    for split in SPLITS:
        shares = np.bincount(load_images("digits", split).digits, minlength=10) / len(
            load_images("digits", split).digits
        )
        assert -(shares * np.log(shares)).sum() == pytest.approx(task.baseline, rel=0.01)
        assert shares.max() == pytest.approx(task.chance, abs=0.04)


def test_the_last_pixel_of_a_small_digit_is_worth_what_the_docstring_says() -> None:
    parts = [load_images("digits", split) for split in SPLITS]
    last = np.concatenate([part.pixels[:, -1] for part in parts])
    digits = np.concatenate([part.digits for part in parts])
    assert information(last, digits) == pytest.approx(0.09, abs=0.01)


def information(values: np.ndarray, digits: np.ndarray) -> float:
    """What one pixel tells about the digit, by counting, in nats."""
    joint = np.zeros((256, 10))
    np.add.at(joint, (values, digits), 1 / len(values))
    expected = joint.sum(1, keepdims=True) * joint.sum(0)
    return float((joint * np.log(np.where(joint > 0, joint / np.where(expected > 0, expected, 1), 1))).sum())


def test_none_is_one_step_for_each_pixel() -> None:
    assert SequentialDigits(data="digits").length == PermutedDigits(data="digits").length == 64
    assert SequentialDigits(data="mnist").length == PermutedDigits(data="mnist").length == 784
    assert SequentialDigits(data="mnist", steps=196).features == 4
    assert NoisyDigits(data="mnist").features == 784


@pytest.mark.parametrize("kind", [SequentialDigits, PermutedDigits])
def test_steps_that_do_not_divide_the_pixels_are_rejected(kind, without_mnist: Path) -> None:
    with pytest.raises(
        InputError, match="steps is 100; expected a divisor of the 784 pixels of data=mnist: 1, 2, 4, 7"
    ):
        kind(data="mnist", steps=100)
    with pytest.raises(InputError, match=r"the 64 pixels of data=digits: 1, 2, 4, 8, 16, 32, 64$"):
        kind(data="digits", steps=784)
    with pytest.raises(
        InputError, match="32, 64; for MNIST, which is not on this machine, run `memspan data get mnist`"
    ):
        kind(steps=784)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_data_is_rejected_with_the_nearest_name(kind) -> None:
    with pytest.raises(
        InputError, match=r"digits: data is 'minst'; did you mean mnist\? \(There are auto, mnist, digits"
    ):
        kind(data="minst")


@pytest.mark.parametrize("kind", KINDS)
def test_resolving_names_the_data_that_are_here_or_tells_what_is_missing(kind, without_mnist: Path) -> None:
    assert kind().data == "auto"
    assert kind().resolved() == kind(data="digits")
    with pytest.raises(InputError, match=r"mnist/train-images-idx3-ubyte.gz is not in .*`memspan data get mnist`"):
        kind(data="mnist").resolved()
    with pytest.raises(InputError, match="`memspan data get mnist`"):
        kind(data="mnist").batch(0, 10, seed=0)


@pytest.mark.realdata
def test_real_mnist_makes_sequences_of_784_pixels(realdata: Callable[[str], Path]) -> None:
    realdata("mnist/train-images-idx3-ubyte.gz")
    assert SequentialDigits().resolved().data == "mnist"
    inputs, targets, *_ = SequentialDigits(data="mnist").batch(0, 100, seed=0, split="test")
    assert inputs.shape == (784, 100, 1)
    assert float(inputs.max()) == 1.0
    assert targets[0, :5].tolist() == [7, 2, 1, 0, 4]
    wide = SequentialDigits(data="mnist", steps=196).batch(0, 100, seed=0, split="test").inputs
    assert torch.equal(wide.swapaxes(0, 1).reshape(100, 784), inputs[:, :, 0].T)
    assert SequentialDigits(data="mnist").batches("train", 100) == 500
    assert SequentialDigits(data="mnist").batches("valid", 100) == 100


@pytest.mark.realdata
def test_the_last_pixel_of_real_mnist_tells_what_the_docstrings_say(realdata: Callable[[str], Path]) -> None:
    realdata("mnist/train-images-idx3-ubyte.gz")
    train = load_images("mnist", "train")
    last = np.random.RandomState(100).permutation(784)[-1]
    assert information(train.pixels[:, 783], train.digits) == pytest.approx(0.0, abs=1e-12)
    assert information(train.pixels[:, last], train.digits) == pytest.approx(0.11, abs=0.01)


@pytest.mark.parametrize("kind", [SequentialDigits, PermutedDigits])
def test_standardized_pixels_have_mean_0_and_variance_1_over_the_training_images(kind):
    whole = kind(data="digits", steps=16, standardized=True).batch(0, 1_197, seed=0).inputs
    assert float(whole.mean()) == pytest.approx(0.0, abs=1e-5)
    assert float(whole.std(correction=0)) == pytest.approx(1.0, abs=1e-5)
    plain = kind(data="digits", steps=16).batch(0, 1_197, seed=0).inputs
    shifted = (plain - plain.mean()) / plain.std(correction=0)
    assert torch.allclose(whole, shifted, atol=1e-5)


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
    parts = {split: load_images("digits", split) for split in SPLITS}
    assert {split: len(part.digits) for split, part in parts.items()} == IMAGE_SETS["digits"].sizes
    everything = np.concatenate([part.pixels for part in parts.values()])
    assert everything.shape == (1_797, 64)
    assert len(np.unique(everything, axis=0)) == 1_797, "no two of the bundled images are equal"


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_of_the_bundled_digits_has_all_ten_about_equally_often(split) -> None:
    part = load_images("digits", split)
    counts = np.bincount(part.digits, minlength=10)
    expected = len(part.digits) / 10
    assert ((counts - expected) ** 2 / expected).sum() < 27.9  # the 0.999 quantile with 9 degrees of freedom
    assert part.pixels.max() == IMAGE_SETS["digits"].white


def test_bundled_images_keep_their_labels() -> None:
    from sklearn.datasets import load_digits

    bundled: Any = load_digits()
    labels = {row.astype(np.uint8).tobytes(): label for row, label in zip(bundled.data, bundled.target, strict=True)}
    valid = load_images("digits", "valid")
    assert [labels[row.tobytes()] for row in valid.pixels] == valid.digits.tolist()


def test_mnist_is_taken_where_it_is_and_split_in_order(nowhere: Path) -> None:
    assert image_set("auto") == "digits"
    write_mnist(nowhere / "mnist")
    assert image_set("auto") == "mnist"
    assert image_set("digits") == "digits"
    parts: dict[str, Images] = {split: load_images("mnist", split) for split in SPLITS}
    assert {split: part.pixels.shape for split, part in parts.items()} == {
        "train": (50_000, 784),
        "valid": (10_000, 784),
        "test": (10_000, 784),
    }
    for split, first in (("train", 0), ("valid", 50_000), ("test", 0)):
        numbers = first + np.arange(len(parts[split].digits))
        np.testing.assert_array_equal(parts[split].digits, numbers % 10)
        np.testing.assert_array_equal(parts[split].pixels[:, 783], numbers % 251)
    assert load_images("mnist", "train").pixels.base is parts["train"].pixels.base, "read once"


def test_a_label_that_is_no_digit_is_rejected(nowhere: Path) -> None:
    write_mnist(nowhere / "mnist", label=10)
    with pytest.raises(InputError, match="has the label 10; expected 0 to 9"):
        load_images("mnist", "train")


@pytest.mark.parametrize("missing", MNIST_FILES)
def test_a_missing_file_is_reported_with_the_folders_searched_and_the_command_to_get_it(
    nowhere: Path, missing: str
) -> None:
    (nowhere / "mnist").mkdir()
    for name in MNIST_FILES:
        if name != missing:
            (nowhere / "mnist" / name).touch()
    with pytest.raises(InputError) as raised:
        load_images("mnist", "train")
    message = str(raised.value)
    assert message.startswith(f"mnist/{missing} is not in {nowhere} or {nowhere / 'cache'}")
    assert "`memspan data get mnist`" in message
    assert image_set("auto") == "digits"


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    digits._bundled.cache_clear()
    with pytest.raises(MissingExtraError, match=r"needs scikit-learn; install memspan\[models\]"):
        load_images("digits", "train")


@pytest.mark.realdata
def test_real_mnist_has_the_digits_that_everyone_counts(realdata: Callable[[str], Path]) -> None:
    for name in MNIST_FILES:
        realdata(f"mnist/{name}")
    train, valid, test = (load_images("mnist", split) for split in SPLITS)
    assert train.digits[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert test.digits[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert np.bincount(np.concatenate([train.digits, valid.digits])).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    # The mean and standard deviation that are widely used to normalise MNIST's training images.
    pixels = np.concatenate([train.pixels, valid.pixels])
    assert pixels.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert pixels.std() / 255 == pytest.approx(0.3081, abs=5e-5)
