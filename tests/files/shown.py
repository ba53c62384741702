"""Problems as the tables of the tests have them, a line each."""

from collections.abc import Iterable

from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.problems import Path, Problem


def shown(found: Iterable[Diagnostic], *, severity: bool = False) -> str:
    """Return place, severity where it is wanted, rule and message of each problem."""
    return "\n".join(
        f"{d.span.line}:{d.span.column}: {f'{d.severity.value}: ' * severity}{d.rule}: {d.message}"
        for d in found
    )


def placed(found: Iterable[Problem]) -> str:
    """Return path, rule and message of each problem that has no place in a file yet."""
    return "\n".join(f"{dotted(each.path)}: {each.rule.id}: {each.message}" for each in found)


def dotted(path: Path) -> str:
    return ".".join(map(str, path))
