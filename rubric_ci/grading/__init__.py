"""Grading: cases go in, answers and results come out.

`targets/` answers a case; the modules here run targets and evaluators for many cases within the
limits of a run, its trials and its time. Start reading in `engine.py`.
"""
