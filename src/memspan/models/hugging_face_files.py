"""Load the network of a Hugging Face model from this machine; everything that prevents it is a one-line error.

Nothing is downloaded, no code of a model is run, and no pickle is opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from memspan.errors import InputError, MissingExtraError
from memspan.sequences.readers.inputs import one_line

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_PICKLES = ("*.bin", "*.pt", "*.pth")
# Characters of another library's error message to include.
_LONGEST_MESSAGE = 200


def model_folder(name: str | Path) -> Path:
    """The folder with this path or, for a name on the Hugging Face hub, the one in the local cache."""
    if Path(name).is_dir():
        return Path(name)
    _check_installed()
    import huggingface_hub

    try:
        config = huggingface_hub.try_to_load_from_cache(str(name), "config.json")
        remedy = f"hf download {name}"
    except ValueError:  # not a valid name on the hub
        config, remedy = None, "hf download OWNER/NAME"
    if isinstance(config, str):
        return Path(config).parent
    raise InputError(
        f"{name} is neither a folder nor a model in the local Hugging Face cache; check the name, "
        f"or download the model with {remedy}"
    )


def load_network(folder: Path) -> PreTrainedModel:
    """The causal model in a folder, in float32 on the CPU, in evaluation mode."""
    _check_installed()
    _check_files(folder)
    from safetensors import SafetensorError

    # The exceptions of a damaged file or an unusual configuration are not documented.
    undocumented = (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError)
    with _quiet(), torch.random.fork_rng(devices=[]):
        try:
            return _from_pretrained(folder)
        except (*undocumented, SafetensorError) as error:
            raise InputError(
                f"{folder} cannot be loaded ({_short(error)}); "
                "pass a folder written by save_pretrained of transformers, or download it again"
            ) from error


def _from_pretrained(folder: Path) -> PreTrainedModel:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise InputError(
            f"{folder} holds a model of type {config.model_type}, which does not predict the next token; "
            "use a causal language model, such as GPT-2 or Llama"
        )
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        folder,
        config=config,
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        ignore_mismatched_sizes=True,  # rejected below, by name
        output_loading_info=True,
    )
    network, report = loaded
    _check_complete(folder, report)
    return network


def _check_complete(folder: Path, report: dict[str, Any]) -> None:
    """Raise if weights are missing or have the wrong shape; transformers would draw them at random."""
    mismatched, missing = sorted(report["mismatched_keys"]), sorted(report["missing_keys"])
    if mismatched:
        name, got, expected = mismatched[0]
        raise InputError(
            f"the weights {name} of {folder} have shape {tuple(got)}; expected {tuple(expected)} by its config.json; "
            "download or save the model again"
        )
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise InputError(f"{folder} lacks the weights {missing[0]}{more}; download or save the model again")


def _check_installed() -> None:
    try:
        import transformers  # noqa: F401 - only to see whether it is installed
    except ImportError as error:
        raise MissingExtraError("a Hugging Face model", "transformers", "hf") from error


def _check_files(folder: Path) -> None:
    config = folder / "config.json"
    if not config.is_file():
        raise InputError(f"{folder} has no config.json; pass a folder written by save_pretrained of transformers")
    try:
        plain = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{config} cannot be read ({_short(error)}); download or save the model again") from error
    if not isinstance(plain, dict) or not isinstance(plain.get("model_type"), str):
        raise InputError(
            f"{config} names no model_type; expected the configuration of a Hugging Face model; "
            "a run of memspan is given as run:DIR"
        )
    if any(folder.glob("*.safetensors")):
        return
    pickle = next((path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))), None)
    if pickle is None:
        raise InputError(f"{folder} has no weights (*.safetensors); download or save the model again")
    raise InputError(
        f"{folder} has its weights in {pickle}, a pickle, which could run code and is not opened; if you trust it, "
        f"convert it: AutoModelForCausalLM.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and warnings of transformers; its settings are restored afterwards."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _short(error: BaseException) -> str:
    text = one_line(error) or type(error).__name__
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"
