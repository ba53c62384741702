"""Who asked to grade a stranger's commit, and with which right."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(commands={"CI": {"authorize": "options_authorize:authorize"}})
