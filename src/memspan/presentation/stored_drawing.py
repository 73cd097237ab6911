"""Drawings that are results themselves: charts, heat maps and orbits stored as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, final

from memspan.presentation.presenter import Presenter
from memspan.results import Chart, HeatMap, Orbit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

D = TypeVar("D", Chart, HeatMap, Orbit)


class _DrawingPresenter(Presenter[D]):
    """The title is the answer, the drawing the only figure."""

    def sentence(self) -> str:
        return self.result.title

    def captions(self) -> dict[str, str]:
        return {self.result.name: self.result.caption}


@final
class ChartPresenter(_DrawingPresenter[Chart]):
    """Lines on one pair of axes."""

    result_type = Chart

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.chart import draw_chart

        draw_chart(ax, self.result)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.chart import chart_figure

        return {self.result.name: chart_figure(self.result)}


@final
class HeatMapPresenter(_DrawingPresenter[HeatMap]):
    """Values over a plane."""

    result_type = HeatMap

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.heat_map import draw_heat_map

        draw_heat_map(ax, self.result)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.heat_map import heat_map_figure

        return {self.result.name: heat_map_figure(self.result)}


@final
class OrbitPresenter(_DrawingPresenter[Orbit]):
    """States in a plane."""

    result_type = Orbit

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.orbit import draw_orbit

        draw_orbit(ax, self.result)

    def new_figures(self) -> dict[str, Figure]:
        from memspan.presentation.draw.orbit import orbit_figure

        return {self.result.name: orbit_figure(self.result)}
