"""Comments `# rubric-ci: ignore[rule-id, rule-id]`, which turn those rules off on their line."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rubric_ci.model.diagnostics import Diagnostic, Severity, Span
from rubric_ci.model.rules import GOOD_FILE, Rule
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.yaml_text.syntax_errors import BREAK, split_lines

UNUSED_IGNORE: Final = Rule(
    id="unused-ignore",
    severity="warning",
    switchable=True,
    meaning="A comment that turns nothing off would hide the next real problem on its line.",
    bad=f"{GOOD_FILE}    note: x # rubric-ci: ignore[unknown-key]\n",
    good=f"{GOOD_FILE}    nota: x # rubric-ci: ignore[unknown-key]\n",
)

_COMMENT = re.compile(r"(?:^|\s)#\s*rubric-ci:\s*ignore\[([^#\]\n]*+)\]", re.MULTILINE)


class Ignored(NamedTuple):
    """One rule id in a comment, and its position from 1."""

    line: int
    column: int
    rule: str


def ignored_rules(text: str) -> Iterator[Ignored]:
    """Yield every rule id in the comments of a text."""
    line, start, seen = 1, 0, 0
    for comment in _COMMENT.finditer(text):
        for found in BREAK.finditer(text, seen, comment.start(1)):
            line, start = line + 1, found.end()
        seen = comment.start(1)
        for name in re.finditer(r"[^\s,]+", comment[1]):
            yield Ignored(line, comment.start(1) + name.start() - start + 1, name[0])


def unused_ignores(
    file: str, text: str, unused: list[Ignored], rules: Mapping[str, Rule]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each rule id that turned nothing off; `rules` are all rules."""
    lines = split_lines(text)
    for line, column, rule in unused:
        message, hint = _why_unused(rule, rules)
        yield Diagnostic(
            rule=UNUSED_IGNORE.id,
            severity=Severity(UNUSED_IGNORE.severity),
            file=file,
            span=Span(line, column, line, column + len(rule)),
            message=message,
            hint=hint,
            line_text=lines[line - 1],
        )


def _why_unused(rule: str, rules: Mapping[str, Rule]) -> tuple[str, str]:
    if rule not in rules:
        return f"there is no rule `{rule}`", did_you_mean(nearest(rule, rules))
    if not rules[rule].switchable:
        return f"`{rule}` cannot be ignored", "grading depends on it"
    return f"`{rule}` reports nothing on this line", "remove it"
