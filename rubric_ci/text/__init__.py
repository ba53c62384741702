"""Pure functions: texts or numbers go in, texts or numbers come out.

Escaping, dates, globs and suggestions are here, significance tests in `statistics/`;
nothing here knows a case or a report. Start reading in `escape.py`, which has every rule for text
that leaves the program.
"""
