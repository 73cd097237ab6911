"""Models of transformers give equal results in pieces and at once; a model that cannot be loaded gives a one-line error."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from memspan.errors import InputError, MissingExtraError
from memspan.models import HuggingFaceModel, load_hugging_face
from memspan.models.vocabulary import Numbers
from memspan.sampling import Choice, joined, sample
from memspan.sampling.generator import group_size

transformers = pytest.importorskip("transformers")

VOCABULARY, POSITIONS = 31, 16
SAME = 1e-5
"""Float32, sums in another order."""
KINDS = pytest.mark.parametrize("kind", ["gpt2", "llama"])


def gpt2(**settings):
    sizes = {"vocab_size": VOCABULARY, "n_positions": POSITIONS, "n_embd": 8, "n_layer": 2, "n_head": 2}
    tokens = {"bos_token_id": 5, "eos_token_id": 6}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**{**sizes, **tokens, **settings}))


def llama():
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=POSITIONS,
    )
    return transformers.LlamaForCausalLM(config)


def encoder():
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    return transformers.BertForMaskedLM(config)


def recurrent():
    config = transformers.MambaConfig(vocab_size=VOCABULARY, hidden_size=8, state_size=4, num_hidden_layers=1)
    return transformers.MambaForCausalLM(config)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """Folders of tiny models that were never trained."""
    folder = tmp_path_factory.mktemp("models")
    with torch.random.fork_rng():
        for seed, make in enumerate((gpt2, llama, encoder, recurrent)):
            torch.manual_seed(seed)
            model = make()
            # Larger than they start, so that no answer is nearly the same as another.
            for parameter in model.parameters():
                parameter.data += 0.3 * torch.randn_like(parameter)
            model.save_pretrained(folder / make.__name__)
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something asks for the network")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(socket.socket, "__init__", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def copied(saved, tmp_path) -> Path:
    """A folder of GPT-2 to spoil."""
    return Path(shutil.copytree(saved / "gpt2", tmp_path / "gpt2"))


def symbols(time: int = 12, batch: int = 3) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).integers(VOCABULARY, size=(time, batch)))


@KINDS
def test_the_answers_are_those_of_transformers(saved, kind):
    network = transformers.AutoModelForCausalLM.from_pretrained(saved / kind)
    inputs = symbols()
    with torch.no_grad():
        found = load_hugging_face(saved / kind)(inputs)
        expected = network(inputs.T, output_hidden_states=True)
    torch.testing.assert_close(found.logits, expected.logits.transpose(0, 1), rtol=0, atol=SAME)
    torch.testing.assert_close(found.hidden, expected.hidden_states[-1].transpose(0, 1), rtol=0, atol=SAME)


@KINDS
@pytest.mark.parametrize("lengths", [[1] * 12, [5, 1, 6], [11, 1]], ids=str)
def test_pieces_with_the_state_carried_on_are_answered_as_the_whole(saved, kind, lengths):
    model, inputs = load_hugging_face(saved / kind), symbols()
    whole = model(inputs)
    state, pieces = None, []
    for piece in inputs.split(lengths):
        pieces.append(model(piece, state))
        state = pieces[-1].state
    torch.testing.assert_close(torch.cat([p.logits for p in pieces]), whole.logits, rtol=0, atol=SAME)
    torch.testing.assert_close(torch.cat([p.hidden for p in pieces]), whole.hidden, rtol=0, atol=SAME)
    assert state is not None
    for carried, at_once in zip(state, whole.state, strict=True):
        torch.testing.assert_close(carried, at_once, rtol=0, atol=SAME)


@KINDS
def test_a_state_can_be_gone_on_from_more_than_once(saved, kind):
    model, inputs = load_hugging_face(saved / kind), symbols()
    before = model(inputs[:5]).state
    copies = [tensor.clone() for tensor in before]
    one, other = model(inputs[5:], before).logits, model(inputs[5:].flip(0), before).logits
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(before, copies, strict=True))
    torch.testing.assert_close(one, model(inputs, scored=7).logits, rtol=0, atol=SAME)
    turned = model(torch.cat([inputs[:5], inputs[5:].flip(0)]), scored=7).logits
    torch.testing.assert_close(other, turned, rtol=0, atol=SAME)


@KINDS
def test_a_state_has_the_batch_in_its_second_dimension_and_is_empty_at_first(saved, kind):
    model, inputs = load_hugging_face(saved / kind), symbols()
    empty, after = model.start(3), model(inputs).state
    assert len(empty) == len(after) == 4  # keys and values of two layers
    assert [t.shape for t in empty] == [(*t.shape[:3], 0, t.shape[4]) for t in after]
    assert {t.shape[1] for t in after} == {3}
    assert {t.shape[3] for t in after} == {12}
    assert torch.equal(model(inputs, empty).logits, model(inputs).logits)
    again = model.as_state([tensor.detach() for tensor in after])
    assert type(again) is type(empty)
    alone = model.as_state([tensor[:, 1:2] for tensor in model(inputs[:11]).state])
    expected = model(inputs, scored=1).logits[:, 1:2]
    torch.testing.assert_close(model(inputs[11:, 1:2], alone).logits, expected, rtol=0, atol=SAME)


@KINDS
def test_a_probe_gives_the_gradient_of_what_the_output_layer_reads(saved, kind):
    model, inputs = load_hugging_face(saved / kind), symbols()
    targets, probe = inputs.roll(-1, 0), torch.zeros(12, 3, 8, requires_grad=True)
    found = model(inputs, probe=probe)
    functional.cross_entropy(found.logits.flatten(0, 1), targets.flatten(), reduction="sum").backward()
    head = model.network.get_output_embeddings()
    assert isinstance(head, torch.nn.Linear)
    weight = head.weight.detach()
    off = functional.softmax(found.hidden.detach() @ weight.T, -1) - functional.one_hot(targets, VOCABULARY)
    torch.testing.assert_close(probe.grad, off @ weight, rtol=0, atol=SAME)


@pytest.mark.parametrize("scored", [None, 0, 3, 6, 12])
def test_resets_of_all_streams_begin_anew(saved, scored):
    model, inputs = load_hugging_face(saved / "gpt2"), symbols()
    resets = torch.zeros(12, 3, dtype=torch.bool)
    resets[[0, 7]] = True
    probe, before = torch.zeros(12, 3, 8), model(inputs[:2]).state
    found = model(inputs, before, resets=resets, probe=probe, scored=scored)
    first, second = model(inputs[:7]), model(inputs[7:])
    expected = torch.cat([first.logits, second.logits])
    expected = expected if scored is None else expected[12 - scored :]
    torch.testing.assert_close(found.logits, expected, rtol=0, atol=SAME)
    torch.testing.assert_close(found.hidden, torch.cat([first.hidden, second.hidden]), rtol=0, atol=SAME)
    assert found.state[0].shape[3] == 5
    nothing = model(inputs, resets=torch.zeros_like(resets), scored=scored).logits
    assert torch.equal(nothing, model(inputs, scored=scored).logits)
    resets[9, 1] = True
    with pytest.raises(InputError, match=r"resets clear 1 of 3 streams before step 9; .* all or none"):
        model(inputs, resets=resets)


def read_again(model, stream: int, length: int, window: int | None = None, kept: int = 0) -> list[int]:
    """One stream, every symbol answered from its past that is read anew."""
    random = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(stream,))).random(length)
    past, looked_at = [model.first], 1
    for number in random:
        with torch.no_grad():
            logits = model(torch.tensor(past[-looked_at:]).unsqueeze(1), scored=1).logits[0]
        past.append(int(Choice().at(logits, torch.tensor([number]))))
        looked_at = kept if looked_at == window else looked_at + 1
    return past[1:]


@KINDS
def test_samples_are_those_of_reading_everything_again_for_each_symbol(saved, kind):
    model = load_hugging_face(saved / kind)
    found = joined(sample(model, streams=3, length=POSITIONS, first=model.first, seed=3))
    assert found.tolist() == [read_again(model, stream, POSITIONS) for stream in range(3)]


@KINDS
@pytest.mark.parametrize("kept", [1, 8, 16])
def test_a_context_lets_a_model_write_on_beyond_its_positions(saved, kind, kept):
    model = load_hugging_face(saved / kind)
    write = partial(sample, model, streams=2, length=3 * POSITIONS, first=model.first, seed=3)
    found = joined(write(context=model.context, kept=kept))
    assert found.tolist() == [read_again(model, s, 3 * POSITIONS, POSITIONS, kept) for s in range(2)]
    with pytest.raises(InputError, match="the input has 17 tokens, and the model has positions for 16"):
        joined(write())
    with pytest.raises(InputError, match=r"context is 17; the model has 16 positions; .* or omit it"):
        write(context=POSITIONS + 1)


@KINDS
def test_the_size_of_a_state_is_that_of_its_keys_and_values(saved, kind):
    model = load_hugging_face(saved / kind)
    read = model(torch.zeros(7, 3, dtype=torch.long)).state
    assert 3 * model.state_size(7) == sum(tensor.numel() for tensor in read)


def test_as_many_streams_are_side_by_side_as_their_states_have_room(saved, monkeypatch):
    model = load_hugging_face(saved / "gpt2")
    assert group_size(model, POSITIONS) == 64
    monkeypatch.setattr("memspan.sampling.generator._STATE_BYTES", 4 * model.state_size(POSITIONS) * 5 + 1)
    assert group_size(model, POSITIONS) == 5
    monkeypatch.setattr("memspan.sampling.generator._STATE_BYTES", 1)
    assert group_size(model, POSITIONS) == 1


def test_a_beginning_that_the_model_does_not_know_is_rejected(saved):
    with pytest.raises(InputError, match="first holds the symbol 31; expected numbers from 0 to 30"):
        sample(load_hugging_face(saved / "gpt2"), streams=1, length=3, first=VOCABULARY, seed=0)


def test_a_model_tells_what_it_is(saved):
    model = load_hugging_face(saved / "llama")
    assert (model.kind, model.symbols, model.classes, model.context) == ("llama", VOCABULARY, VOCABULARY, POSITIONS)
    assert model.spelling == Numbers(VOCABULARY)
    assert model.parameter_count() == model.network.num_parameters()
    (group,) = model.parameter_groups(0.1)
    assert group["lr"] == 0.1
    assert {id(p) for p in group["params"]} == {id(p) for p in model.network.parameters()}
    assert not model.training


@pytest.mark.parametrize(
    ("tokens", "first"),
    [
        ({"bos_token_id": 5, "eos_token_id": 6}, 5),
        ({"bos_token_id": None, "eos_token_id": 6}, 6),
        ({"bos_token_id": None, "eos_token_id": [7, 6]}, 7),
        ({"bos_token_id": 50256, "eos_token_id": 6}, 6),
        ({"bos_token_id": None, "eos_token_id": None}, 0),
    ],
)
def test_a_text_begins_with_the_token_that_begins_or_ends_one(tokens, first):
    assert HuggingFaceModel(gpt2(**tokens)).first == first


def test_a_window_that_slides_hides_what_is_before_it():
    config = transformers.MistralConfig(
        vocab_size=VOCABULARY,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        sliding_window=4,
    )
    model, inputs = HuggingFaceModel(transformers.MistralForCausalLM(config)), symbols()
    before = model(inputs[:11]).state
    last = model(inputs[11:], before).logits
    torch.testing.assert_close(last, model(inputs, scored=1).logits, rtol=0, atol=SAME)
    changed = [tensor.clone() for tensor in before]
    for tensor in changed:
        tensor[:, :, :, :8] = 1e3
    assert torch.equal(model(inputs[11:], model.as_state(changed)).logits, last)


def test_weights_of_half_precision_are_computed_with_in_single(saved, tmp_path):
    network = transformers.AutoModelForCausalLM.from_pretrained(saved / "gpt2").bfloat16()
    network.save_pretrained(tmp_path)
    found = load_hugging_face(tmp_path).network.state_dict()
    assert all(torch.equal(found[name], value.float()) for name, value in network.state_dict().items())
    assert {value.dtype for value in found.values()} == {torch.float32}


def test_loading_says_nothing_and_leaves_everything_as_it_was(saved, capfd):
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled(), torch.get_rng_state()
    load_hugging_face(saved / "gpt2")
    with pytest.raises(InputError):
        load_hugging_face(saved / "recurrent")  # whose weights begin at random before they are read
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before[:2]
    assert torch.equal(torch.get_rng_state(), before[2])


def test_a_name_is_looked_for_in_the_cache(saved, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    cached = tmp_path / "models--owner--tiny"
    shutil.copytree(saved / "gpt2", cached / "snapshots" / "0123")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0123")
    inputs = symbols()
    assert torch.equal(load_hugging_face("owner/tiny")(inputs).logits, load_hugging_face(saved / "gpt2")(inputs).logits)
    for name, remedy in (
        ("owner/small", "hf download owner/small"),
        ("gpt2", "hf download gpt2"),
        (tmp_path / "no" / "such", "hf download OWNER/NAME"),
    ):
        with pytest.raises(InputError) as caught:
            load_hugging_face(name)
        assert str(caught.value).startswith(f"{name} is neither a folder nor a model in the local Hugging Face cache")
        assert str(caught.value).endswith(f"download the model with {remedy}")


def spoil(folder: Path, how: str) -> None:
    from safetensors.torch import load_file, save_file

    weights, config = folder / "model.safetensors", folder / "config.json"
    match how:
        case "no config":
            config.unlink()
        case "damaged config":
            config.write_text("{")
        case "a list as config":
            config.write_text("[]")
        case "config of a run":
            config.write_text('{"task": {"name": "copy"}}')
        case "unknown kind":
            config.write_text('{"model_type": "abacus"}')
        case "other sizes":
            config.write_text(json.dumps({**json.loads(config.read_text()), "n_embd": 4}))
        case "no weights":
            weights.unlink()
        case "pickle":
            weights.rename(folder / "pytorch_model.bin")
        case "cut weights":
            weights.write_bytes(weights.read_bytes()[:-8])
        case "no safetensors":
            weights.write_bytes(b"abc")
        case "one missing":
            tensors = load_file(weights)
            del tensors["transformer.h.1.attn.c_attn.weight"]
            save_file(tensors, weights, {"format": "pt"})
        case "damaged tokenizer":
            (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("no config", r"gpt2 has no config\.json; pass a folder written by save_pretrained of transformers"),
        ("damaged config", r"config\.json cannot be read \(Expecting property name"),
        ("a list as config", r"config\.json names no model_type"),
        ("config of a run", r"config\.json names no model_type; .* a run of memspan is given as run:DIR"),
        ("unknown kind", r"gpt2 cannot be loaded \(.*abacus"),
        (
            "other sizes",
            r"the weights transformer\.h\.0\.attn\.c_attn\.bias of .* shape \(24,\); expected \(12,\) by its config",
        ),
        ("no weights", r"gpt2 has no weights \(\*\.safetensors\); download or save the model again"),
        (
            "pickle",
            r"its weights in pytorch_model\.bin, a pickle, .* convert it: AutoModelForCausalLM\.from_pretrained\(",
        ),
        ("cut weights", r"gpt2 cannot be loaded \(.*; pass a folder written by save_pretrained"),
        ("no safetensors", r"gpt2 cannot be loaded \("),
        ("one missing", r"gpt2 lacks the weights transformer\.h\.1\.attn\.c_attn\.weight; download or save"),
        ("damaged tokenizer", r"tokenizer\.json is not a valid tokenizer\.json"),
    ],
)
def test_a_folder_that_cannot_be_loaded_gives_a_one_line_error(copied, capfd, how, words):
    spoil(copied, how)
    with pytest.raises(InputError, match=words) as caught:
        load_hugging_face(copied)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert capfd.readouterr() == ("", "")


def test_models_that_tell_no_next_token_from_the_past_are_rejected(saved, tmp_path):
    with pytest.raises(InputError, match="of type bert, attends to later tokens, so it is not causal; use a causal"):
        load_hugging_face(saved / "encoder")
    with pytest.raises(InputError, match="of type mamba, carries more than keys and values; use a Transf"):
        load_hugging_face(saved / "recurrent")
    shutil.copytree(saved / "gpt2", tmp_path / "vit")
    (tmp_path / "vit" / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(
        InputError, match="holds a model of type vit, which does not predict the next token; use a causal"
    ):
        load_hugging_face(tmp_path / "vit")


@KINDS
def test_a_state_of_another_model_or_batch_is_rejected(saved, kind):
    model, inputs = load_hugging_face(saved / kind), symbols()
    for state in (model.start(2), model.start(3)[:2], (), (torch.zeros(1, 3, 8),)):
        with pytest.raises(InputError, match="the state does not fit this model and 3 streams"):
            model(inputs, state)


def test_a_missing_extra_is_named(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    for path in (saved / "gpt2", "gpt2"):
        with pytest.raises(MissingExtraError, match=r"a Hugging Face model needs transformers; install memspan\[hf\]"):
            load_hugging_face(path)
