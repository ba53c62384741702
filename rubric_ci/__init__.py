"""Rubric-based evals in front of a merge."""

__version__ = "0.1.0"
