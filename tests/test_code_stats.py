"""The size and shape of the package stay within the limits of its design."""

from __future__ import annotations

import pytest

from code_stats import CodeStats, code_stats


@pytest.fixture(scope="module")
def stats() -> CodeStats:
    return code_stats()


def test_files_are_few_and_full(stats):
    assert stats.files <= 360
    assert len(stats.small) <= 50, stats.small
    assert len(stats.single_importer) <= 60, stats.single_importer
    assert stats.crowded == ()


def test_the_code_is_short(stats):
    assert stats.code_lines <= 48_000
    assert stats.code_lines < stats.lines


def test_a_class_name_means_one_thing(stats):
    assert stats.repeated_classes == ()


def test_no_modules_import_each_other(stats):
    assert stats.cycles == ()


def test_comments_explain_the_code(stats):
    assert stats.comment_share >= 0.02
