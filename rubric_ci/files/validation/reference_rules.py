"""Files and prompt variables that an eval file refers to."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from rubric_ci.evaluators.kind import names_file, written_evaluators
from rubric_ci.files.validation.agentv import guideline_problems
from rubric_ci.text.suggestions import did_you_mean, suggest
from rubric_ci.values.problems import (
    GIT_LFS,
    MESSAGES,
    Path,
    Problem,
    Rule,
    mapping_at,
    mappings,
    with_cases,
    with_evaluator,
)
from rubric_ci.values.references import IS_POINTER, NO_SUCH_FILE, Found, Lookup, NearFile, NotFound

if TYPE_CHECKING:  # few files have one
    from rubric_ci.files.validation.evaluator_rules import Prompt
    from rubric_ci.values.media import Media

NOT_TEXT: Final = "is not UTF-8 text"
_WITH_FILE: Final = ("file", "image")


_GREETING: Final = "  - id: greeting\n    rubrics: [Greets]\n    input:"


def _with_part(content: str) -> str:
    return with_cases(f"{_GREETING}\n      - role: user\n        content: {content}\n")


def _with_file(name: str) -> str:
    part = f"{{type: file, value: {name}}}"
    return with_cases(f"{_GREETING} [{{role: user, content: [{part}]}}]\n")


LONE_PART: Final = Rule(
    id="lone-part",
    severity="warning",
    switchable=True,
    meaning=(
        "Content parts belong in a list. A single mapping is sent as structured data, so a file "
        "that it names would not be read."
    ),
    hint="start it with `- `",
    bad=_with_part("{type: file, value: prompts/task.md}"),
    good=_with_part("[{type: file, value: prompts/task.md}]"),
)
FILE_MISSING: Final = Rule(
    id="file-missing",
    meaning="The file cannot be used: it is missing, is not text, or is outside the repository.",
    hint="paths are resolved from the eval file's folder, then from its parent folders",
    bad=_with_file("gone.md"),
    good=_with_file("prompts/task.md"),
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
    files = list(_files(data, messages))
    if files:
        yield from guideline_problems(lookup)
        yield from _file_problems(files, lookup, near_file)
    for path, evaluator in written_evaluators(data):
        from rubric_ci.files.validation.evaluator_rules import prompts_of  # few files have one

        for prompt in prompts_of(evaluator, path):
            yield from _prompt_problems(prompt, lookup, near_file)


def eval_guidelines_problems(data: Any, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
    """Yield the files of guidelines of an eval file that cannot be read."""
    for path, evaluator in written_evaluators(data):
        yield from guidelines_problems(evaluator, path, lookup, near_file)
    for path, owner in [((), data), *mappings(data, "evalcases")]:
        for place, each in [(path, owner), *mappings(owner, "turns", path)]:
            if isinstance(each, dict):
                where = (*place, "rubrics")
                yield from guidelines_problems(each.get("rubrics"), where, lookup, near_file)


def guidelines_problems(
    owner: Any, path: Path, lookup: Lookup, near_file: NearFile = lambda _: ""
) -> Iterator[Problem]:
    given = owner.get("guidelines") if isinstance(owner, dict) else None
    for name in given if isinstance(given, list) else [given]:
        if isinstance(name, str) and names_file(name):
            found = lookup(name)
            if not isinstance(found, Found):
                yield missing_file((*path, "guidelines"), name, found, near_file)


def _prompt_problems(prompt: "Prompt", lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
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


def _blind(prompt: "Prompt", where: str) -> Problem:
    """Return the problem of a prompt whose variables are known, but hide what it is to score."""
    listed = " or ".join(f"`{{{{ {name} }}}}`" for name in prompt.needed)
    message = f"the prompt{where} does not show the judge {prompt.scores}"
    return Problem(BLIND_PROMPT, prompt.path, message, f"add {listed} to it")


def missing_file(path: Path, name: str, found: NotFound, near_file: NearFile) -> Problem:
    """Return the problem of a file that cannot be used, with the one that was probably meant."""
    if name.startswith(("http://", "https://")):
        message = f"`{name}` is a URL, which is not fetched"
        return Problem(FILE_MISSING, path, message, "save the file in the repository, and name it")
    if found.reason == IS_POINTER:
        return Problem(GIT_LFS, path, f"`{name}` {IS_POINTER}")
    near = near_file(name) if found.reason == NO_SUCH_FILE else ""
    return Problem(FILE_MISSING, path, f"`{name}`: {found.reason}", did_you_mean(near))


def _lone_parts(messages: Iterable[tuple[Path, dict[str, Any]]]) -> Iterator[Problem]:
    for path, message in messages:
        content = message.get("content")
        if not isinstance(content, dict) or content.keys() != {"type", "value"}:
            continue
        if content["type"] in ("text", *_WITH_FILE):
            article = "an" if content["type"] == "image" else "a"
            said = f"{article} {content['type']} part outside a list is sent as data, unchanged"
            yield Problem(LONE_PART, (*path, "content"), said)


class _Used(NamedTuple):
    """A file that a part of a message names."""

    path: Path  # of its name
    name: str  # with its variables replaced
    kind: str  # the type of the part
    message: dict[str, Any]


def _file_problems(
    files: Iterable[_Used], lookup: Lookup, near_file: NearFile
) -> Iterator[Problem]:
    media: list[tuple[Path, Media]] = []
    for each in files:
        found = lookup(each.name)
        if not isinstance(found, Found) and found.media is None:
            if each.kind == "image" and found.reason == NOT_TEXT:
                yield not_an_image(each.path, each.name)
            else:
                yield missing_file(each.path, each.name, found, near_file)
        elif each.kind == "image" or not isinstance(found, Found):
            yield from _media_problems(each, found, media)
    if len(media) > 1:
        from rubric_ci.files.validation.media_rules import size_problems

        yield from size_problems(media)


def media_of(data: Any, lookup: Lookup) -> "Iterator[tuple[Path, Media]]":
    """Yield the images and documents that an eval file refers to, with the paths of their names."""
    for each in _files(data, list(_messages(data))) if isinstance(data, dict) else ():
        found = lookup(each.name)
        if not isinstance(found, Found) and found.media:
            yield each.path, found.media


def not_an_image(path: Path, name: str) -> Problem:
    from rubric_ci.files.validation.media_rules import MEDIA_FILE

    return Problem(MEDIA_FILE, path, f"`{name}` is not an image")


def _media_problems(
    part: _Used, found: Found | NotFound, media: "list[tuple[Path, Media]]"
) -> Iterator[Problem]:
    """Yield the problems of an image or a document, which is added to `media`."""
    from rubric_ci.files.validation import media_rules  # few files have one

    this = None if isinstance(found, Found) else found.media
    if isinstance(found, Found) and not found.text and part.kind == "image":
        yield Problem(media_rules.MEDIA_FILE, part.path, f"`{part.name}` is empty", "save it again")
        return
    if problem := media_rules.part_problem(part.path, part.kind, part.name, this):
        yield problem
        return
    if this:
        media.append((part.path, this))
    if problem := media_rules.role_problem(part.path, part.message, part.kind):
        yield problem


def _files(
    data: dict[str, Any], messages: Iterable[tuple[Path, dict[str, Any]]]
) -> Iterator[_Used]:
    for where, message, parts in _part_lists(data, messages):
        for index, part in enumerate(parts):
            name = part.get("value") if isinstance(part, dict) else None
            if isinstance(name, str) and part.get("type") in _WITH_FILE:
                path: Path = (*where, index, "value")
                for place, filled in _names(data, name, path):
                    yield _Used(place, filled, part["type"], message)


def _part_lists(
    data: dict[str, Any], messages: Iterable[tuple[Path, dict[str, Any]]]
) -> Iterator[tuple[Path, dict[str, Any], list[Any]]]:
    for path, message in messages:
        if isinstance(parts := message.get("content"), list):
            yield (*path, "content"), message, parts
    for path, case in mappings(data, "evalcases"):
        for key in ("input", "expected_output"):
            if is_parts(parts := case.get(key)):
                yield (*path, key), {}, parts
        for place, turn in mappings(case, "turns", path):
            if is_parts(parts := turn.get("input")):
                yield (*place, "input"), turn, parts


def is_parts(written: Any) -> TypeGuard[list[Any]]:
    """Return True for a list of parts, which is one message; other lists have messages."""
    return isinstance(written, list) and any(
        isinstance(each, dict) and "type" in each and "role" not in each for each in written
    )


def _names(data: dict[str, Any], written: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the name of a file, with variables once for each case: at the variable's own place."""
    if "{{" not in written and "{%" not in written:
        yield path, written
        return
    from rubric_ci.text.template import NotRendered, render  # few files have templates

    only = re.fullmatch(rf"\s*{_VARIABLE}\s*", written)
    done: dict[tuple[Path, str], None] = {}
    for where, case in mappings(data, "evalcases"):
        if path[0] == "evalcases" and where != path[:2]:
            continue
        own, suite = mapping_at(case, "vars"), mapping_at(data, "vars")
        if case.get("raw", data.get("raw")):
            done[path, written] = None
            continue
        try:
            name = render(written, {**suite, **own})
        except NotRendered:
            continue  # `variable_rules` reports it
        is_own = only and only[1].strip() in own
        done[(*where, "vars", only[1].strip()) if only and is_own else path, name] = None
    yield from done


def _messages(data: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    yield from mappings(data, "messages")
    for path, case in mappings(data, "evalcases"):
        for key in MESSAGES:
            if key in case and not is_parts(case[key]):
                yield from mappings(case, key, path)


_VARIABLE = r"\{\{([^{}]*)\}\}"


def variables(text: str) -> list[str]:
    """Return the names between `{{` and `}}`, with the blanks around them."""
    return re.findall(_VARIABLE, text)


def prompt_problems(data: Any, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
    """Yield prompt files that are missing or broken, and targets without a model."""
    from rubric_ci.files.validation.eval_rules import UNUSED_SETTING
    from rubric_ci.files.validation.shape_rules import MISSING_KEY
    from rubric_ci.files.validation.target_rules import is_model
    from rubric_ci.files.yaml_text.prompt_file import open_prompt  # few targets have a prompt
    from rubric_ci.values.model_end_and_parameters import NAMES

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
