"""Cao and Xu 2020: language models trained with a BMI regularizer, the mutual information between neighboring
segments.
"""

from memspan.reproductions.recipe import Recipe, Scale, Trained

RECIPES: tuple[Recipe, ...] = (
    Trained(
        id="errata-16",
        title="The discriminator of the paper and that of the program",
        source="Cao and Xu 2020, section 5, experimental setup",
        run="cao2020.discriminator:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "4 networks of 6 units on Python's own source"
            ),
            "laptop": Scale(
                "about 10 minutes",
                {"scale": "laptop"},
                "8 LSTMs of 100 units, 2,000 updates each, on the Penn Treebank",
            ),
            "paper": Scale("months", {"scale": "paper"}, "12 AWD-LSTMs, 1,000 passes at the most"),
        },
    ),
    Trained(
        id="bmi-table1",
        title="Perplexity and reverse perplexity with a second goal, and information between segments",
        source="Cao and Xu 2020, section 5.1, Table 1",
        run="cao2020.perplexity:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "6 networks of 6 units on Python's own source"
            ),
            "laptop": Scale(
                "about an hour; 10 folds for each of 20 texts: about half an hour more",
                {"scale": "laptop"},
                "36 trainings of LSTMs of 100 units on the Penn Treebank and WikiText-2, from 3 seeds",
            ),
            "paper": Scale(
                "months",
                {"scale": "paper"},
                "36 trainings of AWD-LSTMs, 1,000 passes at the most, 6 million words from each",
            ),
        },
    ),
    Trained(
        id="bmi-table2",
        title="Information between segments of generated and of real text",
        source="Cao and Xu 2020, section 5.2, Table 2",
        run="cao2020.segment_information:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "3 networks of 6 units on Python's own source"
            ),
            "laptop": Scale(
                "about an hour, or seconds with that folder",
                {"scale": "laptop"},
                "18 networks of bmi-table1 (the same folder serves both), 10 folds for each of 20 texts",
            ),
            "paper": Scale(
                "months, most of them for the networks",
                {"scale": "paper"},
                "18 AWD-LSTMs of bmi-table1, 6 million words from each",
            ),
        },
    ),
    Trained(
        id="bmi-fig2",
        title="Learning curves after the switch",
        source="Cao and Xu 2020, section 5.1, Fig. 2",
        run="cao2020.learning_curves:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "3 networks of 6 units on Python's own source"
            ),
            "laptop": Scale(
                "about half an hour, or seconds with that folder",
                {"scale": "laptop"},
                "18 networks of bmi-table1 (the same folder serves both)",
            ),
            "paper": Scale(
                "months, or seconds with its folder", {"scale": "paper"}, "18 AWD-LSTMs of bmi-table1"
            ),
        },
    ),
    Trained(
        id="bmi-fig3",
        title="The variance of gradients: policy gradients against IW-RAML",
        source="Cao and Xu 2020, section 5.3, Fig. 3",
        run="cao2020.gradient_noise:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "a network of 6 units, 4 iterations"),
            "laptop": Scale(
                "about 7 minutes, or 3 with its folder",
                {"scale": "laptop"},
                "BMI-base of bmi-table1 on the Penn Treebank, 200 iterations",
            ),
            "paper": Scale(
                "weeks for the network, then about an hour",
                {"scale": "paper"},
                "an AWD-LSTM of bmi-table1, 200 iterations",
            ),
        },
    ),
)
