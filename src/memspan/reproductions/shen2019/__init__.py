"""Shen 2019, *Mutual information scaling and expressive power of sequence models*: how the mutual information of
sequences, and of what models generate, falls with the lag.
"""

from memspan.reproductions.recipe import Computed, Recipe, Scale, Trained

RECIPES: tuple[Recipe, ...] = (
    Computed(
        id="shen-linear",
        title="Linear RNNs forget exponentially, at the rate of their slowest mode",
        source="Shen 2019, section 4.1 and appendix A",
        run="shen2019.linear_networks:run",
        sizes={
            "smoke": Scale(
                "a second", {"scale": "smoke"}, "4 random networks with a plain tail, 200,000 sampled vectors"
            ),
            "laptop": Scale(
                "about 30 seconds",
                {"scale": "laptop"},
                "50 random networks with a plain tail, 8 million sampled vectors",
            ),
            "paper": Scale(
                "about 2 minutes (the source has no experiment here)",
                {"scale": "paper"},
                "200 random networks with a plain tail, 20 million sampled vectors",
            ),
        },
    ),
    Computed(
        id="shen-fig4",
        title="Repetitive sequences keep a constant information at every distance",
        source="Shen 2019, appendix C, Eq. 52 and Fig. 4",
        run="shen2019.repetitive_sequences:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "4 values of p, 100,000 symbols each"),
            "laptop": Scale("about 3 seconds", {"scale": "laptop"}, "19 values of p, 2 million symbols each"),
            "paper": Scale("about 15 seconds", {"scale": "paper"}, "19 values of p, 10 million symbols each"),
        },
    ),
    Computed(
        id="shen-fig5",
        title="The exponent of a known power law is recovered",
        source="Shen 2019, appendix D.1, Fig. 5",
        run="shen2019.power_law_exponents:run",
        sizes={
            "smoke": Scale("two seconds", {"scale": "smoke"}, "3 exponents, 160,000 symbols each"),
            "laptop": Scale(
                "about 15 seconds",
                {"scale": "laptop"},
                "10 exponents, 10 million symbols each, as in the paper",
            ),
            "paper": Scale(
                "about 15 seconds", {"scale": "paper"}, "10 exponents, 10,000 documents of 1,000 symbols each"
            ),
        },
    ),
    Computed(
        id="shen-fig6",
        title="The power law that validation sets seem to lack is hidden below the estimator's floor",
        source="Shen 2019, section 4.2.2, appendix D.2 and Fig. 6",
        run="shen2019.validation_sets:run",
        sizes={
            "smoke": Scale(
                "a few seconds",
                {"scale": "smoke"},
                "the first of PTB, WikiText-2, text8 and WikiText-103 that is there",
            ),
            "laptop": Scale(
                "about 25 seconds; text8 and WikiText-103 where they are: some minutes more",
                {"scale": "laptop"},
                "PTB and WikiText-2",
            ),
            "paper": Scale("the sets have the size they have", {"scale": "paper"}, "the same as laptop"),
        },
    ),
    Computed(
        id="errata-01",
        title="Covariances of linear RNNs are printed with one factor U_h too many",
        source="Shen 2019, section 4.1, Eq. 5-7, and appendix A, Eq. 12-36",
        run="shen2019.linear_covariances:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "4 random networks, 40,000 chains each"),
            "laptop": Scale(
                "about 20 seconds", {"scale": "laptop"}, "20 random networks, 400,000 chains each"
            ),
            "paper": Scale(
                "about 2 minutes (the source has no experiment here)",
                {"scale": "paper"},
                "40 random networks, 1,000,000 chains each",
            ),
        },
    ),
    Computed(
        id="errata-02",
        title="The constant of Eq. 47 is pi sqrt(A/2), and the exact inversion is better still",
        source="Shen 2019, appendix B, Eq. 46 and 47",
        run="shen2019.power_law_constant:run",
        sizes={
            "smoke": Scale("about 2 seconds", {"scale": "smoke"}, "three sources, 160,000 symbols each"),
            "laptop": Scale("about 3 seconds", {"scale": "laptop"}, "three sources, 5 million symbols each"),
            "paper": Scale("about 5 seconds", {"scale": "paper"}, "three sources, 10 million symbols each"),
        },
    ),
    Computed(
        id="errata-03",
        title="The constant that validation sets level off at is the estimator's floor",
        source="Shen 2019, section 4.2.2, Eq. 53, Fig. 2, 3 and 6",
        run="shen2019.noise_floor:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "independent symbols only, 200,000 of them"),
            "laptop": Scale(
                "about 25 seconds",
                {"scale": "laptop"},
                "1.1 million independent symbols, and WikiText-2 if it is there",
            ),
            "paper": Scale("WikiText-2 is used whole", {"scale": "paper"}, "the same as laptop"),
        },
    ),
    Computed(
        id="errata-04",
        title="Eq. 52 holds at every lag above one; lag one is different",
        source="Shen 2019, appendix C, Eq. 52",
        run="shen2019.repetition_at_lag_one:run",
        sizes={
            "smoke": Scale("a second", {"scale": "smoke"}, "200,000 symbols"),
            "laptop": Scale("about 2 seconds", {"scale": "laptop"}, "4 million symbols"),
            "paper": Scale("about 5 seconds", {"scale": "paper"}, "20 million symbols"),
        },
    ),
    Trained(
        id="shen-fig1",
        title="Recurrent networks forget exponentially what has no scale",
        source="Shen 2019, section 4.2.1, Fig. 1",
        run="shen2019.binary_rnn:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "6 networks, 500 sequences of 32 symbols, 60 updates"
            ),
            "laptop": Scale(
                "about 20 minutes",
                {"scale": "laptop"},
                "12 networks of 2 seeds each, 10,000 sequences of 512 symbols, 8 passes",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "22 networks of 5 seeds each, until validation no longer improves"
            ),
        },
    ),
    Trained(
        id="shen-fig2",
        title="What LSTMs write has no long memory",
        source="Shen 2019, section 4.2.2, Fig. 2",
        run="shen2019.text_lstm:fig2",
        sizes={
            "smoke": Scale(
                "a minute",
                {"scale": "smoke"},
                "2 LSTMs of characters and 2 of words, 20 and 20 updates each, on Python's own source",
            ),
            "laptop": Scale(
                "about half an hour",
                {"scale": "laptop"},
                "4 LSTMs of characters and 3 of words, 8,000 and 5,000 updates each",
            ),
            "paper": Scale(
                "weeks",
                {"scale": "paper"},
                (
                    "13 LSTMs of characters and 12 of words from 5 and 3 seeds, 200,000 and 125,280 updates "
                    "each at the most"
                ),
            ),
        },
    ),
    Trained(
        id="shen-fig3a",
        title="Transformers keep the power law of what has no scale",
        source="Shen 2019, section 5.1, Fig. 3a",
        run="shen2019.binary_transformer:train_widths",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "2 networks, 500 sequences of 32 symbols, 60 updates"
            ),
            "laptop": Scale(
                "about half an hour",
                {"scale": "laptop"},
                "4 networks of 2 seeds each, 10,000 sequences of 512 symbols, 4 passes",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "5 networks, until validation no longer improves, 5 seeds each"
            ),
        },
    ),
    Trained(
        id="shen-fig3bc",
        title="What Transformers write remembers sentences and paragraphs",
        source="Shen 2019, section 5.2, Fig. 3b and 3c",
        run="shen2019.text_transformer:fig3bc",
        sizes={
            "smoke": Scale(
                "a minute",
                {"scale": "smoke"},
                "2 Transformers of characters and 2 of words, 20 and 20 updates each, on Python's own source",
            ),
            "laptop": Scale(
                "about 30 minutes",
                {"scale": "laptop"},
                "4 Transformers of characters and 3 of words, 3,500 and 3,000 updates each",
            ),
            "paper": Scale(
                "weeks",
                {"scale": "paper"},
                (
                    "11 Transformers of characters and 10 of words from 3 and 3 seeds, 65,600 and 163,000 "
                    "updates each at the most"
                ),
            ),
        },
    ),
    Computed(
        id="shen-fig3d",
        title="What GPT-2 writes remembers by a power law",
        source="Shen 2019, section 5.2, Fig. 3d",
        run="shen2019.gpt2:run",
        sizes={
            "smoke": Scale("two seconds", {"scale": "smoke"}, "a made file of 60 samples"),
            "laptop": Scale(
                "minutes",
                {"scale": "laptop"},
                "the files in MEMSPAN_DATA/gpt-2-samples, and 100 texts of 512 tokens by MEMSPAN_DATA/gpt-2",
            ),
            "paper": Scale(
                "about an hour", {"scale": "paper"}, "the same files, and 500 texts of 1,024 tokens"
            ),
        },
    ),
    Trained(
        id="shen-fig7",
        title="More than two layers do not help LSTMs to remember",
        source="Shen 2019, appendix E.1.1, Fig. 7",
        run="shen2019.binary_depth:run",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "3 networks, 500 sequences of 32 symbols, 60 updates"
            ),
            "laptop": Scale(
                "about 20 minutes",
                {"scale": "laptop"},
                "9 networks of 2 seeds each, 10,000 sequences of 512 symbols, 8 passes",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "20 networks of 5 seeds each, until validation no longer improves"
            ),
        },
    ),
    Trained(
        id="shen-fig8",
        title="How far back LSTMs remember a text, by width and depth",
        source="Shen 2019, appendix E.1.2, Fig. 8",
        run="shen2019.text_lstm:fig8",
        sizes={
            "smoke": Scale(
                "a minute; the same folder serves shen-fig2",
                {"scale": "smoke"},
                "2 LSTMs of characters and 2 of words, 20 and 20 updates each, on Python's own source",
            ),
            "laptop": Scale(
                "about half an hour; the same folder serves shen-fig2",
                {"scale": "laptop"},
                "4 LSTMs of characters and 3 of words, 8,000 and 5,000 updates each",
            ),
            "paper": Scale(
                "weeks; the same folder serves shen-fig2",
                {"scale": "paper"},
                (
                    "13 LSTMs of characters and 12 of words from 5 and 3 seeds, 200,000 and 125,280 updates "
                    "each at the most"
                ),
            ),
        },
    ),
    Trained(
        id="shen-fig9",
        title="How far back Transformers remember, by width and depth",
        source="Shen 2019, appendix E.2.1, Fig. 9",
        run="shen2019.binary_transformer:train_lengths",
        sizes={
            "smoke": Scale(
                "some seconds", {"scale": "smoke"}, "3 networks, 500 sequences of 32 symbols, 60 updates"
            ),
            "laptop": Scale(
                "about 40 minutes",
                {"scale": "laptop"},
                "5 networks of 2 seeds each, 10,000 sequences of 512 symbols, 4 passes",
            ),
            "paper": Scale(
                "days", {"scale": "paper"}, "8 networks, until validation no longer improves, 5 seeds each"
            ),
        },
    ),
    Trained(
        id="shen-fig10",
        title="How far back Transformers remember a text, by width and depth",
        source="Shen 2019, appendix E.2.2, Fig. 10",
        run="shen2019.text_transformer:fig10",
        sizes={
            "smoke": Scale(
                "a minute; the same folder serves shen-fig3bc",
                {"scale": "smoke"},
                "2 Transformers of characters and 2 of words, 20 and 20 updates each, on Python's own source",
            ),
            "laptop": Scale(
                "about 30 minutes; the same folder serves shen-fig3bc",
                {"scale": "laptop"},
                "4 Transformers of characters and 3 of words, 3,500 and 3,000 updates each",
            ),
            "paper": Scale(
                "weeks; the same folder serves shen-fig3bc",
                {"scale": "paper"},
                (
                    "11 Transformers of characters and 10 of words from 3 and 3 seeds, 65,600 and 163,000 "
                    "updates each at the most"
                ),
            ),
        },
    ),
)
