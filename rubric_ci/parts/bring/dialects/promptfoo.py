"""promptfoo's configurations, for `import`: a case per test and prompt, assertions as criteria.

They are not read in place: real ones run code. `promptfoo_tests.py` has the tests,
`promptfoo_prompts.py` the prompts, `promptfoo_assert.py` the assertions, `promptfoo_providers.py`
providers and judges, `promptfoo_targets.py` models and HTTP services, and `promptfoo_code.py` the
code that the shims run.
"""

import json
import re
from collections import Counter
from itertools import product
from typing import Any, Final

from rubric_ci.parts.bring.dialects.message_parts import NoPart
from rubric_ci.parts.bring.dialects.nunjucks import NotSame, is_template, js_text, resolved
from rubric_ci.parts.bring.dialects.promptfoo_assert import add_checks
from rubric_ci.parts.bring.dialects.promptfoo_code import (
    PROMPT,
    SHIMS,
    VARIABLES,
    Setting,
    transform_of,
)
from rubric_ci.parts.bring.dialects.promptfoo_prompts import (
    SEVERAL,
    Prompt,
    add_input,
    prompts_of,
    write_out,
)
from rubric_ci.parts.bring.dialects.promptfoo_providers import (
    Providers,
    add_judge,
    add_targets,
    ask_as_programs,
    runs_programs,
    target_of_test,
)
from rubric_ci.parts.bring.dialects.promptfoo_tests import DATE, Test, is_value, tests_of
from rubric_ci.parts.bring.translation import ALONE, Beside, Translation
from rubric_ci.values.json_value import nodes
from rubric_ci.values.problems import Path

_SUITE: Final = frozenset(("prompts", "providers", "targets", "tests", "defaultTest"))
_IDLE: Final = frozenset(
    (
        *("description", "$schema", "tags", "metadata", "outputPath", "sharing", "derivedMetrics"),
        *("commandLineOptions", "assertionTemplates", "writeLatestResults", "version", "tracing"),
    )
)
"""Keys that decide about no answer and no verdict."""

_DECIDING: Final = ("extensions", "nunjucksFilters", "redteam", "scenarios")
_DECIDING_OPTIONS: Final = ("repeat", "generateSuggestions")


def matches(data: Any) -> bool:
    """Return True for a configuration with tests or scenarios in it."""
    known = isinstance(data, dict) and bool({"prompts", "providers", "targets"} & data.keys())
    return known and ("tests" in data or "scenarios" in data)


def translate(data: dict[str, Any], beside: Beside = ALONE) -> Translation:
    found = Translation(beside=beside)
    if isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    _other_keys(found, data)
    providers = add_targets(found, data)
    programs = runs_programs(found.targets)
    written = data.get("prompts") or ["{{prompt}}"]
    prompts = list(prompts_of(found, written, programs))
    found.put(("evalcases",), [], ("tests",))
    taken: Counter[str] = Counter()
    for test in tests_of(found, data):
        transforms = (*providers.transforms, *transform_of(found, *test.transform))
        setting = Setting({}, test.threshold, transforms, test.judge)
        target = ""
        if test.provider[0] is not None and not (
            target := target_of_test(found, providers, test.provider)
        ):
            continue
        every = [*product(prompts, test.variants)]
        for number, (prompt, variables) in enumerate(every):
            name = test.name + (f"-{number + 1}" if len(every) > 1 else "")
            taken[name] += 1
            unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
            case = _add_case(found, test, prompt, setting._replace(variables=variables), unique)
            if case and target:
                case["target"] = target
    _complete(found, providers, any(prompt.data is not None for prompt in prompts), programs)
    add_judge(found, providers.names)
    return found


def refuse_date(found: Translation, path: Path) -> None:
    """Report a date where it is a value: promptfoo has it as an object with a time zone."""
    if is_value(path):
        found.refuse(path, DATE)


def _complete(
    found: Translation, providers: Providers, has_data: bool, programs: bool | None
) -> None:
    """Let the shim ask services where it has to, and report targets that a chat prompt divides."""
    inputs = [each.get("input") for each in found.data["evalcases"]]
    values = [each for known in found.variables.values() for each in known.values()]
    looks_like_data = any(_DATA.match(each) for each in (*inputs, *values) if isinstance(each, str))
    if found.shims or has_data or looks_like_data:
        ask_as_programs(found, providers.services)
    if SHIMS["javascript"] in json.dumps(found.targets):
        found.shims.add(SHIMS["javascript"])
    if has_data and programs is not None and runs_programs(found.targets) is None:
        found.refuse(("prompts",), f"{SEVERAL}: one target of a test is of another kind")


_DATA: Final = re.compile(r"\s*+(?:\[|\{(?![{%#]))")
"""A text that promptfoo sends as data in the body of a request, if it is JSON."""


def _add_case(
    found: Translation, test: Test, prompt: Prompt, setting: Setting, name: str
) -> dict[str, Any] | None:
    """Add a case; one that asserts nothing, or of which nothing is imported, is left out."""
    ours: Path = ("evalcases", len(found.data["evalcases"]))
    found.put(ours, {}, test.place)
    found.put((*ours, "id"), name, (*test.place, "description"))
    case: dict[str, Any] = found.data["evalcases"][-1]
    try:
        known = resolved(setting.variables)
        text = add_input(found, prompt, known, ours, test.place)
    except (NotSame, NoPart) as error:
        at, what = (*test.place, "vars"), "a template is not filled in"
        if isinstance(error, NoPart):
            at, what = prompt.place, "a message of the prompt"
        found.refuse(at, f"{what}: {error}")
        found.data["evalcases"].pop()
        return None
    found.variables[name] = known
    if isinstance(text, str) and not text.strip():
        commands = [each.get("command_template", "") for each in found.targets]
        read = all(VARIABLES in each and "{EVAL_ID}" in each for each in commands)
        if not (known and commands and read):  # no program gets the variables of the test
            found.refuse(test.place, f"the prompt of the test `{name}` is empty")
            found.data["evalcases"].pop()
            return None
        found.variables[name] = {**known, PROMPT: text}
        text = "\n".join(f"{key}: {js_text(value)}" for key, value in known.items())
        write_out(case, text)
    add_checks(found, test.assertions, ours, setting._replace(variables=known))
    if not {"rubrics", "evaluators"} & case.keys():
        found.data["evalcases"].pop()
        case = {}
        why = "nothing of it is imported" if test.assertions else "promptfoo passes any answer"
        found.skip(test.place, f"the test `{name}` is left out, as it checks nothing: {why}")
    elif is_template(json.dumps([case.get("rubrics"), case.get("evaluators")])):
        write_out(case, text)
    return case


def _other_keys(found: Translation, data: dict[str, Any]) -> None:
    """Report keys that decide about answers or verdicts, and keys that promptfoo ignores."""
    options = data.get("evaluateOptions")
    for key, value in options.items() if isinstance(options, dict) else ():
        if key in _DECIDING_OPTIONS and value not in (1, False, None):
            found.refuse(("evaluateOptions", key), f"`{key}` has no counterpart")
    for path, each in nodes(data):
        if isinstance(each, dict) and {*each} == {"$ref"} and "value" not in path:
            found.refuse(path, "`$ref` is not followed; write the part that it names, or an alias")
    for key in data:
        if key in _DECIDING:
            found.refuse((key,), f"`{key}` has no counterpart")
        elif key == "env":
            found.skip((key,), "set its variables in the environment: values are not copied")
        elif key not in _SUITE | _IDLE | {"evaluateOptions"}:
            found.skip((key,), f"`{key}` is not a key of a configuration: promptfoo ignores it")
