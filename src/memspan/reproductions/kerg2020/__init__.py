"""Kerg et al. 2020, *Untangling tradeoffs between recurrence and self-attention*: how attention carries gradients
back, and how few states are enough.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained

RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="relevance-proposition1",
        title="The gradient through attention, and its parts by number of factors",
        source="Kerg 2020, section 3.1 and appendix A.2, Proposition 1",
        run="kerg2020.gradient_paths:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "3 networks of 4 units, 14 steps"),
            "laptop": Scale("about 5 seconds", {"scale": "laptop"}, "20 networks of 8 units, 40 steps"),
            "paper": Scale("about a minute", {"scale": "paper"}, "50 networks of 16 units, 60 steps"),
        },
    ),
    Computed(
        id="relevance-theorem1",
        title="Under uniform attention gradients fall no faster than 1/T: true for some eigenvalues only",
        source="Kerg 2020, section 3.2 and appendix A.3, Theorem 1",
        run="kerg2020.uniform_attention:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "lengths up to 100,000"),
            "laptop": Scale(
                "about 15 seconds", {"scale": "laptop"}, "lengths up to a million, 1,000 random eigenvalues"
            ),
            "paper": Scale(
                "about a minute", {"scale": "paper"}, "lengths up to 10 million, 3,000 random eigenvalues"
            ),
        },
    ),
    Computed(
        id="relevance-theorem2",
        title="The dependency depth bounds the gradient through sparse attention from below",
        source="Kerg 2020, section 3.3 and appendix A.4, Theorem 2",
        run="kerg2020.sparse_attention:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "150 random patterns"),
            "laptop": Scale("about 10 seconds", {"scale": "laptop"}, "3,000 random patterns"),
            "paper": Scale("about a minute and a half", {"scale": "paper"}, "20,000 random patterns"),
        },
    ),
    Computed(
        id="errata-11",
        title="Under uniform attention the gradient goes as T^(Re(lambda/(1-lambda)) - 1)",
        source="Kerg 2020, appendix A.3, Proposition 4",
        run="kerg2020.attention_exponent:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "length 40,000"),
            "laptop": Scale("about 5 seconds", {"scale": "laptop"}, "length 400,000"),
            "paper": Scale("about a minute", {"scale": "paper"}, "length 4 million"),
        },
    ),
    Computed(
        id="errata-12",
        title="What may become relevant is the state that leaves the short-term buffer",
        source="Kerg 2020, section 4, Algorithm 1, lines 6 and 7",
        run="kerg2020.promotion_age:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "3 sequences of 40 steps"),
            "laptop": Scale("about 5 seconds", {"scale": "laptop"}, "20 sequences of 100 steps"),
            "paper": Scale("about a minute", {"scale": "paper"}, "50 sequences of 400 steps"),
        },
    ),
    Computed(
        id="errata-13",
        title="The state and what was remembered: their mean in the program, their sum in the paper",
        source="Kerg 2020, sections 3 and 4, Eq. 2 and Algorithm 1, line 12",
        run="kerg2020.state_combination:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "3 networks of 16 units"),
            "laptop": Scale("some seconds", {"scale": "laptop"}, "20 networks of 128 units"),
            "paper": Scale("about half a minute", {"scale": "paper"}, "100 networks of 128 units"),
        },
    ),
    Trained(
        id="relevance-fig1",
        title="What a fully attentive network looks at when it recalls",
        source="Kerg 2020, section 1, Fig. 1",
        run="kerg2020.attention_weights:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 trainings of 10 updates"),
            "laptop": Scale(
                "about 5 minutes",
                {"scale": "laptop"},
                "copy and denoise over 40 steps, 128 units, 6,000 updates",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "copy and denoise over 100 steps, 128 units, 200,000 updates"
            ),
        },
    ),
    Trained(
        id="relevance-fig2",
        title="Gradients that reach back after training, and the memory they cost",
        source="Kerg 2020, section 5, Fig. 2, left and right",
        run="kerg2020.gradient_norms:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "3 cells of 8 units, 5 updates"),
            "laptop": Scale(
                "about an hour",
                {"scale": "laptop"},
                "3 cells of 128 units, denoise over 400 steps, RelLSTM after 100 steps and from 3 seeds",
            ),
            "paper": Scale(
                "weeks", {"scale": "paper"}, "5 cells of 128 units, denoise over 1,000 steps, 200,000 updates"
            ),
        },
    ),
    Computed(
        id="relevance-fig2-memory",
        title="Training memory and time against the length of the sequence",
        source="Kerg 2020, Fig. 2, centre",
        run="kerg2020.training_memory:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "64 units, up to 400 steps"),
            "laptop": Scale("about 3 minutes and 2 GB", {"scale": "laptop"}, "128 units, up to 4,000 steps"),
            "paper": Scale("about 10 minutes and 8 GB", {"scale": "paper"}, "128 units, up to 8,000 steps"),
        },
    ),
    Trained(
        id="relevance-fig3",
        title="Gradients with other sizes of the relevant set and of the buffer",
        source="Kerg 2020, appendix B, Fig. 3",
        run="kerg2020.buffer_sizes:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "4 trainings of 4 updates"),
            "laptop": Scale(
                "about an hour",
                {"scale": "laptop"},
                "8 RelLSTMs of 128 units, denoise over 100 steps, 10,000 updates",
            ),
            "paper": Scale(
                "weeks",
                {"scale": "paper"},
                "8 RelLSTMs of 128 units, denoise over 1,000 steps, 200,000 updates",
            ),
        },
    ),
    Trained(
        id="relevance-table1",
        title="Copying over longer delays than were trained",
        source="Kerg 2020, section 5.1, Table 1",
        run="kerg2020.copy_transfer:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 cells of 8 units, 20 updates"),
            "laptop": Scale(
                "about half an hour",
                {"scale": "laptop"},
                "8 cells of 128 units, 1,500 to 36,000 updates each",
            ),
            "paper": Scale("days", {"scale": "paper"}, "8 cells of 128 units, 200,000 updates each"),
        },
    ),
    Trained(
        id="relevance-table2",
        title="Symbols among noise, learnt at each delay",
        source="Kerg 2020, section 5.1, Table 2",
        run="kerg2020.recall_delays:table2",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 cells of 8 units"),
            "laptop": Scale(
                "about half an hour",
                {"scale": "laptop"},
                "7 or 8 cells of 128 units at a delay of 100, a few minutes each",
            ),
            "paper": Scale(
                "weeks", {"scale": "paper"}, "cells of 128 units at all delays, 200,000 updates each"
            ),
        },
    ),
    Trained(
        id="relevance-table3-pmnist",
        title="Digits pixel by pixel in a fixed disorder",
        source="Kerg 2020, section 5.2, Table 3",
        run="kerg2020.permuted_digits:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 cells of 8 units, 8 by 8 digits"),
            "laptop": Scale(
                "about 15 minutes",
                {"scale": "laptop"},
                "8 cells of 100 units, MNIST in 49 steps, 1,000 updates each",
            ),
            "paper": Scale(
                "weeks", {"scale": "paper"}, "8 cells of 100 units, MNIST in 784 steps, 200 passes"
            ),
        },
    ),
    Trained(
        id="relevance-table5",
        title="Symbols at the start, learnt at each delay",
        source="Kerg 2020, appendix C, Table 5",
        run="kerg2020.recall_delays:table5",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 cells of 8 units"),
            "laptop": Scale(
                "about half an hour",
                {"scale": "laptop"},
                "7 or 8 cells of 128 units at a delay of 100, a few minutes each",
            ),
            "paper": Scale(
                "weeks", {"scale": "paper"}, "cells of 128 units at all delays, 200,000 updates each"
            ),
        },
    ),
    Trained(
        id="relevance-table3-ptb",
        title="The Penn Treebank character by character",
        source="Kerg 2020, section 5.2, Table 3",
        run="kerg2020.ptb_characters:run",
        sizes={
            "smoke": Scale("some seconds", {"scale": "smoke"}, "2 cells of 8 units on Python's own source"),
            "laptop": Scale(
                "about 20 minutes", {"scale": "laptop"}, "7 cells of 128 units, 8,000 updates each"
            ),
            "paper": Scale(
                "weeks", {"scale": "paper"}, "7 cells of 1,024 units, 100 passes with the rates of Table 9"
            ),
        },
    ),
    Trained(
        id="relevance-table4",
        title="Agents in small grid worlds, tried in larger ones",
        source="Kerg 2020, section 5.3, Table 4",
        run="kerg2020.gridworld:run",
        sizes={
            "smoke": Scale(
                "some seconds",
                {"scale": "smoke"},
                "one world, one cell and no memory, two networks of each, 2 updates",
            ),
            "laptop": Scale(
                "about an hour",
                {"scale": "laptop"},
                (
                    "6 worlds, 3 cells and no memory, 120 updates (245,760 frames) each, of DoorKey-5x5 and "
                    "MemoryS7 three networks"
                ),
            ),
            "paper": Scale(
                "about a day",
                {"scale": "paper"},
                "6 worlds, 3 cells and no memory, three networks of each, 2,442 updates (5 million frames)",
            ),
        },
    ),
)
