"""The command line: options become arguments of the library, results become sentences, tables and files.

Nothing is computed here. Each command has one file; `app` is the table of commands, `running` handles errors and exit codes,
`output` writes, `progress` shows progress on standard error.
"""

from memspan.cli.entry import main as main
