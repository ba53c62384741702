"""The files of users: text goes in; data with positions, then values or problems come out.

`yaml_text/` reads text, `validation/` finds problems, `parsing/` creates values, `editing/` changes
files in place, `project/` finds and loads them. Start reading in `project/loaded_project.py`.
"""
