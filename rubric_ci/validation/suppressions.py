"""Apply the configuration's `rules` and the comments that turn rules off on one line."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from rubric_ci.model.diagnostics import Diagnostic, Severity
from rubric_ci.validation.diagnostics import TOO_MANY_PROBLEMS, position
from rubric_ci.validation.ignore_comments import ignored_rules, unused_ignores
from rubric_ci.validation.rules import RULES
from rubric_ci.yaml_text.problems import MAX_PROBLEMS


def apply_suppressions(
    found: tuple[Diagnostic, ...], texts: Mapping[str, str], rules: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Return the remaining diagnostics of a file and its sidecar, with configured severities."""
    ignored = {f: list(ignored_rules(text)) for f, text in texts.items() if "rubric-ci:" in text}
    switched_off = {(file, entry.line, entry.rule) for file in ignored for entry in ignored[file]}
    used: set[tuple[str, int, str]] = set()
    kept = []
    for diagnostic in found:
        key = (diagnostic.file, diagnostic.span.line, diagnostic.rule)
        if RULES[diagnostic.rule].switchable and key in switched_off:
            used.add(key)
        else:
            kept.append(diagnostic)
    if not any(diagnostic.rule == TOO_MANY_PROBLEMS.id for diagnostic in found):
        for file, entries in ignored.items():
            unused = [entry for entry in entries if (file, entry.line, entry.rule) not in used]
            kept += islice(unused_ignores(file, texts[file], unused, RULES), MAX_PROBLEMS)
    severe = (_with_severity(diagnostic, rules) for diagnostic in kept)
    return tuple(sorted((d for d in severe if d is not None), key=position))


def _with_severity(diagnostic: Diagnostic, rules: Mapping[str, str]) -> Diagnostic | None:
    severity = rules.get(diagnostic.rule)
    if severity is None:
        return diagnostic
    switchable = RULES[diagnostic.rule].switchable
    is_fixed = diagnostic.severity is Severity.ERROR and not switchable
    if is_fixed or (severity == "off" and not switchable):
        return diagnostic
    return None if severity == "off" else replace(diagnostic, severity=Severity(severity))
