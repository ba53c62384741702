"""Guidelines of AgentV: files in input messages that match `.agentv/config.yaml`."""

import re
from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.references import Found, Lookup
from rubric_ci.model.rules import Rule
from rubric_ci.text.globs import Matches, matcher
from rubric_ci.yaml_text.document import YAML_EMPTY, Document
from rubric_ci.yaml_text.problems import Problem

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
    """Return the patterns, or what is wrong with them."""
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
