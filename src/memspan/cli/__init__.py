"""The command line: words become arguments of the library, results become sentences, tables and files.

Nothing is computed here. `running` holds everything that can go wrong, `output` everything that is written,
`progress` what a waiting person sees, and each command has a file of its own.
"""

from memspan.cli.entry import main as main
