"""Frozen values and the arithmetic on them; standard library only.

Numbers and marks go in, scores and verdicts come out; every other room takes and returns these
values. Start reading in `results.py` and `rubric.py`.
"""
