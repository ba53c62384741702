"""Which rules count where: the configuration's switches, and comments that silence one line.

A comment `# rubric-ci: ignore[rule-id, rule-id]` silences those rules on its line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from rubric_ci.model.diagnostic import Diagnostic, Severity, Span
from rubric_ci.model.rulebook import RULES, SWITCHABLE
from rubric_ci.source.nearest import did_you_mean
from rubric_ci.source.syntax import BREAK, split_lines

_IGNORE = re.compile(r"(?:^|\s)#\s*rubric-ci:\s*ignore\[([^\]\n]*)\]", re.MULTILINE)


def switched(
    found: tuple[Diagnostic, ...], texts: Mapping[str, str], rules: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Return what is left of the problems of a file (and its sidecar), with severities as set."""
    ignored = {file: list(_ignores(text)) for file, text in texts.items() if "rubric-ci:" in text}
    used: set[tuple[str, int, str]] = set()
    kept = []
    for diagnostic in found:
        key = (diagnostic.file, diagnostic.span.line, diagnostic.rule)
        if diagnostic.rule in SWITCHABLE and _names(ignored.get(diagnostic.file, ()), key):
            used.add(key)
        else:
            kept.append(diagnostic)
    for file, places in ignored.items():
        kept += _unused(file, texts[file], places, used)
    severe = (_with_severity(diagnostic, rules) for diagnostic in kept)
    return tuple(sorted((d for d in severe if d is not None), key=_position))


def _ignores(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and rule of everything that a comment silences."""
    for comment in _IGNORE.finditer(text):
        breaks = list(BREAK.finditer(text, 0, comment.start(1)))
        start = breaks[-1].end() if breaks else 0
        for name in re.finditer(r"[^\s,]+", comment[1]):
            yield len(breaks) + 1, comment.start(1) + name.start() - start + 1, name[0]


def _names(places: object, key: tuple[str, int, str]) -> bool:
    return isinstance(places, list) and any(
        (line, rule) == (key[1], key[2]) for line, _, rule in places
    )


def _unused(
    file: str, text: str, places: list[tuple[int, int, str]], used: set[tuple[str, int, str]]
) -> Iterator[Diagnostic]:
    for line, column, rule in places:
        if (file, line, rule) not in used:
            message, hint = _why_unused(rule)
            span = Span(line, column, line, column + len(rule))
            line_text = split_lines(text)[line - 1]
            yield Diagnostic(
                rule="unused-ignore",
                severity=Severity(RULES["unused-ignore"][0]),
                file=file,
                span=span,
                message=message,
                hint=hint,
                line_text=line_text,
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
