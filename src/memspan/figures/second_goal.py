"""How much neighbours tell of each other, along a training with a second goal."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from memspan.figures.chart import chart_figure
from memspan.results import Chart, TrainingRun, line

CAPTION = (
    "A lower bound on what a segment tells of the next, by the discriminator of the second goal, of the pairs that it "
    "learns from; each point is a mean since the one before. The dashed line is the switch, from when on segments nearby "
    "are learnt, too; without it there was none."
)


def goal_figures(run: TrainingRun) -> dict[str, Figure]:
    """The bound against updates; none where there is no second goal."""
    goal = run.second_goal
    if goal is None or not np.isfinite(goal.bound).any():
        return {}
    lines = [line("bound on information", goal.logged, goal.bound)]
    if goal.switched:
        ends = float(np.nanmin(goal.bound)), float(np.nanmax(goal.bound))
        lines.append(line("the switch", [goal.switched] * 2, ends, style="dashed"))
    chart = Chart(
        name="bound",
        title="What neighbouring segments tell of each other",
        x_label="updates",
        y_label="information (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption=CAPTION,
    )
    return {"bound": chart_figure(chart)}
