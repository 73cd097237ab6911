"""Networks as files: exact round trips, and detection of changed weights."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from memspan.errors import InputError
from memspan.memorization import load_network, memorize, save_memorization

TENSORS = ("W_h", "W_x", "W_y", "b_y", "h_0")


def parts(path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    with safe_open(path, framework="np") as file:
        return {name: file.get_tensor(name) for name in TENSORS}, file.metadata()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "magic.safetensors"
    save_memorization(memorize("abracadabra"), path)
    return path


@pytest.mark.parametrize("text", ["abracadabra", "ab", "aaa", ["to", "be", "or", "not"]])
@pytest.mark.parametrize("method", ["auto", "feedback"])
def test_a_network_comes_back_bit_for_bit(tmp_path, text, method):
    found = memorize(text, method=method)
    save_memorization(found, tmp_path / "network.safetensors")
    network = load_network(tmp_path / "network.safetensors")
    for name in TENSORS:
        assert np.array_equal(getattr(network, name), getattr(found.network, name))
    assert network.replay(12) == found.network.replay(12)


def test_the_file_holds_the_five_tensors_and_the_alphabet_as_a_json_list(saved):
    tensors, metadata = parts(saved)
    assert {name: tensor.shape for name, tensor in tensors.items()} == {
        "W_h": (2, 2),
        "W_x": (2, 5),
        "W_y": (5, 2),
        "b_y": (5,),
        "h_0": (2,),
    }
    assert json.loads(metadata["alphabet"]) == ["a", "b", "c", "d", "r"]
    # h_0 is the state whose successor emits the first symbol.
    first = np.argmax(tensors["W_y"] @ (tensors["W_h"] @ tensors["h_0"]) + tensors["b_y"])
    assert json.loads(metadata["alphabet"])[first] == "a"


def test_weights_that_no_longer_replay_are_refused(saved):
    tensors, metadata = parts(saved)
    save_file({**tensors, "W_y": -tensors["W_y"]}, saved, metadata)
    with pytest.raises(InputError, match="does not replay its string: symbol 1 is wrong"):
        load_network(saved)


def test_a_wrong_shape_is_refused(saved):
    tensors, metadata = parts(saved)
    save_file({**tensors, "b_y": np.zeros(4)}, saved, metadata)
    with pytest.raises(InputError, match=r"b_y has shape \(4,\); expected \(5,\)"):
        load_network(saved)


def test_a_missing_tensor_is_named(saved):
    tensors, metadata = parts(saved)
    del tensors["W_x"]
    save_file(tensors, saved, metadata)
    with pytest.raises(InputError, match="has no tensor W_x; expected W_h, W_x, W_y, b_y and h_0"):
        load_network(saved)


@pytest.mark.parametrize("alphabet", ["", "7", "[]", "[1, 2]", "not json"])
def test_a_file_without_an_alphabet_is_refused(saved, alphabet):
    tensors, metadata = parts(saved)
    save_file(tensors, saved, {**metadata, "alphabet": alphabet})
    with pytest.raises(InputError, match="alphabet"):
        load_network(saved)


@pytest.mark.parametrize("period", ["[9]", "[-1]", '["a"]', "{}"])
def test_a_period_outside_the_alphabet_is_refused(saved, period):
    tensors, metadata = parts(saved)
    save_file(tensors, saved, {**metadata, "period": period})
    with pytest.raises(InputError, match="period"):
        load_network(saved)


def test_a_file_of_the_tensors_and_the_alphabet_alone_is_enough(saved):
    tensors, metadata = parts(saved)
    save_file(tensors, saved, {"alphabet": metadata["alphabet"]})
    assert load_network(saved).replay(22) == 2 * "abracadabra"


def test_numbers_that_are_not_finite_are_refused(saved):
    tensors, metadata = parts(saved)
    save_file({**tensors, "h_0": np.array([np.nan, 1.0])}, saved, metadata)
    with pytest.raises(InputError, match="h_0 holds non-finite or huge weights"):
        load_network(saved)


def test_something_else_is_refused(tmp_path):
    path = tmp_path / "story.safetensors"
    path.write_text("once upon a time")
    with pytest.raises(InputError, match=r"cannot be read as a \.safetensors file"):
        load_network(path)
    with pytest.raises(InputError, match="no such file"):
        load_network(tmp_path / "nowhere.safetensors")


def test_a_start_that_is_a_single_number_is_refused(saved):
    tensors, metadata = parts(saved)
    save_file({**tensors, "h_0": np.array(1.0)}, saved, metadata)
    with pytest.raises(InputError, match="has shape"):
        load_network(saved)


@pytest.mark.parametrize("name", ["alphabet", "separator", "period"])
def test_metadata_nested_without_end_is_refused(saved, name):
    tensors, metadata = parts(saved)
    save_file(tensors, saved, {**metadata, name: "[" * 100_000})
    with pytest.raises(InputError):
        load_network(saved)


@pytest.mark.parametrize("separator", ["null", "[1]", "7"])
def test_a_separator_that_is_no_text_is_refused(saved, separator):
    tensors, metadata = parts(saved)
    save_file(tensors, saved, {**metadata, "separator": separator})
    with pytest.raises(InputError, match="hold something else than strings"):
        load_network(saved)
