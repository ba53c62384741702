"""Parts: each folder can be read, changed and removed without the rest.

`agents/` starts agent programs, `bring/` reads files and results of other tools, `lab/` measures
the judge and keeps nights, `litellm/` asks the providers that are not asked directly, `pytest/` is
the plugin. Start reading in the `__init__.py` of a part.
"""
