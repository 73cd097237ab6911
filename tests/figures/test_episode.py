"""The film of an episode: a frame for every shown step, with the past that is looked at, and the end."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image
from tests.figures.agent_examples import COLOURS, END, episode

from memspan.presentation.draw import episode as drawing
from memspan.presentation.draw.episode import episode_gif, episode_svg, film_of

SIDE = 180
"""Pixels of a world of five cells, three times as large as it was kept."""
LABEL, GAP, BARS = 16, 8, 36
NOW, PAST = (90, 90), (SIDE + GAP + 90, 90)
WHITE = (255, 255, 255)


def frames(content: bytes) -> list[Image.Image]:
    with Image.open(io.BytesIO(content)) as film:
        found = []
        for step in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(step)
            found.append(film.convert("RGB"))
    return found


def near(image: Image.Image, place: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    """A GIF has few colours."""
    found = image.getpixel(place)
    assert isinstance(found, tuple)
    return all(abs(a - b) <= 24 for a, b in zip(found, colour, strict=True))


def test_pictures_are_those_of_the_steps():
    assert [picture.getpixel((5, 5)) for picture in film_of(episode())] == list(COLOURS)


def test_the_past_step_with_the_most_attention_is_shown_beside_the_present():
    first, second, third, _ = frames(episode_gif(episode()))
    assert first.size == (2 * SIDE + GAP, LABEL + SIDE + GAP + BARS)
    assert near(first, NOW, COLOURS[0])
    assert near(first, PAST, WHITE)
    assert near(second, PAST, COLOURS[0])
    assert near(third, NOW, COLOURS[2])
    assert near(third, PAST, COLOURS[1])


def test_the_film_ends_with_the_world_after_the_last_step():
    *_, end = frames(episode_gif(episode()))
    assert near(end, NOW, END)
    assert near(end, PAST, WHITE)
    assert len(frames(episode_gif(dataclasses.replace(episode(), last="", actions=())))) == 3


def test_every_frame_says_which_step_it_is_and_what_is_done(monkeypatch):
    told: list[tuple[int, str]] = []
    monkeypatch.setattr(drawing, "_write", lambda _, left, words: told.append((left, words)))
    episode_gif(episode())
    right = SIDE + GAP
    assert told == [
        *((0, "step 1 of 3: left"), (0, "step 2 of 3: forward"), (right, "most on step 1: 100 %")),
        *((0, "step 3 of 3: toggle"), (right, "most on step 2: 80 %"), (0, "after step 3: reward 0.90")),
    ]


def test_words_stand_above_the_picture():
    first, *_ = frames(episode_gif(episode()))
    above = first.crop((0, 0, SIDE, LABEL)).convert("L")
    assert np.asarray(above).min() < 128


def test_bars_are_as_high_as_the_shares():
    *_, third, _ = frames(episode_gif(episode()))
    top = LABEL + SIDE + GAP
    blue = [
        sum(near(third, (x, y), (31, 119, 180)) for y in range(top, third.height)) for x in (SIDE // 3, SIDE)
    ]
    assert blue[0] < blue[1]
    assert blue == pytest.approx([0.2 * 34, 0.8 * 34], abs=2)


def test_without_attention_the_film_is_the_world_alone():
    sizes = [frame.size for frame in frames(episode_gif(episode(np.zeros((0, 0)))))]
    assert sizes == [(SIDE, SIDE + LABEL)] * 4


def test_the_film_can_stand_inside_a_page():
    svg = episode_svg(episode())
    assert svg.startswith("<svg")
    assert 'href="data:image/gif;base64,R0lGOD' in svg
