"""AgentV's tests as cases."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.parts.bring.dialects.agentv_graders import (
    GRADERS,
    add_graders,
    execution_of,
    turn_criteria,
)
from rubric_ci.parts.bring.dialects.message_parts import FILE, is_image_name
from rubric_ci.parts.bring.translation import Placed, Translation, filled, placed
from rubric_ci.values.json_value import nodes
from rubric_ci.values.problems import Path

CASES: Final = "tests"
ABOUT: Final = frozenset(
    (
        *("name", "description", "version", "author", "license", "metadata", "tags", "governance"),
        *("$schema", "category", "note", "notes"),
    )
)
DECIDING_EXECUTION: Final = (
    *("evaluators", "assertions", "agent", "agent_timeout", "workspace", "repeat"),
    *("targets", "threshold"),
)
"""Keys that a version of AgentV reads and that have no counterpart."""


def check_environment(found: Translation, owner: dict[str, Any], place: Path) -> None:
    """Report the texts in which AgentV puts variables of the environment, but for descriptions."""
    for key in (key for key in owner if key not in _SHOWN):
        for path, text in nodes(owner[key], (*place, key)):
            if isinstance(text, str) and (named := _ENVIRONMENT.search(text)):
                found.refuse(path, f"`{named[0]}` is not replaced: {_NO_ENVIRONMENT}")


_NO_ENVIRONMENT: Final = "texts of eval files read no variables of the environment"
_SHOWN: Final = ABOUT - {"metadata"}
_ENVIRONMENT: Final = re.compile(r"\$\{\{\s*[A-Za-z_]\w*\s*\}\}|\{\{\s*env\.[^{}]*\}\}")


def with_variables(
    found: Translation, test: dict[str, Any], default: dict[str, Any], index: int
) -> dict[str, Any]:
    """Return a test with its variables in every text but prompts, which have variables of theirs.

    A list of texts multiplies the test there.
    """
    own = test.get("vars")
    variables = {**default, **own} if isinstance(own, dict) else default
    for key, value in variables.items():
        if isinstance(value, list) and (not value or isinstance(value[0], str)):
            place = ("tests", index, "vars", key)
            found.refuse(place, f"`{key}` is a list, which stands for several tests")
    if not variables:
        return test
    variables = filled(variables, variables)
    return {**filled(test, variables, keep=_KEPT), "vars": variables}


_KEPT: Final = frozenset(("prompt", "vars", "metadata"))


_TEST_KEYS: Final = frozenset(
    (
        *("id", "input", "input_files", "criteria", "expected_output", "vars", "rubrics"),
        *("conversation_id", "threshold", "execution", *GRADERS),
        *("mode", "turns", "aggregation", "on_turn_failure"),
    )
)


_KEPT_NAMES: Final = {key: key for key in ("id", "conversation_id", "note")}
_DECIDING: Final = (
    *("evaluators", "depends_on", "on_dependency_failure", "window_size", "workspace", "suite"),
    *("environment", "options", "provider", "providers", "prompts", "transform", "env"),
    *("evaluate_options", "repeat", "scenarios", "rubric", "preprocessors", "expected_outcome"),
)
"""Keys that a version of AgentV reads and that have no counterpart."""


def add_test(
    found: Translation,
    suite: dict[str, Any],
    test: dict[str, Any],
    *,
    index: int,
    prompt: str,
    seen: Sequence[str],
) -> None:
    """Add a case; `seen` is what judges see of the work besides the answer."""
    ours, theirs = ("evalcases", len(found.data["evalcases"])), (CASES, index)
    found.put(ours, {}, theirs)
    found.copy(test, _KEPT_NAMES, ours, theirs)
    found.skip_keys(test, _TEST_KEYS | ABOUT, _DECIDING, theirs)
    check_threshold(found, test, theirs)
    _metadata(found, suite, test, ours, theirs)
    tags = test.get("tags")
    if isinstance(tags, list):
        found.put((*ours, "tags"), tags, (*theirs, "tags"))
    execution = execution_of(test)
    at: Path = (*theirs, "execution")
    found.skip_keys(execution, ("target", "skip_defaults"), DECIDING_EXECUTION, at)
    found.copy(execution, {"target": "target"}, ours, at)
    variables = found.mapping(test.get("vars") or {}, (*theirs, "vars"), "`vars` is a mapping")
    owner, place = (test, theirs) if "input" in test else (variables, (*theirs, "vars"))
    skipped = execution.get("skip_defaults") is True
    first = None if skipped else suite.get("input")
    if "turns" not in test or first or "input" in owner:
        files = (suite.get("input_files"), ("input_files",)) if not skipped else (None, ())
        if "input_files" in owner:
            files = owner["input_files"], (*place, "input_files")
        _input(found, first, owner, place, ours, prompt, files)
    found.copy(test, {"criteria": "expected_outcome"}, ours, theirs)
    given, at = (test, theirs) if "expected_output" in test else (variables, (*theirs, "vars"))
    found.copy(given, {"expected_output": "expected_output"}, ours, at)
    if "turns" in test:
        _turns(found, test, ours, theirs)
        test = {key: value for key, value in test.items() if key != "criteria"}
    add_graders(found, suite, test, ours, theirs, seen)
    if "turns" in test:
        _check_conversation(found, ours, theirs)


def _metadata(
    found: Translation, suite: dict[str, Any], test: dict[str, Any], ours: Path, theirs: Path
) -> None:
    """Add the metadata of a test, and the suite's where the test has none."""
    shared = suite.get("metadata")
    shared = dict(shared) if isinstance(shared, dict) else {}
    if isinstance(suite.get("governance"), dict):
        shared["governance"] = suite["governance"]
    own = test.get("metadata", {})
    place = (*theirs, "metadata") if "metadata" in test or not shared else ("metadata",)
    merged = _merged(shared, own) if isinstance(own, dict) else own
    if merged or "metadata" in test:
        found.put((*ours, "metadata"), merged, place)


