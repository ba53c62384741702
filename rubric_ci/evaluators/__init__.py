"""Evaluators: a case and an answer go in, an assessment comes out.

A file per type: its settings, how they are read, and how it measures or asks a judge;
`assertions/` has the criteria that no judge is asked about. Start reading in `table.py`.
"""
