"""Recurrent networks without gates: `VanillaRNN`, `OrthogonalRNN`, `ExpRNN` and the memoryless baseline `Memoryless`."""
