"""Grading: cases go in, answers and results come out.

`targets/` answers a case, `evaluators/` marks the answer; the modules here run both for many cases
within the limits of a run, its trials and its time. Start reading in `engine.py`.
"""
