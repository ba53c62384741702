"""Values: numbers and marks go in; scores and verdicts come out.

They are frozen, with the arithmetic on them, and need the standard library only; every other room
takes and returns them. Start reading in `results.py` and `rubric.py`.
"""
