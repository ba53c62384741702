"""Reports for people: a report goes in; text and pages come out.

A format is a module; `formats.py` is their table. Start reading in `formats.py`.
"""
