"""A Hugging Face model on a text: losses and gradients are those that transformers gives, and what is missing is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from memspan.diagnostics import diagnose_foreign
from memspan.diagnostics.hugging_face import random_windows
from memspan.errors import InputError
from memspan.results import Diagnosis

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

POSITIONS = 12
TEXT = "the cat sat on the mat and the dog sat on the cat\n" * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A tiny GPT-2 that was never trained, with a tokenizer of bytes, and a text."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=260, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"vocab_size": 260, "n_positions": POSITIONS, "n_embd": 8, "n_layer": 2, "n_head": 2}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "text.txt").write_text(TEXT)
    return folder


def test_losses_and_gradients_are_those_of_transformers(folder: Path):
    found = diagnose_foreign(str(folder), folder / "text.txt", window=10, sequences=3, seed=4, device="cpu")
    model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    windows = random_windows(np.array(tokenizer.encode(TEXT).ids), 10, 200, 4).T

    vectors = model.get_input_embeddings()(windows[:3, :-1]).detach().requires_grad_()
    logits = model(inputs_embeds=vectors).logits[:, -1]
    functional.cross_entropy(logits, windows[:3, -1], reduction="sum").backward()
    assert vectors.grad is not None
    norms = vectors.grad.norm(dim=2).mean(0).flip(0)
    np.testing.assert_allclose(found.gradients.mean, norms, rtol=1e-4)
    assert (found.gradients.of, found.gradients.sequences) == ("x", 3)

    assert found.context is not None
    for context, loss in zip(found.context.context, found.context.loss, strict=True):
        with torch.no_grad():
            logits = model(input_ids=windows[:, 9 - context : 10]).logits[:, -1]
        assert loss == pytest.approx(float(functional.cross_entropy(logits, windows[:, -1])), rel=1e-4)
    assert found.context.context[-1] == 9
    assert Diagnosis.from_json(found.to_json()).to_json() == found.to_json()


def test_as_many_tokens_are_read_as_the_model_has_positions(folder: Path):
    assert diagnose_foreign(str(folder), folder / "text.txt", sequences=1, device="cpu").steps == POSITIONS


@pytest.mark.parametrize(
    ("window", "text", "told"),
    [
        (13, TEXT, "--delay 13: the model has 12 positions; expected 2 to 12 tokens"),
        (1, TEXT, "--delay 1: the model has 12 positions"),
        (12, "a cat", r"--delay 12: .*text.txt has \d tokens; expected 2 to \d tokens"),
        (None, "a", "has 1 tokens; expected three or more"),
    ],
)
def test_windows_that_cannot_be_read_are_told(folder: Path, tmp_path: Path, window, text, told):
    (tmp_path / "text.txt").write_text(text)
    with pytest.raises(InputError, match=told):
        diagnose_foreign(str(folder), tmp_path / "text.txt", window=window, device="cpu")


def test_a_model_without_its_tokens_is_told(folder: Path, tmp_path: Path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(InputError, match=r"has no tokenizer.json, so .* cannot be tokenized"):
        diagnose_foreign(str(tmp_path), folder / "text.txt", device="cpu")


def test_the_command_draws_it_and_wants_a_text(memspan, folder: Path, tmp_path: Path):
    asked = ("diagnose", f"hf:{folder}", "--sequences", 2)
    assert "has no text; give one with --text FILE" in memspan(*asked).error
    done = memspan(*asked, "--text", folder / "text.txt", "--out", tmp_path / "out")
    assert "gradients reach" in done.out
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "dL / dx" in page
    assert "dL / dh" not in page
    assert "of update" not in page
    assert (tmp_path / "out/figures/context.png").is_file()
    assert "a training is diagnosed on its own test text" in memspan("diagnose", tmp_path, "--text", "a.txt").error
