"""Kerg et al. 2020, *Untangling tradeoffs between recurrence and self-attention*: how attention carries gradients
back, and how few states are enough.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained

_LSTM_LENGTHS = (500, 1_000, 2_000, 4_000)
_SMOKE_UPDATES = {"rel-rnn": 5, "lstm": 5}
# The default updates of every cell: Table 1, Table 5 and Table 2.
_TRANSFER_UPDATES = {
    "rel-rnn": 14_000,
    "rel-lstm": 24_000,
    "lstm": 36_000,
    "detach-lstm": 36_000,
    "orthogonal-rnn": 14_000,
    "exp-rnn": 14_000,
    "mem-rnn": 14_000,
    "sab-lstm": 14_000,
}
_COPY_UPDATES = {cell: updates for cell, updates in _TRANSFER_UPDATES.items() if cell != "detach-lstm"}
_DENOISE_UPDATES = {**_COPY_UPDATES, "goru": 14_000, "rel-rnn": 20_000}
_DIGIT_CELLS = ("rnn", "orthogonal-rnn", "exp-rnn", "rel-rnn", "lstm", "detach-lstm", "sab-lstm", "rel-lstm")
_PTB_CELLS = ("rnn", "orthogonal-rnn", "exp-rnn", "rel-rnn", "lstm", "sab-lstm", "rel-lstm")
# Updates with 128 windows of 150 characters that pass once through the training text.
_PTB_EPOCH = 261
_WORLDS = ("RedBlueDoors-6x6", "GoToObject-6x6", "MemoryS7", "GoToDoor-5x5", "Fetch-5x5", "DoorKey-5x5")
_AGENTS = ("lstm", "mem-lstm", "rel-lstm", "none")

# fmt: off
RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="relevance-proposition1",
        title="The gradient through attention, and its parts by number of factors",
        source="Kerg 2020, section 3.1 and appendix A.2, Proposition 1",
        run="kerg2020.gradient_paths:run",
        work="{networks} networks of {width} units, {steps} steps",
        sizes={
            "smoke": Scale("a second", {"networks": 3, "width": 4, "steps": 14}),
            "laptop": Scale("about 5 seconds", {"networks": 20, "width": 8, "steps": 40}),
            "paper": Scale("about a minute", {"networks": 50, "width": 16, "steps": 60}),
        },
    ),
    Computed(
        id="relevance-theorem1",
        title="Under uniform attention gradients fall no faster than 1/T: true for some eigenvalues only",
        source="Kerg 2020, section 3.2 and appendix A.3, Theorem 1",
        run="kerg2020.uniform_attention:bound",
        work="lengths up to {length}, {eigenvalues} random eigenvalues",
        sizes={
            "smoke": Scale("a second", {"length": 100_000, "eigenvalues": 40}),
            "laptop": Scale("about 15 seconds", {"length": 1_000_000, "eigenvalues": 1_000}),
            "paper": Scale("about a minute", {"length": 10_000_000, "eigenvalues": 3_000}),
        },
    ),
    Computed(
        id="relevance-theorem2",
        title="The dependency depth bounds the gradient through sparse attention from below",
        source="Kerg 2020, section 3.3 and appendix A.4, Theorem 2",
        run="kerg2020.sparse_attention:run",
        work="{patterns} random patterns",
        sizes={
            "smoke": Scale("a second", {"patterns": 150}),
            "laptop": Scale("about 10 seconds", {"patterns": 3_000}),
            "paper": Scale("about a minute and a half", {"patterns": 20_000}),
        },
    ),
    Computed(
        id="errata-11",
        ours=True,
        title="Under uniform attention the gradient scales as T^(Re(lambda/(1-lambda)) - 1)",
        source="Kerg 2020, appendix A.3, Proposition 4",
        run="kerg2020.uniform_attention:exponents",
        work="length {length}",
        sizes={
            "smoke": Scale("a second", {"length": 40_000, "angles": 9}),
            "laptop": Scale("about 5 seconds", {"length": 400_000, "angles": 25}),
            "paper": Scale("about a minute", {"length": 4_000_000, "angles": 49}),
        },
    ),
    Computed(
        id="errata-12",
        ours=True,
        title="The state that leaves the short-term buffer may become relevant",
        source="Kerg 2020, section 4, Algorithm 1, lines 6 and 7",
        run="kerg2020.screening:run",
        work="{sequences} sequences of {steps} steps",
        sizes={
            "smoke": Scale("a second", {"sequences": 3, "steps": 40, "hidden": 12}),
            "laptop": Scale("about 5 seconds", {"sequences": 20, "steps": 100, "hidden": 64}),
            "paper": Scale("about a minute", {"sequences": 50, "steps": 400, "hidden": 128}),
        },
    ),
    Computed(
        id="errata-13",
        ours=True,
        title="State and context: their mean in the program, their sum in the paper",
        source="Kerg 2020, sections 3 and 4, Eq. 2 and Algorithm 1, line 12",
        run="kerg2020.state_combination:run",
        work="{networks} networks of {hidden} units",
        sizes={
            "smoke": Scale("a second", {"networks": 3, "hidden": 16, "steps": 30}),
            "laptop": Scale("some seconds", {"networks": 20, "hidden": 128, "steps": 100}),
            "paper": Scale("about half a minute", {"networks": 100, "hidden": 128, "steps": 100}),
        },
    ),
    Computed(
        id="errata-14",
        ours=True,
        title="The published agents act with an empty memory",
        source="Kerg 2020, section 5.3",
        run="kerg2020.memory_resets:run",
        work="{agents} random agents of {hidden} units, {steps} steps",
        sizes={
            "smoke": Scale("some seconds", {"agents": 3, "hidden": 16, "steps": 48}),
            "laptop": Scale("about 5 seconds", {"agents": 20, "hidden": 64, "steps": 128}),
            "paper": Scale("about a minute", {"agents": 100, "hidden": 64, "steps": 128}),
        },
    ),
    Computed(
        id="errata-15",
        ours=True,
        title="The same answers have different accuracies in the programs that are compared",
        source="Kerg 2020, section 5.1, Tables 1 and 2, and appendix C, Table 5",
        run="kerg2020.accuracy_definitions:run",
        work="{sequences} sequences of copy and denoise at delays of {delays}",
        sizes={
            "smoke": Scale("a second", {"delays": (20, 100), "sequences": 100}),
            "laptop": Scale("some seconds", {"delays": (100, 200, 400, 1_000, 2_000), "sequences": 1_000}),
            "paper": Scale("about half a minute", {"delays": (100, 200, 400, 2_000, 5_000), "sequences": 2_000}),
        },
    ),
    Trained(
        id="relevance-fig1",
        title="Attention of a fully attentive network when it recalls",
        source="Kerg 2020, section 1, Fig. 1",
        run="kerg2020.attention_weights:run",
        work="copy and denoise with a delay of {delay}, {hidden} units, {updates} updates",
        sizes={
            "smoke": Scale("some seconds", {"delay": 5, "hidden": 8, "updates": 10, "workers": 1}),
            "laptop": Scale("about 5 minutes", {"delay": 40, "hidden": 128, "updates": 6_000, "workers": None}),
            "paper": Scale("days", {"delay": 100, "hidden": 128, "updates": 200_000, "workers": None}),
        },
    ),
    Trained(
        id="relevance-fig2",
        title="Gradient norms over the sequence after training, and the memory they cost",
        source="Kerg 2020, section 5, Fig. 2, left and right",
        run="kerg2020.gradient_norms:cells",
        sizes={
            "smoke": Scale("some seconds", {
                "delay": 5, "hidden": 8, "updates": {"rel-lstm": 5, "rnn": 5, "lstm": 5}, "seeds": 2,
                "first_delay": 3, "first_updates": 5,
                "sequences": 2, "rel_sequences": 3, "rel_changed_sequences": 3, "workers": 1,
            }, "{updates!n} cells of {hidden} units, {updates[lstm]} updates"),
            "laptop": Scale("about an hour", {
                "delay": 400, "hidden": 128, "updates": {"rel-lstm": 1_500, "rnn": 3_000, "lstm": 3_000}, "seeds": 3,
                "first_delay": 100, "first_updates": 24_000,
                "sequences": 1_000, "rel_sequences": 40_000, "rel_changed_sequences": 4_000, "workers": None,
            }, "{updates!n} cells of {hidden} units, denoise with a delay of {delay}, RelLSTM after a delay of "
               "{first_delay} and with {seeds} seeds"),
            "paper": Scale("weeks", {
                "delay": 1_000, "hidden": 128,
                "updates": dict.fromkeys(("rel-lstm", "mem-lstm", "orthogonal-rnn", "rnn", "lstm"), 200_000), "seeds": 1,
                "first_delay": None, "first_updates": 0,
                "sequences": 100, "rel_sequences": 40_000, "rel_changed_sequences": 4_000, "workers": None,
            }, "{updates!n} cells of {hidden} units, denoise with a delay of {delay}, {updates[lstm]} updates"),
        },
    ),
    Computed(
        id="relevance-fig2-memory",
        title="Training memory and time against the sequence length",
        source="Kerg 2020, Fig. 2, center",
        run="kerg2020.training_memory:run",
        sizes={
            "smoke": Scale("some seconds", {
                "batch": 4, "hidden": 64, "lengths": {"plain-mem-lstm": (100, 200), "rel-lstm": (200, 400)},
            }, "{hidden} units, up to {lengths[rel-lstm][1]} steps"),
            "laptop": Scale("about 3 minutes and 2 GB", {
                "batch": 10, "hidden": 128,
                "lengths": {
                    "plain-mem-lstm": (125, 250, 500),
                    "mem-lstm": (250, 500, 1_000),
                    "rel-lstm": _LSTM_LENGTHS,
                    "lstm": _LSTM_LENGTHS,
                },
            }, "{hidden} units, up to {lengths[rel-lstm][3]} steps"),
            "paper": Scale("about 10 minutes and 8 GB", {
                "batch": 10, "hidden": 128,
                "lengths": {
                    "plain-mem-lstm": (125, 250, 500, 1_000),
                    "mem-lstm": (250, 500, 1_000, 2_000),
                    "rel-lstm": (*_LSTM_LENGTHS, 8_000),
                    "lstm": (*_LSTM_LENGTHS, 8_000),
                },
            }, "{hidden} units, up to {lengths[rel-lstm][4]} steps"),
        },
    ),
    Trained(
        id="relevance-fig3",
        title="Gradient norms for other sizes of the relevant set and of the short-term buffer",
        source="Kerg 2020, appendix B, Fig. 3",
        run="kerg2020.gradient_norms:buffer_sizes",
        work="8 RelLSTMs of {hidden} units, denoise with a delay of {delay}, {updates} updates",
        sizes={
            "smoke": Scale("some seconds", {
                "delay": 5, "hidden": 8, "updates": 4, "fixed": 3, "values": (1, 3), "sequences": 2, "workers": 1,
            }, "4 trainings of {updates} updates"),
            "laptop": Scale("about an hour", {
                "delay": 100, "hidden": 128, "updates": 10_000, "fixed": 15, "values": (3, 8, 18, 25),
                "sequences": 1_000, "workers": None,
            }),
            "paper": Scale("weeks", {
                "delay": 1_000, "hidden": 128, "updates": 200_000, "fixed": 15, "values": (3, 8, 18, 25),
                "sequences": 1_000, "workers": None,
            }),
        },
    ),
    Trained(
        id="relevance-table1",
        title="Copying over longer delays than in training",
        source="Kerg 2020, section 5.1, Table 1",
        run="kerg2020.recall_tables:transfer",
        sizes={
            "smoke": Scale("some seconds", {
                "delay": 3, "delays": (3, 6), "hidden": 8, "updates": {"rel-rnn": 20, "lstm": 20}, "workers": 1,
            }, "{updates!n} cells of {hidden} units, {updates[lstm]} updates"),
            "laptop": Scale("about 2 hours", {
                "delay": 100, "delays": (100, 200, 400, 2_000, 5_000), "hidden": 128, "updates": _TRANSFER_UPDATES,
                "workers": None,
            }, "{updates!n} cells of {hidden} units, at most {updates[rel-rnn]} to {updates[lstm]} updates each"),
            "paper": Scale("days", {
                "delay": 100, "delays": (100, 200, 400, 2_000, 5_000), "hidden": 128,
                "updates": dict.fromkeys(_TRANSFER_UPDATES, 200_000), "workers": None,
            }, "{updates!n} cells of {hidden} units, {updates[lstm]} updates each"),
        },
    ),
    Trained(
        id="relevance-table2",
        title="Symbols among noise, trained at each delay",
        source="Kerg 2020, section 5.1, Table 2",
        run="kerg2020.recall_tables:every_delay",
        sizes={
            "smoke": Scale("some seconds", {
                "task": "denoise", "delays": (100,), "hidden": 8, "updates": _SMOKE_UPDATES, "workers": 1,
            }, "{updates!n} cells of {hidden} units"),
            "laptop": Scale("one night", {
                "task": "denoise", "delays": (100, 300, 500), "hidden": 128, "updates": _DENOISE_UPDATES,
                "workers": None,
            }, "{updates!n} cells of {hidden} units at delays of {delays}, their default updates"),
            "paper": Scale("weeks", {
                "task": "denoise", "delays": (100, 300, 500, 1_000, 2_000), "hidden": 128,
                "updates": dict.fromkeys(_DENOISE_UPDATES, 200_000), "workers": None,
            }, "{updates!n} cells of {hidden} units at all delays, {updates[lstm]} updates each"),
        },
    ),
    Trained(
        id="relevance-table3-pmnist",
        title="Digits pixel by pixel in a fixed random order",
        source="Kerg 2020, section 5.2, Table 3",
        run="kerg2020.permuted_digits:run",
        sizes={
            "smoke": Scale("some seconds", {
                "data": "digits", "steps": 16, "hidden": 8, "updates": _SMOKE_UPDATES, "pixels": {}, "workers": 1,
            }, "{updates!n} cells of {hidden} units, 8 by 8 digits"),
            "laptop": Scale("about 3 hours", {
                "data": "mnist", "steps": 49, "hidden": 100, "updates": dict.fromkeys(_DIGIT_CELLS, 10_000),
                "pixels": {"lstm": 10_000}, "workers": None,
            }, "{updates!n} cells of {hidden} units, MNIST in {steps} steps, {updates[lstm]} updates each, "
               "and an LSTM in 784 steps"),
            "paper": Scale("weeks", {
                "data": "mnist", "steps": 784, "hidden": 100, "updates": dict.fromkeys(_DIGIT_CELLS, 100_000),
                "pixels": {}, "workers": None,
            }, "{updates!n} cells of {hidden} units, MNIST in {steps} steps, 200 epochs"),
        },
    ),
    Trained(
        id="relevance-table5",
        title="Symbols at the start, trained at each delay",
        source="Kerg 2020, appendix C, Table 5",
        run="kerg2020.recall_tables:every_delay",
        sizes={
            "smoke": Scale("some seconds", {
                "task": "copy", "delays": (100,), "hidden": 8, "updates": _SMOKE_UPDATES, "workers": 1,
            }, "{updates!n} cells of {hidden} units"),
            "laptop": Scale("one night", {
                "task": "copy", "delays": (100, 300, 500), "hidden": 128, "updates": _COPY_UPDATES, "workers": None,
            }, "{updates!n} cells of {hidden} units at delays of {delays}, their default updates"),
            "paper": Scale("weeks", {
                "task": "copy", "delays": (100, 200, 300, 500, 1_000, 2_000), "hidden": 128,
                "updates": dict.fromkeys(_COPY_UPDATES, 200_000), "workers": None,
            }, "{updates!n} cells of {hidden} units at all delays, {updates[lstm]} updates each"),
        },
    ),
    Trained(
        id="relevance-table3-ptb",
        title="The Penn Treebank character by character",
        source="Kerg 2020, section 5.2, Table 3",
        run="kerg2020.ptb_characters:run",
        sizes={
            "smoke": Scale("some seconds", {
                "task": {"data": "python", "steps": 8}, "cells": ("rel-rnn", "rnn"), "hidden": 8, "embedding": 4,
                "training": {"updates": 5, "batch": 4, "validate_every": 5, "validation_batches": 1},
                "published_settings": False, "workers": 1,
            }, "{cells!n} cells of {hidden} units on Python's own source"),
            "laptop": Scale("about 20 minutes", {
                "task": {"data": "ptb", "steps": 50}, "cells": _PTB_CELLS, "hidden": 128, "embedding": 32,
                "training": {"updates": 8_000, "batch": 32, "validate_every": 1_000, "validation_size": 50},
                "published_settings": False, "workers": None,
            }, "{cells!n} cells of {hidden} units, {training[updates]} updates each"),
            "paper": Scale("weeks", {
                "task": {"data": "ptb", "steps": 150}, "cells": _PTB_CELLS, "hidden": 1_024, "embedding": 200,
                "training": {
                    "updates": 100 * _PTB_EPOCH, "batch": 128, "validate_every": _PTB_EPOCH, "schedule": "constant",
                },
                "published_settings": True, "workers": None,
            }, "{cells!n} cells of {hidden} units, 100 epochs with the learning rates of Table 9"),
        },
    ),
    Trained(
        id="relevance-table4",
        title="Agents in small grid worlds, evaluated in larger ones",
        source="Kerg 2020, section 5.3, Table 4",
        run="kerg2020.gridworld:run",
        sizes={
            "smoke": Scale("some seconds", {
                "worlds": ("GoToDoor-5x5",), "cells": ("rel-lstm", "none"), "seeds": {"GoToDoor-5x5": 2}, "episodes": 2,
                "training": {"updates": 2, "worlds": 2, "steps": 16, "batch": 16, "recurrence": 8, "epochs": 1},
                "workers": 1,
            }, "one world, one cell and no memory, two networks of each, {training[updates]} updates"),
            "laptop": Scale("about an hour", {
                "worlds": _WORLDS, "cells": _AGENTS, "seeds": {"DoorKey-5x5": 3, "MemoryS7": 3}, "episodes": 100,
                "training": {"updates": 120}, "workers": None,
            }, "6 worlds, 3 cells and no memory, {training[updates]} updates (245,760 frames) each, three networks in "
               "DoorKey-5x5 and MemoryS7"),
            "paper": Scale("about a day", {
                "worlds": _WORLDS, "cells": _AGENTS, "seeds": dict.fromkeys(_WORLDS, 3), "episodes": 100,
                "training": {"updates": 2_442}, "workers": None,
            }, "6 worlds, 3 cells and no memory, three networks of each, {training[updates]} updates (5 million frames)"),
        },
    ),
    Trained(
        id="relevance-fig7",
        title="Attention of a fully attentive network that reads characters",
        source="Kerg 2020, appendix C, Fig. 7",
        run="kerg2020.attention_weights:text",
        work="a MemRNN of {hidden} units, {steps} characters, {training[updates]} updates",
        sizes={
            "smoke": Scale("some seconds", {
                "data": "python", "steps": 12, "hidden": 8, "embedding": 4, "sequences": 4,
                "training": {"updates": 10, "batch": 4, "validate_every": 10, "validation_batches": 1},
            }),
            "laptop": Scale("about 20 minutes", {
                "data": "ptb", "steps": 125, "hidden": 128, "embedding": 32, "sequences": 100,
                "training": {"updates": 3_000, "batch": 32, "validate_every": 500, "validation_size": 50},
            }),
            "paper": Scale("weeks", {
                "data": "ptb", "steps": 125, "hidden": 1_024, "embedding": 200, "sequences": 100,
                "training": {"updates": 100 * _PTB_EPOCH, "batch": 128, "validate_every": _PTB_EPOCH},
            }),
        },
    ),
    Trained(
        id="relevance-fig9",
        title="Attention of a fully attentive network that reads digits",
        source="Kerg 2020, appendix C, Fig. 9",
        run="kerg2020.attention_weights:digits",
        work="a MemRNN of {hidden} units, digits in {steps} steps, {training[updates]} updates",
        sizes={
            "smoke": Scale("some seconds", {
                "data": "digits", "steps": 16, "hidden": 8, "sequences": 4,
                "training": {"updates": 10, "validate_every": 10, "validation_batches": 1},
            }),
            "laptop": Scale("about 20 minutes", {
                "data": "mnist", "steps": 112, "hidden": 100, "sequences": 100,
                "training": {"updates": 2_000, "validate_every": 500, "validation_batches": 10},
            }),
            "paper": Scale("days", {
                "data": "mnist", "steps": 112, "hidden": 100, "sequences": 100,
                "training": {"updates": 100_000, "validate_every": 500, "validation_batches": 100},
            }),
        },
    ),
    *(
        Trained(
            id=figure,
            title=f"{task.capitalize()}: attention over the short-term buffer only",
            source=f"Kerg 2020, appendix C, Fig. {figure.removeprefix('relevance-fig')}",
            run="kerg2020.attention_weights:short_term_buffer",
            work="a RelRNN of {hidden} units without a relevant set, {task} with a delay of {delay}, {updates} updates",
            sizes={
                "smoke": Scale("some seconds", {
                    "task": task, "delay": 5, "hidden": 8, "updates": 10, "short_term": 4, "sequences": 4,
                }),
                "laptop": Scale("about 5 minutes", {
                    "task": task, "delay": 40, "hidden": 128, "updates": 6_000, "short_term": 10, "sequences": 100,
                }),
                "paper": Scale("a day", {
                    "task": task, "delay": 100, "hidden": 128, "updates": 200_000, "short_term": 10, "sequences": 100,
                }),
            },
        )
        for figure, task in (("relevance-fig10", "copy"), ("relevance-fig11", "denoise"))
    ),
)
# fmt: on
