"""Criteria of other tools' rubrics, for `import`: what becomes a rubric file, not cases."""

import re
from typing import Any, Final

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.values.problems import Path

ASSESSABLE: Final = "The question and the answer show whether it is so"
"""The condition of a criterion that the judge of the tool may leave unmarked."""


def named(text: str, taken: set[str]) -> str:
    """Return an id for a name, unlike those that are taken."""
    name = re.sub(r"[^\w-]+", "-", text).strip("-") or "criterion"
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found


def plain(text: str) -> str:
    """Return a text in which braces are text."""
    braces = "{{" in text or "{%" in text
    return f"{{% raw %}}{text}{{% endraw %}}" if braces else text


def add(found: Translation, criterion: dict[str, Any], theirs: Path) -> None:
    """Add a criterion, which is at a path of the file."""
    found.put(("criteria", len(found.data["criteria"])), criterion, theirs)
