"""Edits of a JSON Lines text, rubrics and fixes; every other character is kept."""

import json
import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

from rubric_ci.files.editing import yaml_layout
from rubric_ci.files.editing.fixes import (
    LISTS_ONLY,
    MAX_ATTEMPTS,
    NAMES,
    Fix,
    FixResult,
    apply,
    expected_data,
    open_bound,
)
from rubric_ci.files.editing.insertions import Edited, EditRejected, is_same
from rubric_ci.files.editing.yaml_fixes import largest_valid_subset
from rubric_ci.files.validation.ambiguity_rules import is_passed_through
from rubric_ci.files.validation.schema import problems
from rubric_ci.files.validation.shape_rules import NOT_TEXT
from rubric_ci.files.yaml_text.document import lines_over_limits
from rubric_ci.files.yaml_text.jsonlines import JsonPositions, decode_line
from rubric_ci.files.yaml_text.source import Values
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import Path

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


def fix_lines(text: str) -> FixResult:
    """Return the fixed lines; a line that is not a JSON object is kept."""
    if lines_over_limits(text):
        return FixResult(text, 0)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = [_fix_line(line) for line in text.removeprefix(mark).split("\n")]
    places = sum(line.places for line in lines)
    return FixResult(mark + "\n".join(line.text for line in lines), places)


class _Line(Values):
    """One line as a suite of one case."""

    def __init__(self, text: str, case: dict[str, Any]) -> None:
        self.text = text
        self._places = JsonPositions(text)
        self.data = {"evalcases": [case]}

    def written(self, path: Path) -> str:
        start, end = self._places.extent_of(path[2:])
        return self.text[start:end]

    def fix(self, path: Path, value: Any, *, is_key: bool = False) -> Fix:
        """Return the fix of a value or of the name of a key."""
        start, end = self._places.extent_of(path[2:], at_key=is_key)
        return Fix(start, end, dumps(value), path, value, is_key)


def _fix_line(text: str) -> FixResult:
    case = decode_line(text)
    if case is None:
        return FixResult(text, 0)
    line = _Line(text, case)
    valid = largest_valid_subset([*_fixes(line)], lambda some: _holds(line, some), MAX_ATTEMPTS)
    return FixResult(apply(text, valid), len(valid))


def _holds(line: _Line, fixes: list[Fix]) -> bool:
    after = decode_line(apply(line.text, fixes))
    return dumps({"evalcases": [after]}) == dumps(expected_data(line.data, fixes))


def _fixes(line: _Line) -> Iterator[Fix]:
    for path, mapping in _mappings(line):
        names = NAMES.get(str(path[-2]), {})
        for key, item in mapping.items():
            new = names.get(key)
            if new and new not in mapping and (isinstance(item, list) or key not in LISTS_ONLY):
                yield line.fix((*path, key), new, is_key=True)
        bound = open_bound(mapping.get("score_ranges"))
        if bound and "score_range" in mapping["score_ranges"][bound[0]]:
            yield line.fix((*path, "score_ranges", bound[0], "score_range"), bound[1])
    for problem in problems("eval", line):
        if problem.rule == NOT_TEXT:
            yield line.fix(problem.path, line.written(problem.path))


def _mappings(line: _Line) -> Iterator[tuple[Path, dict[str, Any]]]:
    queue: list[tuple[Path, Any]] = [(("evalcases", 0), line.data["evalcases"][0])]
    while queue:
        path, value = queue.pop()
        if isinstance(value, dict) and not is_passed_through(path, line.data):
            yield path, value
            queue += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            queue += [((*path, index), item) for index, item in enumerate(value)]
