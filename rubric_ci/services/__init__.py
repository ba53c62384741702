"""The work of each command: settings go in; a report, a draft, figures or a comment come out.

`run/` grades a project or a change, `cost_estimate.py` estimates it, `drafting/` writes rubrics,
`publish_workflow.py` and its like post on GitHub. Start reading in `run/grade.py`.
"""
