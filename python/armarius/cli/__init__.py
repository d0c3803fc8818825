"""The command line `armarius`: entry.py has parser and entry point, each other file the commands of one subject.

Bad input is one line on standard error and exit status 2; results are on standard output, so that they can be piped.
A command is a row over a function, `@command` of options.py, from the parsed arguments to a status.
Only the file of the command that is asked for is loaded, and it loads what is slow when the command needs it.
"""

from armarius.cli.entry import build_parser, main

__all__ = ["build_parser", "main"]
