"""Shen 2019, *Mutual information scaling and expressive power of sequence models*: how mutual information decays.

Linear RNNs forget exponentially (section 4.1); so do RNNs and LSTMs that are trained on scale-free data (4.2);
Transformers keep the power law (5). Appendices C and D ask what else may look like a long memory, and how it is measured.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained
from memspan.reproductions.shen2019.sizes import BINARY, TEXT_LSTM, TEXT_TRANSFORMER, ArchitectureGrid, TextSize

_NO_EXPERIMENT = "(the source has no experiment here)"
_GRID = tuple(round(0.05 * k, 2) for k in range(1, 20))
_TENTHS = tuple(round(0.1 * k, 1) for k in range(1, 11))

_THEORY: tuple[Recipe, ...] = (
    Computed(
        id="shen-linear",
        title="Linear RNNs forget exponentially, at the rate of their slowest mode",
        source="Shen 2019, section 4.1 and appendix A",
        run="shen2019.linear_networks:decay",
        work="{networks} random networks with a plain tail, {documents} sampled documents of {length} steps",
        sizes={
            "smoke": Scale("a second", {"networks": 4, "documents": 200, "length": 1_000, "tolerance": 0.2}),
            "laptop": Scale(
                "about 30 seconds", {"networks": 50, "documents": 4_000, "length": 2_000, "tolerance": 0.05}
            ),
            "paper": Scale(
                f"about 2 minutes {_NO_EXPERIMENT}",
                {"networks": 200, "documents": 10_000, "length": 2_000, "tolerance": 0.05},
            ),
        },
    ),
    Computed(
        id="shen-fig4",
        title="Repetitive sequences keep a constant information at every lag",
        source="Shen 2019, appendix C, Eq. 52 and Fig. 4",
        run="shen2019.repeated_pairs:by_probability",
        work="{probabilities!n} values of p, {documents} documents of {length} symbols each",
        sizes={
            "smoke": Scale("a second", {"probabilities": (0.1, 0.3, 0.5, 0.9), "documents": 200, "length": 500}),
            "laptop": Scale("about 3 seconds", {"probabilities": _GRID, "documents": 2_000, "length": 1_000}),
            "paper": Scale("about 15 seconds", {"probabilities": _GRID, "documents": 10_000, "length": 1_000}),
        },
    ),
    Computed(
        id="shen-fig5",
        title="The exponent of a known power law is recovered",
        source="Shen 2019, appendix D.1, Fig. 5",
        run="shen2019.power_laws:recovered_exponents",
        work="{exponents!n} exponents, {documents} documents of {length} symbols each",
        sizes={
            "smoke": Scale(
                "two seconds", {"exponents": (0.2, 0.5, 1.0), "documents": 400, "length": 400, "tolerance": 0.1}
            ),
            "laptop": Scale(
                "about 15 seconds", {"exponents": _TENTHS, "documents": 10_000, "length": 1_000, "tolerance": 0.02}
            ),
            "paper": Scale(
                "about 15 seconds", {"exponents": _TENTHS, "documents": 10_000, "length": 1_000, "tolerance": 0.02}
            ),
        },
    ),
    Computed(
        id="shen-fig6",
        title="The power law that validation sets seem to lack is hidden below the noise floor",
        source="Shen 2019, section 4.2.2, appendix D.2 and Fig. 6",
        run="shen2019.noise_floor:splits",
        work="all available sets of PTB, WikiText-2, text8 and WikiText-103, {pieces} pieces of each training set",
        sizes={
            "smoke": Scale(
                "a few seconds",
                {"pieces": 3, "every_set": False},
                "the first available set of PTB, WikiText-2, text8 and WikiText-103, {pieces} pieces of its training set",
            ),
            "laptop": Scale(
                "about 25 seconds for PTB and WikiText-2, some minutes more for the others",
                {"pieces": 12, "every_set": True},
            ),
            "paper": Scale("as at laptop scale, because the sets have a fixed size", {"pieces": 12, "every_set": True}),
        },
    ),
    Computed(
        id="errata-01",
        ours=True,
        title="Covariances of linear RNNs are printed with one factor U_h too many",
        source="Shen 2019, section 4.1, Eq. 5-7, and appendix A, Eq. 12-36",
        run="shen2019.linear_networks:covariances",
        work="{networks} random networks, {chains} chains each",
        sizes={
            "smoke": Scale("a second", {"networks": 4, "chains": 40_000}),
            "laptop": Scale("about 20 seconds", {"networks": 20, "chains": 400_000}),
            "paper": Scale(f"about 2 minutes {_NO_EXPERIMENT}", {"networks": 40, "chains": 1_000_000}),
        },
    ),
    Computed(
        id="errata-02",
        ours=True,
        title="The constant of Eq. 47 is pi sqrt(A/2), and the exact inversion is better still",
        source="Shen 2019, appendix B, Eq. 46 and 47",
        run="shen2019.power_laws:constant",
        work="three sources, {documents} documents of {length} symbols each",
        sizes={
            "smoke": Scale("about 2 seconds", {"documents": 400, "length": 400}),
            "laptop": Scale("about 3 seconds", {"documents": 5_000, "length": 1_000}),
            "paper": Scale("about 5 seconds", {"documents": 10_000, "length": 1_000}),
        },
    ),
    Computed(
        id="errata-03",
        ours=True,
        title="The constant at which validation sets level off is the noise floor of the estimator",
        source="Shen 2019, section 4.2.2, Eq. 53, Fig. 2, 3 and 6",
        run="shen2019.noise_floor:run",
        work="{length} independent symbols, and WikiText-2",
        sizes={
            "smoke": Scale("a second", {"length": 200_000, "text": False}, "{length} independent symbols"),
            "laptop": Scale("about 25 seconds", {"length": 1_100_000, "text": True}),
            "paper": Scale("about 25 seconds", {"length": 1_100_000, "text": True}),
        },
    ),
    Computed(
        id="errata-04",
        ours=True,
        title="Eq. 52 holds at every lag above one; lag one is different",
        source="Shen 2019, appendix C, Eq. 52",
        run="shen2019.repeated_pairs:lag_one",
        work="{documents} documents of {length} symbols",
        sizes={
            "smoke": Scale("a second", {"documents": 200, "length": 1_000}),
            "laptop": Scale("about 2 seconds", {"documents": 2_000, "length": 2_000}),
            "paper": Scale("about 5 seconds", {"documents": 10_000, "length": 2_000}),
        },
    ),
    Computed(
        id="errata-05",
        ours=True,
        title="What the text leaves to the defaults of Keras",
        source="Shen 2019, appendix E.1.1",
        run="shen2019.keras_defaults:run",
        work="{networks} random LSTMs, all continuations of {steps} symbols",
        sizes={
            "smoke": Scale("two seconds", {"networks": 5, "steps": 8}),
            "laptop": Scale("about 5 seconds", {"networks": 50, "steps": 10}),
            "paper": Scale(f"about half a minute {_NO_EXPERIMENT}", {"networks": 200, "steps": 12}),
        },
    ),
    Computed(
        id="shen-appendix-g",
        title="The Ising chain sampled spin by spin is a Markov chain",
        source="Shen 2019, appendix G, Eq. 55 to 62",
        run="shen2019.ising:run",
        work="chains of {spins} spins, {documents} samples of {length} spins for each of {couplings!n} values of beta J",
        sizes={
            "smoke": Scale("two seconds", {"spins": 8, "couplings": (0.2, 0.5, 1.0), "documents": 200, "length": 500}),
            "laptop": Scale(
                "about 10 seconds", {"spins": 12, "couplings": (0.2, 0.5, 1.0), "documents": 4_000, "length": 1_000}
            ),
            "paper": Scale(
                f"about half a minute {_NO_EXPERIMENT}",
                {"spins": 16, "couplings": (0.2, 0.5, 1.0), "documents": 10_000, "length": 1_000},
            ),
        },
    ),
)

_BINARY_WORK = (
    "{grid.architectures!n} networks (seeds per network: {training.seeds}), {training.sequences} sequences of "
    "{training.length} symbols, at most {training.updates[%s]} updates"
)
_Shape = tuple[tuple[int, ...], tuple[int, ...]]
"""Widths and depths."""


def _grids(cells: tuple[str, ...], deep: int, times: tuple[str, str, str], *shapes: _Shape) -> dict[str, Scale]:
    """Networks of one layer of every width, and of every depth at the width `deep`, for each scale."""
    return {
        scale: Scale(time, {"grid": ArchitectureGrid(cells, widths, depths, deep), "training": BINARY[scale]})
        for scale, time, (widths, depths) in zip(BINARY, times, shapes, strict=True)
    }


_TRAINED_ON_BINARY: tuple[Recipe, ...] = (
    Trained(
        id="shen-fig1",
        title="Recurrent networks trained on scale-free data forget exponentially",
        source="Shen 2019, section 4.2.1, Fig. 1",
        run="shen2019.binary:recurrent",
        work=_BINARY_WORK % "lstm",
        sizes=_grids(
            ("rnn", "lstm"),
            8,
            ("some seconds", "about 20 minutes", "days"),
            ((4, 8), (1, 2)),
            ((4, 8, 16, 32), (1, 2, 3)),
            ((2, 4, 8, 16, 32, 64, 128), (1, 2, 3, 4, 5)),
        ),
    ),
    Trained(
        id="shen-fig3a",
        title="Transformers keep the power law of scale-free data",
        source="Shen 2019, section 5.1, Fig. 3a",
        run="shen2019.binary:transformer_curves",
        work=_BINARY_WORK % "transformer",
        sizes=_grids(
            ("transformer",),
            16,
            ("some seconds", "about half an hour", "days"),
            ((4, 16), (1,)),
            ((4, 8, 16, 32), (1,)),
            ((4, 8, 16, 32, 64), (1,)),
        ),
    ),
    Trained(
        id="shen-fig7",
        title="More than two layers do not increase the correlation length of LSTMs",
        source="Shen 2019, appendix E.1.1, Fig. 7",
        run="shen2019.binary:lstm_depth",
        work="LSTMs of widths {widths} and depths {depths} (seeds per network: {training.seeds}), {training.sequences} "
        "sequences of {training.length} symbols, at most {training.updates[lstm]} updates",
        sizes={
            "smoke": Scale("some seconds", {"widths": (4,), "depths": (1, 2, 3), "training": BINARY["smoke"]}),
            "laptop": Scale(
                "about 20 minutes", {"widths": (4, 8, 16), "depths": (1, 2, 3), "training": BINARY["laptop"]}
            ),
            "paper": Scale("days", {"widths": (4, 8, 16, 32), "depths": (1, 2, 3, 4, 5), "training": BINARY["paper"]}),
        },
    ),
    Trained(
        id="shen-fig9",
        title="Correlation length of what Transformers generate, by width and depth",
        source="Shen 2019, appendix E.2.1, Fig. 9",
        run="shen2019.binary:transformer_lengths",
        work=_BINARY_WORK % "transformer",
        sizes=_grids(
            ("transformer",),
            16,
            ("some seconds", "about 40 minutes", "days"),
            ((4, 16), (1, 2)),
            ((4, 8, 16, 32), (1, 2)),
            ((4, 8, 16, 32, 64), (1, 2, 3, 4)),
        ),
    ),
)


def _trained_on_text(
    id: str, title: str, source: str, run: str, sizes: dict[str, TextSize], *, name: str, also: str = ""
) -> Recipe:
    """Two figures about the same networks differ in what they show only, and may share the folder of runs."""
    times = {"smoke": "a minute", "laptop": "about half an hour", "paper": "weeks"}
    return Trained(
        id=id,
        title=title,
        source=source,
        run=run,
        work=f"{{size.plans[characters].grid.architectures!n}} {name}s of characters and "
        "{size.plans[words].grid.architectures!n} of words "
        "(seeds: {size.plans[characters].seeds} and {size.plans[words].seeds}), at most "
        "{size.plans[characters].training[updates]} and {size.plans[words].training[updates]} updates each, on {size.data}",
        sizes={
            scale: Scale(f"{times[scale]}{also and f'; {also} uses the same trainings'}", {"size": size})
            for scale, size in sizes.items()
        },
    )


_TRAINED_ON_TEXT: tuple[Recipe, ...] = (
    _trained_on_text(
        "shen-fig2",
        "Text that LSTMs generate has no long-range dependence",
        "Shen 2019, section 4.2.2, Fig. 2",
        "shen2019.text_lstm:fig2",
        TEXT_LSTM,
        name="LSTM",
    ),
    _trained_on_text(
        "shen-fig3bc",
        "Text that Transformers generate has dependence within sentences and paragraphs",
        "Shen 2019, section 5.2, Fig. 3b and 3c",
        "shen2019.text_transformer:fig3bc",
        TEXT_TRANSFORMER,
        name="Transformer",
    ),
    Computed(
        id="shen-fig3d",
        title="Text that GPT-2 generates follows a power law",
        source="Shen 2019, section 5.2, Fig. 3d",
        run="shen2019.gpt2:run",
        work="the files in MEMSPAN_DATA/gpt-2-samples, and {texts} texts of {tokens} tokens by the model in "
        "MEMSPAN_DATA/gpt-2 or --set model=DIR",
        sizes={
            "smoke": Scale("two seconds", {"texts": 0, "tokens": 0, "model": None}, "an artificial file of 60 samples"),
            "laptop": Scale("minutes", {"texts": 100, "tokens": 512, "model": None}),
            "paper": Scale("about an hour", {"texts": 500, "tokens": 1_024, "model": None}),
        },
    ),
    _trained_on_text(
        "shen-fig8",
        "Correlation length of text that LSTMs generate, by width and depth",
        "Shen 2019, appendix E.1.2, Fig. 8",
        "shen2019.text_lstm:fig8",
        TEXT_LSTM,
        name="LSTM",
        also="shen-fig2",
    ),
    _trained_on_text(
        "shen-fig10",
        "Correlation length of text that Transformers generate, by width and depth",
        "Shen 2019, appendix E.2.2, Fig. 10",
        "shen2019.text_transformer:fig10",
        TEXT_TRANSFORMER,
        name="Transformer",
        also="shen-fig3bc",
    ),
    Trained(
        id="shen-appendix-f",
        title="Samples of generated text next to their mutual information",
        source="Shen 2019, appendix F",
        run="shen2019.text_quality:run",
        work="3 LSTMs and a Transformer on {lstm.data}, with the trainings of shen-fig2 and shen-fig3bc",
        sizes={
            scale: Scale(
                time, {"lstm": TEXT_LSTM[scale], "transformer": TEXT_TRANSFORMER[scale], "gpt2": scale != "smoke"}
            )
            for scale, time in (("smoke", "a minute"), ("laptop", "about half an hour"), ("paper", "weeks"))
        },
    ),
)

RECIPES = (*_THEORY, *_TRAINED_ON_BINARY, *_TRAINED_ON_TEXT)
