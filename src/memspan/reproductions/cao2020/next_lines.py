"""Erratum 17 (Cao and Xu 2020, section 3.1): the "next sentence" is the next line of the file.

A line of the Penn Treebank is a sentence. A line of WikiText-2 is a paragraph or a heading, of which the program uses the
first 39 words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.data import CATALOG, find
from memspan.errors import InputError
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.corpora import missing
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

# Words of a segment, without its end.  The published program: 40 with the end.
WORDS = 39
ENDS = {".", "!", "?"}
# One sentence per line, and one paragraph per line.
SENTENCES, PARAGRAPHS = "ptb", "wikitext-2"
NAMES = {SENTENCES: "the Penn Treebank", PARAGRAPHS: "WikiText-2"}
# What claims are about where these are not read.
ARTIFICIAL = {SENTENCES: "an artificial text of sentences", PARAGRAPHS: "an artificial text of paragraphs"}


def run(*, artificial: int, seed: int, progress: Progress) -> Outcome:
    """Read the training texts line by line; with `artificial` > 0, that many artificial lines of each kind instead."""
    progress.say("reading lines")
    texts, names = (artificial_texts(artificial, seed), ARTIFICIAL) if artificial else (_texts(), NAMES)
    if not texts:
        raise InputError(f"errata-17 found no text: {'; '.join(map(missing, NAMES))}")
    lines = {name: TextLines.of(text) for name, text in texts.items()}
    notes = [missing(name) for name in NAMES if name not in lines]
    claims: list[Claim] = []
    if SENTENCES in lines:
        claims += sentence_claims(lines[SENTENCES], names[SENTENCES])
    if PARAGRAPHS in lines:
        claims += paragraph_claims(lines[PARAGRAPHS], names[PARAGRAPHS])
    notes += [f"In {names[name]}: {own}" for name, own in lines.items()]
    return Outcome(tuple(claims), (_chart(lines, names),), (*notes, _NOTE))


@final
@dataclass(frozen=True, eq=False)
class TextLines:
    """The non-empty lines of a text, in order."""

    words: NDArray[np.int64]
    """Of each line."""
    sentences: NDArray[np.int64]
    """Of each line, at least one."""
    headings: NDArray[np.bool_]
    """Lines between equals signs, as in WikiText."""
    sentence_words: NDArray[np.int64]
    """Of each sentence, if lines without headings are split after . ! and ?"""

    @classmethod
    def of(cls, text: str) -> TextLines:
        """
        >>> TextLines.of("= A = \\n \\n It is . So ? \\n").sentences.tolist()
        [1, 2]
        """
        rows = [words for row in text.splitlines() if (words := row.split())]
        headings = np.array([row[0] == row[-1] == "=" and len(row) > 2 for row in rows], np.bool_)
        lengths = [_sentence_lengths(row) for row in rows]
        plain = [length for row, heading in zip(lengths, headings, strict=True) if not heading for length in row]
        return cls(
            np.array([len(row) for row in rows]), np.array([len(row) for row in lengths]), headings, np.array(plain)
        )

    @property
    def dropped(self) -> float:
        """Share of the words beyond those of a segment, which no pair contains."""
        return float(np.maximum(self.words - WORDS, 0).sum() / self.words.sum())

    @property
    def consecutive(self) -> float:
        """Share of the pairs of lines that are two consecutive sentences: no heading, one sentence each, the first whole."""
        sentence = ~self.headings & (self.sentences == 1)
        return float((sentence[:-1] & sentence[1:] & (self.words[:-1] <= WORDS)).mean())

    @property
    def adjacent(self) -> float:
        """Share of the pairs whose second segment begins right after the end of the first."""
        return float((self.words[:-1] <= WORDS).mean())

    def __str__(self) -> str:
        return (
            f"{len(self.words):,} lines of {self.words.mean():.1f} words in the mean, {self.headings.mean():.0%} of them "
            f"headings; {self.dropped:.0%} of the words are beyond word {WORDS} of their line; "
            f"{self.consecutive:.0%} of the pairs of lines are two consecutive sentences."
        )


def _sentence_lengths(words: list[str]) -> list[int]:
    ends = [place + 1 for place, word in enumerate(words) if word in ENDS]
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    return np.diff([0, *ends]).tolist()


def _texts() -> dict[str, str]:
    found = {}
    for name in NAMES:
        folder = find(name)
        if folder is not None:
            (file,) = [file for file in CATALOG[name].files if file.split == "train"]
            found[name] = (folder / file.name).read_text(encoding="utf-8")
    return found


def artificial_texts(lines: int, seed: int) -> dict[str, str]:
    """Lines of one sentence; and paragraphs of two to eight with a heading before every third."""
    rng = np.random.default_rng([seed, 17])

    def sentence() -> str:
        return " ".join(["word"] * int(rng.integers(8, 35)))

    plain = "\n".join(sentence() for _ in range(lines))
    rows = []
    for number in range(lines):
        if number % 3 == 0:
            rows.append("= Heading =\n\n")
        rows.append(" ".join(f"{sentence()} ." for _ in range(int(rng.integers(2, 9)))) + "\n\n")
    return {SENTENCES: plain, PARAGRAPHS: "".join(rows)}


def sentence_claims(lines: TextLines, name: str) -> list[Claim]:
    """The Penn Treebank: what the paper says holds."""
    return [
        claim(
            f"In {name} the next line is the next sentence.",
            measure="the share of pairs that are two consecutive sentences, the first of them whole; holds above 0.9",
        ).above(lines.consecutive, 0.9, paper=1.0)
    ]


def paragraph_claims(lines: TextLines, name: str) -> list[Claim]:
    """WikiText-2: lines are paragraphs."""
    body = lines.sentences[~lines.headings]
    kept = float((lines.sentence_words <= WORDS).mean())
    return [
        claim(
            f"In {name} the next line is not the next sentence.",
            measure="the share of pairs that are two consecutive sentences; fails as printed if below 0.1",
        ).below(lines.consecutive, 0.1, paper=1.0),
        claim(
            f"Lines of {name} without headings are paragraphs.", measure="the mean number of sentences; holds above 2"
        ).above(body.mean(), 2.0, paper=1.0),
        claim(
            f"Some lines of {name} are headings, which are paired like sentences.",
            measure="their share; holds above 0.1",
        ).above(lines.headings.mean(), 0.1, paper=0.0),
        claim(
            f"Most words of {name} are beyond word {WORDS} of their line, and belong to no segment.",
            measure="their share",
        ).above(lines.dropped, 0.5, paper=0.0),
        claim(
            f"Most pairs of {name} have a gap: the second segment does not begin where the first ends.",
            measure="the share of pairs without a gap",
        ).below(lines.adjacent, 0.5, paper=1.0),
        claim(
            f"If paragraphs are split into sentences, most of these fit into {WORDS} words.",
            measure="their share; holds above 0.8",
        ).above(kept, 0.8),
    ]


def _chart(lines: dict[str, TextLines], names: dict[str, str]) -> Chart:
    at = np.unique(np.rint(np.geomspace(1, 400, 80)).astype(np.int64))

    def share(words: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.searchsorted(np.sort(words), at, side="right") / len(words)

    drawn = [line(f"{names[name]}: lines", at, share(own.words)) for name, own in lines.items()]
    if PARAGRAPHS in lines:
        drawn.append(line(f"{names[PARAGRAPHS]}: sentences", at, share(lines[PARAGRAPHS].sentence_words)))
    return chart(
        "lengths",
        "Lines of WikiText-2 are paragraphs and headings",
        "words",
        "share of lines with at most this number of words",
        [*drawn, line(f"a segment, {WORDS} words", [WORDS, WORDS], [0, 1], style="dashed")],
        "How long lines are; the smoke scale uses artificial texts. A line of the Penn Treebank is a sentence and fits "
        "into a segment. Of WikiText-2, headings are shorter than any sentence, and paragraphs are several times longer "
        "than a segment. Its sentences, split at full stops, question and exclamation marks, would fit.",
        log="x",
    )


_NOTE = (
    "The Penn Treebank of this benchmark has no punctuation, so its lines count as one sentence. Sentences of WikiText-2 "
    "are split after . ! and ?, which also ends some abbreviations. memspan uses lines, too; windows of equal length are "
    "available as --set bmi.segments=windows."
)
