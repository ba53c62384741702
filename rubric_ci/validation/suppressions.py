"""Which rules count where: the configuration's switches, and comments that silence one line.

A comment `# rubric-ci: ignore[rule-id, rule-id]` silences those rules on its line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from rubric_ci.model.diagnostics import Diagnostic, Severity, Span
from rubric_ci.text.suggestions import did_you_mean
from rubric_ci.validation.rule_ids import RULES, SWITCHABLE
from rubric_ci.yaml_text.problems import MOST_PROBLEMS
from rubric_ci.yaml_text.syntax_errors import BREAK, split_lines

_IGNORE = re.compile(r"(?:^|\s)#\s*rubric-ci:\s*ignore\[([^#\]\n]*+)\]", re.MULTILINE)


def apply_suppressions(
    found: tuple[Diagnostic, ...], texts: Mapping[str, str], rules: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Return what is left of the problems of a file (and its sidecar), with severities as set."""
    ignored = {file: list(_ignores(text)) for file, text in texts.items() if "rubric-ci:" in text}
    silent = {(file, line, rule) for file in ignored for line, _, rule in ignored[file]}
    used: set[tuple[str, int, str]] = set()
    kept = []
    for diagnostic in found:
        key = (diagnostic.file, diagnostic.span.line, diagnostic.rule)
        if diagnostic.rule in SWITCHABLE and key in silent:
            used.add(key)
        else:
            kept.append(diagnostic)
    if not any(diagnostic.rule == "too-many-problems" for diagnostic in found):
        for file, places in ignored.items():
            kept += islice(_unused(file, texts[file], places, used), MOST_PROBLEMS)
    severe = (_with_severity(diagnostic, rules) for diagnostic in kept)
    return tuple(sorted((d for d in severe if d is not None), key=_position))


def _ignores(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and rule of everything that a comment silences."""
    line, start, seen = 1, 0, 0
    for comment in _IGNORE.finditer(text):
        for found in BREAK.finditer(text, seen, comment.start(1)):
            line, start = line + 1, found.end()
        seen = comment.start(1)
        for name in re.finditer(r"[^\s,]+", comment[1]):
            yield line, comment.start(1) + name.start() - start + 1, name[0]


def _unused(
    file: str, text: str, places: list[tuple[int, int, str]], used: set[tuple[str, int, str]]
) -> Iterator[Diagnostic]:
    lines = split_lines(text)
    for line, column, rule in places:
        if (file, line, rule) not in used:
            message, hint = _why_unused(rule)
            span = Span(line, column, line, column + len(rule))
            yield Diagnostic(
                rule="unused-ignore",
                severity=Severity(RULES["unused-ignore"][0]),
                file=file,
                span=span,
                message=message,
                hint=hint,
                line_text=lines[line - 1],
            )


def _why_unused(rule: str) -> tuple[str, str]:
    if rule not in RULES:
        return f"there is no rule `{rule}`", did_you_mean(rule, RULES)
    if rule not in SWITCHABLE:
        return f"`{rule}` cannot be ignored", "grading depends on it"
    return f"`{rule}` finds nothing on this line", "remove it"


def _with_severity(diagnostic: Diagnostic, rules: Mapping[str, str]) -> Diagnostic | None:
    word = rules.get(diagnostic.rule)
    if word is None:
        return diagnostic
    fixed = diagnostic.severity is Severity.ERROR and diagnostic.rule not in SWITCHABLE
    if fixed or (word == "off" and diagnostic.rule not in SWITCHABLE):
        return diagnostic
    return None if word == "off" else replace(diagnostic, severity=Severity(word))


def _position(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    span = diagnostic.span
    return diagnostic.file, span.line, span.column, diagnostic.rule
