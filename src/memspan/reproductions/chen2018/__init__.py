"""Chen, Pennington and Schoenholz 2018, *Dynamical isometry and a mean field theory of RNNs*: which initial weights
let a gated RNN remember.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained

RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="meanfield-fig1",
        title="How alike two copies of a minimal RNN become: theory against random networks",
        source="Chen, Pennington and Schoenholz 2018, Fig. 1",
        run="chen2018.correlation:run",
        sizes={
            "smoke": Scale("two seconds", {"scale": "smoke"}, "3 bias means, 16 networks of width 1,024"),
            "laptop": Scale(
                "about 2 minutes", {"scale": "laptop"}, "13 bias means, 128 networks of width 4,096"
            ),
            "paper": Scale(
                "about 12 minutes", {"scale": "paper"}, "13 bias means, 1,000 networks of width 8,192"
            ),
        },
    ),
    Trained(
        id="meanfield-fig2",
        title="How long a sequence can be learnt from which weights",
        source="Chen, Pennington and Schoenholz 2018, section 4.1, Fig. 2",
        run="chen2018.trainability:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "8 trainings of 4 updates"),
            "laptop": Scale(
                "about 20 minutes",
                {"scale": "laptop"},
                "8 by 8 digits, up to 150 steps, 128 units, 288 trainings",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "MNIST, up to 1,000 steps, 512 units, 1,176 trainings"
            ),
        },
    ),
    Trained(
        id="meanfield-fig3",
        title="Critical weights learn sooner",
        source="Chen, Pennington and Schoenholz 2018, section 4.2, Fig. 3",
        run="chen2018.critical_training:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "8 by 8 digits in 16 steps, 16 units"),
            "laptop": Scale(
                "about 25 minutes",
                {"scale": "laptop"},
                "MNIST in 196 and 784 steps, 128 units, 400 to 600 updates, 16 trainings",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "MNIST in 196 and 784 steps, 512 units, 20,000 updates each"
            ),
        },
    ),
    Trained(
        id="meanfield-table1",
        title="Words of the Penn Treebank: one gate against two and three",
        source="Chen, Pennington and Schoenholz 2018, section 5, Table 1",
        run="chen2018.ptb_words:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "3 cells of 4 units on Python's own source"),
            "laptop": Scale(
                (
                    "80 minutes beside other work; an hour is enough for two of them, and the third goes on "
                    "when the recipe is run again"
                ),
                {"scale": "laptop"},
                "3 cells of 5 million parameters, 6,000 updates each",
            ),
            "paper": Scale(
                "days",
                {"scale": "paper"},
                "3 cells of 5 and of 20 million parameters, 39 passes with Zaremba's schedule",
            ),
        },
    ),
    Computed(
        id="meanfield-gated",
        title="LSTM and GRU timescales without training: sampled, and with real weight matrices",
        source="Chen, Pennington and Schoenholz 2018, section 1 (beyond the source)",
        run="chen2018.gated_timescales:run",
        sizes={
            "smoke": Scale(
                "two to three seconds", {"scale": "smoke"}, "one bias mean per cell, 16 networks of width 100"
            ),
            "laptop": Scale(
                "about 4 minutes (8 on one core)",
                {"scale": "laptop"},
                "three bias means per cell, 2 networks of width 2,000 each",
            ),
            "paper": Scale(
                "about 25 minutes",
                {"scale": "paper"},
                "three bias means per cell, 6 networks of width 2,000 each, twice the steps",
            ),
        },
    ),
    Computed(
        id="errata-06",
        title="Biases are shared by both copies: sigma_b^2 in all entries, and less of it in chi",
        source="Chen, Pennington and Schoenholz 2018, Eq. 2, 3, 6, 8, 9 and 40",
        run="chen2018.shared_biases:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "3 spreads of biases, 8 networks of width 150"),
            "laptop": Scale(
                "about a minute", {"scale": "laptop"}, "6 spreads of biases, 16 networks of width 600"
            ),
            "paper": Scale(
                "about 5 minutes", {"scale": "paper"}, "10 spreads of biases, 32 networks of width 1,000"
            ),
        },
    ),
    Computed(
        id="errata-07",
        title="The spread of the Jacobian's singular values: Eq. 12, corrected",
        source="Chen, Pennington and Schoenholz 2018, Eq. 12 and 13",
        run="chen2018.jacobian_variance:run",
        sizes={
            "smoke": Scale("two seconds", {"scale": "smoke"}, "bias mean 6, up to 5 steps, width 128"),
            "laptop": Scale(
                "about 2 minutes", {"scale": "laptop"}, "3 bias means, up to 10 steps, width 400"
            ),
            "paper": Scale("about 8 minutes", {"scale": "paper"}, "3 bias means, up to 10 steps, width 800"),
        },
    ),
    Computed(
        id="errata-08",
        title="How fast the variance settles: Eq. 34 is right, Eq. 30, 31 and 36 are misprinted",
        source="Chen, Pennington and Schoenholz 2018, appendix D, Eq. 30 to 36",
        run="chen2018.variance_relaxation:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "3 bias means, 16 networks of width 16,384"),
            "laptop": Scale(
                "about 5 seconds", {"scale": "laptop"}, "13 bias means, 64 networks of width 16,384"
            ),
            "paper": Scale(
                "about 20 seconds", {"scale": "paper"}, "13 bias means, 512 networks of width 16,384"
            ),
        },
    ),
    Computed(
        id="errata-09",
        title="Algorithm 1 does not always have an answer: where critical minimal RNNs exist",
        source="Chen, Pennington and Schoenholz 2018, Algorithm 1",
        run="chen2018.critical_existence:run",
        sizes={
            "smoke": Scale("two seconds", {"scale": "smoke"}, "one bias mean, 8 networks of width 4,096"),
            "laptop": Scale(
                "about a minute", {"scale": "laptop"}, "4 bias means, 32 networks of width 8,192"
            ),
            "paper": Scale(
                "about 10 minutes", {"scale": "paper"}, "7 bias means, 64 networks of width 16,384"
            ),
        },
    ),
    Computed(
        id="errata-10",
        title="The published critical point holds; a second edge of chaos lies at a bias mean of 4.59",
        source="Chen, Pennington and Schoenholz 2018, Fig. 1",
        run="chen2018.second_critical_point:run",
        sizes={
            "smoke": Scale(
                "two seconds", {"scale": "smoke"}, "2 networks of width 65,536 on each branch, 25 steps"
            ),
            "laptop": Scale(
                "about 2 minutes",
                {"scale": "laptop"},
                "4 networks of width 262,144 on each branch, 300 steps",
            ),
            "paper": Scale(
                "about 15 minutes",
                {"scale": "paper"},
                "4 networks of width 1,048,576 on each branch, 600 steps",
            ),
        },
    ),
)
