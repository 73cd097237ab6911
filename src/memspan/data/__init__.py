"""Public data sets by name: what they are, where they lie, and how they come here.

A set lies in the folder named by `MEMSPAN_DATA`, or else in the user's cache, always as `NAME/FILE`; `get`
downloads it to the cache, checked against the catalogue, and `resolve` turns the words of the command line
into paths.

>>> from memspan.data import CATALOGUE
>>> [file.name for file in CATALOGUE["ptb"].files]
['ptb.train.txt', 'ptb.valid.txt', 'ptb.test.txt']
"""

from memspan.data.catalogue import CATALOGUE as CATALOGUE
from memspan.data.data_set import Archive as Archive
from memspan.data.data_set import DataFile as DataFile
from memspan.data.data_set import DataSet as DataSet
from memspan.data.data_set import Folder as Folder
from memspan.data.fetching import get as get
from memspan.data.locations import available as available
from memspan.data.locations import find as find
from memspan.data.locations import locate as locate
from memspan.data.resolving import resolve as resolve
