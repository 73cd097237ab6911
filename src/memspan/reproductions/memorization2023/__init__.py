"""Memorization note 2023: how few linear hidden units replay a periodic string.

A linear network h_t = W_h h_{t-1}, y_t = argmax(W_y h_t + b_y) that ignores its input walks through as many states as
W_h has order; the output layer turns states into symbols. The note asks how small W_h can be.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale

_SIZE_SECTION = "Memorization note 2023, How small can we make d?"

RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="memorization-fig1",
        title="Two linear hidden units replay any two runs: the state walks around a polygon",
        source="Memorization note 2023, (0^a 1^b)^+, Fig. 1",
        run="memorization2023.two_runs:polygon",
        work="all strings of two runs with periods up to {longest}",
        sizes={
            "smoke": Scale("less than a second", {"longest": 12}),
            "laptop": Scale("about 4 seconds", {"longest": 60}),
            "paper": Scale("about 2 minutes", {"longest": 200}),
        },
    ),
    Computed(
        id="memorization-fig2",
        title="The line that separates 00000 from 111",
        source="Memorization note 2023, (0^a 1^b)^+, Fig. 2",
        run="memorization2023.two_runs:separating_line",
        work="{periods} periods of one string, lines for all strings of two runs with periods up to {longest}",
        sizes={
            "smoke": Scale("less than a second", {"periods": 1_000, "longest": 12}),
            "laptop": Scale("about 2 seconds", {"periods": 10_000, "longest": 60}),
            "paper": Scale("about half a minute", {"periods": 100_000, "longest": 200}),
        },
    ),
    Computed(
        id="memorization-order8",
        title="No 3 x 3 rational matrix has order 8",
        source=_SIZE_SECTION,
        run="memorization2023.matrix_orders:rational_matrices",
        work="all 3 x 3 matrices with entries from -{entry} to {entry}, periods up to {longest}",
        sizes={
            "smoke": Scale("less than a second", {"entry": 1, "longest": 60}),
            "laptop": Scale("about 2 seconds", {"entry": 2, "longest": 120}),
            "paper": Scale("about half a minute", {"entry": 3, "longest": 10_000}),
        },
    ),
    Computed(
        id="memorization-size",
        title="Random strings need far fewer hidden units than their period is long",
        source=_SIZE_SECTION,
        run="memorization2023.hidden_sizes:random_strings",
        work="{strings} random strings per alphabet and period ({checked} where the average is checked), periods {periods}",
        sizes={
            "smoke": Scale("a second", {"periods": (8, 16), "strings": 3, "checked": 10}),
            "laptop": Scale(
                "about a minute", {"periods": (4, 8, 12, 16, 20, 24, 28, 32), "strings": 20, "checked": 200}
            ),
            "paper": Scale(
                "about 10 minutes", {"periods": (4, 8, 12, 16, 20, 24, 28, 32, 36, 40), "strings": 50, "checked": 1_000}
            ),
        },
    ),
    Computed(
        id="errata-18",
        ours=True,
        title="Two hidden units are a lower bound, not what every string needs",
        source=f"{_SIZE_SECTION}, last paragraph",
        run="memorization2023.hidden_sizes:binary_strings",
        work="all binary strings with periods from 3 to {longest}",
        sizes={
            "smoke": Scale("a second", {"longest": 8, "periods": 200}),
            "laptop": Scale("about 20 seconds", {"longest": 12, "periods": 10_000}),
            "paper": Scale("about 6 minutes", {"longest": 16, "periods": 100_000}),
        },
    ),
    Computed(
        id="errata-19",
        ours=True,
        title="The powers of the cycle that replay a string number phi(d), not phi(n)",
        source="Memorization note 2023, remark on the choice of c",
        run="memorization2023.matrix_orders:cycle_powers",
        work="random strings with periods up to {longest}, phi(d) for d up to {largest}",
        sizes={
            "smoke": Scale("less than a second", {"longest": 16, "largest": 2_000}),
            "laptop": Scale("about 2 seconds", {"longest": 40, "largest": 20_000}),
            "paper": Scale("about half a minute", {"longest": 100, "largest": 200_000}),
        },
    ),
)