def _merged(shared: Any, own: Any) -> Any:
    if isinstance(shared, dict) and isinstance(own, dict):
        both = {key: _merged(shared[key], own[key]) for key in shared.keys() & own.keys()}
        return {**own, **both, **{key: shared[key] for key in shared if key not in own}}
    if isinstance(shared, list) and isinstance(own, list):
        every = [*shared, *own]
        return [each for at, each in enumerate(every) if each not in every[:at]]
    return own


def _turns(found: Translation, test: dict[str, Any], ours: Path, theirs: Path) -> None:
    """Add a scripted conversation, in which each turn and the whole count alike."""
    for key, only in (("aggregation", "mean"), ("on_turn_failure", "continue")):
        if test.get(key, only) != only:
            found.refuse((*theirs, key), f"`{key}` has no counterpart unless it is `{only}`")
    place, mine = (*theirs, "turns"), (*ours, "turns")
    found.put(mine, [], place)
    for number, (turn, where) in enumerate(placed(test["turns"], place)):
        found.put((*mine, number), {"input": "-"}, where)
        if not isinstance(turn, dict) or not isinstance(turn.get("input"), str):
            found.refuse(where, "a turn has no counterpart unless its `input` is a text")
            continue
        found.put((*mine, number, "input"), turn["input"], (*where, "input"))
        found.refuse_keys(turn, ("input", "expected_output", *GRADERS), where)
        expected = turn.get("expected_output")
        if isinstance(expected, str):
            at = (*where, "expected_output")
            found.put((*mine, number, "expected_outcome"), expected, at)
        elif expected is not None:
            found.refuse((*where, "expected_output"), "`expected_output` of a turn is a text")
        criteria = turn_criteria(found, test, turn, where)
        if not criteria:
            found.refuse(where, "a turn without graders scores 1 in AgentV; nothing does here")
        found.put_list((*mine, number, "rubrics"), criteria, where)


def _check_conversation(found: Translation, ours: Path, theirs: Path) -> None:
    """Report graders of a whole conversation that are not questions to a judge.

    Checks read what the user says as well there, and each evaluator would count like a turn here.
    """
    case: Any = found.data["evalcases"][ours[-1]]
    rubrics = case.get("rubrics", [])
    criteria = rubrics["criteria"] if isinstance(rubrics, dict) else rubrics
    checks = [each for each in criteria if isinstance(each, dict) and each.keys() & {*KEYS}]
    if checks or "execution" in case:
        found.refuse(theirs, "only texts and criteria can mark a whole conversation")


def _input(
    found: Translation,
    first: Any,
    owner: dict[str, Any],
    place: Path,
    ours: Path,
    prompt: str,
    attached: tuple[Any, Path],
) -> None:
    """Add the input: a text or messages; the suite's come first."""
    if prompt and place[-1] == "vars":
        found.put((*ours, "input"), filled(prompt, owner), ("prompts", 0))
        return
    written: Any = owner.get("input")
    files, files_at = attached
    if not files and not first:
        found.put((*ours, "input"), written, (*place, "input"))
        return
    messages = (*ours, "input_messages")
    every = [*_messages(first, ("input",)), *_messages(written, (*place, "input"))]
    found.put_list(messages, every, (*place, "input"))
    if files and every and isinstance(last := every[-1][0], dict):
        names = files if isinstance(files, list) else [files]
        content = last.get("content")
        text = [{"type": "text", "value": content}] if isinstance(content, str) else content
        kinds = {True: "image", False: "file"}
        added = [{"type": kinds[is_image_name(f"{FILE}{n}")], "value": n} for n in names]
        last["content"] = [*added, *(text or [])]
        inside = (*messages, len(every) - 1, "content")
        found.paths |= {(*inside, at): (*files_at, at) for at in range(len(names))}


def _messages(written: Any, place: Path) -> Iterator[Placed]:
    if isinstance(written, list):
        for message, where in placed(written, place):
            yield dict(message) if isinstance(message, dict) else message, where
    elif written is not None:
        yield {"role": "user", "content": written}, place


def check_threshold(found: Translation, owner: dict[str, Any], path: Path) -> None:
    if owner.get("threshold", 0.8) != 0.8:
        found.refuse((*path, "threshold"), "`gate.thresholds.pass` in rubric-ci.yaml is the limit")
