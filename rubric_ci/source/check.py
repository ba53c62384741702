"""From a text to its diagnostics: every problem at once, located, in the order of the file."""

from collections.abc import Iterator
from typing import TypeAlias

from rubric_ci.model.diagnostic import Diagnostic, Severity, Span
from rubric_ci.model.references import Lookup
from rubric_ci.source.document import Document
from rubric_ci.source.jsonlines import JsonLines
from rubric_ci.source.oddities import oddity_problems
from rubric_ci.source.problem import Fault, Problem
from rubric_ci.source.references import reference_problems
from rubric_ci.source.rulebook import RULES
from rubric_ci.source.rules import eval_problems
from rubric_ci.source.schema import problems as schema_problems

Source: TypeAlias = Document | JsonLines


def open_source(path: str, text: str, sidecar: str | None = None) -> Source:
    """Read a text as what its name says it is."""
    if not path.endswith(".jsonl"):
        return Document(path, text)
    beside = None
    if sidecar is not None:
        beside = Document(f"{path.removesuffix('.jsonl')}.yaml", sidecar)
    return JsonLines(path, text, beside)


def check_evals(source: Source, lookup: Lookup | None = None) -> tuple[Diagnostic, ...]:
    """Return all problems of an eval file; without a lookup, references are left out."""
    return diagnostics(source, list(_eval_problems(source, lookup)))


def diagnostics(source: Source, found: list[Problem]) -> tuple[Diagnostic, ...]:
    """Locate problems and put them in the order of the file."""
    if not found and not source.faults:
        return ()
    located = [_of_fault(file, fault) for file, fault in source.faults]
    located += [_of_problem(source, problem) for problem in found]
    return tuple(sorted(dict.fromkeys(located), key=_position))


def _eval_problems(source: Source, lookup: Lookup | None) -> Iterator[Problem]:
    if source.data is None:
        return
    found = schema_problems("eval", source)
    found.extend(eval_problems(source.data))
    if source.oddities:
        found.extend(oddity_problems(source, found))
    if lookup is not None:
        found.extend(reference_problems(source.data, lookup))
    yield from found


def _of_fault(file: str, fault: Fault) -> Diagnostic:
    span = Span(fault.line, fault.column, fault.end_line, fault.end_column)
    return _diagnostic(fault.rule, file, span, fault.message, fault.hint)


def _of_problem(source: Source, problem: Problem) -> Diagnostic:
    span = Span(*source.locate(problem.path, at_key=problem.at_key))
    file = source.file_of(problem.path)
    return _diagnostic(problem.rule, file, span, problem.message, problem.hint)


def _diagnostic(rule: str, file: str, span: Span, message: str, hint: str) -> Diagnostic:
    severity, usual = RULES[rule]
    return Diagnostic(
        rule=rule,
        severity=Severity(severity),
        file=file,
        span=span,
        message=message,
        hint=hint or usual,
    )


def _position(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    span = diagnostic.span
    return diagnostic.file, span.line, span.column, diagnostic.rule


def has_errors(found: tuple[Diagnostic, ...]) -> bool:
    """Tell whether some problem is more than a warning."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in found)
