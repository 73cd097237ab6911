"""Recurrent networks that attend to stored states.

`MemRNN` and `MemLSTM` attend to all past states, `SparseBacktrackLSTM` to the best of every k-th state, `RelRNN` and
`RelLSTM` to recent states and the most relevant earlier ones. `Transformer` has attention in place of a recurrence.
"""
