"""Insert rubrics into a JSON Lines text; every other character is kept."""

import json
import re
from collections.abc import Mapping

from rubric_ci.files.editing import yaml_layout
from rubric_ci.files.editing.insertions import Edited, EditRejected, is_same
from rubric_ci.values.json_value import JSON

_FIRST_KEY = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:(?P<space>\s*)')


def insert_rubrics_into_lines(text: str, rubrics: Mapping[int, JSON]) -> Edited:
    """Insert each value as the `rubrics` of the case at its position among non-blank lines.

    The text must be valid: a JSON object in every line that is not blank.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = text.removeprefix(mark).split("\n")
    cases = [number for number, line in enumerate(lines) if line.strip()]
    refused = {}
    for position, value in rubrics.items():
        line = lines[cases[position]]
        new, reason = _insert(line, value)
        if reason:
            refused[position] = EditRejected(reason=reason, block=_pair(line, value) + "\n")
        else:
            lines[cases[position]] = new
    return Edited(text=mark + "\n".join(lines), refused=refused)


def _insert(line: str, rubrics: JSON) -> tuple[str, str]:
    """Return the new line and the reason why it is invalid, or ""."""
    before = json.loads(line)
    if "rubrics" in before:
        return line, "the case has a `rubrics` key already"
    head = line[: line.rindex("}")].rstrip()
    new = f"{head},{_space(line)}{_pair(line, rubrics)}{line[len(head) :]}"
    if not is_same(json.loads(new), before | {"rubrics": rubrics}):
        return line, "with the rubrics inserted, other data of the line would change"
    return new, ""


def _pair(line: str, rubrics: JSON) -> str:
    """Return the pair with the spaces and escapes that the line uses."""
    space = _space(line)
    as_ascii = line.isascii() and "\\u" in line
    text = json.dumps(rubrics, ensure_ascii=as_ascii, separators=("," + space, ":" + space))
    text = yaml_layout.with_escapes(text)
    return f'"rubrics":{space}{text}'


def _space(line: str) -> str:
    found = _FIRST_KEY.match(line)
    return " " if found and found["space"] else ""
