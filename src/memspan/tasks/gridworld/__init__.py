"""Grid worlds: an agent sees a few squares ahead, and is rewarded at the end if it did what was asked.

MiniGrid's environments (Chevalier-Boisvert 2018, 2023), the small ones of Kerg 2020, Table 4, to learn in and the large ones
to see what of it carries over. Nothing of the extra `rl` is loaded before a world is made.

>>> from memspan.tasks.gridworld import WORLDS
>>> WORLDS["DoorKey-5x5"]
'MiniGrid-DoorKey-5x5-v0'
"""

from memspan.tasks.gridworld.worlds import LARGER as LARGER
from memspan.tasks.gridworld.worlds import WORLDS as WORLDS
from memspan.tasks.gridworld.worlds import check_world as check_world
from memspan.tasks.gridworld.worlds import environment_id as environment_id
