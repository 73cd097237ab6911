"""Figures of agents: every line can be seen, and what is not looked at is not drawn."""

from __future__ import annotations

import dataclasses
import io
import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from tests.presentation.agent_examples import (
    COLOURS,
    END,
    LOOKS,
    agent_evaluation,
    agent_run,
    episode,
    learning,
    rewards,
)

from memspan.errors import InputError
from memspan.presentation import figures_of, plot, present, sentence
from memspan.presentation.agent import attention_map, rewards_table
from memspan.presentation.draw import training as drawing
from memspan.presentation.draw.training import episode_gif, episode_svg, film_of
from memspan.presentation.presenter import section_of
from memspan.results import AgentEvaluation, AgentRun


def lines(run) -> dict[str, object]:
    return {str(line.get_label()): line for line in plot(run, Figure().subplots()).get_lines()}


def test_agents_without_memory_have_dashed_lines_of_their_own():
    found = lines(agent_run())
    assert set(found) == {*("rel-lstm, seed 0", "rel-lstm, seed 1", "without memory, seed 0", "without memory, seed 1")}
    dashed = found["without memory, seed 0"]
    assert (dashed.get_linestyle(), dashed.get_marker()) == ("--", "")  # type: ignore[attr-defined]
    assert dashed.get_xdata().tolist() == [10 * 2_048, 20 * 2_048, 30 * 2_048]  # type: ignore[attr-defined]


@pytest.mark.parametrize("rewards", [[0.2], [0.1, np.nan, 0.3], [np.nan] * 10 + [0.2] + [np.nan] * 10])
def test_a_line_of_single_points_has_markers(rewards):
    run = dataclasses.replace(agent_run(), learning=(learning("rel-lstm", 0, rewards), learning("none", 0, rewards)))
    for line in lines(run).values():
        assert line.get_marker() not in ("", "None")  # type: ignore[attr-defined]


def test_where_no_episode_ended_nothing_is_drawn_of_learning():
    run = dataclasses.replace(agent_run(), learning=(learning("rel-lstm", 0, [np.nan, np.nan]),))
    assert set(figures_of(run)) == {"attention"}
    with pytest.raises(InputError, match="AgentRun with finished episodes"):
        plot(run, Figure().subplots())


def test_what_is_not_looked_at_has_no_colour():
    map = attention_map(episode())
    assert np.array_equal(np.isnan(map.values), np.array(LOOKS) == 0)
    assert "steps that are not stored" in map.caption
    figures_of(dataclasses.replace(agent_evaluation(), episode=episode(np.zeros((3, 3)))))


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
    blue = [sum(near(third, (x, y), (31, 119, 180)) for y in range(top, third.height)) for x in (SIDE // 3, SIDE)]
    assert blue[0] < blue[1]
    assert blue == pytest.approx([0.2 * 34, 0.8 * 34], abs=2)


def test_without_attention_the_film_is_the_world_alone():
    sizes = [frame.size for frame in frames(episode_gif(episode(np.zeros((0, 0)))))]
    assert sizes == [(SIDE, SIDE + LABEL)] * 4


def test_the_film_can_stand_inside_a_page():
    svg = episode_svg(episode())
    assert svg.startswith("<svg")
    assert 'href="data:image/gif;base64,R0lGOD' in svg


def section_rows(result):
    return present(result).rows()


def told(rows) -> dict[str, str]:
    return {name: value for name, value, _ in rows}


def test_the_answer_tells_of_how_many_networks_it_is():
    assert sentence(agent_run()) == (
        "MemoryS7, rel-lstm: reward 0.90 [0.80, 1.00] over 200 episodes of 2 networks after 61,440 frames; without memory "
        "0.48 [0.38, 0.58]"
    )
    assert sentence(agent_evaluation()) == (
        "MemoryS13, rel-lstm trained in MemoryS7: reward 0.30 [0.20, 0.40] over 100 episodes of one network; without memory "
        "0.25 [0.15, 0.35]"
    )


def test_a_single_episode_has_no_interval():
    one = dataclasses.replace(rewards("MemoryS7", "lstm", (0.9,)), interval=None, episodes=1)
    run = dataclasses.replace(agent_run(), found=one, memoryless=None)
    assert sentence(run) == (
        "MemoryS7, rel-lstm: reward 0.90 (no interval) over one episode of one network after 61,440 frames"
    )


def test_several_networks_are_told_apart_in_the_table_of_facts():
    facts = told(section_rows(agent_run()))
    assert (facts["of each seed"], facts["of each seed, without memory"]) == ("0.92 0.88", "0.50 0.46")
    alone = dataclasses.replace(agent_run(), found=rewards("MemoryS7", "rel-lstm", (0.9,)), memoryless=None)
    assert "of each seed" not in told(section_rows(alone))


def test_updates_that_differ_are_told_for_each_network():
    assert told(section_rows(agent_run()))["updates"] == "30"
    uneven = (learning("rel-lstm", 0, [0.1] * 23), learning("rel-lstm", 1, [0.1] * 25), learning("none", 0, [0.1] * 24))
    run = dataclasses.replace(agent_run(), learning=uneven)
    facts = told(section_rows(run))
    assert facts["updates"] == "23 (seed 0), 25 (seed 1)"
    assert facts["frames"] == "47,104 (seed 0), 51,200 (seed 1)"
    assert "after 47,104 to 51,200 frames" in sentence(run)
    (meaning,) = [what for name, _, what in section_rows(run) if name == "without memory"]
    assert meaning.endswith("after 24 updates.")
    weights = told(section_rows(agent_evaluation()))["weights"]
    assert weights == "of update 23; without memory of update 21"
    alike = dataclasses.replace(agent_evaluation(), networks=agent_evaluation().networks[:1] * 3)
    assert told(section_rows(alike))["weights"] == "of update 23"


@pytest.mark.parametrize("result", [agent_run(), agent_evaluation()], ids=["train", "evaluate"])
def test_notes_of_the_result_and_on_layouts_are_on_the_page(result):
    notes = section_of(result).notes
    assert notes[0].startswith("a note of the ")
    assert any("Small worlds have few layouts" in note for note in notes)
    assert any("does not exclude that the next one fails" in note for note in notes)


def test_every_world_and_agent_has_a_row():
    evaluation = agent_evaluation()
    rows = rewards_table(evaluation.transfer, evaluation.memoryless).rows
    assert [row[:2] for row in rows] == [
        *(("MemoryS7", "rel-lstm"), ("MemoryS13", "rel-lstm")),
        *(("MemoryS7", "without memory"), ("MemoryS13", "without memory")),
    ]


def test_results_of_earlier_versions_are_read():
    plain = json.loads(json.dumps(agent_run().to_json()))
    del plain["notes"], plain["episode"]["actions"], plain["episode"]["last"]
    run = AgentRun.from_json(plain)
    assert run.notes == ()
    assert section_of(run).figures[0].name == "episode"
    plain = json.loads(json.dumps(agent_evaluation().to_json()))
    del plain["networks"]
    evaluation = AgentEvaluation.from_json(plain)
    assert told(section_rows(evaluation))["weights"] == "of update 23"


def test_a_run_in_which_no_episode_ended_has_a_page():
    run = dataclasses.replace(agent_run(), learning=(learning("rel-lstm", 0, [np.nan]),))
    assert [figure.name for figure in section_of(run).figures] == ["episode", "attention"]
