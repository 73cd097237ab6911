"""Mean-field theory of wide random recurrent networks (Chen, Pennington and Schoenholz 2018, "meanfield").

In a wide network with random weights the pre-activations are Gaussian. Two numbers then describe a pair of copies of the
network: the variance q and the correlation c of their pre-activations. Both follow a deterministic map from step to step.
The slope chi of the correlation map at its stable fixed point sets the timescale -1 / log chi, and the slope chi_1 at
c = 1 separates the ordered phase (chi_1 < 1) from the chaotic one.

| module | content |
|---|---|
| `field` | `Field`, the maps shared by all cells; fixed points, chi, timescale, phase |
| `vanilla`, `minimal` | the two cells with a closed theory |
| `inverse` | parameters at the edge of chaos, or for a requested timescale |
| `jacobian` | moments of the singular values of the Jacobian |
| `fixed_points`, `gaussian`, `activations`, `parameters` | root finding, Gaussian expectations, and their input |

>>> from memspan.theory.meanfield.minimal import MinimalField
>>> MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=8.0, input_variance=0.46).phase
'critical'
"""
