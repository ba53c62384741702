"""Files and prompt variables that an eval file refers to."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from rubric_ci.model.references import Found, Lookup, NearFile, NotFound
from rubric_ci.model.rules import Rule, with_cases, with_evaluator
from rubric_ci.text.suggestions import did_you_mean, suggest
from rubric_ci.validation.agentv import guideline_problems
from rubric_ci.yaml_text.problems import Path, Problem

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


class Prompt(NamedTuple):
    """A prompt, its path, the variables that it may use, and a set of which it needs one."""

    path: Path
    text: str
    known: tuple[str, ...]
    needed: tuple[str, ...]


def reference_problems(
    data: Any, lookup: Lookup, near_file: NearFile = lambda _: ""
) -> Iterator[Problem]:
    """Yield files that cannot be read, unknown prompt variables and prompts without the answer."""
    if not isinstance(data, dict):
        return
    yield from _lone_parts(data)
    files = list(_files(data))
    if files:
        yield from guideline_problems(lookup)
    for path, name in files:
        found = lookup(name)
        if not isinstance(found, Found):
            yield missing_file(path, name, found, near_file)
    for prompt in _prompts(data):
        yield from _prompt_problems(prompt, lookup, near_file)


def _prompt_problems(prompt: Prompt, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
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
    hidden = "the results of the members" if prompt.needed == (RESULTS_VARIABLE,) else "the answer"
    listed = " or ".join(f"`{{{{ {name} }}}}`" for name in prompt.needed)
    message = f"the prompt{where} does not show the judge {hidden}"
    return Problem(BLIND_PROMPT, prompt.path, message, f"add {listed} to it")


def missing_file(path: Path, name: str, found: NotFound, near_file: NearFile) -> Problem:
    """Return the problem of a file that cannot be used, with the one that was probably meant."""
    return Problem(FILE_MISSING, path, f"`{name}`: {found.reason}", did_you_mean(near_file(name)))


def _lone_parts(data: dict[str, Any]) -> Iterator[Problem]:
    for path, content in _contents(data):
        if not isinstance(content, dict) or content.keys() != {"type", "value"}:
            continue
        if content["type"] in ("text", "file"):
            message = f"a {content['type']} part outside a list is sent as data, unchanged"
            yield Problem(LONE_PART, path, message)


def _files(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for path, parts in _contents(data):
        for place, part in enumerate(parts if isinstance(parts, list) else ()):
            name = part.get("value") if isinstance(part, dict) else None
            if isinstance(name, str) and part.get("type") == "file":
                yield (*path, place, "value"), name


def _contents(data: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    yield from _of_messages(data.get("messages"), ("messages",))
    cases = data.get("evalcases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        for key in _MESSAGES:
            messages = case.get(key) if isinstance(case, dict) else None
            yield from _of_messages(messages, ("evalcases", index, key))


def _of_messages(messages: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        if isinstance(message, dict) and "content" in message:
            yield (*path, number, "content"), message["content"]


def _prompts(data: dict[str, Any]) -> Iterator[Prompt]:
    yield from _of_execution(data, ())
    cases = data.get("evalcases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield from _of_execution(case, ("evalcases", index))
            yield from _of_evaluators(case.get("evaluators"), ("evalcases", index, "evaluators"))


def _of_execution(owner: dict[str, Any], path: Path) -> Iterator[Prompt]:
    execution = owner.get("execution")
    if isinstance(execution, dict):
        where: Path = (*path, "execution", "evaluators")
        yield from _of_evaluators(execution.get("evaluators"), where)


def _of_evaluators(evaluators: Any, path: Path) -> Iterator[Prompt]:
    for index, evaluator in enumerate(evaluators if isinstance(evaluators, list) else ()):
        if not isinstance(evaluator, dict):
            continue
        where: Path = (*path, index)
        prompt = evaluator.get("prompt")
        if evaluator.get("type") == "llm_judge" and isinstance(prompt, str):
            needed = () if "rubrics" in evaluator else ANSWER_VARIABLES
            yield Prompt((*where, "prompt"), prompt, PROMPT_VARIABLES, needed)
        yield from _of_evaluators(evaluator.get("evaluators"), (*where, "evaluators"))
        aggregator = evaluator.get("aggregator")
        prompt = aggregator.get("prompt") if isinstance(aggregator, dict) else None
        if isinstance(prompt, str):
            known = (*PROMPT_VARIABLES, RESULTS_VARIABLE)
            yield Prompt((*where, "aggregator", "prompt"), prompt, known, (RESULTS_VARIABLE,))


PROMPT_VARIABLES: Final = (
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "answer",
    "input_messages",
    "expected_messages",
    "output_messages",
    *("input", "criteria", "expected_output", "output"),  # of AgentV
)
ANSWER_VARIABLES: Final = ("answer", "candidate_answer", "output_messages", "output")
RESULTS_VARIABLE: Final = "EVALUATOR_RESULTS_JSON"

_VARIABLE = r"\{\{([^{}]*)\}\}"
_FILE = r"[^\s/]*/\S*|\S+\.[A-Za-z0-9]{1,6}|.+\.(?:md|txt|prompt|j2|jinja|mustache|hbs)"


def names_file(prompt: str) -> bool:
    """Return True if a prompt is the path of a file, not the text itself."""
    return "{{" not in prompt and re.fullmatch(_FILE, prompt.strip()) is not None


def variables(text: str) -> list[str]:
    """Return the names between `{{` and `}}`, with the blanks around them."""
    return re.findall(_VARIABLE, text)
