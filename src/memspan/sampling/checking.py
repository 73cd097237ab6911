"""Every wrong request for a sample is told at the door: what was got, what was expected, what to do."""

from __future__ import annotations

import torch
from torch import Tensor

from memspan.errors import InputError
from memspan.models.cell_model import CellModel
from memspan.models.hugging_face import HuggingFaceModel
from memspan.models.model import Model


def check_counts(*, streams: int, length: int, group: int) -> None:
    """Whole numbers from 1 on."""
    for name, value in (("streams", streams), ("length", length), ("group", group)):
        _check_whole(name, value, least=1)


def check_seed(seed: int) -> None:
    """What numpy takes as one number."""
    _check_whole("seed", seed, least=0)


def check_context(context: int | None, kept: int | None, model: Model) -> None:
    """A window that the model has positions for, and how much of it is read again: no more than all of it."""
    if context is not None:
        _check_whole("context", context, least=1)
        positions = model.context if isinstance(model, HuggingFaceModel) else None
        if positions is not None and context > positions:
            raise InputError(
                f"context is {context:,}; the model has positions for {positions:,}; give as many or fewer, "
                "or leave it out"
            )
    if kept is None:
        return
    _check_whole("kept", kept, least=1)
    if context is None or kept > context:
        raise InputError(
            f"kept is {kept} and context {context}; expected at most the context; "
            "leave kept out for half of it, or set both"
        )


def checked_beginning(first: int | Tensor, streams: int, model: Model) -> Tensor:
    """What is read before the first symbol is drawn, (time, streams), where the model is."""
    symbols = torch.as_tensor(first)
    shape = tuple(symbols.shape)
    if symbols.dtype == torch.bool or symbols.is_floating_point() or symbols.is_complex():
        raise InputError(f"first holds {symbols.dtype} values; expected the numbers of symbols; use .long()")
    if symbols.dim() > 2 or 0 in shape or (shape and shape[-1] != streams):
        raise InputError(
            f"first has shape {shape}; expected one symbol, one for each of {streams} streams, or (time, {streams})"
        )
    _check_known(symbols, model)
    like = next(model.parameters(), symbols)
    return torch.atleast_2d(symbols.long()).expand(-1, streams).to(like.device)


def _check_known(symbols: Tensor, model: Model) -> None:
    """Symbols that the model reads; and it reads what it writes."""
    kinds = None
    if isinstance(model, CellModel | HuggingFaceModel):
        kinds = model.symbols
        if kinds != model.classes:
            reads = "features" if kinds is None else f"{kinds} kinds of symbols"
            raise InputError(
                f"the model reads {reads} and answers with {model.classes} classes; "
                "expected one that answers with what it reads; train it on characters or words"
            )
    least, most = int(symbols.min()), int(symbols.max())
    if least < 0 or (kinds is not None and most >= kinds):
        known = "numbers from 0 on" if kinds is None else f"numbers from 0 to {kinds - 1}"
        raise InputError(f"first holds the symbol {least if least < 0 else most}; expected {known}")


def _check_whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}; expected a whole number of {least} or more")
