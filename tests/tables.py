"""Tables of texts for parametrized tests."""

import re
from typing import Any

import pytest


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
