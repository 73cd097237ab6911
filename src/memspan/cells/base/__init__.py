"""What every cell is built from.

`Layer` is one recurrence over time and `Cell` a stack of layers with the call signature of `torch.nn.LSTM`. `activations`
holds the nonlinearities, `autograd` the helpers of scans with a handwritten backward pass, `checks` the argument checks and
`kernels` the compiled loops.
"""
