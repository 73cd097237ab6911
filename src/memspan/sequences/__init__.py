"""Where symbols come from: files of every kind, and sources whose information is known exactly.

A `Sequence` is documents of integer symbols plus an alphabet. It is lazy: its `Store` may be a file larger
than memory, read piece by piece. `read` makes one out of files.

>>> from memspan.sequences import Sequence
>>> Sequence.from_documents(["to be or not to be"]).length
18
"""

from memspan.sequences.numbers import TRANSFORMS as TRANSFORMS
from memspan.sequences.reading import SYMBOLS as SYMBOLS
from memspan.sequences.reading import read as read
from memspan.sequences.sequence import Sequence as Sequence
from memspan.sequences.store import Disk as Disk
from memspan.sequences.store import Memory as Memory
from memspan.sequences.store import Store as Store
