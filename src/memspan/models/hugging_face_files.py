"""Where the weights of a Hugging Face model lie on this machine, and what keeps them from being read, in one line.

Nothing is fetched, no code of a model is run, and no pickle is opened.
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
_LONGEST = 200
"""Characters of another library's message that are passed on."""


def folder_of(name: str | Path) -> Path:
    """The folder of this name or, of a name on the Hugging Face hub, the one in the cache of this machine."""
    if Path(name).is_dir():
        return Path(name)
    _check_installed()
    import huggingface_hub

    try:
        config, remedy = (
            huggingface_hub.try_to_load_from_cache(str(name), "config.json"),
            f"hf download {name}",
        )
    except ValueError:  # no name that the hub could know
        config, remedy = None, "hf download OWNER/NAME"
    if isinstance(config, str):
        return Path(config).parent
    raise InputError(
        f"{name} is neither a folder nor a model in the cache of Hugging Face on this machine; check the name, "
        f"or fetch the model with {remedy}"
    )


def load_network(folder: Path) -> PreTrainedModel:
    """The causal model in a folder, in float32 on the processor, at rest."""
    _check_installed()
    _check_files(folder)
    from safetensors import SafetensorError

    # What a damaged file or a foreign configuration raises is not told anywhere.
    anything = (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError)
    with _quiet(), torch.random.fork_rng(devices=[]):
        try:
            return _loaded(folder)
        except (*anything, SafetensorError) as error:
            raise InputError(
                f"{folder} cannot be loaded ({_short(error)}); "
                "give a folder that save_pretrained of transformers wrote, or fetch it again"
            ) from error


def _loaded(folder: Path) -> PreTrainedModel:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise InputError(
            f"{folder} holds a model of the kind {config.model_type}, which tells no next token; "
            "give a causal language model, such as GPT-2 or Llama"
        )
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        folder,
        config=config,
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        ignore_mismatched_sizes=True,  # refused below, with their names
        output_loading_info=True,
    )
    network, found = loaded
    _check_complete(folder, found)
    return network


def _check_complete(folder: Path, found: dict[str, Any]) -> None:
    """Refuse weights that do not fit or are not there; transformers would draw them at random."""
    unfit, missing = sorted(found["mismatched_keys"]), sorted(found["missing_keys"])
    if unfit:
        name, got, wanted = unfit[0]
        raise InputError(
            f"the weights {name} of {folder} have the shape {tuple(got)}, and its config.json asks for {tuple(wanted)}; "
            "fetch or save the model again"
        )
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise InputError(
            f"{folder} has no weights {missing[0]}{more}; expected all of them; fetch or save the model again"
        )


def _check_installed() -> None:
    try:
        import transformers  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtraError("a Hugging Face model", "transformers", "hf") from error


def _check_files(folder: Path) -> None:
    config = folder / "config.json"
    if not config.is_file():
        raise InputError(
            f"{folder} has no config.json; give a folder that save_pretrained of transformers wrote"
        )
    try:
        plain = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{config} cannot be read ({_short(error)}); fetch or save the model again"
        ) from error
    if not isinstance(plain, dict) or not isinstance(plain.get("model_type"), str):
        raise InputError(
            f"{config} names no model_type; expected the configuration of a Hugging Face model; "
            "if this is a run of memspan, name it run:DIR"
        )
    if any(folder.glob("*.safetensors")):
        return
    pickle = next((path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))), None)
    if pickle is None:
        raise InputError(f"{folder} has no *.safetensors, so no weights; fetch or save the model again")
    raise InputError(
        f"{folder} has its weights in {pickle}, a pickle, which can run code and is not opened; if you trust it, convert "
        f"it: AutoModelForCausalLM.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside, transformers shows no bars and tells errors only; afterwards it is as it was."""
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
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
