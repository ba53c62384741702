"""Rules of `prompt` of a model target: its file, and the variables that cases have for it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.kinds.kind import execution_of
from rubric_ci.model.references import Found, Lookup, NearFile
from rubric_ci.model.rules import Rule
from rubric_ci.text.suggestions import suggest
from rubric_ci.validation.eval_rules import UNUSED_SETTING, Prompt
from rubric_ci.validation.reference_rules import missing_file
from rubric_ci.validation.shape_rules import MISSING_KEY
from rubric_ci.validation.target_rules import NAMES, is_model
from rubric_ci.validation.variable_rules import INPUT, UNDEFINED_VARIABLE
from rubric_ci.yaml_text.problems import Path, Problem, mappings

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
_INPUTS: Final = {"input", "input_messages", "turns", "simulated_user", "vars"}


def prompt_problems(data: Any, lookup: Lookup, near_file: NearFile) -> Iterator[Problem]:
    """Yield prompt files that are missing or broken, and targets without a model."""
    from rubric_ci.yaml_text.prompt_file import open_prompt  # few targets have a prompt

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


def case_prompt_problems(data: Any, prompts: Mapping[str, Prompt]) -> Iterator[Problem]:
    """Yield cases without a variable of their target's prompt, and cases without an input.

    `prompts` has the targets' prompts by name; "" is the default target.
    """
    suite = _target(data) if isinstance(data, dict) else ""
    for path, case in mappings(data, "evalcases"):
        known = {*_names(data), *_names(case), INPUT}
        several = data.get("targets") if not _target(case) else None
        names = several if isinstance(several, list) else [_target(case) or suite]
        found = [prompts[name] for name in names if isinstance(name, str) and name in prompts]
        for prompt in found:
            yield from _undefined(prompt, known, path)
        if len(found) == len(names):
            continue
        if "messages" not in data and case.keys() & _INPUTS == {"vars"}:
            message = "the case has no `input_messages` or `input`"
            hint = "add one, `messages` to the suite, or a `prompt` to the target"
            yield Problem(MISSING_KEY, path, message, hint)


def _undefined(prompt: Prompt, known: set[str], case: Path) -> Iterator[Problem]:
    for name in sorted(prompt.names - known):
        where = f"`{prompt.path}`, the prompt of the target `{prompt.target}`, uses "
        message = f"{where}`{{{{ {name} }}}}`, which is not a variable of the case"
        yield Problem(UNDEFINED_VARIABLE, (*case, "id"), message, suggest(name, known))


def _names(owner: dict[str, Any]) -> Iterator[str]:
    found = owner.get("vars")
    yield from found if isinstance(found, dict) else ()


def _target(owner: dict[str, Any]) -> str:
    name = execution_of(owner).get("target", owner.get("target", ""))
    return name if isinstance(name, str) else ""
