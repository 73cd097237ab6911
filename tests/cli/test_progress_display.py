"""What a waiting person sees on standard error, and when."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from memspan.cli.progress import BarProgress, PlainProgress, showing
from memspan.progress import SILENT


def test_quiet_says_nothing(memspan, novel):
    assert memspan("measure", novel, "--max-lag", 5, "--quiet").err == ""


def test_plain_lines_are_rare(capsys):
    with PlainProgress(interval=10.0).stage("counting", total=1000) as stage:
        for _ in range(1000):
            stage.advance()
    assert capsys.readouterr().err == ""


def test_plain_lines_say_how_far_and_how_long(capsys):
    with PlainProgress(interval=0.0).stage("counting", total=4) as stage:
        stage.advance()
    assert capsys.readouterr().err == "counting: 25 %, about 0 s left\n"


def test_what_was_done_before_does_not_count_for_the_speed(capsys, monkeypatch):
    clock = iter([0.0, 0.0, 10.0, 10.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with PlainProgress(interval=5.0).stage("training", total=100, done=50) as stage:
        stage.advance(10)
    assert capsys.readouterr().err == "training: 60 %, about 40 s left\n"


def test_remarks_come_at_once_and_go_to_standard_error(capsys):
    PlainProgress().say("compiling, once")
    assert capsys.readouterr() == ("", "compiling, once\n")


def test_a_stage_of_unknown_size_is_named(capsys):
    with PlainProgress(interval=0.0).stage("reading", total=0) as stage:
        stage.advance()
    assert capsys.readouterr().err == "reading\n"


def test_threads_may_advance_the_same_stage(capsys):
    with PlainProgress(interval=0.0).stage("counting", total=400) as stage:
        threads = [threading.Thread(target=lambda: [stage.advance() for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert capsys.readouterr().err.splitlines()[-1].startswith("counting: 100 %")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error as a terminal; not a fixture, because pytest puts its own stream there before a test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_on_a_terminal_a_bar_is_drawn_and_taken_away(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with showing(quiet=False) as progress:
        assert isinstance(progress, BarProgress)
        progress.say("compiling [once]")
        with progress.stage("counting 60 lags", total=10) as stage:
            stage.advance(5)
            progress._bars.refresh()
    shown = terminal.getvalue()
    assert "compiling [once]" in shown
    assert "counting 60 lags" in shown
    assert "\x1b[2K" in shown  # the line is erased


def test_quiet_wins_over_the_terminal(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with showing(quiet=True) as progress:
        assert progress is SILENT
    assert terminal.getvalue() == ""
