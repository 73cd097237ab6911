"""One `Presenter` per result type: everything people see of a result, on the terminal, on a page, in figures and notebooks.

`present(result)` looks the type up in one table and loads only that presenter; `read_result` goes from the `command` in
`result.json` to the result. A presenter pairs a result with the unit of information it is shown in, and draws each
figure once, so that saved figures and the page cannot differ.
"""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from memspan.errors import CorruptError, InputError
from memspan.presentation.numbers import unit_of
from memspan.presentation.page.section import MEANING, Illustration, Listing, Row, Section, TextTable
from memspan.results.display import Notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memspan.presentation.draw.style import StyleName
    from memspan.results import Chart, Curve, HeatMap, Measurement, Orbit

Block: TypeAlias = "TextTable | str"
"""What the terminal prints: a table without its caption, or a paragraph."""
R = TypeVar("R", bound=Notebook)

# Result type -> module and class of its presenter.
_PRESENTERS = {
    "Measurement": "measurement:MeasurementPresenter",
    "Curve": "measurement:CurvePresenter",
    "DecayFit": "measurement:DecayPresenter",
    "Comparison": "comparison:ComparisonPresenter",
    "Prediction": "prediction:PredictionPresenter",
    "LinearPrediction": "linear_prediction:LinearPredictionPresenter",
    "AttentionPrediction": "attention_prediction:AttentionPredictionPresenter",
    "Memorization": "memorization:MemorizationPresenter",
    "TrainingRun": "training:TrainingPresenter",
    "Evaluation": "evaluation:EvaluationPresenter",
    "Diagnosis": "diagnosis:DiagnosisPresenter",
    "AgentRun": "agent:AgentRunPresenter",
    "AgentEvaluation": "agent:AgentEvaluationPresenter",
    "Sample": "sample:SamplePresenter",
    "Reproduction": "reproduction:ReproductionPresenter",
    "BenchReport": "benchmark:BenchmarkPresenter",
    "Chart": "stored_drawing:ChartPresenter",
    "HeatMap": "stored_drawing:HeatMapPresenter",
    "Orbit": "stored_drawing:OrbitPresenter",
}
# Command in `result.json` -> result type.
_COMMANDS = {
    "measure": "Measurement",
    "compare": "Comparison",
    "reproduce": "Reproduction",
    "memorize": "Memorization",
    "bench": "BenchReport",
    "predict": "Prediction",
    "train": "TrainingRun",
    "resume": "TrainingRun",
    "evaluate": "Evaluation",
    "diagnose": "Diagnosis",
}
# (command, field, its value) -> result type, where a command has several.
_VARIANTS = {
    ("predict", "cell", "linear"): "LinearPrediction",
    ("predict", "cell", "attention"): "AttentionPrediction",
    ("train", "task", "gridworld"): "AgentRun",
    ("resume", "task", "gridworld"): "AgentRun",
    ("evaluate", "task", "gridworld"): "AgentEvaluation",
}


