"""The numbers printed in Kerg 2020, and its names of the cells. Accuracies are in percent."""

from __future__ import annotations

# Table 1, by cell and delay T: trained at T = 100. None: out of memory.
TRANSFER_COPY: dict[str, dict[int, float | None]] = {
    "orthogonal-rnn": {100: 99, 200: 4, 400: 16, 2000: 10, 5000: 0},
    "exp-rnn": {100: 100, 200: 86, 400: 73, 2000: 58, 5000: 50},
    "mem-rnn": {100: 99, 200: 99, 400: 99, 2000: 92, 5000: None},
    "rel-rnn": {100: 100, 200: 99, 400: 99, 2000: 99, 5000: 99},
    "lstm": {100: 99, 200: 64, 400: 48, 2000: 19, 5000: 14},
    "detach-lstm": {100: 100, 200: 91, 400: 77, 2000: 51, 5000: 42},
    "sab-lstm": {100: 99, 200: 95, 400: 95, 2000: 95, 5000: 95},
    "rel-lstm": {100: 100, 200: 99, 400: 99, 2000: 99, 5000: 99},
}

# Table 2, by cell and delay T: trained at every T.
DENOISE: dict[str, dict[int, float | None]] = {
    "orthogonal-rnn": {100: 90, 300: 71, 500: 61, 1000: 29, 2000: 3},
    "exp-rnn": {100: 34, 300: 25, 500: 20, 1000: 16, 2000: 11},
    "mem-rnn": {100: 99, 300: 99, 500: 99, 1000: 99, 2000: None},
    "rel-rnn": {100: 100, 300: 99, 500: 99, 1000: 99, 2000: 99},
    "lstm": {100: 82, 300: 41, 500: 33, 1000: 21, 2000: 15},
    "goru": {100: 92, 300: 93, 500: 91, 1000: 93, 2000: 73},
    "sab-lstm": {100: 99, 300: 99, 500: 99, 1000: 99, 2000: 99},
    "rel-lstm": {100: 100, 300: 99, 500: 99, 1000: 99, 2000: 99},
}

# Table 5, by cell and delay T: trained at every T. Numbers missing in the paper are left out.
COPY: dict[str, dict[int, float | None]] = {
    "lstm": {100: 100, 200: 100, 300: 100, 500: 12, 2000: 12},
    "orthogonal-rnn": {100: 100, 200: 100, 300: 100, 500: 100, 1000: 80, 2000: 11},
    "exp-rnn": dict.fromkeys((100, 200, 300, 500, 1000, 2000), 100),
    "mem-rnn": {100: 100, 200: 100, 300: 100, 500: 100, 1000: 100, 2000: None},
    "sab-lstm": dict.fromkeys((100, 200, 300, 500, 1000, 2000), 100),
    "rel-rnn": dict.fromkeys((100, 200, 300, 500, 1000, 2000), 100),
    "rel-lstm": dict.fromkeys((100, 200, 300, 500, 1000, 2000), 100),
}

# Table 3: accuracy on permuted MNIST.
PERMUTED_DIGITS: dict[str, float] = {
    "rnn": 90.4,
    "orthogonal-rnn": 93.4,
    "exp-rnn": 96.6,
    "rel-rnn": 92.8,
    "lstm": 91.1,
    "detach-lstm": 92.3,
    "sab-lstm": 94.2,
    "rel-lstm": 94.3,
}

# Table 3: bits per character of the Penn Treebank.
PENN_TREEBANK: dict[str, float] = {
    "rnn": 1.56,
    "orthogonal-rnn": 1.53,
    "exp-rnn": 1.49,
    "rel-rnn": 1.43,
    "lstm": 1.36,
    "sab-lstm": 1.37,
    "rel-lstm": 1.36,
}

# Names of the cells in the paper.
NAMES = {
    "rnn": "RNN",
    "orthogonal-rnn": "orth-RNN",
    "exp-rnn": "expRNN",
    "goru": "GORU",
    "lstm": "LSTM",
    "detach-lstm": "h-detach",
    "mem-rnn": "MemRNN",
    "mem-lstm": "MemLSTM",
    "sab-lstm": "SAB",
    "rel-rnn": "RelRNN",
    "rel-lstm": "RelLSTM",
}
