"""Measure the judge: agreement with people, robustness against prompt injection."""
