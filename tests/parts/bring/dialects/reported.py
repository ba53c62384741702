"""The problems of a translated file, each as one text, and tables of files and what they become."""

import re
from typing import Any

import pytest

from rubric_ci.files.yaml_text.translation import NOT_SUPPORTED, Translation


def reported(found: Translation) -> list[str]:
    """Return the problems: the rule, the path in the file of the tool, and the message."""
    return [f"{rule.id} {'.'.join(map(str, path))}: {text}" for rule, path, text in found.problems]


def refused(found: Translation) -> list[str]:
    """Return the path and the message of each part without a counterpart."""
    problems = ((path, text) for rule, path, text in found.problems if rule is NOT_SUPPORTED)
    return [f"{'.'.join(map(str, path))} {text}" for path, text in problems]


def rows(table: str) -> list[Any]:
    """Return the rows of a table: `# name`, a text of the tool, and results after `=> `.

    A result goes on in the next line, up to the next `=> ` or `# `.
    """
    found = []
    for row in re.split(r"^# ", table, flags=re.MULTILINE)[1:]:
        name, _, rest = row.partition("\n")
        text, *results = re.split(r"^=> ", rest, flags=re.MULTILINE)
        joined = [" ".join(each.split()) for each in results]
        found.append(pytest.param(text.strip(), joined, id=name))
    return found
