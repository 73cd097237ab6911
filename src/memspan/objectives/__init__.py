"""Auxiliary training objectives: bounds on mutual information, and the BMI regularizer built on them.

>>> import torch
>>> from memspan.objectives import donsker_varadhan, info_nce
>>> x, noise = torch.randn(2, 1000, generator=torch.Generator().manual_seed(0))
>>> y = 0.8 * x + 0.6 * noise                               # their mutual information is -log(0.6) = 0.51 nats
>>> def critic(x, y):                                        # log p(x, y) / (p(x) p(y))
...     return -(0.64 * (x * x + y * y) - 1.6 * x * y) / 0.72 - math.log(0.6)
>>> import math
>>> round(float(donsker_varadhan(critic(x, y), critic(x, y.roll(1)))), 1)
0.5
>>> round(float(info_nce(critic(x[:, None], y[None, :]))), 1)
0.5
"""

from memspan.objectives.bmi import Bmi as Bmi
from memspan.objectives.bmi import BmiConfig as BmiConfig
from memspan.objectives.bounds import Discriminator as Discriminator
from memspan.objectives.bounds import RunningDonskerVaradhan as RunningDonskerVaradhan
from memspan.objectives.bounds import donsker_varadhan as donsker_varadhan
from memspan.objectives.bounds import info_nce as info_nce
from memspan.objectives.bounds import nwj as nwj
from memspan.objectives.bounds import softplus_proxy as softplus_proxy
from memspan.objectives.objective import Objective as Objective
from memspan.objectives.segment_information import Critic as Critic
from memspan.objectives.segment_information import segment_information as segment_information
from memspan.objectives.segments import Reader as Reader
from memspan.objectives.segments import Segments as Segments
from memspan.objectives.segments import lines as lines
from memspan.objectives.segments import windows as windows
