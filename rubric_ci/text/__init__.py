"""Pure functions: texts or numbers go in, texts or numbers come out.

Escaping, dates, globs and suggestions are here, significance tests in `p_values_and_intervals.py`;
nothing here knows a case or a report. Start reading in `escape.py`, which has every rule for text
that leaves the program.
"""
