"""An episode as an animation: the world, the past step with the largest attention weight, and all weights."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from memspan.results import Episode

_GAP, _BARS, _LABEL = 8, 36, 16
# Approximate height of a picture in pixels: small worlds are enlarged, so that labels fit above them.
_SIDE = 180
_PAPER, _INK, _BAR = (255, 255, 255), (70, 70, 70), (31, 119, 180)
_MILLISECONDS = 180
_LAST = 1500
# Points on a page per pixel.
_SHOWN = 1.5


def episode_gif(episode: Episode) -> bytes:
    """The animation as a GIF; without attention it shows the world only."""
    pictures = film_of(episode)
    frames = [_frame(pictures, episode, step) for step in range(len(pictures))]
    if episode.last:
        frames.append(_end(episode))
    times = [_MILLISECONDS] * (len(frames) - 1) + [_LAST]
    buffer = io.BytesIO()
    first, *rest = [frame.quantize(64) for frame in frames]
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=times, loop=0)
    return buffer.getvalue()


def episode_svg(episode: Episode) -> str:
    """The animation as an element of a page."""
    content = episode_gif(episode)
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
    data = base64.b64encode(content).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SHOWN * width:g}" height="{_SHOWN * height:g}" '
        f'viewBox="0 0 {width} {height}"><image width="{width}" height="{height}" '
        f'href="data:image/gif;base64,{data}"/></svg>'
    )


def film_of(episode: Episode) -> list[Image.Image]:
    """The pictures of an episode, one per shown step."""
    whole = _read(episode.pictures)
    width = whole.width // episode.shown
    return [_enlarged(whole.crop((step * width, 0, (step + 1) * width, whole.height))) for step in range(episode.shown)]


def _read(picture: str) -> Image.Image:
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        return image.convert("RGB")


def _enlarged(picture: Image.Image) -> Image.Image:
    """Scaled by an integer, so that edges stay sharp."""
    factor = max(1, round(_SIDE / picture.height))
    return picture.resize((factor * picture.width, factor * picture.height), Image.Resampling.NEAREST)


def _frame(pictures: list[Image.Image], episode: Episode, step: int) -> Image.Image:
    now = pictures[step]
    does = f": {episode.actions[step]}" if episode.actions else ""
    frame = _sheet(now, f"step {step + 1} of {episode.steps}{does}", episode)
    shares = episode.attention[step, :step] if episode.attention.size else np.zeros(0)
    if shares.size and shares.max() > 0:
        past = int(shares.argmax())
        frame.paste(pictures[past], (now.width + _GAP, _LABEL))
        _write(frame, now.width + _GAP, f"most on step {past + 1}: {100 * shares[past]:.0f} %")
        _draw_bars(frame, shares, len(pictures), now.height + _LABEL + _GAP)
    return frame


def _end(episode: Episode) -> Image.Image:
    """The world after the last step."""
    return _sheet(_enlarged(_read(episode.last)), f"after step {episode.steps}: reward {episode.reward:.2f}", episode)


def _sheet(picture: Image.Image, label: str, episode: Episode) -> Image.Image:
    """The picture below its label, with space for the past if there is attention."""
    width, height = picture.width, picture.height + _LABEL
    if episode.attention.size:
        width, height = 2 * width + _GAP, height + _GAP + _BARS
    sheet = Image.new("RGB", (width, height), _PAPER)
    sheet.paste(picture, (0, _LABEL))
    _write(sheet, 0, label)
    return sheet


def _write(sheet: Image.Image, left: int, words: str) -> None:
    ImageDraw.Draw(sheet).text((left + 2, 1), words, fill=_INK)


def _draw_bars(frame: Image.Image, shares: NDArray[np.float64], steps: int, top: int) -> None:
    """One bar per past step, as high as its weight; the base line is as long as the episode so far."""
    draw = ImageDraw.Draw(frame)
    wide, bottom = frame.width / steps, top + _BARS - 1
    draw.line((0, bottom, wide * shares.size, bottom), fill=_INK)
    for place, share in enumerate(shares):
        height = float(share) * (_BARS - 2)
        if height >= 1:
            left = place * wide
            draw.rectangle((left, bottom - height, max(left, left + wide - 1), bottom - 1), fill=_BAR)
