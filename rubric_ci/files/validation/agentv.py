"""Files of AgentV: which eval files are, and their settings in camelCase, as snake_case."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.files.validation.shape_rules import ALIAS_CONFLICT
from rubric_ci.files.yaml_text.document import YAML_EMPTY, Document
from rubric_ci.text.globs import Matches, matcher
from rubric_ci.values.problems import Path, Problem, Rule
from rubric_ci.values.references import Found, Lookup

OF_HEALTH_CHECK: Final = ("command_template", "timeout_seconds")

_CAMEL_CASE = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def snake_case(key: str) -> str:
    """Return a camelCase key in snake_case; other keys are returned unchanged."""
    if not _CAMEL_CASE.fullmatch(key):
        return key
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()


def snake_cased(data: Mapping[str, Any]) -> dict[str, Any]:
    return {snake_case(key): item for key, item in data.items()}


def normalise_keys(data: Any) -> Any:
    """Return a configuration whose judge and targets have snake_case keys."""
    if not isinstance(data, dict):
        return data
    made = dict(data)
    if isinstance(data.get("judge"), dict):
        made["judge"] = snake_cased(data["judge"])
    if isinstance(data.get("targets"), list):
        made["targets"] = [normalised_target(target) for target in data["targets"]]
    return made


def to_original_path(path: Path, data: Any) -> Path:
    """Return the path in the original data for a path in normalised data."""
    found: list[str | int] = []
    for step in path:
        key = step
        if isinstance(data, dict) and isinstance(step, str) and step not in data:
            key = next((each for each in data if snake_case(each) == step), step)
        found.append(key)
        if isinstance(data, dict):
            data = data.get(str(key))
        else:
            inside = isinstance(data, list) and isinstance(key, int) and key < len(data)
            data = data[key] if inside else None
    return tuple(found)


def conflicting_aliases(owner: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for key in owner:
        if snake_case(key) != key and snake_case(key) in owner:
            message = f"`{key}` and `{snake_case(key)}` mean the same; use one of them"
            yield Problem(ALIAS_CONFLICT, (*path, key), message, at_key=True)


def normalised_target(target: Any) -> Any:
    """Return a target with snake_case keys, also of its health check."""
    if not isinstance(target, dict):
        return target
    made = snake_cased(target)
    check = made.get("healthcheck")
    if isinstance(check, dict):
        known = {key for key in check if snake_case(key) in OF_HEALTH_CHECK}
        made["healthcheck"] = {snake_case(k) if k in known else k: v for k, v in check.items()}
    return made


CONFIG: Final = ".agentv/config.yaml"

GUIDELINE_PATTERNS: Final = Rule(
    id="guideline-patterns",
    meaning=(
        "`guideline_patterns` in the nearest `.agentv/config.yaml` decides which files of input "
        "messages are guidelines. It cannot be read, so the input of the cases is not known."
    ),
    hint="write a list of globs that count from the repository root: ['**/*.instructions.md']",
)

MOST_GLOBS: Final = 1_000  # that the braces of one pattern may stand for

_BRACES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")


def guideline_matcher(lookup: Lookup) -> Matches:
    """Return a predicate on paths from the root: the file is a guideline.

    Without patterns, or with patterns that are not valid, no file is.
    """
    patterns = _patterns(lookup)
    globs = patterns if isinstance(patterns, list) else ()
    return matcher([each for glob in globs for each in _expanded(glob)])


def guideline_problems(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problem of `guideline_patterns` for an eval file, if there is one."""
    patterns = _patterns(lookup)
    if isinstance(patterns, str):
        yield Problem(GUIDELINE_PATTERNS, (), patterns)


def _patterns(lookup: Lookup) -> list[str] | str:
    found = lookup(CONFIG)
    if not isinstance(found, Found):
        return []
    document = Document(found.path, found.text)
    for _, problem in document.text_problems:
        if problem.rule is not YAML_EMPTY and problem.rule.severity == "error":
            return f"{found.path}:{problem.line}: {problem.message}"
    data: Any = document.data if document.data is not None else {}
    patterns = data.get("guideline_patterns", []) if isinstance(data, dict) else None
    if isinstance(patterns, list) and all(isinstance(each, str) for each in patterns):
        if any(len(_expanded(each)) > MOST_GLOBS for each in patterns):
            return f"a pattern of {found.path} stands for more than {MOST_GLOBS:,} globs"
        return patterns
    return f"`guideline_patterns` of {found.path} is not a list of texts"


def _expanded(glob: str) -> list[str]:
    """Return the globs that `{a,b}` expands to; more than `MOST_GLOBS` if there are too many."""
    globs, unexpanded = list[str](), [glob]
    while unexpanded and len(globs) + len(unexpanded) <= MOST_GLOBS:
        glob = unexpanded.pop()
        if found := _BRACES.search(glob):
            before, after = glob[: found.start()], glob[found.end() :]
            choices = reversed(found[1].split(","))
            unexpanded += (f"{before}{choice}{after}" for choice in choices)
        else:
            globs.append(glob)
    return globs + unexpanded
