"""Files of other tools and of later AgentV versions, and what to do with them.

A file is recognised by its keys, and only if it has problems. A golden set has records with a
question and its reference answer.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rubric_ci.files.validation.schema_wording import WRITE_CASES
from rubric_ci.files.yaml_text.csv_cases import USUAL, spelt
from rubric_ci.values.problems import GOOD_FILE, Path, Problem, Rule

OTHER_TOOL: Final = Rule(
    id="other-tool",
    meaning=(
        "The file is written for another tool or for another version of AgentV. Its keys have "
        "other meanings, so its other problems are not reported."
    ),
    bad="prompts: ['Say {{word}}']\nproviders: [openai:gpt-6-sol]\ntests: [{vars: {word: hi}}]\n",
    good=GOOD_FILE,
)

_PROMPTFOO: Final = frozenset(("prompts", "providers", "defaultTest", "scenarios", "redteam"))
_PROMPTFOO_TEST: Final = frozenset(("vars", "assert", "threshold", "assertScoringFunction"))
_AGENTV_5: Final = frozenset(("default_test", "environment", "execution"))
_OF_AGENTV: Final = frozenset(("criteria", "expected_output", "assertions", "graders"))
_LATER_CASE: Final = frozenset(
    ("criteria", "input", "expected_output", "assertions", "rubrics", "graders", "id")
)


def recognise(data: Any, file: str = "FILE") -> Problem | None:
    """Return the one problem of a file that another tool or version reads, if it is recognised."""
    if not isinstance(data, dict) or any(map(_means_evalcases, data)):
        return None
    inner = [each[0] for each in data.values() if isinstance(each, list) and each]
    if (
        found := _github_models_problem(data, file)
        or _openai_evals_problem(data, file)
        or _traces_problem([data, *inner], ())
    ):
        return found
    tests = data.get("tests")
    keys = _keys_of(tests)
    if data.keys() & _PROMPTFOO or (keys & _PROMPTFOO_TEST and not keys & {"input", "criteria"}):
        key = next(key for key in data if key in {*_PROMPTFOO, "tests"})
        later = bool(data.keys() & _AGENTV_5)
        if data.keys() & {"defaultTest", "redteam"} and not {"tests", "scenarios"} & data.keys():
            return _without_tests(data)
        imported = "tests" in data and data.keys() & _PROMPTFOO and not later
        hint = _import(file) + _or_agentv(data) if imported else WRITE_CASES
        return _problem(key, "AgentV 5" if later else "promptfoo", hint)
    return golden_set(data, file) or _later(data, tests)


def _without_tests(data: dict[str, Any]) -> Problem:
    if "redteam" in data:
        key, what = "redteam", "it has attacks (`redteam`), which promptfoo makes when it runs"
        hint = "`rubric-ci adopt` gates their results (docs/adopt.md)"
    else:
        key, what = "defaultTest", "it has defaults of tests (`defaultTest`) and no tests"
        hint = "import the file that has the tests"
    return Problem(OTHER_TOOL, (key,), f"{_WRITTEN_FOR}promptfoo: {what}", hint, at_key=True)


def _or_agentv(data: dict[str, Any]) -> str:
    """Return the hint for a file with graders outside of tests, which promptfoo ignores."""
    is_likely = {"assert", "assertions"} & data.keys() and not _keys_of(data.get("tests"))
    return "; if it is AgentV's, add a `name` to it" if is_likely else ""


def golden_set(data: Any, file: str) -> Problem | None:
    """Return the problem of a golden set with its records under a key, also under `evalcases`."""
    place = list_of(data) if isinstance(data, dict) else None
    if not place or is_ours(data):
        return None
    return recognise_records(data[place[0]], place, file)


def _later(data: dict[str, Any], tests: Any) -> Problem | None:
    if _asks(data) or (isinstance(tests, list) and tests and all(map(_asks, tests))):
        return _problem("tests" if "tests" in data else "input", "EvalView", WRITE_CASES)
    for name in ("tests", "cases"):
        keys = _keys_of(data.get(name))
        if name in data and _is_later(data[name], keys):
            agentv = name == "tests" and (isinstance(tests, str) or keys & _OF_AGENTV)
            tool = "AgentV 2.7 or later" if agentv else "another tool"
            return _problem(name, tool, _renamed(keys, data, name))
    return None


def _import(file: str) -> str:
    return f"`rubric-ci import {file}` writes an eval file of it"


def _github_models_problem(data: dict[str, Any], file: str) -> Problem | None:
    if "testData" in data:
        importable = isinstance(data["testData"], list) and "messages" in data
        return _problem("testData", "GitHub Models", _import(file) if importable else WRITE_CASES)
    if "messages" not in data:
        return None
    from rubric_ci.files.yaml_text.prompt_file import PROMPT_KEYS  # few files are prompts

    if data.keys() <= {*PROMPT_KEYS}:
        message = f"{_WRITTEN_FOR}GitHub Models: it is a prompt without cases (`testData`)"
        hint = "use it as `prompt` of a target (docs/configuration.md)"
        return Problem(OTHER_TOOL, ("messages",), message, hint, at_key=True)
    return None


def _openai_evals_problem(data: dict[str, Any], file: str) -> Problem | None:
    """Return the problem of an export of OpenAI Evals, or of a file of its registry."""
    if isinstance(data.get("testing_criteria"), list):
        return _problem("testing_criteria", "OpenAI Evals", _import(file))
    for key, value in data.items():
        kind = value.get("class") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind.startswith("evals."):
            message = f"{_WRITTEN_FOR}OpenAI Evals: it is a registry, and the cases are elsewhere"
            given = value.get("args")
            samples = given.get("samples_jsonl") if isinstance(given, dict) else None
            where = f"`{samples}` (`samples_jsonl`)" if samples else "the files that it names"
            hint = f"the cases are in {where}; write an eval file with them (docs/evals.md)"
            return Problem(OTHER_TOOL, (key,), message, hint, at_key=True)
    return None


def tool_of(data: Any) -> str:
    """Return the tool that a file is written for, or its kind of records; else ""."""
    found = recognise(data)
    named = found and re.match(r"the file (?:is written for|is|has) ([^:,]+)", found.message)
    return named[1] if named else ""


_WRITTEN_FOR: Final = "the file is written for "


def recognise_lines(cases: Any, file: str = "FILE") -> Problem | None:
    """Return the one problem of JSON Lines in which every line is a case of another tool."""
    lines = cases if isinstance(cases, list) else []
    if found := _traces_problem(lines[:1], ("evalcases", 0)):
        return found
    own = has_our_keys(lines)
    for key, (tool, hint) in _LINES.items() if lines and not own else ():
        if all(isinstance(line, dict) and key in line for line in lines):
            message = f"the file is written for {tool}: its lines have `{key}` and no `rubrics`"
            path = ("evalcases", 0, key)
            return Problem(OTHER_TOOL, path, message, hint or _import(file), at_key=True)
    return recognise_records(lines, ("evalcases", 0), file)


def has_our_keys(lines: list[Any]) -> bool:
    """Return True if a line has a key that only our cases have."""
    return any(isinstance(line, dict) and not _OWN.isdisjoint(line) for line in lines)


def recognise_records(lines: list[Any], path: Path, file: str = "FILE") -> Problem | None:
    """Return the one problem of records that `import` reads: questions and reference answers."""
    if traces := _traces_problem(lines[:1], path):
        return traces
    found = record_names(lines)
    if not found:
        return None
    listed = " and ".join(f"`{key}`" for key in found)
    message = f"the file is a golden set: its records have {listed}, and no `rubrics`"
    return Problem(OTHER_TOOL, path, message, _import(file), at_key=isinstance(path[-1], str))


def _traces_problem(records: list[Any], path: Path) -> Problem | None:
    likely = [each for each in records if isinstance(each, dict) and not _TRACE.isdisjoint(each)]
    if not likely:
        return None
    from rubric_ci.parts.bring.trace_formats import format_of  # few files have traces

    if form := next(filter(None, map(format_of, likely)), ""):
        message = f"the file has traces ({form}), and no cases"
        return Problem(OTHER_TOOL, path, message, "`rubric-ci import` makes cases of them")
    return None


_TRACE: Final = frozenset(
    (
        *("resourceSpans", "resourceLogs", "observations", "traceId", "trace_id", "run_type"),
        *("span_kind", "root_span_id", "resource_spans", "bookmarked"),
    )
)

_LINE_HINT: Final = "write `id`, `input` and `rubrics` in each line (docs/evals.md)"
_CHAT_HINT: Final = (
    "export the records with a question and a reference answer, as JSON Lines or CSV, which "
    "`rubric-ci import` reads"
)
_LINES: Final = {
    "vars": ("promptfoo", _LINE_HINT),
    "item": ("OpenAI Evals", _LINE_HINT),
    "target": ("Inspect", ""),
    "messages": ("OpenAI's fine-tuning or evals", _CHAT_HINT),
}
"""Keys of lines of other tools, each with a hint; "": `import` reads them."""


def _means_evalcases(key: str) -> bool:
    return key.lower().replace("_", "").startswith("evalcase")


def _problem(key: str, tool: str, hint: str) -> Problem:
    message = f"the file is written for {tool}: it has `{key}` and no `evalcases`"
    return Problem(OTHER_TOOL, (key,), message, hint, at_key=True)


def _keys_of(tests: Any) -> frozenset[str]:
    entries = tests if isinstance(tests, list) else ()
    return frozenset(key for entry in entries if isinstance(entry, dict) for key in entry)


def _is_later(tests: Any, keys: frozenset[str]) -> bool:
    return isinstance(tests, str) or bool(keys & _LATER_CASE)


def _asks(test: Any) -> bool:
    """Return True for a test of EvalView: a query with expectations."""
    question = test.get("input") if isinstance(test, dict) else None
    return isinstance(question, dict) and "query" in question and "expected" in test


def _renamed(keys: frozenset[str], data: Mapping[str, Any], cases: str = "tests") -> str:
    """Return the renames that the file needs."""
    given = keys | data.keys()
    names = [f"`{cases}` to `evalcases`"]
    names += ["`criteria` to `expected_outcome`"] if "criteria" in given else []
    moved = [f"`{key}`" for key in ("assertions", "assert") if key in given]
    rest = f", and {' and '.join(moved)} to `rubrics` or `execution.evaluators`" if moved else ""
    return f"rename {' and '.join(names)}{rest} (docs/from-agentv.md)"


_CASES: Final = "evalcases"
_LISTS: Final = (
    _CASES,
    *("examples", "data", "cases", "test_cases", "items", "samples", "records", "rows"),
    *("goldens", "golden_set", "dataset", "questions"),
)
_TESTS: Final = "tests"
_PAIR: Final = ("input", "expected_output")
_OF_CASE: Final = frozenset(("rubrics", "expected_outcome", "outcome", "evaluators", "execution"))
_OWN: Final = _OF_CASE | {"id"}
_OF_TEST: Final = frozenset(
    ("vars", "threshold", "thresholds", "criteria", "graders", "assert", "assertion", "assertions")
)
"""Keys by which `tests` of promptfoo, AgentV and EvalView grade answers."""

ABOUT: Final = ("name", "description", "version", "metadata", "$schema", "created_at", "id")
"""Keys next to the records of a golden set."""


def outcome(*, has_reference: bool) -> str:
    """Return the expected outcome of a record, from which its rubrics are drafted."""
    if has_reference:
        return "Answers the request as the reference answer does"
    return "Answers the request correctly and completely"


def list_of(data: Any) -> Path | None:
    """Return the path of the records of a JSON text; None: it is not a golden set."""
    if isinstance(data, list):
        return () if _are_records(data) else None
    owner = data if isinstance(data, dict) else {}
    names = [key for key in owner if key in _LISTS and isinstance(owner[key], list)]
    if not names and _are_plain_tests(owner):
        return (_TESTS,)
    if len(names) != 1 or not _are_records(owner[names[0]]):
        return None
    if names == [_CASES] and len(owner) > 1:  # alone, it holds the lines of JSON Lines
        ours = not _OF_CASE.isdisjoint(owner) or not record_names(owner[_CASES])
        return None if ours else (_CASES,)
    return (names[0],)


def is_ours(data: Mapping[str, Any]) -> bool:
    """Return True for `evalcases` whose questions and reference answers have our names.

    With an `id`, `target` is the target of a case there, not its reference answer.
    """
    if _CASES not in data:
        return False
    names = record_names(data[_CASES]).keys()
    named = all(isinstance(each, dict) and "id" in each for each in data[_CASES])
    return names <= {*_PAIR, "target"} if named else names <= set(_PAIR)


def record_names(records: Sequence[Any]) -> dict[str, str]:
    """Return the names of question and reference answer in all records; none if one lacks them.

    Each name has the spelling of the last record. A case of an eval file is not a record: it has
    rubrics, evaluators, or an id with our names.
    """
    found: dict[str, str] = {}
    for each in records:
        keys = {spelt(str(key)): str(key) for key in each} if isinstance(each, dict) else {}
        named = [next((k for k in USUAL[of] if k in keys), "") for of in _PAIR]
        ours = not _OF_CASE.isdisjoint(keys) or ("id" in keys and tuple(named) == _PAIR)
        if ours or not all(named):
            return {}
        found |= {name: keys[name] for name in named}
    return found


def has_question(columns: Iterable[str]) -> bool:
    """Return True if a column has a usual name of the question."""
    return any(spelt(each) in USUAL["input"] for each in columns)


def _are_records(items: Any) -> bool:
    mappings = isinstance(items, list) and all(isinstance(each, dict) for each in items)
    keys = [key for each in items for key in each] if mappings else []
    texts = all(isinstance(key, str) for key in keys)
    return texts and any(spelt(key) in USUAL["input"] for key in keys)


def _are_plain_tests(owner: Mapping[str, Any]) -> bool:
    """Return True for `tests` with questions and reference answers, which no other tool grades."""
    tests = owner.get(_TESTS, [])
    if not owner.keys() <= {_TESTS, *ABOUT} or not _are_records(tests) or not record_names(tests):
        return False
    asks = any(isinstance(each.get("input"), dict) for each in tests)  # as EvalView does
    return not asks and all(_OF_TEST.isdisjoint(each) for each in tests)
