"""The prompt of a target against the cases that are asked with it: variables and inputs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rubric_ci.evaluators.kind import target_names
from rubric_ci.files.validation.config_summary import Prompt
from rubric_ci.files.validation.http_target_rules import BODY_VARIABLES
from rubric_ci.files.validation.shape_rules import MISSING_KEY
from rubric_ci.files.validation.variable_rules import INPUT, UNDEFINED_VARIABLE, vars_of
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.problems import Path, Problem, mappings

_INPUTS: Final = {"input", "input_messages", "turns", "simulated_user", "vars"}


def case_prompt_problems(
    data: Any, prompts: Mapping[str, Prompt], compare: Sequence[str]
) -> Iterator[Problem]:
    """Yield cases without a variable of their target's prompt, and cases without an input.

    `prompts` has the targets' prompts by name; "" is the default target. A variable that all cases
    lack is one mistake, of the prompt.
    """
    asked = Counter[Prompt]()
    lacking: dict[tuple[Prompt, str], list[tuple[Path, set[str]]]] = defaultdict(list)
    for path, case in mappings(data, "evalcases"):
        known = {*vars_of(data), *vars_of(case), INPUT}
        names = target_names(case, data, compare)
        found = [prompts[name] for name in names if name in prompts]
        asked.update(found)
        for prompt in found:
            for name in prompt.names - known - (BODY_VARIABLES if prompt.is_body else set()):
                lacking[prompt, name].append((path, known))
        if len(found) == len(names):
            continue
        if "messages" not in data and case.keys() & _INPUTS == {"vars"}:
            message = "the case has no `input_messages` or `input`"
            hint = "add one, `messages` to the suite, or a `prompt` to the target"
            yield Problem(MISSING_KEY, path, message, hint)
    for (prompt, name), cases in sorted(lacking.items(), key=lambda item: item[0][1]):
        every = 1 < len(cases) == asked[prompt]
        for path, known in cases[: 1 if every else None]:
            which = "no case of the file has" if every else "is not a variable of the case"
            message = f"{prompt.what} uses `{{{{ {name} }}}}`, which {which}"
            yield Problem(UNDEFINED_VARIABLE, (*path, "id"), message, suggest(name, known))
