"""Figures, tables, theorems and errata of the literature as recipes that run an experiment and check its claims.

One folder per paper; its `__init__` is the table of its recipes. A claim states what the paper prints, what we derive
where that is wrong, and what is measured.

>>> from memspan.reproductions import RECIPES, reproduce
>>> [name for name in RECIPES if name.startswith("memorization")]
['memorization-fig1', 'memorization-fig2', 'memorization-order8', 'memorization-size']
>>> reproduce("errata-04", scale="smoke").holds
True
"""

from memspan.reproductions.catalog import RECIPES as RECIPES
from memspan.reproductions.catalog import reproduce as reproduce
from memspan.reproductions.recipe import Outcome as Outcome
from memspan.reproductions.recipe import Recipe as Recipe
