"""Problems to diagnostics, sorted by file, line and column, and comments that turn a rule off.

A comment `# rubric-ci: ignore[rule-id, rule-id]` turns those rules off on its line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from rubric_ci.files.yaml_text.source import Source
from rubric_ci.files.yaml_text.syntax_errors import BREAK, split_lines
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span
from rubric_ci.values.problems import MAX_PROBLEMS, LocatedProblem, Place, Problem, Rule

MAX_MESSAGE: Final = 600

TOO_MANY_PROBLEMS: Final = Rule(
    id="too-many-problems",
    meaning="At most 1,000 problems are reported per file. A file with more is usually not an eval "
    "file.",
    hint="fix the problems above first",
)

_COMMENT = re.compile(r"(?:^|\s)#\s*rubric-ci:\s*ignore\[([^#\]\n]*+)\]", re.MULTILINE)


class Ignored(NamedTuple):
    """One rule id in a comment, and its line from 1."""

    line: int
    rule: str


def diagnose(
    source: Source, found: list[Problem], others: tuple[Diagnostic, ...] = ()
) -> tuple[Diagnostic, ...]:
    """Return the problems as diagnostics with the others, sorted by place."""
    texts = source.texts()
    lines_of = cache(lambda file: split_lines(texts[file]))
    located = [
        to_diagnostic(file, problem, lines_of(file)) for file, problem in source.text_problems
    ]
    seen: set[tuple[str, Place, str]] = set()
    secrets: list[tuple[str, Place]] = []
    for problem in found:
        file, place, alias_line = source.location(problem.path, at_key=problem.at_key)
        if problem.part:
            place = _within(place, problem.part, lines_of(file))
        if (problem.rule.id, place, problem.message) in seen:
            continue  # the same value through another alias
        seen.add((problem.rule.id, place, problem.message))
        secrets += [(file, place)] if problem.secret else []
        through = alias_line is not None and alias_line > place[0]
        message = problem.message + f" (through the alias on line {alias_line})" * through
        found_at = LocatedProblem(problem.rule, *place, message, _hint(problem, source, file))
        located.append(to_diagnostic(file, found_at, lines_of(file)))
    shown = [_without(each, secrets) for each in (*others, *located)]
    return _bounded(sorted(dict.fromkeys(shown), key=position))


def _without(found: Diagnostic, secrets: Sequence[tuple[str, Place]]) -> Diagnostic:
    """Return the diagnostic with asterisks for the secrets of its excerpt."""
    number, text = found.span.line, found.line_text
    for file, (line, column, last, end) in secrets:
        if file == found.file and line <= number <= last:
            start = column - 1 if number == line else 0
            stop = end - 1 if number == last else len(text)
            text = text[:start] + "*" * len(text[start:stop]) + text[stop:]
    return found if text == found.line_text else replace(found, line_text=text)


def _bounded(found: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Limit the diagnostics of a file; the last one reports that there are more."""
    if len(found) <= MAX_PROBLEMS:
        return tuple(found)
    more = replace(
        found[MAX_PROBLEMS],
        rule=TOO_MANY_PROBLEMS.id,
        severity=Severity(TOO_MANY_PROBLEMS.severity),
        message=f"more than {MAX_PROBLEMS:,} problems in this file; the rest are not shown",
        hint=TOO_MANY_PROBLEMS.hint,
    )
    return (*found[:MAX_PROBLEMS], more)


def _within(place: Place, part: str, lines: Sequence[str]) -> Place:
    """Return the place of a part of a value, or of the whole value if it lacks the part."""
    start = place[1] - 1
    for line in range(place[0], _last_line(place, lines) + 1):
        if (found := lines[line - 1].find(part, start)) >= 0:
            return line, found + 1, line, found + 1 + len(part)
        start = 0
    return place


def _last_line(place: Place, lines: Sequence[str]) -> int:
    """Return the last line of a value; the place of a block scalar is its first one."""
    line, column, end, _ = place
    if line > len(lines) or lines[line - 1][column - 1 : column] not in ("|", ">"):
        return min(end, len(lines))
    depth = _depth(lines[line - 1])
    below = enumerate(lines[line:], line)
    return next((n for n, text in below if text.strip() and _depth(text) <= depth), len(lines))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _hint(problem: Problem, source: Source, file: str) -> str:
    if not problem.first:
        return problem.hint
    first, place, _ = source.location(problem.first)
    of_file = f" of {first}" if first != file else ""
    return f"{problem.rule.hint}; the first one is in line {place[0]}{of_file}"


def to_diagnostic(file: str, problem: LocatedProblem, lines: Sequence[str]) -> Diagnostic:
    message, half = problem.message, MAX_MESSAGE // 2
    if len(message) > MAX_MESSAGE:  # it quotes a very long value
        message = f"{message[:half]} … {message[-half:]}"
    return Diagnostic(
        rule=problem.rule.id,
        severity=Severity(problem.rule.severity),
        file=file,
        span=Span(problem.line, problem.column, problem.end_line, problem.end_column),
        message=message,
        hint=problem.hint or problem.rule.hint,
        line_text=lines[problem.line - 1] if problem.line <= len(lines) else "",
    )


def position(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    """Return the sort key of a diagnostic: its place, then its rule."""
    span = diagnostic.span
    return diagnostic.file, span.line, span.column, diagnostic.rule


def ignored_rules(text: str) -> Iterator[Ignored]:
    """Yield every rule id in the comments of a text."""
    line, seen = 1, 0
    for comment in _COMMENT.finditer(text):
        line += sum(1 for _ in BREAK.finditer(text, seen, comment.start(1)))
        seen = comment.start(1)
        yield from (Ignored(line, name) for name in re.findall(r"[^\s,]+", comment[1]))
