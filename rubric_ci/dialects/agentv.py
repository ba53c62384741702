"""AgentV's eval files of 2.7 to 5: `tests` with graders in `assertions` or `assert`.

Suites and tests become a suite and its cases; `agentv_graders.py` has the graders.
"""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.dialects.agentv_graders import GRADERS, add_graders
from rubric_ci.dialects.translation import Translation
from rubric_ci.yaml_text.problems import Path

NAME: Final = "AgentV"

_OF_TEST: Final = frozenset(("input", "criteria", "vars", "expected_output", *GRADERS))
_ABOUT: Final = frozenset(
    (
        *("name", "description", "version", "author", "license", "metadata", "tags", "governance"),
        *("$schema", "category", "note", "notes"),
    )
)
_OF_SUITE: Final = frozenset(
    ("tests", "prompts", "providers", "execution", "evaluate_options", "input", *GRADERS)
)
_INPUT: Final = ("{{ input }}", "{{input}}")


def matches(data: Any) -> bool:
    """Return True if each test has an id, which promptfoo's have not, and a key of a test."""
    tests = data.get("tests") if isinstance(data, dict) else None
    if not isinstance(tests, list) or not tests or "evalcases" in data:
        return False
    return all(isinstance(test, dict) and "id" in test for test in tests) and any(
        _OF_TEST & test.keys() for test in tests
    )


def translate(data: dict[str, Any]) -> Translation:
    """Return the file as ours."""
    found = Translation()
    for key, ours in (("name", "dataset"), ("description", "description")):
        if isinstance(data.get(key), str):
            found.put((ours,), data[key], (key,))
    found.refuse_keys(data, _OF_SUITE | _ABOUT, ())
    if isinstance(options := data.get("evaluate_options"), dict):
        found.refuse_keys(options, ("max_concurrency",), ("evaluate_options",))
    _target(found, data)
    prompt = _prompt(found, data)
    found.put(("evalcases",), [], ("tests",))
    for index, test in enumerate(data["tests"]):
        _test(found, data, prompt, index, test)
    return found


def _target(found: Translation, data: dict[str, Any]) -> None:
    """Add the one target of a suite; several are no counterpart."""
    execution = data.get("execution") or {}
    if not isinstance(execution, dict):
        found.refuse(("execution",), "`execution` is not a mapping")
        return
    known = ("target", "targets", "threshold", "workers", "budget_usd")
    found.refuse_keys(execution, known, ("execution",))
    _threshold(found, execution, ("execution",))
    if isinstance(execution.get("target"), str):
        found.put(("target",), execution["target"], ("execution", "target"))
    for path, named in ((("execution", "targets"), execution), (("providers",), data)):
        names = named.get(path[-1])
        if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str):
            found.put(("target",), names[0], (*path, 0))
        elif names:
            found.refuse(path, f"`{path[-1]}` has no counterpart unless it names one target")


def _threshold(found: Translation, owner: dict[str, Any], path: Path) -> None:
    if owner.get("threshold", 0.8) != 0.8:
        found.refuse((*path, "threshold"), "`gate.thresholds.pass` in rubric-ci.yaml is the limit")


def _prompt(found: Translation, data: dict[str, Any]) -> str:
    """Return the prompt of the suite; empty: the input of each test."""
    prompts = data.get("prompts")
    if not prompts:
        return ""
    only = prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else None
    if not isinstance(only, str) or only.startswith("file://"):
        found.refuse(("prompts",), "`prompts` has no counterpart unless it is one text")
        return ""
    return "" if only.strip() in _INPUT else only


_TEST_KEYS: Final = frozenset(
    (
        *("id", "input", "input_files", "criteria", "expected_output", "vars", "rubrics"),
        *("conversation_id", "threshold", "execution", *GRADERS),
    )
)


def _test(
    found: Translation, suite: dict[str, Any], prompt: str, index: int, test: dict[str, Any]
) -> None:
    ours, theirs = ("evalcases", index), ("tests", index)
    found.put(ours, {}, theirs)
    found.put((*ours, "id"), test["id"], (*theirs, "id"))
    found.refuse_keys(test, _TEST_KEYS | _ABOUT, theirs)
    _threshold(found, test, theirs)
    for key in ("conversation_id", "metadata", "note"):
        if key in test:
            found.put((*ours, key), test[key], (*theirs, key))
    tags = test.get("tags")
    if isinstance(tags, list):
        found.put((*ours, "tags"), tags, (*theirs, "tags"))
    execution = test.get("execution") or {}
    if isinstance(execution, dict):
        found.refuse_keys(execution, ("target",), (*theirs, "execution"))
        if "target" in execution:
            found.put((*ours, "target"), execution["target"], (*theirs, "execution", "target"))
    variables = test.get("vars") or {}
    owner, place = (test, theirs) if "input" in test else (variables, (*theirs, "vars"))
    _input(found, suite, owner, place, ours, prompt)
    _expected(found, test, variables, ours, theirs)
    add_graders(found, suite, test, ours, theirs)


def _input(
    found: Translation,
    suite: dict[str, Any],
    owner: dict[str, Any],
    place: Path,
    ours: Path,
    prompt: str,
) -> None:
    """Add the input: a text or messages; the suite's come first."""
    variables = {key: each for key, each in owner.items() if isinstance(each, str)}
    if prompt and place[-1] == "vars":
        found.put((*ours, "input"), prompt, ("prompts", 0))
        found.put((*ours, "vars"), variables, place)
        return
    written: Any = owner.get("input")
    files = owner.get("input_files") or []
    first = suite.get("input")
    if not files and not first:
        found.put((*ours, "input"), written, (*place, "input"))
        if place[-1] == "vars" and isinstance(written, str) and "{{" in written:
            rest = {key: each for key, each in variables.items() if key != "input"}
            found.put((*ours, "vars"), rest, place)
        return
    messages = (*ours, "input_messages")
    found.put(messages, [], (*place, "input"))
    every = [*_messages(first, ("input",)), *_messages(written, (*place, "input"))]
    for number, (message, where) in enumerate(every):
        found.put((*messages, number), message, where)
    if files and every and isinstance(every[-1][0], dict):
        _attach(found, files, (*messages, len(every) - 1), (*place, "input_files"))


def _messages(written: Any, place: Path) -> Iterator[tuple[Any, Path]]:
    if isinstance(written, list):
        for index, message in enumerate(written):
            yield dict(message) if isinstance(message, dict) else message, (*place, index)
    elif written is not None:
        yield {"role": "user", "content": written}, place


def _attach(found: Translation, files: Any, message: Path, place: Path) -> None:
    """Add files to the last message, before its text."""
    owner: Any = found.data
    for step in message:
        owner = owner[step]
    content = owner.get("content")
    text = [{"type": "text", "value": content}] if isinstance(content, str) else content
    names = files if isinstance(files, list) else [files]
    owner["content"] = [*({"type": "file", "value": name} for name in names), *(text or [])]
    for index in range(len(names)):
        found.paths[*message, "content", index] = (*place, index)


def _expected(
    found: Translation, test: dict[str, Any], variables: Any, ours: Path, theirs: Path
) -> None:
    if "criteria" in test:
        found.put((*ours, "expected_outcome"), test["criteria"], (*theirs, "criteria"))
    if "expected_output" in test:
        found.put((*ours, "expected_output"), test["expected_output"], (*theirs, "expected_output"))
    elif isinstance(variables, dict) and "expected_output" in variables:
        place = (*theirs, "vars", "expected_output")
        found.put((*ours, "expected_output"), variables["expected_output"], place)
