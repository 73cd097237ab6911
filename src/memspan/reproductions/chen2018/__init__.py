"""Chen, Pennington and Schoenholz 2018, *Dynamical isometry and a mean field theory of RNNs*: which initial weights
let a gated RNN remember.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained

_PAPER = "Chen, Pennington and Schoenholz 2018"
_BIAS_MEANS = tuple(float(mean) for mean in range(-4, 9))
_HALVES = tuple(0.5 * k for k in range(11))
_PANELS = ("vanilla", "minimal-bias", "minimal-4", "minimal-6")
# Hidden size and embedding size that give this many millions of parameters with 10,000 words.
_WIDTHS = {5: {"lstm": 228, "gru": 233, "minimal-rnn": 240}, 20: {"lstm": 765, "gru": 805, "minimal-rnn": 882}}
# Words per window of truncated backpropagation, and updates with 20 windows that pass once through the training text.
_STEPS, _EPOCH = 35, 1_327
_PTB = {"data": "ptb", "most": 10_000, "steps": _STEPS}
# Zaremba 2014, the medium network. Its learning rate of 1 and its gradient norm of 5 are for a loss that is summed over the
# 35 steps of a window. The loss here is their mean, with a gradient 35 times smaller, so the same updates need 35 times the
# rate and a 35th of the norm.
_ZAREMBA = {
    "optimizer": "sgd",
    "learning_rate": 1.0 * _STEPS,
    "schedule": "stairs",
    "updates": 39 * _EPOCH,
    "hold": 6 * _EPOCH,
    "stair": _EPOCH,
    "anneal": 0.8,
    "clip_norm": 5.0 / _STEPS,
    "validate_every": _EPOCH,
}

# fmt: off
RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="meanfield-fig1",
        title="Correlation of two copies of a minimal RNN: theory and random networks",
        source=f"{_PAPER}, Fig. 1",
        run="chen2018.correlation:run",
        work="{bias_means!n} bias means, {untied[1]} networks of width {untied[0]}",
        sizes={
            "smoke": Scale("two seconds", {
                "bias_means": (-4.0, 2.0, 6.0), "untied": (1_024, 16, 2), "tied": (100, 4, 1),
                "averaged": 50, "tolerance": 0.06, "settling_tolerance": 0.06, "chart_points": 25,
            }),
            "laptop": Scale("about 2 minutes", {
                "bias_means": _BIAS_MEANS, "untied": (4_096, 128, 8), "tied": (512, 16, 4),
                "averaged": 300, "tolerance": 0.01, "settling_tolerance": 0.02, "chart_points": 481,
            }),
            "paper": Scale("about 12 minutes", {
                "bias_means": _BIAS_MEANS, "untied": (8_192, 1_000, 32), "tied": (1_024, 32, 8),
                "averaged": 300, "tolerance": 0.01, "settling_tolerance": 0.01, "chart_points": 481,
            }),
        },
    ),
    Trained(
        id="meanfield-fig2",
        title="Trainable sequence length and the timescale of the initialization",
        source=f"{_PAPER}, section 4.1, Fig. 2",
        run="chen2018.trainability:run",
        sizes={
            "smoke": Scale("some seconds", {
                "panels": _PANELS[:2], "data": "digits", "lengths": (3,), "values": 2, "hidden": 8,
                "updates": {"rnn": 4, "minimal-rnn": 4}, "workers": 1,
            }, "8 trainings of {updates[rnn]} updates"),
            "laptop": Scale("about 20 minutes", {
                "panels": _PANELS, "data": "digits", "lengths": (10, 25, 60, 150), "values": 9, "hidden": 128,
                "updates": {"rnn": 300, "minimal-rnn": 100}, "workers": None,
            }, "8 by 8 digits, up to {lengths[3]} steps, {hidden} units, 288 trainings"),
            "paper": Scale("days", {
                "panels": _PANELS, "data": "mnist", "lengths": (10, 30, 100, 200, 300, 500, 1_000), "values": 21,
                "hidden": 512, "updates": {"rnn": 1_000, "minimal-rnn": 100}, "workers": None,
            }, "MNIST, up to {lengths[6]} steps, {hidden} units, 1,176 trainings"),
        },
    ),
    Trained(
        id="meanfield-fig3",
        title="Critical weights learn faster",
        source=f"{_PAPER}, section 4.2, Fig. 3",
        run="chen2018.critical_training:run",
        sizes={
            "smoke": Scale("some seconds", {
                "data": "digits", "updates": {16: 60}, "goals": {16: 0.3}, "hidden": 16,
                "validate_every": 20, "workers": 1,
            }, "8 by 8 digits in 16 steps, {hidden} units"),
            "laptop": Scale("about 25 minutes", {
                "data": "mnist", "updates": {196: 600, 784: 400}, "goals": {196: 0.6, 784: 0.4}, "hidden": 128,
                "validate_every": 50, "workers": None,
            }, "MNIST in 196 and 784 steps, {hidden} units, {updates[784]} to {updates[196]} updates, 16 trainings"),
            "paper": Scale("days", {
                "data": "mnist", "updates": {196: 20_000, 784: 20_000}, "goals": {196: 0.9, 784: 0.9}, "hidden": 512,
                "validate_every": 100, "workers": None,
            }, "MNIST in 196 and 784 steps, {hidden} units, {updates[784]} updates each"),
        },
    ),
    Trained(
        id="meanfield-table1",
        title="Words of the Penn Treebank: one gate against two and three",
        source=f"{_PAPER}, section 5, Table 1",
        run="chen2018.ptb_words:run",
        sizes={
            "smoke": Scale("some seconds", {
                "task": {"data": "python", "steps": 8, "most": 50},
                "widths": {5: {"minimal-rnn": 4, "gru": 4, "lstm": 4}}, "dropout": 0.0,
                "training": {"updates": 4, "batch": 4, "validate_every": 4, "validation_batches": 1}, "workers": 1,
            }, "3 cells of {widths[5][lstm]} units on Python's own source"),
            "laptop": Scale(
                "80 minutes on a busy machine; after an hour two cells are done, and running the recipe again resumes "
                "the third", {
                "task": _PTB, "widths": {5: _WIDTHS[5]}, "dropout": 0.2,
                "training": {"updates": 6_000, "validate_every": 500}, "workers": None,
            }, "3 cells of 5 million parameters, {training[updates]} updates each"),
            "paper": Scale("days", {
                "task": {**_PTB, "restart": 0.0}, "widths": _WIDTHS, "dropout": 0.5, "training": _ZAREMBA,
                "workers": None,
            }, "3 cells of 5 and of 20 million parameters, 39 epochs with Zaremba's schedule"),
        },
    ),
    Computed(
        id="meanfield-gated",
        ours=True,
        title="LSTM and GRU timescales without training: sampled, and with real weight matrices",
        source=f"{_PAPER}, section 1 (beyond the source)",
        run="chen2018.gated_timescales:run",
        work="{bias_means} bias means per cell, {networks} networks of width {width} each",
        sizes={
            "smoke": Scale("two to three seconds", {
                "bias_means": 1, "width": 100, "networks": 16, "steps": 40, "population": 3,
                "chart_bias_means": (0.0, 1.0, 2.0),
            }, "one bias mean per cell, {networks} networks of width {width} each"),
            "laptop": Scale("about 4 minutes (8 on one core)", {
                "bias_means": 3, "width": 2_000, "networks": 2, "steps": 80, "population": 16,
                "chart_bias_means": _HALVES,
            }),
            "paper": Scale("about 25 minutes", {
                "bias_means": 3, "width": 2_000, "networks": 6, "steps": 160, "population": 32,
                "chart_bias_means": _HALVES,
            }),
        },
    ),
    Computed(
        id="errata-06",
        ours=True,
        title="Both copies share their biases: sigma_b^2 in all entries, and less of it in chi",
        source=f"{_PAPER}, Eq. 2, 3, 6, 8, 9 and 40",
        run="chen2018.shared_biases:run",
        work="{variances} bias variances and 0.7, {networks} networks of width {width}",
        sizes={
            "smoke": Scale("a second", {"variances": 2, "networks": 8, "width": 150}),
            "laptop": Scale("about a minute", {"variances": 5, "networks": 16, "width": 600}),
            "paper": Scale("about 5 minutes", {"variances": 9, "networks": 32, "width": 1_000}),
        },
    ),
    Computed(
        id="errata-07",
        ours=True,
        title="The variance of the Jacobian's squared singular values: Eq. 12, corrected",
        source=f"{_PAPER}, Eq. 12 and 13",
        run="chen2018.jacobian_variance:run",
        work="{bias_means!n} bias means; {steps} steps; width {width}",
        sizes={
            "smoke": Scale("two seconds", {
                "bias_means": (6.0,), "steps": (1, 5), "width": 128, "jacobians": 40, "one_step_jacobians": 200,
            }, "bias mean 6; {steps} steps; width {width}"),
            "laptop": Scale("about 2 minutes", {
                "bias_means": (0.0, 4.8, 6.0), "steps": (1, 5, 10), "width": 400, "jacobians": 60,
                "one_step_jacobians": 600,
            }),
            "paper": Scale("about 8 minutes", {
                "bias_means": (0.0, 4.8, 6.0), "steps": (1, 2, 5, 10), "width": 800, "jacobians": 60,
                "one_step_jacobians": 600,
            }),
        },
    ),
    Computed(
        id="errata-08",
        ours=True,
        title="How fast the variance relaxes: Eq. 34 is correct, Eq. 30, 31 and 36 are misprinted",
        source=f"{_PAPER}, appendix D, Eq. 30 to 36",
        run="chen2018.variance_relaxation:run",
        work="{bias_means!n} bias means, {networks} networks of width {width}",
        sizes={
            "smoke": Scale("a second", {
                "bias_means": (-4.0, 0.0, 4.0), "width": 16_384, "networks": 16, "tolerance": 0.02,
            }),
            "laptop": Scale("about 5 seconds", {
                "bias_means": _BIAS_MEANS, "width": 16_384, "networks": 64, "tolerance": 0.015,
            }),
            "paper": Scale("about 20 seconds", {
                "bias_means": _BIAS_MEANS, "width": 16_384, "networks": 512, "tolerance": 0.015,
            }),
        },
    ),
    Computed(
        id="errata-09",
        ours=True,
        title="Algorithm 1 does not always have a solution: where critical minimal RNNs exist",
        source=f"{_PAPER}, Algorithm 1",
        run="chen2018.critical_existence:run",
        work="{bias_means!n} bias means, {networks} networks of width {width}",
        sizes={
            "smoke": Scale("two seconds", {
                "bias_means": (2.0,), "width": 4_096, "networks": 8, "chart_points": 0,
            }, "one bias mean, {networks} networks of width {width}"),
            "laptop": Scale("about a minute", {
                "bias_means": (0.0, 2.0, 4.0, 6.0), "width": 8_192, "networks": 32, "chart_points": 28,
            }),
            "paper": Scale("about 10 minutes", {
                "bias_means": (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0), "width": 16_384, "networks": 64,
                "chart_points": 28,
            }),
        },
    ),
    Computed(
        id="errata-10",
        ours=True,
        title="The published critical point holds; a second edge of chaos lies at a bias mean of 4.59",
        source=f"{_PAPER}, Fig. 1",
        run="chen2018.edge_of_chaos:run",
        work="{networks} networks of width {width} on each branch, {steps} steps",
        sizes={
            "smoke": Scale("two seconds", {"width": 65_536, "networks": 2, "steps": 25, "chart_points": 9}),
            "laptop": Scale("about 2 minutes", {
                "width": 262_144, "networks": 4, "steps": 300, "chart_points": 121,
            }),
            "paper": Scale("about 15 minutes", {
                "width": 1_048_576, "networks": 4, "steps": 600, "chart_points": 121,
            }),
        },
    ),
)
# fmt: on
