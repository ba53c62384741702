"""The gate: two states of a project go in; affected cases, changes and a decision come out.

`selection/` finds the cases that a change affects, `comparison/` says what is worse,
`differences/` what differs and what it means, `grading_changes/` what a change does to the grading,
`policy/` and `waivers/` whose rules hold,
`report/` builds, merges and checks run reports. Start reading in `report/decision.py`.
"""
