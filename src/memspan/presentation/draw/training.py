"""Trainings and evaluations: loss and accuracy against updates, accuracy against delay, and an agent's episode."""

from __future__ import annotations

import base64
import io
import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from memspan.presentation.draw.axes import horizontal_line, masked, place_legend, plain_ticks, positive, vertical_line
from memspan.presentation.draw.style import BLUE, GREY, MANY, ORANGE, literal, new_figure
from memspan.presentation.tasks import (
    accuracy_words,
    answers_word,
    chance_words,
    loss_in_unit,
    loss_unit,
    loss_words,
    percent,
    task_words,
)
from memspan.results import Episode, Evaluation, TrainingRun, Transfer


def training_figure(run: TrainingRun) -> Figure:
    """Loss and accuracy; the loss alone if there is no accuracy."""
    both = has_accuracy(run)
    figure = new_figure(10.0 if both else 7.4, 4.4)
    panels = np.atleast_1d(figure.subplots(1, 2 if both else 1))
    draw_loss(panels[0], run)
    panels[0].set_title("loss")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    if both:
        draw_accuracy(panels[1], run)
        panels[1].set_title("validation accuracy")
    figure.suptitle(_title(run, 110 if both else 80), x=0.01, ha="left")
    return figure


def draw_training(ax: Axes, run: TrainingRun) -> None:
    """The loss alone."""
    draw_loss(ax, run)
    ax.set_title(_title(run, 80))
    place_legend(ax)


def has_accuracy(run: TrainingRun) -> bool:
    """Whether any validation has an accuracy."""
    return bool(np.isfinite(run.validation_accuracy).any())


def draw_loss(ax: Axes, run: TrainingRun) -> None:
    """Training and validation loss against updates; logarithmic if they span more than a factor of ten."""
    training, validation, baseline = (
        loss_in_unit(run.task, loss) for loss in (run.training_loss, run.validation_loss, run.baseline)
    )
    known = positive(np.concatenate([training, validation]))
    logarithmic = known.size > 0 and known.max() > 10 * known.min()
    ax.set_yscale("log" if logarithmic else "linear")
    lines = (
        (run.logged, training, GREY, "training, mean since the previous point"),
        (run.validated, validation, BLUE, "validation"),
    )
    for x, y, color, label in lines:
        shown = masked(y) if logarithmic else y
        ax.plot(x, shown, color=color, marker="o" if x.size < MANY else "", markersize=3, label=label)
    _finish(ax, run)
    _include_value(ax, float(baseline), logarithmic)
    horizontal_line(ax, float(baseline), f"without memory {loss_words(run.task, run.baseline)}")
    vertical_line(ax, run.best_update, f"saved: update {run.best_update:,}", height=0.78)
    ax.set_ylabel(f"loss, {loss_unit(run.task)}")


def draw_accuracy(ax: Axes, run: TrainingRun) -> None:
    """Validation accuracy against updates, from 0 to 100 %."""
    marker = "o" if run.validated.size < MANY else ""
    ax.plot(run.validated, run.validation_accuracy, color=ORANGE, marker=marker, markersize=3)
    _finish(ax, run)
    ax.set_ylim(0, 1.04)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    horizontal_line(ax, run.chance, chance_words(run.chance))
    vertical_line(ax, run.best_update, f"saved: update {run.best_update:,}", height=0.55)
    ax.set_ylabel("accuracy")


def _include_value(ax: Axes, value: float, logarithmic: bool) -> None:
    """Widen the axis to include `value`, with a margin."""
    low, high = ax.get_ylim()
    if logarithmic:
        ax.set_ylim(min(low, value / 1.5), max(high, value * 1.5))
    else:
        margin = 0.1 * max(high - value, value - low, high - low)
        ax.set_ylim(min(low, value - margin), max(high, value + margin))


def _finish(ax: Axes, run: TrainingRun) -> None:
    ax.set_xlim(0, 1.04 * max(run.updates, 1))
    ax.set_xlabel("updates")
    plain_ticks(ax)


def _title(run: TrainingRun, width: int) -> str:
    words = f"{task_words(run.task, run.config)}, {run.cell}: "
    if run.accuracy is None:
        words += f"test loss {loss_words(run.task, run.loss)}"
    else:
        words += accuracy_words(run.task, run.accuracy, run.chance)
    return literal(textwrap.fill(f"{words} after {run.best_update:,} updates", width))


# Delays labeled on the axis, at most, and the smallest ratio of neighbors.
_MOST_NAMES, _APART = 9, 1.3


def draw_transfer(ax: Axes, evaluation: Evaluation, shown: tuple[Transfer, ...]) -> None:
    """Accuracy against delay, on a logarithmic axis; `shown` has delays and accuracies, by delay."""
    delays = np.array([one.delay for one in shown], dtype=np.float64)
    accuracy = np.array([one.accuracy for one in shown], dtype=np.float64)
    ends = np.array([one.interval or (one.accuracy, one.accuracy) for one in shown], dtype=np.float64)
    bars = np.abs(ends.reshape(-1, 2).T - accuracy)
    ax.set_xscale("log")
    ax.errorbar(delays, accuracy, yerr=bars, color=BLUE, marker="o", linestyle="-", linewidth=1.2, capsize=3)
    trained = evaluation.trained_delay
    marked = np.append(delays, trained or delays[:1])
    margin = max((marked.max() / marked.min()) ** 0.06, 1.3) if marked.size else 1.3
    ax.set_xlim(marked.min() / margin, marked.max() * margin)
    ax.set_ylim(0, 1.06)
    _label_delays(ax, np.unique(marked))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    name = evaluation.distance or "delay"
    horizontal_line(ax, evaluation.chance, chance_words(evaluation.chance))
    if trained is not None:
        vertical_line(ax, trained, f"trained at {name} {trained:,}", height=0.45)
    ax.set_xlabel(f"{name}, steps")
    ax.set_ylabel(f"accuracy ({answers_word(evaluation.task)})")
    ax.set_title(_transfer_title(evaluation, shown))


def _label_delays(ax: Axes, delays: NDArray[np.float64]) -> None:
    """Label the delays themselves if there is space, else round numbers."""
    if delays.size <= _MOST_NAMES and (delays[1:] > _APART * delays[:-1]).all():
        ax.set_xticks(delays, [f"{delay:,.0f}" for delay in delays])
        ax.set_xticks([], minor=True)
    else:
        plain_ticks(ax)


def _transfer_title(evaluation: Evaluation, shown: tuple[Transfer, ...]) -> str:
    last = shown[-1]
    name = evaluation.distance or "delay"
    begin = f"{evaluation.task}, {evaluation.cell} trained at {name} {evaluation.trained_delay or 0:,}"
    found = f"accuracy {percent(last.accuracy)} at {name} {last.delay or 0:,}"
    return literal(textwrap.fill(f"{begin}: {found}", 84))


# --- Episodes

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
