"""What a model of transformers carries on, its cache of keys and values, as a state of ours, and back."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast, final

from torch import Tensor

from memspan.errors import InputError
from memspan.models.model import State

if TYPE_CHECKING:
    from transformers import DynamicCache, PreTrainedModel
    from transformers.cache_utils import DynamicLayer


@final
class Past(tuple[Tensor, ...]):
    """Keys and values of the first layer, of the second, …: tensors (1, batch, heads, time, size)."""

    def __new__(cls, *tensors: Tensor) -> Past:
        return super().__new__(cls, tensors)


def check_carried(network: PreTrainedModel) -> None:
    """Refuse what carries on anything but keys and values, which would be lost."""
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if "past_key_values" in inspect.signature(network.forward).parameters:
        # A sliding window is kept whole here: the model's own mask hides what is before it.
        layers = DynamicCache(config=network.config).layers
        if {type(layer) for layer in layers} <= {DynamicLayer, DynamicSlidingWindowLayer}:
            return
    raise InputError(
        f"the model, of the kind {network.config.model_type}, does not carry on keys and values alone; "
        "give a Transformer whose layers all have attention, such as GPT-2 or Llama"
    )


def as_cache(state: State) -> DynamicCache:
    """What transformers adds to; the tensors of the state stay as they are."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    cache = DynamicCache()
    if not state or state[0].shape[3] == 0:
        return cache
    for keys, values in zip(state[::2], state[1::2], strict=True):
        layer = DynamicLayer()
        layer.lazy_initialization(keys[0], values[0])
        # Not by `update`, which copies all that there is.
        layer.keys, layer.values = keys[0], values[0]
        cache.layers.append(layer)
    return cache


def of_cache(cache: DynamicCache | None) -> Past:
    """The state after a call; empty where a model keeps none."""
    layers = [] if cache is None else cast("list[DynamicLayer]", cache.layers)
    tensors = (cast(Tensor, tensor) for layer in layers for tensor in (layer.keys, layer.values))
    return Past(*(tensor.unsqueeze(0) for tensor in tensors))
