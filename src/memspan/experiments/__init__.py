"""Figures, theorems and errata of the sources as recipes: each runs an experiment and checks the claims made about it.

A recipe states what the source prints, what we derive instead where that is wrong, and what comes out when one measures.

>>> from memspan.experiments import RECIPES, reproduce
>>> [name for name in RECIPES if name.startswith("memorization")]
['memorization-fig1', 'memorization-fig2', 'memorization-order8', 'memorization-size']
>>> reproduce("errata-04", scale="smoke").holds
True
"""

from memspan.experiments.recipe import Outcome as Outcome
from memspan.experiments.recipe import Recipe as Recipe
from memspan.experiments.reproducing import RECIPES as RECIPES
from memspan.experiments.reproducing import reproduce as reproduce
