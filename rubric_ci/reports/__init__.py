"""Reports for people: a report goes in; text, pages and trends come out.

`render/` has a module per format and `render/formats.py` their table; `history/` keeps a record per
run and shows trends. Start reading in `render/formats.py`.
"""
