"""AgentV's eval files of 2.7 to 5: `tests` with graders in `assertions` or `assert`.

Suites and tests become a suite and its cases; `agentv_graders.py` has the graders.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.parts.bring.dialects.agentv_graders import (
    GRADERS,
    add_graders,
    execution_of,
    turn_criteria,
)
from rubric_ci.parts.bring.dialects.agentv_suite import (
    ABOUT,
    DECIDING_EXECUTION,
    IN_FILES,
    add_suite,
    check_threshold,
    default_variables,
    seen_by_judges,
    suite_prompt,
)
from rubric_ci.parts.bring.dialects.message_parts import FILE, is_image_name
from rubric_ci.parts.bring.translation import (
    ALONE,
    Beside,
    Placed,
    Translation,
    filled,
    placed,
    renamed,
)
from rubric_ci.values.json_value import nodes
from rubric_ci.values.problems import Path

NAME: Final = "AgentV"
CASES: Final = "tests"
MAPPINGS: Final = IN_FILES

_OF_TEST: Final = frozenset(("input", "criteria", "vars", "expected_output", *GRADERS))
_ITS_TEST: Final = frozenset(("criteria", "expected_output", "input_files", *GRADERS))
"""Keys of a test that lists of cases of no tool do not have."""
_ITS_OWN: Final = frozenset(
    ("name", "execution", "evaluate_options", "default_test", "environment", "workspace")
)
"""Keys of a suite that no configuration of promptfoo has."""

_OF_PROMPTFOO: Final = frozenset(("prompts", "targets", "defaultTest"))
"""Keys of a suite next to which promptfoo ignores graders."""

_ALONE: Final = frozenset(
    (
        *("a2a", "browser", "echo", "http", "https", "llama", "mcp", "n8n", "openclaw", "opencode"),
        *("openinterpreter", "sequence", "slack", "websocket", "ws", "wss"),
    )
)
"""Providers of promptfoo that are one word; all others have a colon or the ending of a file."""


def matches(data: Any) -> bool:
    """Return True if each test has an id, which promptfoo's have not, and a key is AgentV's own."""
    tests = data.get("tests") if isinstance(data, dict) else None
    listed = [tests] if isinstance(tests, str) else tests
    if not isinstance(listed, list) or not listed or "evalcases" in data:
        return False
    files = [each for each in listed if isinstance(each, str)]
    own = [each for each in listed if not isinstance(each, str)]
    if files and not own:
        graded = bool({*GRADERS} & data.keys()) and not _OF_PROMPTFOO & data.keys()
        return (graded and _names_targets(data)) or bool(_ITS_OWN & data.keys())
    if not all(isinstance(test, dict) and "id" in test for test in own):
        return False
    keys = frozenset().union(*own)
    return bool(keys & _ITS_TEST or (keys & _OF_TEST and data.keys() & {*_ITS_OWN, *GRADERS}))


def _names_targets(data: dict[str, Any]) -> bool:
    """Return True unless the suite has `providers` that promptfoo could load."""
    if "providers" not in data:
        return True
    written = data["providers"]
    names = written if isinstance(written, list) and written else [None]
    return all(isinstance(n, str) and _WORD.fullmatch(n) and n not in _ALONE for n in names)


_WORD: Final = re.compile(r"[\w-]+")


def edited(data: dict[str, Any]) -> tuple[str, str]:
    """Return the keys of the cases and of the criteria to add."""
    owners = [data, *(test for test in data[CASES] if isinstance(test, dict))]
    used = (key for owner in owners for key in GRADERS if key in owner)
    return CASES, next(used, "assert" if "prompts" in data else "assertions")


def drafted(rubrics: Any, key: str) -> list[Any]:
    """Return drafted criteria as one grader of the version that has the key, and its checks."""
    checks = [each for each in rubrics if each.keys() & _CHECKS.keys()]
    rest = [each for each in rubrics if each not in checks]
    graders = [
        {
            "type": name,
            **({} if each[ours] is True else {"value": each[ours]}),
            "required": True,
            **({"negate": True} if each.get("not") else {}),
        }
        for each in checks
        for ours, name in _CHECKS.items()
        if ours in each
    ]
    texts = [{k: v for k, v in each.items() if k not in _UNKNOWN} for each in rest]
    items = renamed(texts, "expected_outcome", "outcome")
    if key == "assert":
        return [*graders, {"type": "llm-rubric", "value": items}]
    return [*graders, {"type": "rubrics", "criteria": items}]


_CHECKS: Final = {"contains": "contains", "is_json": "is-json"}
_UNKNOWN: Final = frozenset(("max_words", "min_words"))


def translate(data: dict[str, Any], beside: Beside = ALONE) -> Translation:
    found = Translation(beside=beside)
    add_suite(found, data)
    prompt = suite_prompt(found, data)
    default = default_variables(found, data.get("default_test"))
    found.put(("evalcases",), [], ("tests",))
    tests = data["tests"] if isinstance(data["tests"], list) else []
    _check_environment(found, {key: each for key, each in data.items() if key != "tests"}, ())
    for index, written in enumerate(tests):
        if isinstance(written, dict):
            test = _with_variables(found, written, default, index)
            _check_environment(found, test, ("tests", index))
            _test(found, data, prompt, index, test)
        elif not isinstance(written, str):  # a file, which is not read here
            found.refuse((CASES, index), "a test is a mapping")
    found.keep_braces()
    found.stop_unsupported([("evalcases", at) for at in range(len(found.data["evalcases"]))])
    return found


def _check_environment(found: Translation, owner: dict[str, Any], place: Path) -> None:
    """Report the texts in which AgentV puts variables of the environment, but for descriptions."""
    for key in (key for key in owner if key not in _SHOWN):
        for path, text in nodes(owner[key], (*place, key)):
            if isinstance(text, str) and (named := _ENVIRONMENT.search(text)):
                found.refuse(path, f"`{named[0]}` is not replaced: {_NO_ENVIRONMENT}")


_NO_ENVIRONMENT: Final = "texts of eval files read no variables of the environment"
_SHOWN: Final = ABOUT - {"metadata"}
_ENVIRONMENT: Final = re.compile(r"\$\{\{\s*[A-Za-z_]\w*\s*\}\}|\{\{\s*env\.[^{}]*\}\}")


def _with_variables(
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


def _test(
    found: Translation, suite: dict[str, Any], prompt: str, index: int, test: dict[str, Any]
) -> None:
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
    add_graders(found, suite, test, ours, theirs, seen_by_judges(found, suite))
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
