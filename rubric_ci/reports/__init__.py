"""Reports for people: a report goes in; text and pages come out.

`render/` has a module per format and `render/formats.py` their table. Start reading in
`render/formats.py`.
"""
