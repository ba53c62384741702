"""From a text to its diagnostics: every problem at once, located, in the order of the file."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias

from rubric_ci.model.diagnostic import Diagnostic, Severity, Span
from rubric_ci.model.references import Lookup
from rubric_ci.model.rulebook import RULES
from rubric_ci.source.document import Document
from rubric_ci.source.jsonlines import JsonLines
from rubric_ci.source.oddities import oddity_problems
from rubric_ci.source.problem import Fault, Problem
from rubric_ci.source.references import reference_problems
from rubric_ci.source.rules import eval_problems, target_problems
from rubric_ci.source.schema import problems as schema_problems
from rubric_ci.source.syntax import split_lines

Source: TypeAlias = Document | JsonLines


def open_source(path: str, text: str, sidecar: str | None = None) -> Source:
    """Read a text as what its name says it is."""
    if not path.endswith(".jsonl"):
        return Document(path, text)
    beside = None
    if sidecar is not None:
        beside = Document(f"{path.removesuffix('.jsonl')}.yaml", sidecar)
    return JsonLines(path, text, beside)


def check_evals(
    source: Source, lookup: Lookup, targets: frozenset[str] = frozenset()
) -> tuple[Diagnostic, ...]:
    """Return all problems of an eval file; `targets` are the names that are known, if any are."""
    return diagnostics(source, list(_eval_problems(source, lookup, targets)))


def check_config(document: Document, *, targets_only: bool = False) -> tuple[Diagnostic, ...]:
    """Return all problems of a configuration or a targets file."""
    from rubric_ci.source.config_rules import config_problems  # few runs read a configuration

    return diagnostics(document, list(config_problems(document, targets_only=targets_only)))


def diagnostics(source: Source, found: list[Problem]) -> tuple[Diagnostic, ...]:
    """Locate problems and put them in the order of the file."""
    if not found and not source.faults:
        return ()
    lines_of = cache(lambda file: split_lines(source.text_of(file)))
    located = [of_fault(file, fault, lines_of(file)) for file, fault in source.faults]
    for problem in found:
        file = source.file_of(problem.path)
        place = source.locate(problem.path, at_key=problem.at_key)
        fault = Fault(problem.rule, *place, problem.message, problem.hint)
        located.append(of_fault(file, fault, lines_of(file)))
    return tuple(sorted(dict.fromkeys(located), key=_position))


def of_fault(file: str, fault: Fault, lines: Sequence[str]) -> Diagnostic:
    """Return a located fault as a diagnostic."""
    severity, hint = RULES[fault.rule]
    return Diagnostic(
        rule=fault.rule,
        severity=Severity(severity),
        file=file,
        span=Span(fault.line, fault.column, fault.end_line, fault.end_column),
        message=fault.message,
        hint=fault.hint or hint,
        line_text=lines[fault.line - 1] if fault.line <= len(lines) else "",
    )


def has_errors(found: tuple[Diagnostic, ...]) -> bool:
    """Tell whether some problem is more than a warning."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in found)


def _eval_problems(source: Source, lookup: Lookup, targets: frozenset[str]) -> Iterator[Problem]:
    if source.data is None:
        return
    found = schema_problems("eval", source)
    found.extend(eval_problems(source.data))
    if source.oddities:
        found.extend(oddity_problems(source, found))
    found.extend(reference_problems(source.data, lookup))
    if targets:
        found.extend(target_problems(source.data, targets))
    yield from found


def _position(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    span = diagnostic.span
    return diagnostic.file, span.line, span.column, diagnostic.rule
