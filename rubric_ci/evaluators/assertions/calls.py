"""Assertions about the calls of tools that an agent made.

A call that failed was tried: it counts where calls are forbidden or limited, and does not count
where one is required. A call may come several times; one is enough where one is required.

Of a line of a shell that cannot be read neither an assertion nor its opposite is shown: both fail.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from rubric_ci.evaluators.assertions.call_patterns import (
    fits,
    fits_glob,
    is_only,
    is_pattern,
    is_unread,
    may_start,
)
from rubric_ci.evaluators.assertions.json_data import schema_problem, validity
from rubric_ci.evaluators.assertions.row import CALLS, TEXT, TEXTS, Outcome, Row, quoted_value
from rubric_ci.text.numbers import listed
from rubric_ci.values.trace import Step

_SKILL: Final = re.compile(
    r"(?:^|[/\"'\s`(\[{<])skills/([A-Za-z0-9._:-]++)/SKILL\.md(?=$|[)\"'\s,;:`\]}>])"
)
_SHOWN: Final = 5  # calls in a message

Steps = Sequence[Step]


def _called(steps: Steps, pattern: str, fold: bool) -> Outcome:
    if call := next(_matching(steps, pattern, fold), None):
        return Outcome(holds=True, found="it is called", evidence=_line(call))
    ended = [step for step in steps if not step.error]
    if unclear := next(may_start(ended, pattern, fold), None):
        return _unread(unclear)
    failed = sum(fits(step, pattern, fold) for step in steps)
    tried = f"it is not called without an error, but {_times(failed)} with one"
    return Outcome(holds=False, found=tried if failed else "it is not called")


def _never_called(steps: Steps, patterns: str | list[str], fold: bool) -> Outcome:
    every = [patterns] if isinstance(patterns, str) else patterns
    calls = [step for step in steps if any(fits(step, each, fold) for each in every)]
    if calls:
        return Outcome(holds=False, found=f"it is called {_times(len(calls))}: {_line(calls[0])}")
    unclear = [each for pattern in every for each in may_start(steps, pattern, fold)]
    return _unread(unclear[0]) if unclear else Outcome(holds=True, found=_not_called(steps))


def _called_with(steps: Steps, value: dict[str, Any], fold: bool) -> Outcome:
    calls = list(_matching(steps, value["name"], fold))
    reasons = [(call, validity(call.arguments, value["arguments"])) for call in calls]
    if valid := [call for call, reason in reasons if not reason]:
        return Outcome(holds=True, found="it is called so", evidence=_line(valid[0]))
    if reasons:
        return Outcome(holds=False, found=f"the arguments do not fit: {reasons[-1][1]}")
    return _called(steps, value["name"], fold)


def _in_order(steps: Steps, patterns: list[str], fold: bool) -> Outcome:
    ended = [step for step in steps if not step.error]
    rest = iter(ended)
    for number, pattern in enumerate(patterns, start=1):
        if not any(fits(step, pattern, fold) for step in rest):
            if unclear := next(may_start(ended, pattern, fold), None):
                return _unread(unclear)
            after = f" after {quoted_value(patterns[number - 2])}" if number > 1 else ""
            return Outcome(holds=False, found=f"{quoted_value(pattern)} is not called{after}")
    return Outcome(holds=True, found="all are called in this order")


def _exactly(steps: Steps, patterns: list[str], fold: bool) -> Outcome:
    pairs = zip(steps, patterns, strict=False)
    others = [(step, each) for step, each in pairs if not is_only(step, [each], fold)]
    same_number = len(steps) == len(patterns)
    if same_number and others and all(is_unread(step, [each], fold) for step, each in others):
        return _unread(others[0][0])
    holds = same_number and not others
    return Outcome(holds=holds, found="" if holds else _not_called(steps, repeated=True))


def _no_other(steps: Steps, patterns: list[str], fold: bool) -> Outcome:
    others = [step for step in steps if not is_only(step, patterns, fold)]
    if not others:
        return Outcome(holds=True, found=_not_called(steps))
    shown_to_be = [step for step in others if not is_unread(step, patterns, fold)]
    if not shown_to_be:
        return _unread(others[0])
    return Outcome(holds=False, found=f"{_times(len(others))}: {_line(shown_to_be[0])}")


def _skill_used(steps: Steps, pattern: str, fold: bool) -> Outcome:
    used = list(dict.fromkeys(name for s in steps if not s.error for name in _skills(s)))
    wanted = pattern.strip().casefold() if fold else pattern.strip()
    holds = any(fits_glob(name.casefold() if fold else name, wanted) for name in used)
    found = f"used: {listed(used, _SHOWN)}" if used else "no skill is used"
    return Outcome(holds=holds, found=found)


def _skills(step: Step) -> Iterator[str]:
    """Yield the skills that a call used: by the tool for it, or by the path of their file."""
    given = step.arguments if isinstance(step.arguments, dict) else {}
    match step.tool.casefold():
        case "skill":
            name = given.get("skill", given.get("name"))
            yield from [name.strip()] if isinstance(name, str) and name.strip() else []
        case "read":
            places = (given.get(key) for key in ("file_path", "path", "filePath"))
            path = next((place for place in places if isinstance(place, str)), "")
            yield from _SKILL.findall(path.replace("\\", "/"))
        case tool:
            command = given.get("command") if tool == "bash" else ""
            yield from _SKILL.findall(f"{command}\n{step.result}".replace("\\", "/"))


def _at_most(steps: Steps, most: int, _: bool) -> Outcome:
    return Outcome(holds=len(steps) <= most, found=f"there are {len(steps):,}")


def _unread(step: Step) -> Outcome:
    found = f"a shell line cannot be read, so what it starts is not known: {_line(step)}"
    return Outcome(holds=False, found=found, is_clear=False)


def _matching(steps: Steps, pattern: str, fold: bool) -> Iterator[Step]:
    return (step for step in steps if fits(step, pattern, fold) and not step.error)


def _line(step: Step) -> str:
    arguments = "" if step.arguments is None else json.dumps(step.arguments, ensure_ascii=False)
    return f"{step.tool}({arguments})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _not_called(steps: Steps, *, repeated: bool = False) -> str:
    tools = [step.tool for step in steps]
    names = tools if repeated else list(dict.fromkeys(tools))
    return f"called: {listed(names, _SHOWN)}" if names else "no tool is called"


def _pattern_problem(value: Any) -> str:
    for pattern in value if isinstance(value, list) else [value]:
        if isinstance(pattern, str) and not is_pattern(pattern):
            return f"{quoted_value(pattern)} is not a tool, or `Name(arguments)`"
    return ""


def _with_problem(value: Any) -> str:
    if not isinstance(value, dict) or not isinstance(value.get("arguments"), dict):
        return ""
    return schema_problem(value["arguments"])


_row: Final = partial(Row, of=CALLS, problem=_pattern_problem, folds=True)

ROWS: Final = (
    _row(
        key="called",
        check=_called,
        says="calls {}",
        denies="does not call {}",
        meaning=(
            "The agent called this tool without an error; with `Name(glob)` a text in its "
            "arguments, as one line, fits the glob."
        ),
        value={**TEXT, "examples": ["Bash(npm test*)"]},
    ),
    _row(
        key="never_called",
        check=_never_called,
        growth="stronger",
        says="never calls {}",
        denies="calls {}",
        meaning="The agent did not call this tool, or any of these, not even with an error.",
        value={
            "type": ["string", "array"],
            "pattern": r"\S",
            "minItems": 1,
            "items": TEXT,
            "examples": ["Bash(git push*)", ["Write", "Edit"]],
        },
    ),
    _row(
        key="skill_used",
        check=_skill_used,
        says="uses the skill {}",
        denies="does not use the skill {}",
        meaning=(
            "The agent called the tool `Skill` with this name without an error, or read or met "
            "the `skills/NAME/SKILL.md` of it in a call; `*` stands for any text."
        ),
        value={**TEXT, "examples": ["refunds"]},
        problem=lambda _: "",
    ),
    _row(
        key="called_with",
        check=_called_with,
        says="makes the call {}",
        denies="does not make the call {}",
        meaning=(
            "The agent called this tool without an error, and the arguments of one such call are "
            "valid by the JSON Schema."
        ),
        value={
            "type": "object",
            "required": ["name", "arguments"],
            "additionalProperties": False,
            "properties": {
                "name": {
                    **TEXT,
                    "title": "Name",
                    "description": "Tool, as for `called`.",
                    "examples": ["find_order"],
                },
                "arguments": {
                    "type": "object",
                    "title": "Arguments",
                    "description": "JSON Schema of the arguments.",
                    "examples": [{"required": ["number"]}],
                },
            },
            "examples": [{"name": "find_order", "arguments": {"required": ["number"]}}],
        },
        problem=_with_problem,
    ),
    _row(
        key="calls_in_order",
        check=_in_order,
        says="calls in this order {}",
        denies="does not call in this order {}",
        meaning=(
            "The agent called these tools in this order without an error; other calls may be in "
            "between."
        ),
        value={**TEXTS, "examples": [["Read", "Edit"]]},
        growth="stronger",
        ordered=True,
    ),
    _row(
        key="calls_exactly",
        check=_exactly,
        says="makes these calls and no other {}",
        denies="makes other calls than {}",
        meaning="The agent made these calls in this order, also with errors, and no other.",
        value={**TEXTS, "examples": [["find_order", "refund"]]},
    ),
    _row(
        key="no_other_calls",
        check=_no_other,
        says="calls nothing but {}",
        denies="calls something other than {}",
        meaning="Every call, also one with an error, fits one of these.",
        value={**TEXTS, "examples": [["Read", "Bash(ls*)"]]},
        growth="weaker",
    ),
    _row(
        key="max_calls",
        check=_at_most,
        says="makes at most {} calls",
        denies="makes more than {} calls",
        title="Maximum of calls",
        meaning="The agent made at most so many calls, those with an error included.",
        value={"type": "integer", "minimum": 0, "examples": [12]},
        folds=False,
        growth="weaker",
    ),
)
