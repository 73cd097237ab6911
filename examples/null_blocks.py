"""How the floor is found: blocks of the second column of pairs are permuted. Draws the picture of docs/measure.md.

python examples/null_blocks.py [FILE.png]
"""

import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

import memspan as ms
from memspan.information.null import permuted_runs
from memspan.sequences.sources import StickyChain

COLORS = plt.get_cmap("viridis")
SYMBOLS, LAG, BLOCK = 60, 5, 12.0


def draw_columns(ax: Axes, second: np.ndarray) -> None:
    """Two rows of cells: x_t, and what it is paired with; the shade is the position in the data."""
    first = np.arange(SYMBOLS)
    for row, positions in ((1.0, first), (0.0, second)):
        for place, position in enumerate(positions):
            shade = COLORS(position / (SYMBOLS + LAG))
            ax.add_patch(Rectangle((place, row), 1, 0.8, facecolor=shade, edgecolor="white", linewidth=0.4))
    ax.set_xlim(0, SYMBOLS)
    ax.set_ylim(-0.1, 1.9)
    ax.set_yticks([0.4, 1.4], ["paired with", "$x_t$"])
    ax.set_xticks([])
    ax.spines[:].set_visible(False)


def main() -> None:
    """Left: the pairs of a lag and one draw of the null. Right: raw, floor, corrected and exact information."""
    generator = np.random.default_rng(4)
    start, n = np.array([0]), np.array([SYMBOLS])
    runs = permuted_runs(start, start + LAG, n, BLOCK, generator)
    second = np.concatenate([np.arange(y, y + m) for y, m in zip(runs.y, runs.n, strict=True)])
    figure = plt.figure(figsize=(10, 3.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1.1, 1])
    upper, lower = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    draw_columns(upper, np.arange(SYMBOLS) + LAG)
    upper.set_title(f"Pairs at lag {LAG}: the same order in both columns", loc="left", fontsize=10)
    draw_columns(lower, second)
    lower.set_title("Null: the blocks of the second column are permuted", loc="left", fontsize=10)

    source = StickyChain.zipf(250, 0.5)
    lags = ms.log_lags(1, 1000)
    curve = ms.mutual_information(source.sample(1, 100_000, seed=0), lags)
    ax = figure.add_subplot(grid[:, 1])
    ax.loglog(lags, curve.information, color="0.6", label="raw estimate")
    ax.loglog(lags, curve.floor, color="0.3", linestyle="--", label="floor: mean of the null's draws")
    seen = curve.corrected > 2 * curve.error
    ax.errorbar(lags[seen], curve.corrected[seen], 2 * curve.error[seen], fmt="o", ms=4, label="corrected, ± 2 errors")
    ax.loglog(lags, source.information(lags), color="tab:red", linewidth=1, label="exact")
    ax.set_ylim(5e-4, 4)
    ax.set_xlabel("lag, symbols")
    ax.set_ylabel("information, nats")
    ax.set_title("Sticky chain, 250 symbols, N = 100,000", loc="left", fontsize=10)
    ax.legend(fontsize=8, loc="upper right")
    path = sys.argv[1] if len(sys.argv) > 1 else "null-blocks.png"
    figure.savefig(path, dpi=150)
    far = lags > 60
    print(f"floor {curve.floor[far].mean():.4f} nats, corrected beyond lag 60 {curve.corrected[far].mean():+.4f} nats")
    print(f"lags beyond 60 with p < 0.05: {100 * np.mean(curve.p_value[far] < 0.05):.0f} %")


if __name__ == "__main__":
    main()
