"""The command line: typed words go in, settings and an exit code come out.

Each module next to `main.py` declares the options of some commands; `commands/` has one module per
command. Start reading in `main.py`, which has the table of commands in the order of use.
"""