class Presenter(ABC, Generic[R]):
    """A result and the unit it is shown in. A subclass says what there is; this class puts it together.

    Nothing is computed here: a page can be made again from `result.json`. `bits` shows mutual information in bits
    instead of nats; `style` is that of saved figures, pages always have the style `report`.
    """

    result_type: ClassVar[type]
    table_caption: ClassVar[str] = "Results"

    def __init__(self, result: R, *, bits: bool = False, style: StyleName = "report") -> None:
        self.result: R = result
        self.bits = bits
        self.style: StyleName = style
        self.unit, self.scale = unit_of(bits)

    @abstractmethod
    def sentence(self) -> str:
        """The answer in one line, the same everywhere."""

    def title(self) -> str:
        """The heading of the section."""
        return self.sentence()

    def page_title(self) -> str:
        """The heading of a page that shows only this result."""
        return self.title()

    def explanation(self) -> tuple[str, ...]:
        """Paragraphs that explain what was done and what the numbers mean."""
        return ()

    def rows(self) -> tuple[Row, ...]:
        """Every quantity with its value and its meaning."""
        return ()

    def table(self) -> TextTable:
        """The main table."""
        return TextTable(self.table_caption, MEANING, self.rows(), stacked=True)

    def details(self) -> tuple[TextTable, ...]:
        """Further tables of the section."""
        return ()

    def listings(self) -> tuple[Listing, ...]:
        """Texts of the section."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """Caveats that a reader should know."""
        return getattr(self.result, "notes", ())

    def blocks(self) -> Iterator[Block]:
        """What the terminal prints below the sentence."""
        yield facts(self.rows())
        yield from note_lines(self.notes())

    def drawings(self) -> Sequence[Chart | HeatMap | Orbit]:
        """Figures that are plain data; a presenter with other figures overrides `new_figures` and `captions`."""
        return ()

    def captions(self) -> dict[str, str]:
        """The caption of each figure, by name."""
        return {drawing.name: drawing.caption for drawing in self.drawings()}

    def new_figures(self) -> dict[str, Figure]:
        """Newly drawn figures in the style `report`, by name."""
        drawings = self.drawings()
        names = [drawing.name for drawing in drawings]
        if len(set(names)) < len(names):
            kind = type(self.result).__name__
            raise ValueError(f"the figures of a {kind} need different names, got {', '.join(names)}")
        return {name: figure for one in drawings for name, figure in present(one).new_figures().items()}

    def panels(self) -> Mapping[str, Notebook]:
        """What the style `paper` draws, each on axes of its own."""
        return {drawing.name: drawing for drawing in self.drawings()}

    def draw(self, ax: Axes) -> None:  # noqa: ARG002
        """The main figure on given axes."""
        raise InputError(_not_drawable(self.result))

    def paper_height(self) -> float:
        """Inches of a panel in the style `paper`."""
        from memspan.presentation.draw.style import PAPER_SIZE

        return PAPER_SIZE[1]

    def write_extra_files(self, folder: Path) -> None:
        """Files next to the figures, such as an animation."""

    def figures(self) -> dict[str, Figure]:
        """Every figure by name; each belongs to the caller and needs no closing."""
        from memspan.presentation.draw.style import check_style, drawing_style, settle

        check_style(self.style)
        with drawing_style(self.style):
            figures = self.new_figures() if self.style == "report" else self._paper_figures()
            for figure in figures.values():
                settle(figure)
        return figures

    def _paper_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.style import PAPER_SIZE, new_figure

        figures = {}
        for name, drawing in self.panels().items():
            panel = self if drawing is self.result else present(drawing, bits=self.bits, style=self.style)
            figures[name] = new_figure(PAPER_SIZE[0], panel.paper_height())
            ax = figures[name].subplots()
            panel.draw(ax)
            ax.set_title("", loc="left")
        return figures

    @functools.cached_property
    def _drawn(self) -> dict[str, tuple[Figure, bytes]]:
        """Figures of the style `report` with their SVG files, drawn once for the folder and the page."""
        from memspan.presentation.draw.style import svg_bytes

        figures = self.figures() if self.style == "report" else present(self.result, bits=self.bits).figures()
        return {name: (figure, svg_bytes(figure)) for name, figure in figures.items()}

    def illustrations(self) -> tuple[Illustration, ...]:
        """The figures as elements of a page."""
        from memspan.presentation.draw.style import svg_element

        captions = self.captions()
        return tuple(Illustration(name, svg_element(svg), captions[name]) for name, (_, svg) in self._drawn.items())

    def section(self) -> Section:
        """The section of a page."""
        return Section(
            title=self.title(),
            answer=self.sentence(),
            explanation=self.explanation(),
            table=self.table(),
            figures=self.illustrations(),
            details=self.details(),
            listings=self.listings(),
            notes=self.notes(),
        )

    def write_figures(self, folder: Path) -> None:
        """`folder/NAME.svg` and `.png`; in the style `paper` also `.pdf`."""
        from memspan.presentation.draw.style import save

        if self.style == "report":
            for name, (figure, svg) in self._drawn.items():
                save(figure, folder, name, svg=svg)
        else:
            for name, figure in self.figures().items():
                save(figure, folder, name, style=self.style)
        self.write_extra_files(folder)

    def write_page(self, path: Path) -> None:
        """The page of this result alone."""
        from memspan.presentation.page.section import render
        from memspan.results.files import write_text

        write_text(path, render([self.section()], self.page_title()))


def facts(rows: Iterable[Row]) -> TextTable:
    """Names and values for the terminal; the meanings are in the report.

    >>> facts([("span", "7", "The last significant lag.")]).rows
    (('span', '7'),)
    """
    return TextTable("", (), tuple(row[:2] for row in rows))


def note_lines(notes: Iterable[str]) -> Iterator[str]:
    """Notes for the terminal, each once."""
    return (f"note: {note}" for note in dict.fromkeys(notes))


def present(result: Notebook, *, bits: bool = False, style: StyleName = "report") -> Presenter[Any]:
    """The presenter of a result; `bits` shows mutual information in bits instead of nats."""
    kind = type(result)
    if kind.__name__ not in _PRESENTERS or not kind.__module__.startswith("memspan.results"):
        raise InputError(f"cannot present a {kind.__name__}; expected a result of memspan")
    return _presenter_class(kind.__name__)(result, bits=bits, style=style)


def _presenter_class(name: str) -> type[Presenter[Any]]:
    module, _, attribute = _PRESENTERS[name].partition(":")
    return getattr(importlib.import_module(f"memspan.presentation.{module}"), attribute)


def sentence(result: Notebook, *, bits: bool = False) -> str:
    """The answer in one line; `bits` gives mutual information in bits instead of nats.

    `novel.txt: reach 40 [36, 43] characters at 0.001 nats; dependence visible to 340 [261, 464] characters (1.1 M symbols);
    power law, exponent 0.41 [0.38, 0.44]`
    """
    return present(result, bits=bits).sentence()


def section_of(result: Notebook, *, bits: bool = False) -> Section:
    """The section of a page for any result."""
    return present(result, bits=bits).section()


def figures_of(result: Notebook, *, bits: bool = False, style: StyleName = "report") -> dict[str, Figure]:
    """Every figure of a result by name, each a figure of its own that needs no closing.

    In the style `paper` each is one panel of 3.4 x 2.4 inches without a title.
    """
    return present(result, bits=bits, style=style).figures()


def plot(
    result: Notebook | Mapping[str, Curve | Measurement] | Sequence[Curve | Measurement],
    ax: Axes | None = None,
    *,
    bits: bool = False,
    style: StyleName = "report",
) -> Axes:
    """Draw a result on one pair of axes and return them; `bits` shows information in bits instead of nats.

    A list of curves or measurements, or a dictionary of them by name, shares the axes. `style` is `report`, or `paper`:
    no title, short labels and a size of 3.4 x 2.4 inches. Without `ax` the axes are those of a new pyplot figure, so that
    a notebook or `pyplot.show()` shows them.
    """
    from memspan.presentation.draw.style import check_style, drawing_style, pyplot_axes

    check_style(style)
    with drawing_style(style):
        axes = pyplot_axes(style) if ax is None else ax
        if isinstance(result, Mapping | list | tuple):
            from memspan.presentation.draw.comparison import draw_curves

            draw_curves(axes, _by_name(result), bits=bits, style=style)
        elif type(result).__name__ in _PRESENTERS:
            present(result, bits=bits, style=style).draw(axes)  # pyright: ignore[reportArgumentType]
        else:
            raise InputError(_not_drawable(result))
        if style == "paper":
            axes.set_title("", loc="left")
    return axes


def _by_name(
    curves: Mapping[str, Curve | Measurement] | Sequence[Curve | Measurement],
) -> dict[str, Curve | Measurement]:
    """Curves by name; those of a list are named by their data, or by their position."""
    from memspan.results import Curve, Measurement

    if isinstance(curves, Mapping):
        named = {str(name): one for name, one in curves.items()}
    else:
        names = [
            one.name if isinstance(one, Measurement) else f"curve {place}" for place, one in enumerate(curves, start=1)
        ]
        repeated = len(set(names)) < len(names)
        named = {
            f"{name} ({place})" if repeated else name: one
            for place, (name, one) in enumerate(zip(names, curves, strict=True), start=1)
        }
    wrong = next((one for one in named.values() if not isinstance(one, Curve | Measurement)), None)
    if not named or wrong is not None:
        raise InputError(
            f"cannot draw {'nothing' if wrong is None else f'a {type(wrong).__name__}'} among several curves; expected "
            "one or more of Curve and Measurement, such as plot({'novel': curve, 'letters': other})"
        )
    return named


def _not_drawable(result: object) -> str:
    return (
        f"cannot draw a {type(result).__name__}; expected a Curve, Measurement, Comparison, Memorization, BenchReport, "
        "TrainingRun, Evaluation with delays, Diagnosis, AgentRun with finished episodes, Chart, HeatMap or Orbit, or "
        "several of Curve and Measurement; plot the charts of a Reproduction or a prediction one by one: they are in its "
        "`figures`"
    )


def read_result(path: Path) -> Notebook:
    """The result in a file that a command wrote, of the type that its field `command` names."""
    from memspan.results.encoding import read_object
    from memspan.results.shapes import mismatch

    plain = read_object(path)
    command = plain["command"]
    if command not in _COMMANDS:
        known = ", ".join(_COMMANDS)
        raise CorruptError(f"{path} is of the command {command!r}; this version shows {known}; move it or update")
    variants = (name for (of, field, value), name in _VARIANTS.items() if of == command and plain.get(field) == value)
    name = next(variants, _COMMANDS[command])
    try:
        result = _presenter_class(name).result_type.from_json(plain)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        what = f"{path} is damaged ({type(error).__name__}: {error})"
        raise CorruptError(f"{what}; expected the fields of {command}; run the command again") from error
    wrong = mismatch(result)
    if wrong is not None:
        what = f"{path} is damaged ({wrong})"
        raise CorruptError(f"{what}; expected lists of equal length; run the command again")
    return result
