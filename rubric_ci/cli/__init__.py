"""The command line: typed words go in, settings and an exit code come out.

`main.py` has the table of commands in the order of use; each module beside it declares the options
of some commands, and `commands/` has one module per command, which reads like a table of contents.
"""
