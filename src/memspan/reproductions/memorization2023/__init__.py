"""Memorization note 2023: how few linear hidden units replay a periodic string."""

from memspan.reproductions.recipe import Computed, Recipe, Scale

RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="memorization-fig1",
        title="Two linear hidden units replay any two runs: the state walks around a polygon",
        source="Memorization note 2023, (0^a 1^b)^+, Fig. 1",
        run="memorization2023.polygon:run",
        sizes={
            "smoke": Scale(
                "less than a second", {"scale": "smoke"}, "all 66 strings of two runs with periods up to 12"
            ),
            "laptop": Scale(
                "about 4 seconds", {"scale": "laptop"}, "all 1,770 strings with periods up to 60"
            ),
            "paper": Scale(
                "about 2 minutes", {"scale": "paper"}, "all 19,900 strings with periods up to 200"
            ),
        },
    ),
    Computed(
        id="memorization-fig2",
        title="The line that divides 00000 from 111",
        source="Memorization note 2023, (0^a 1^b)^+, Fig. 2",
        run="memorization2023.separating_line:run",
        sizes={
            "smoke": Scale(
                "less than a second", {"scale": "smoke"}, "1,000 periods of one string, lines of 66"
            ),
            "laptop": Scale("about 2 seconds", {"scale": "laptop"}, "10,000 periods, lines of 1,770 strings"),
            "paper": Scale(
                "about half a minute", {"scale": "paper"}, "100,000 periods, lines of 19,900 strings"
            ),
        },
    ),
    Computed(
        id="memorization-order8",
        title="No 3 x 3 rational matrix has order 8",
        source="Memorization note 2023, How small can we make d?",
        run="memorization2023.matrix_order:run",
        sizes={
            "smoke": Scale(
                "less than a second", {"scale": "smoke"}, "all 19,683 matrices with entries from -1 to 1"
            ),
            "laptop": Scale(
                "about 2 seconds", {"scale": "laptop"}, "all 1,953,125 matrices with entries from -2 to 2"
            ),
            "paper": Scale(
                "about half a minute", {"scale": "paper"}, "all 40,353,607 matrices with entries from -3 to 3"
            ),
        },
    ),
    Computed(
        id="memorization-size",
        title="Random strings need far fewer hidden units than their period is long",
        source="Memorization note 2023, How small can we make d?",
        run="memorization2023.random_strings:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "38 strings of periods 8 and 16"),
            "laptop": Scale("about a minute", {"scale": "laptop"}, "1,000 strings with periods up to 32"),
            "paper": Scale("about 10 minutes", {"scale": "paper"}, "3,900 strings with periods up to 40"),
        },
    ),
    Computed(
        id="errata-18",
        title="Two hidden units are a lower bound, not what every string needs",
        source="Memorization note 2023, How small can we make d?, last paragraph",
        run="memorization2023.two_units:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "all 68 binary strings with periods from 3 to 8"),
            "laptop": Scale(
                "about 20 seconds", {"scale": "laptop"}, "all 744 binary strings with periods from 3 to 12"
            ),
            "paper": Scale(
                "about 6 minutes", {"scale": "paper"}, "all 8,797 binary strings with periods from 3 to 16"
            ),
        },
    ),
    Computed(
        id="errata-19",
        title="The powers of the cycle that replay a string number phi(d), not phi(n)",
        source="Memorization note 2023, remark on the choice of c",
        run="memorization2023.cycle_powers:run",
        sizes={
            "smoke": Scale("less than a second", {"scale": "smoke"}, "random strings with periods up to 16"),
            "laptop": Scale("about 2 seconds", {"scale": "laptop"}, "random strings with periods up to 40"),
            "paper": Scale(
                "about half a minute", {"scale": "paper"}, "random strings with periods up to 100"
            ),
        },
    ),
)
