"""The film of an episode: a frame for every shown step, with the past that is looked at."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from memspan.figures.episode import episode_gif, episode_svg, film_of
from memspan.results import Episode

COLOURS = ((250, 0, 0), (0, 250, 0), (0, 0, 250))


def episode(attention) -> Episode:
    """Three steps in worlds of one colour each."""
    strip = Image.new("RGB", (60, 20))
    for step, colour in enumerate(COLOURS):
        strip.paste(colour, (20 * step, 0, 20 * step + 20, 20))
    room = io.BytesIO()
    strip.save(room, "PNG")
    pictures = base64.b64encode(room.getvalue()).decode()
    return Episode("DoorKey-5x5", "rel-lstm", 0, 0.9, 3, 3, pictures, np.array(attention, dtype=np.float64))


LOOKS = [[0, 0, 0], [1, 0, 0], [0.2, 0.8, 0]]


def frames(content: bytes) -> list[Image.Image]:
    with Image.open(io.BytesIO(content)) as film:
        found = []
        for step in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(step)
            found.append(film.convert("RGB"))
    return found


def test_pictures_are_those_of_the_steps():
    assert [picture.getpixel((5, 5)) for picture in film_of(episode(LOOKS))] == list(COLOURS)


def test_the_past_step_with_the_most_attention_is_shown_beside_the_present():
    first, second, third = frames(episode_gif(episode(LOOKS)))
    assert first.size == (48, 64)
    assert near(first, (5, 5), COLOURS[0])
    assert near(first, (40, 5), (255, 255, 255))
    assert near(second, (40, 5), COLOURS[0])
    assert near(third, (5, 5), COLOURS[2])
    assert near(third, (40, 5), COLOURS[1])


def test_bars_are_as_high_as_the_shares():
    *_, third = frames(episode_gif(episode(LOOKS)))
    blue = [sum(near(third, (x, y), (31, 119, 180)) for y in range(28, 64)) for x in (8, 24)]
    assert blue[0] < blue[1]
    assert blue == pytest.approx([0.2 * 34, 0.8 * 34], abs=2)


def test_without_attention_the_film_is_the_world_alone():
    assert [frame.size for frame in frames(episode_gif(episode(np.zeros((0, 0)))))] == [(20, 20)] * 3


def test_the_film_can_stand_inside_a_page():
    svg = episode_svg(episode(LOOKS))
    assert svg.startswith("<svg")
    assert 'href="data:image/gif;base64,R0lGOD' in svg


def near(image: Image.Image, place: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    """A GIF has few colours."""
    found = image.getpixel(place)
    assert isinstance(found, tuple)
    return all(abs(a - b) <= 24 for a, b in zip(found, colour, strict=True))
