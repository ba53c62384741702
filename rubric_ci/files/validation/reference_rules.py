"""Files and prompt variables that an eval file refers to."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rubric_ci.files.kinds.kind import Prompt, written_evaluators
from rubric_ci.files.validation.agentv import guideline_problems
from rubric_ci.files.yaml_text.problems import (
    Path,
    Problem,
    Rule,
    mappings,
    with_cases,
    with_evaluator,
)
from rubric_ci.model.references import Found, Lookup, NearFile, NotFound
from rubric_ci.text.suggestions import did_you_mean, suggest

_MESSAGES = ("input_messages", "input", "expected_messages", "expected_output")


LONE_PART: Final = Rule(
    id="lone-part",
    severity="warning",
    switchable=True,
    meaning=(
        "Content parts belong in a list. A single mapping is sent as structured data, so a file "
        "that it names would not be read."
    ),
    hint="start it with `- `",
    bad=with_cases(
        "  - id: greeting\n    rubrics: [Greets]\n    input:\n"
        "      - role: user\n        content: {type: file, value: prompts/task.md}\n"
    ),
    good=with_cases(
        "  - id: greeting\n    rubrics: [Greets]\n    input:\n"
        "      - role: user\n        content: [{type: file, value: prompts/task.md}]\n"
    ),
)
FILE_MISSING: Final = Rule(
    id="file-missing",
    meaning="The file cannot be used: it is missing, is not text, or is outside the repository.",
    hint="paths are resolved from the eval file's folder, then from its parent folders",
    bad=with_cases(
        "  - id: greeting\n    rubrics: [Greets]\n"
        "    input: [{role: user, content: [{type: file, value: gone.md}]}]\n"
    ),
    good=with_cases(
        "  - id: greeting\n    rubrics: [Greets]\n"
        "    input: [{role: user, content: [{type: file, value: prompts/task.md}]}]\n"
    ),
)
PROMPT_VARIABLE: Final = Rule(
    id="prompt-variable",
    switchable=True,
    meaning="Only known variables are replaced: the judge would see the braces in its prompt.",
    bad=with_evaluator('- {name: free, type: llm_judge, prompt: "Score {{ anwser }}"}'),
    good=with_evaluator('- {name: free, type: llm_judge, prompt: "Score {{ answer }}"}'),
)


BLIND_PROMPT: Final = Rule(
    id="blind-prompt",
    switchable=True,
    meaning=(
        "A judge sees of the case only what its prompt names: without the answer, or without the "
        "members' results for an aggregator, it scores something else."
    ),
    bad=with_evaluator('- {name: free, type: llm_judge, prompt: "Score how polite it is."}'),
    good=with_evaluator(
        '- {name: free, type: llm_judge, prompt: "Score how polite this is: {{ answer }}"}'
    ),
)
PROMPT_FILE: Final = Rule(
    id="prompt-file",
    meaning=(
        "`prompt` of a model target is a text with `{{ variables }}`, or a `.prompt.yml` of "
        "GitHub Models: `model`, `modelParameters`, `messages`, `responseFormat`, `jsonSchema`."
    ),
    hint="correct the prompt file",
    bad="targets: [{name: default, model: openai/a, prompt: prompts/broken.md}]\n",
    good="targets: [{name: default, model: openai/a, prompt: prompts/support.md}]\n",
)

SKILL_FILE: Final = "SKILL.md"


def reference_problems(
    data: Any, lookup: Lookup, near_file: NearFile = lambda _: ""
) -> Iterator[Problem]:
    """Yield files that cannot be read, unknown prompt variables and prompts without the answer."""
    if not isinstance(data, dict):
        return
    messages = list(_messages(data))
    yield from _lone_parts(messages)
    files = list(_files(messages))
    if files:
        yield from guideline_problems(lookup)
    for path, name in files:
        found = lookup(name)
        if not isinstance(found, Found):
            yield missing_file(path, name, found, near_file)
    for path, evaluator in written_evaluators(data):
        from rubric_ci.files.kinds.table import kind_of  # files without evaluators do not need it

        for prompt in kind_of(evaluator).prompts(evaluator, path):
            yield from _prompt_problems(prompt, lookup, near_file)


def _prompt_problems(prompt: Prompt, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
    from rubric_ci.files.kinds.llm_judge import names_file

    text, where = prompt.text, ""
    if names_file(text):
        found = lookup(text)
        if not isinstance(found, Found):
            yield missing_file(prompt.path, text, found, near_file)
            return
        text, where = found.text, f" in {found.path}"
    named = {written: written.strip() for written in variables(text)}
    for written, name in named.items():
        if name not in prompt.known:
            message = f"`{{{{ {name} }}}}`{where} is not a variable of judge prompts"
            hint = suggest(name, prompt.known)
            part = "" if where else f"{{{{{written}}}}}"
            yield Problem(PROMPT_VARIABLE, prompt.path, message, hint, part=part)
    if prompt.needed and {*named.values()} <= {*prompt.known} - {*prompt.needed}:
        yield _blind(prompt, where)


def _blind(prompt: Prompt, where: str) -> Problem:
    """Return the problem of a prompt whose variables are known, but hide what it is to score."""
    listed = " or ".join(f"`{{{{ {name} }}}}`" for name in prompt.needed)
    message = f"the prompt{where} does not show the judge {prompt.scores}"
    return Problem(BLIND_PROMPT, prompt.path, message, f"add {listed} to it")


def missing_file(path: Path, name: str, found: NotFound, near_file: NearFile) -> Problem:
    """Return the problem of a file that cannot be used, with the one that was probably meant."""
    return Problem(FILE_MISSING, path, f"`{name}`: {found.reason}", did_you_mean(near_file(name)))


def _lone_parts(messages: Iterable[tuple[Path, dict[str, Any]]]) -> Iterator[Problem]:
    for path, message in messages:
        content = message.get("content")
        if not isinstance(content, dict) or content.keys() != {"type", "value"}:
            continue
        if content["type"] in ("text", "file"):
            said = f"a {content['type']} part outside a list is sent as data, unchanged"
            yield Problem(LONE_PART, (*path, "content"), said)


def _files(messages: Iterable[tuple[Path, dict[str, Any]]]) -> Iterator[tuple[Path, str]]:
    for path, message in messages:
        for place, part in mappings(message, "content", path):
            name = part.get("value")
            if isinstance(name, str) and part.get("type") == "file":
                yield (*place, "value"), name


def _messages(data: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    yield from mappings(data, "messages")
    for path, case in mappings(data, "evalcases"):
        for key in _MESSAGES:
            if key in case:
                yield from mappings(case, key, path)


_VARIABLE = r"\{\{([^{}]*)\}\}"


def variables(text: str) -> list[str]:
    """Return the names between `{{` and `}}`, with the blanks around them."""
    return re.findall(_VARIABLE, text)


def prompt_problems(data: Any, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
    """Yield prompt files that are missing or broken, and targets without a model."""
    from rubric_ci.files.validation.eval_rules import UNUSED_SETTING
    from rubric_ci.files.validation.shape_rules import MISSING_KEY
    from rubric_ci.files.validation.target_rules import NAMES, is_model
    from rubric_ci.files.yaml_text.prompt_file import open_prompt  # few targets have a prompt

    for place, target in mappings(data, "targets"):
        skill = target.get("skill")
        if isinstance(skill, str):
            missing = lookup(f"{skill}/{SKILL_FILE}")
            if not isinstance(missing, Found):
                where = (*place, "skill")
                yield missing_file(where, f"{skill}/{SKILL_FILE}", missing, near_file)
        written = target.get("prompt")
        if not isinstance(written, str) or not is_model(target):
            continue
        path: Path = (*place, "prompt")
        found = lookup(written)
        if not isinstance(found, Found):
            yield missing_file(path, written, found, near_file)
            continue
        prompt = open_prompt(found.path, found.text)
        for line, message in prompt.faults:
            yield Problem(PROMPT_FILE, path, f"`{found.path}` line {line}: {message}")
        if not prompt.faults and not prompt.model and not any(name in target for name in NAMES):
            message = "neither the target nor its prompt file has a `model`"
            yield Problem(MISSING_KEY, path[:2], message, missing=("model",))
        if prompt.evaluators:
            message = f"`evaluators` of `{found.path}` are not run"
            yield Problem(UNUSED_SETTING, path, message, "write them as `rubrics` of the cases")
