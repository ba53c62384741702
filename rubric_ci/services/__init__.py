"""The work of each command: settings go in; a report, a draft, figures or a comment come out.

`run/` grades a project or a change, `cost/` estimates it, `drafting/` writes rubrics, `doctor`
checks a setup, `publish/` posts on GitHub. Start reading in `run/grade.py`.
"""
