"""The benchmark of agents at tiny sizes: both sides live and learn, in turns."""

from __future__ import annotations

import numpy as np
import pytest

from memspan import errors
from memspan.bench import BENCHMARKS
from memspan.bench.gridworld import GridworldSizes, gridworld
from memspan.errors import MissingExtraError
from memspan.progress import SILENT

TINY = GridworldSizes(cells=("rel-lstm",), worlds=2, steps=16, hidden=8, rounds=2)


def test_an_agent_is_timed_next_to_that_of_the_library():
    before = str(np.random.get_state())
    (found,) = gridworld(SILENT, TINY)
    assert found.ours > 0
    assert found.theirs > 0
    assert found.ratio == found.theirs / found.ours
    assert "rel-lstm" in found.name
    assert BENCHMARKS["gridworld"].function() is gridworld
    assert str(np.random.get_state()) == before


def test_a_missing_extra_is_reported(monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="this benchmark needs"):
        BENCHMARKS["gridworld"](SILENT)
