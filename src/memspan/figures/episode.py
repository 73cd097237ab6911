"""An episode as an animation: the world now, the past step that is looked at most, and the attention on all of them."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from memspan.results import Episode

GIF_CAPTION = (
    "One episode. Left is the world, with what the agent sees in light; right is the past step that has the largest share "
    "of its attention; below, the shares of all past steps, the oldest at the left."
)
GIF_CAPTION_WITHOUT = (
    "One episode: the world at every step, with what the agent sees in light. "
    "This cell looks at no past steps."
)

_GAP, _BARS = 8, 36
_PAPER, _INK, _BAR = (255, 255, 255), (70, 70, 70), (31, 119, 180)
_MILLISECONDS = 180
_LAST = 1500


def episode_gif(episode: Episode) -> bytes:
    """The animation; without attention it is the film alone."""
    pictures = film_of(episode)
    frames = [_frame(pictures, episode.attention, step) for step in range(len(pictures))]
    times = [_MILLISECONDS] * (len(frames) - 1) + [_LAST]
    room = io.BytesIO()
    first, *rest = [frame.quantize(64) for frame in frames]
    first.save(room, "GIF", save_all=True, append_images=rest, duration=times, loop=0)
    return room.getvalue()


def episode_svg(episode: Episode) -> str:
    """The animation as an element that can stand inside a page."""
    content = episode_gif(episode)
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
    data = base64.b64encode(content).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * width}" height="{2 * height}" '
        f'viewBox="0 0 {width} {height}"><image width="{width}" height="{height}" '
        f'href="data:image/gif;base64,{data}"/></svg>'
    )


def film_of(episode: Episode) -> list[Image.Image]:
    """The pictures of an episode, one for each shown step."""
    with Image.open(io.BytesIO(base64.b64decode(episode.pictures))) as strip:
        whole = strip.convert("RGB")
    width = whole.width // episode.shown
    return [whole.crop((step * width, 0, (step + 1) * width, whole.height)) for step in range(episode.shown)]


def _frame(pictures: list[Image.Image], attention: NDArray[np.float64], step: int) -> Image.Image:
    now = pictures[step]
    if not attention.size:
        return now
    frame = Image.new("RGB", (2 * now.width + _GAP, now.height + _GAP + _BARS), _PAPER)
    frame.paste(now, (0, 0))
    shares = attention[step, :step]
    if shares.size and shares.max() > 0:
        past = int(shares.argmax())
        frame.paste(pictures[past], (now.width + _GAP, 0))
        _draw_bars(frame, shares, len(pictures), now.height + _GAP)
    return frame


def _draw_bars(frame: Image.Image, shares: NDArray[np.float64], steps: int, top: int) -> None:
    """One bar for each past step, as high as its share; the line they stand on is as long as the episode so far."""
    draw = ImageDraw.Draw(frame)
    wide, bottom = frame.width / steps, top + _BARS - 1
    draw.line((0, bottom, wide * shares.size, bottom), fill=_INK)
    for place, share in enumerate(shares):
        height = float(share) * (_BARS - 2)
        if height >= 1:
            left = place * wide
            draw.rectangle((left, bottom - height, max(left, left + wide - 1), bottom - 1), fill=_BAR)
