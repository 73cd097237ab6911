"""Recurrent networks with gates: `MinimalRNN`, `LSTM`, `GRU`, `DetachLSTM` and `GORU`."""
